"""A node that is paused for longer than its lease, while it stores the audience of a campaign: another node takes the
run over, and what the first one does when it goes on changes nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import pytest

from ostinato import Ostinato
from ostinato.flows import SegmentContext
from ostinato.store.contract import Make, Store
from ostinato.testing import World
from tests.support.agents import Outbox
from tests.support.campaigns import numbered
from tests.support.faults import SharedStore

T = TypeVar("T")
LEASE = 10
Resolver = Callable[[SegmentContext], AsyncIterator[str]]


class PausedStore(SharedStore):
    """The store of a node that can be paused. When the pause is over, what the node had begun goes on in its order. A
    transaction that has begun is committed, even if its caller is cancelled meanwhile: the server has it."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.running = asyncio.Event()
        self.running.set()

    async def run(self, make: Make[T]) -> T:
        await self.running.wait()
        return await asyncio.shield(super().run(make))

    async def read(self, make: Make[T]) -> T:
        await self.running.wait()
        return await super().read(make)


def make_node(world: World, store: Store, outbox: Outbox, resolver: Resolver) -> Ostinato:
    app = Ostinato(store, clock=world.clock, lease=LEASE)
    agent = app.agent("buddy", tz="UTC", transport=outbox)

    @agent.flow
    async def hello(ctx: Any) -> None:
        await ctx.say("hello")

    agent.segment("chosen")(resolver)
    return app


@pytest.mark.parametrize("ending", ["stores more", "fails"])
async def test_58_a_node_that_was_paused_stores_nothing_over_the_audience_of_another(world: World, ending: str) -> None:
    """The audience changes between the two resolutions, so recipients of the first would be seen."""
    await world.app.store.open()
    paused = PausedStore(world.app.store)
    resolved, finish = asyncio.Event(), asyncio.Event()

    async def first(ctx: SegmentContext) -> AsyncIterator[str]:
        for name in numbered("early", 500):  # a page, which is stored
            yield name
        paused.running.clear()
        if ending == "fails":
            raise TimeoutError("the source of the segment does not answer")
        yield "early500"

    async def second(ctx: SegmentContext) -> AsyncIterator[str]:
        yield "ada"
        resolved.set()
        await finish.wait()
        yield "bob"

    outbox = Outbox()
    former = make_node(world, paused, outbox, first)
    other = make_node(world, SharedStore(world.app.store), outbox, second)
    async with former:
        for name in ("ada", "bob"):
            await former.agents.put_user("buddy", name)
        sent = await former.agents.campaigns("buddy").send(
            {"type": "custom_query", "resolver": "chosen"}, flow="hello", allow_session_bootstrap=True
        )
        async with other:
            await asyncio.wait_for(resolved.wait(), 10 * LEASE)
            paused.running.set()
            await asyncio.sleep(1)
            finish.set()
            campaigns = other.agents.campaigns("buddy")
            await campaigns.wait(sent.id, "10m")
            ended = await campaigns.get(sent.id)
            recipients = await campaigns.recipients(sent.id, limit=1000)
            log = Counter(event.name for event in await other.events(limit=1000))
    assert (ended.status, ended.outcome, ended.recipients) == ("done", "success", 2)
    assert [recipient.user for recipient in recipients] == ["ada", "bob"]
    assert Counter(message.user for message in outbox.sent) == {"ada": 1, "bob": 1}
    assert log["schedule:campaign_resolved"] == log["campaign:completed"] == 1
