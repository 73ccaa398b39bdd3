"""Bodies of runs, from claim to outcome."""

from __future__ import annotations

import asyncio
from typing import Any

from ostinato.engine.executor import BodyStop
from ostinato.engine.http.host_names import looks_up_for
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
            cancelled.append(engine.bodies.cancel_here(run.id, BodyStop(Status.CANCELLED, "at once")))

    engine.bodies.begin = begin_and_stop  # type: ignore[method-assign]
    run = await world.start("work")
    await world.advance("1s")
    assert cancelled == [True]
    assert (await run.info()).status == "cancelled"


async def test_names_are_looked_up_in_the_share_of_the_runs_namespace(world: World) -> None:
    seen: dict[str, str] = {}

    @world.app.job()
    async def work(kind: str) -> None:
        seen[kind] = looks_up_for.get()

    @world.app.function()
    async def durable(ctx: Any) -> None:
        async def step() -> None:
            seen["function"] = looks_up_for.get()

        await ctx.step(step)

    await world.up()
    await world.app.create_namespace("other")
    other = world.app.within("other")
    await (await world.app.start("work", {"kind": "default"})).result()
    await (await other.start("work", {"kind": "job"})).result()
    await (await other.functions.start("durable")).result()
    assert seen == {"default": "default", "job": "other", "function": "other"}
