"""Outcomes that are committed together."""

from __future__ import annotations

from typing import Any

from ostinato import StoreUnavailable
from ostinato.testing import World


async def test_a_store_that_fails_while_a_run_ends_loses_neither_its_outcome_nor_its_lines(world: World) -> None:
    @world.app.job()
    async def chatty(ctx: Any) -> str:
        ctx.log("something")
        return "done"

    await world.up()
    engine = world.app.engine
    real, failures = engine.bodies.ends._commit, 3

    async def failing(ends: Any) -> Any:
        nonlocal failures
        if failures:
            failures -= 1
            raise StoreUnavailable("away")
        return await real(ends)

    engine.bodies.ends._commit = failing
    run = await world.start("chatty")
    assert await run.result() == "done"
    assert failures == 0
    assert [line.message for line in await world.app.logs(run.id)] == ["something"]
