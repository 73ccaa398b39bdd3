"""What follows a crash or a failure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato import Limit, Ostinato, OstinatoError, Retry, RunFailed
from ostinato.testing import World
from ostinato.when.instants import SECOND, Micros


async def test_a_crashed_attempt_is_followed_by_another_but_not_for_ever(world: World) -> None:
    world.app.settings = world.app.settings.__class__(lease=4 * SECOND)
    began: list[int] = []

    @world.app.job()
    async def deadly(ctx: Any) -> None:
        began.append(ctx.attempt)
        await asyncio.sleep(3600)

    @world.app.job(at_most_once=True)
    async def careful() -> None:
        await asyncio.sleep(3600)

    runs = [await world.start("deadly"), await world.start("careful")]
    for _ in range(3):
        await world.advance("1s")
        await world.crash()
        await asyncio.sleep(5)
        await world.up()
        await world.advance("6s")
    assert began == [1, 2, 3]
    attempts = await world.app.attempts(runs[0].id)
    assert [(a.status, a.reason) for a in attempts] == [
        ("crashed", "node lost"),
        ("crashed", "node lost"),
        ("failed", "crash_loop"),
    ]
    careful_info = await runs[1].info()
    assert (careful_info.attempt, careful_info.status) == (1, "failed")
    assert "at most once" in (careful_info.reason or "")


async def test_a_crash_takes_nothing_from_the_retries(world: World) -> None:
    world.app.settings = world.app.settings.__class__(lease=4 * SECOND)

    @world.app.job(retry={"attempts": 2, "delay": "1s", "jitter": 0})
    async def unlucky(ctx: Any) -> str:
        if ctx.attempt == 1:
            await asyncio.sleep(3600)
        if ctx.attempt == 2:
            raise ValueError("once")
        return "well"

    run = await world.start("unlucky")
    await world.advance("1s")
    await world.crash()
    await asyncio.sleep(5)
    await world.up()
    assert await run.result() == "well"
    assert [a.status for a in await world.app.attempts(run.id)] == ["crashed", "failed", "succeeded"]


async def test_a_policy_given_in_words_is_read_and_one_that_cannot_be_is_refused(world: World) -> None:
    times: list[Micros] = []

    @world.app.job(retry=Retry(attempts=2, delay="5s", jitter=0))
    async def worded() -> None:
        times.append(world.clock.now())
        raise ValueError("again")

    run = await world.start("worded", concurrency=Limit("k", most=1, per="1m"))
    with pytest.raises(RunFailed):
        await run.result()
    assert times[1] - times[0] == 5 * SECOND
    for wrong in ({"keep_runs": "P1M"}, {"lease": 0}, {"keep_events": "-1s"}, {"keep_runs": 0}):
        with pytest.raises(OstinatoError):
            Ostinato("sqlite:///never.db", **wrong)
