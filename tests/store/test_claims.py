"""Which node may claim a run, in which order, and which may write its outcome: the statements, on both stores."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.engine.claims import NodeLost, claim
from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from ostinato.when.instants import read_instant

FAR = read_instant("2100-01-01T00:00:00Z", "far")


def test_a_node_that_is_not_on_record_claims_nothing(store_url: str) -> None:
    async def main() -> None:
        app = Ostinato(store_url)

        @app.job()
        async def work() -> None: ...

        async with app.connected():
            run = await app.start("work")
            with pytest.raises(NodeLost):
                await app.store.run(lambda tries: claim("gone", 1, "default", 10, FAR, '["job"]', frozenset(), tries))
            assert (await run.info()).status == "ready"

    asyncio.run(main())


async def test_what_is_claimed_together_begins_by_priority_and_then_in_order(world: World) -> None:
    began: list[str] = []

    @world.app.job()
    async def work(tag: str) -> None:
        began.append(tag)

    async with world.app.connected():
        for tag, priority in [("a", 0), ("b", 0), ("urgent", 5), ("later", -1), ("c", 0)]:
            await world.app.start("work", {"tag": tag}, priority=priority)
    await world.advance("1s")
    assert began == ["urgent", "a", "b", "c", "later"]


async def test_only_who_holds_the_claim_writes_the_outcome(world: World) -> None:
    @world.app.job()
    async def slow() -> str:
        await asyncio.sleep(60)
        return "its own"

    run = await world.start("slow")
    await world.settle()
    node = world.app.engine.node

    def succeed(node: str, claim: int) -> Operation[Any]:
        return (yield sql("succeed_runs", [(run.id, claim, '"not its own"')], node=node, now=world.clock.now()))

    for holder, number in ((node, 0), (node, 2), ("another", 1)):
        await world.app.store.run(lambda _, holder=holder, number=number: succeed(holder, number))  # type: ignore[misc]
        assert (await run.info()).status == "active"
    assert await run.result() == "its own"
    await world.app.store.run(lambda _: succeed(node, 1))  # over, and nobody's any more
    assert await run.result() == "its own"
