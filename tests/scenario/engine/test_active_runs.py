"""Bodies of runs, from claim to outcome."""

from __future__ import annotations

import asyncio
from typing import Any

from ostinato.engine.executor import Stop
from ostinato.model import Status
from ostinato.testing import World


async def test_a_body_that_is_stopped_before_its_first_step_ends_all_the_same(world: World) -> None:
    @world.app.job()
    async def work() -> None:
        await asyncio.sleep(600)

    await world.up()
    engine = world.app.engine
    began = engine.bodies.begin
    cancelled: list[bool] = []

    def begin_and_stop(run: Any, body: Any = None) -> None:
        began(run, body)
        if not cancelled:
            cancelled.append(engine.bodies.cancel_here(run.id, Stop(Status.CANCELLED, "at once")))

    engine.bodies.begin = begin_and_stop  # type: ignore[method-assign]
    run = await world.start("work")
    await world.advance("1s")
    assert cancelled == [True]
    assert (await run.info()).status == "cancelled"
