"""Producers, topics and consumers, from publish to commit, on both stores."""

from __future__ import annotations

from typing import Any

from ostinato import every
from ostinato.testing import World
from ostinato.workflows import Prepared


def mailbox(world: World, sent: list[Any], batch: int = 10) -> Any:
    inbox = world.app.workflow("inbox")
    emails, rows = inbox.topic("emails"), inbox.topic("rows")
    mails = ["hello", "again"]

    @world.app.workflows.mutator("sheet.append")
    async def append(call: Any, row: str) -> dict[str, Any]:
        sent.append((call.key, row))
        return {"row": len(sent)}

    @inbox.producer(every("5m"), publishes=[emails])
    async def poll(ctx: Any, state: Any) -> int:
        seen = state or 0
        for n, mail in enumerate(mails[seen:], seen):
            input = ctx.register_input("mail", "email", str(n), mail)
            ctx.publish(emails, f"mail-{n}", {"text": mail}, input=input)
        return len(mails)

    @inbox.consumer(emails, publishes=[rows])
    class Digest:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            events = await ctx.peek(emails, limit=batch)
            return Prepared(reserve=events, data={"texts": [event.payload["text"] for event in events]})

        async def mutate(self, ctx: Any, prepared: Any) -> None:
            await ctx.mutate("sheet.append", row=" ".join(prepared.data["texts"]))
            raise AssertionError("code after the effect runs")

        async def next(self, ctx: Any, prepared: Any, outcome: Any) -> dict[str, Any]:
            if outcome.status == "applied":
                ctx.publish(rows, f"row-{outcome.result['row']}", outcome.result)
            return {"last": outcome.status}

    @inbox.consumer(rows)
    class Count:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            return Prepared(reserve=await ctx.peek(rows))

    return inbox, mails


async def test_events_travel_from_producer_to_consumer(world: World) -> None:
    sent: list[Any] = []
    _, mails = mailbox(world, sent)
    await world.up()
    await world.settle()
    assert [row for _, row in sent] == ["hello again"]
    events = await world.app.workflows.events("inbox")
    assert [(event.topic, event.message_id, event.status) for event in events] == [
        ("emails", "mail-0", "consumed"),
        ("emails", "mail-1", "consumed"),
        ("rows", "row-1", "consumed"),
    ]
    info = await world.app.workflows.get("inbox")
    assert (info.status, info.schedule) == ("Idle", ("Checks every 5 minutes",))
    mails.append("more")
    await world.advance("5m")
    assert [row for _, row in sent] == ["hello again", "more"]
    runs = await world.app.workflows.runs("inbox")
    assert {run.status for run in runs} == {"committed"}
