"""Agents on stores that break: every message is answered, and nothing is said twice."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from ostinato.app import Ostinato
from ostinato.errors import StoreUnavailable
from ostinato.flows import FlowContext, ModelReply
from ostinato.store.sqlite import SqliteStore
from ostinato.testing.virtual_time import VirtualClock, run_virtual
from tests.support.agents import Outbox
from tests.support.faults import Dropped, FaultyStore

LEASE = "4s"


class Echo:
    """A model that repeats what the user said."""

    async def complete(self, request: Any, egress: Any) -> ModelReply:
        return ModelReply(f"echo {request.messages[-1]['content']}")


def declare(app: Ostinato, outbox: Outbox) -> None:
    """An agent that echoes, with a flow that asks two questions."""
    agent = app.agent("buddy", tz="UTC", model=Echo(), transport=outbox, admins=["boss"])

    @agent.flow
    async def form(ctx: FlowContext) -> None:
        name = await ctx.ask("name?")
        agreed = await ctx.escalate(f"admit {name}?")
        await ctx.say(f"{name} {agreed.approved}")

    agent.router(lambda hook_input: "form" if hook_input.turn.text == "form" else None)


SAID = ["echo hi", "name?", "Ada True", "echo bye"]


async def talk(app: Ostinato, user: str) -> None:
    """A conversation. Callers that hear of an error try again, as a transport would."""

    async def again(call: Any) -> Any:
        while True:
            try:
                return await call()
            except (Dropped, StoreUnavailable):
                await asyncio.sleep(1)

    agents = app.agents
    boss = app.within("default", "boss").agents
    for number, text in enumerate(("hi", "form", "Ada")):
        turn = await again(lambda number=number, text=text: agents.receive("buddy", user, text, id=f"{number}"))
        assert (await again(lambda turn=turn: turn.outcome("10m"))).outcome == "success"
    (session,) = await again(lambda: agents.sessions("buddy", user=user))
    await again(lambda: boss.resolve("buddy", session.escalation_id, True, request_id=user))
    await asyncio.sleep(60)
    turn = await again(lambda: agents.receive("buddy", user, "bye", id="3"))
    assert (await again(lambda: turn.outcome("10m"))).outcome == "success"


@pytest.mark.parametrize("seed", range(6))
def test_a_store_that_breaks_loses_no_message_and_repeats_none(tmp_path: Any, seed: int) -> None:
    async def main(clock: VirtualClock) -> None:
        store = FaultyStore(SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False), random.Random(seed))
        app = Ostinato(store, clock=clock, lease=LEASE)
        outbox = Outbox()
        declare(app, outbox)
        async with app:
            store.lost, store.ambiguous, store.cut = 0.05, 0.1, 0.05
            await asyncio.gather(*(talk(app, f"user-{number}") for number in range(3)))
            store.lost = store.ambiguous = store.cut = 0.0
        for number in range(3):
            assert [message.text for message in outbox.sent if message.user == f"user-{number}"] == SAID
        assert store.faults > 5

    clock = VirtualClock()
    run_virtual(main(clock), clock)
