"""Fill a store with functions, a workflow, an agent and a campaign, and print what is in it as JSON.

`make.py` runs this with an earlier state of Ostinato, so it uses only what that state has. The last thing that happens
is a crash: what was running is still `active`, on a node that is dead.
"""

from __future__ import annotations

import inspect
import json
import random
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from ostinato import Ostinato, every
from ostinato.flows import ScriptedModel
from ostinato.ids import Ids
from ostinato.testing import World, run_virtual
from ostinato.workflows import Prepared

PEOPLE = [f"user{number:02}" for number in range(12)]
FIRST_MAILS = ["one", "two", "three"]


@dataclass
class Outside:
    """The services that the ways call. `sent` has (user, text) for each message that the transport got."""

    mails: list[str] = field(default_factory=lambda: list(FIRST_MAILS))
    rows: dict[str, list[str]] = field(default_factory=dict)
    sent: list[tuple[str, str]] = field(default_factory=list)
    idempotent: bool = False

    async def send(self, message: Any, egress: Any) -> str:
        self.sent.append((message.user, message.text))
        return f"provider-{len(self.sent)}"


def declare(app: Ostinato, outside: Outside) -> None:
    """The functions, the workflow and the agent of every golden store of the ways."""
    declare_functions(app)
    declare_workflow(app, outside)
    declare_agent(app, outside)


def declare_functions(app: Ostinato) -> None:
    def make_account(user: str) -> str:
        return f"account of {user}"

    @app.function()
    async def onboard(ctx: Any, user: str) -> str:
        account = await ctx.step(make_account, user)
        answer = await ctx.receive("reply", timeout="30d", default="no answer")
        await ctx.sleep("1h")
        return f"{account}: {answer}"

    @app.function()
    async def rest(ctx: Any, length: str) -> str:
        await ctx.sleep(length)
        return f"rested {length}"


def declare_workflow(app: Ostinato, outside: Outside) -> None:
    inbox = app.workflow("inbox")
    emails = inbox.topic("emails")

    @app.workflows.mutator("sheet.append")
    async def append(call: Any, text: str) -> Any:
        outside.rows.setdefault(call.key, []).append(text)
        return {"rows": len(outside.rows)}

    @inbox.producer(every("1h"), publishes=[emails])
    async def poll(ctx: Any, state: Any) -> Any:
        for mail in outside.mails[state or 0 :]:
            ctx.publish(emails, mail, {"text": mail}, input=ctx.register_input("mail", "email", mail, mail))
        return len(outside.mails)

    @inbox.consumer(emails)
    class Copy:
        async def prepare(self, ctx: Any, state: Any) -> Any:
            events = await ctx.peek(emails, limit=1)
            return Prepared(reserve=events, data=[event.payload["text"] for event in events])

        async def mutate(self, ctx: Any, prepared: Any) -> None:
            await ctx.mutate("sheet.append", text=prepared.data[0])

        async def next(self, ctx: Any, prepared: Any, outcome: Any) -> Any:
            return {"last": outcome.status}


def declare_agent(app: Ostinato, outside: Outside) -> None:
    zone = "tz" if "tz" in inspect.signature(app.agent).parameters else "timezone"  # as earlier states call it
    model = ScriptedModel("in other words", repeat=True)
    settings: dict[str, Any] = {zone: "America/Sao_Paulo", "admins": ["teacher"]}
    buddy = app.agent("buddy", model=model, transport=outside, **settings)

    @buddy.flow
    async def checkin(ctx: Any) -> None:
        words = await ctx.ask("How many words?", timeout="20d", default="0")
        decision = await ctx.escalate(f"{words} words. A badge?", timeout="20d")
        await ctx.say("You have a badge" if decision.approved else "Keep going")

    @buddy.flow
    async def hello(ctx: Any) -> None:
        await ctx.say(f"hello {ctx.user.external_id}")

    @buddy.router
    def route(turn: Any) -> str | None:
        return "checkin" if turn.turn.text == "check in" else None


async def functions(world: World) -> dict[str, str]:
    """By how it is: the id of a function that is over, of two that wait for a message, and of one that sleeps."""
    api = world.app.functions
    over = await api.start("onboard", {"user": "ada"}, send={"reply": "hello"})
    waiting = await api.start("onboard", {"user": "bob"})
    sleeping = await api.start("rest", {"length": "2d"})
    await world.advance("2h")
    return {"over": over.id, "waiting": waiting.id, "sleeping": sleeping.id}


async def talks(world: World, outside: Outside) -> dict[str, Any]:
    """A session that waits for an answer, and one that waits for a decision."""
    agents = world.app.within("default", "teacher").agents
    await agents.receive("buddy", "asked", "check in", id="m1")
    await agents.receive("buddy", "judged", "check in", id="m2")
    await world.settle()
    await agents.receive("buddy", "judged", "7", id="m3")
    await agents.receive("buddy", "talker", "good morning", id="m4")
    await world.settle()
    return {"escalations": len(await agents.escalations("buddy"))}


async def campaign(world: World) -> str:
    """A campaign that has reached some of the people."""
    for name in PEOPLE:
        await world.app.agents.put_user("buddy", name)
    segment = {"type": "users", "users": PEOPLE}
    send = world.app.agents.campaigns("buddy").send
    handle = await send(segment, flow="hello", id="spring", rate="6/h", allow_session_bootstrap=True)
    await world.advance("30m")
    return handle.id


async def fill(world: World) -> dict[str, Any]:
    outside = Outside()
    declare(world.app, outside)
    await world.up()
    ids = await functions(world)
    await world.advance("1h")
    manifest = {"functions": ids, **await talks(world, outside), "campaign": await campaign(world)}
    workflow = await world.app.workflows.get("inbox")
    manifest |= {
        "now": world.clock.now(),
        "runs": dict(sorted(Counter(run.status for run in await world.runs()).items())),
        "workflow": workflow.status,
        "rows": sorted(text for texts in outside.rows.values() for text in texts),
        "sent": sorted(map(list, outside.sent)),
    }
    await world.crash()
    await world._store.close()
    return manifest


if __name__ == "__main__":
    a_world = World(sys.argv[1], lease="30s", ids=Ids(random.Random(1).getrandbits))
    print(json.dumps(run_virtual(fill(a_world), a_world.clock)))
