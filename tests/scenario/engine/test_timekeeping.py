"""Clocks that are set back while a node runs."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.engine import timers
from ostinato.testing import World
from ostinato.when.instants import SECOND, Micros, to_datetime


@pytest.mark.parametrize("seconds", [0.4, 7200])
async def test_a_clock_that_steps_back_does_not_fire_twice(world: World, seconds: float) -> None:
    times: list[int] = []

    @world.app.job()
    async def work() -> None:
        times.append(world.clock.now())

    await world.start("work", at="2026-01-01T01:00Z")
    await world.up()
    await world.app.schedules.create("hourly", "0 * * * *", "work")
    await world.advance_to("2026-01-01T01:00Z")
    world.app.engine.clock.ahead -= round(seconds * SECOND)
    await world.advance("1m")
    assert len(times) == 2
    await world.advance(seconds + 3600)
    assert len(times) == 3


@pytest.mark.parametrize("seconds", [0.4, 7200])
async def test_what_is_set_after_a_clock_has_stepped_back_is_on_time_by_the_new_one(
    world: World, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """The clock is set back while more timers are due than one batch takes."""
    times: list[Micros] = []

    @world.app.job()
    async def work() -> None: ...

    @world.app.job()
    async def late() -> None:
        times.append(clock.now())

    await world.up()
    engine = world.app.engine
    clock, fire, set_to = engine.clock, timers.fire, 0

    def firing(*args: Any) -> Any:
        nonlocal set_to
        fired = yield from fire(*args)
        if fired.more and not set_to:
            clock.ahead -= round(seconds * SECOND)
            set_to = clock.now()
        return fired

    monkeypatch.setattr(timers, "fire", firing)
    await world.app.start_many("work", [{}] * 600, at="2026-01-01T03:00Z")
    await world.advance_to("2026-01-01T03:00Z")
    assert set_to
    await world.app.start("late", at=to_datetime(clock.now() + 100_000))
    due = clock.now() + 100_000
    await world.advance("1s")
    assert times == [due]
    await world.advance(seconds)
    assert (await world.app.counts())["succeeded"] == 601
