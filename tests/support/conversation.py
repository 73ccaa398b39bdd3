"""A conversation that asks, confirms, escalates and ends, for simulations: it can be played again from its beginning,
and what must hold of it whatever has happened on the way."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from ostinato.app import Ostinato
from ostinato.errors import Conflict
from ostinato.flows import FlowContext, ModelReply
from ostinato.flows.store import read_outgoing, read_turn, statement
from ostinato.store.contract import Operation
from tests.support.agents import Outbox

SAID = ["echo hi", "name?", "Ada?", "Ada True", "echo bye"]


class Echo:
    """A model that repeats what the user said."""

    async def complete(self, request: Any, egress: Any) -> ModelReply:
        return ModelReply(f"echo {request.messages[-1]['content']}")


def declare_form(app: Ostinato, outbox: Outbox) -> None:
    """An agent that echoes, with a flow that asks the user twice and a person once."""
    agent = app.agent("buddy", tz="UTC", model=Echo(), transport=outbox, admins=["boss"])

    @agent.flow
    async def form(ctx: FlowContext) -> None:
        name = await ctx.ask("name?")
        if await ctx.confirm(f"{name}?"):
            decision = await ctx.escalate(f"admit {name}?")
            await ctx.say(f"{name} {decision.approved}")

    agent.router(_route)


async def _route(hook_input: Any) -> str | None:
    return "form" if hook_input.turn.text == "form" else None


async def play_form(app: Ostinato, user: str = "ada") -> None:
    """Talk, or go on where an earlier play was interrupted: messages have the same ids."""
    agents = app.agents
    boss = app.within("default", "boss").agents
    for number, text in enumerate(("hi", "form", "Ada", "yes")):
        turn = await agents.receive("buddy", user, text, id=f"{number}")
        await turn.outcome("10m")
    (session,) = await agents.sessions("buddy", user=user)
    for escalation in await boss.escalations("buddy"):
        if escalation.session_id == session.id:
            try:
                await boss.resolve("buddy", escalation.id, True)
            except Conflict as problem:  # by an earlier play whose answer was lost
                assert "resolved by boss" in str(problem)
    while (await agents.session(session.id)).flow is not None:
        await asyncio.sleep(1)
    turn = await agents.receive("buddy", user, "bye", id="4")
    await turn.outcome("10m")
    await asyncio.sleep(2)


async def check_form(app: Ostinato, outbox: Outbox, user: str = "ada") -> int:
    """Nobody is messaged twice, and nothing is lost: a message that was not sent is on record as unknown. Returns how
    many are."""

    def read(_: int) -> Operation[tuple[list[Any], list[Any]]]:
        (row,) = yield statement("agent_user", namespace="default", agent="buddy", user=user)
        turns = yield statement("turns_of_user", user=row[0])
        outgoing = yield statement("outgoing_of_user", user=row[0])
        return turns, outgoing

    turns, outgoing = await app.store.read(read)
    stored = [read_outgoing(row) for row in outgoing]
    sent = Counter(message.key for message in outbox.sent if message.user == user)
    assert [message.text for message in stored] == SAID, "each is committed once, in order"
    for message in stored:
        assert message.status in ("sent", "unknown"), message
        if outbox.idempotent:
            assert message.status == "sent", message
            assert sent[message.key] >= 1, f"{message.text!r} was lost"
        else:
            assert sent[message.key] <= 1, f"{message.text!r} was sent twice"
            assert message.status == "unknown" or sent[message.key] == 1, f"{message.text!r} was lost"
    assert set(sent) <= {message.key for message in stored}, "only what was committed is sent"
    assert [turn.source for turn in map(read_turn, turns)] == ["inbound"] * 4 + ["resumed", "inbound"]
    unknown = [message for message in stored if message.status == "unknown"]
    for turn in map(read_turn, turns):
        assert turn.status == "done"
        assert turn.outcome == "success" or turn.reason == "delivery_unknown", turn
    names = Counter(event.name for event in await app.events(limit=10_000) if event.data.get("user_id") == turns[0][3])
    once = [f"flow:{verb}" for verb in ("session_started", "started", "ended")]
    once += [f"hitl:{verb}" for verb in ("confirm_requested", "confirm_resolved", "escalated", "resolved")]
    assert {name: names[name] for name in once} == dict.fromkeys(once, 1)
    assert names["flow:turn_accepted"] == names["flow:turn_succeeded"] + names["flow:turn_failed"] == 6
    assert names["response:prepared"] == len(SAID)
    assert names["response:sent"] + names["response:failed"] == len(SAID)
    said = [
        message.text for message in await app.agents.messages((await app.agents.sessions("buddy", user=user))[0].id)
    ]
    assert list(reversed(said)) == [
        "hi",
        "echo hi",
        "form",
        "name?",
        "Ada",
        "Ada?",
        "yes",
        "Ada True",
        "bye",
        "echo bye",
    ]
    assert await app.check(repair=False) == []
    return len(unknown)
