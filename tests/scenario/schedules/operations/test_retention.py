"""What stays on record, and for how long."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ostinato import every, manual
from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from tests.support.schedules import (
    BEGIN,
    minutes,
    start_jobs,
    start_timed_jobs,
)


async def test_keeping_few_rows_leaves_the_row_of_a_stretch_that_grows(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("k", every("1m"), "slow", input={"seconds": 36_000}, keep=2)
    await world.advance("170m")
    for _ in range(4):
        await schedules.trigger("k")
    await world.advance("200m")
    (stretch,) = [one for one in await schedules.history("k") if one.count > 1]
    assert stretch.count == 370 - 101
    assert (await schedules.explain("k", minutes(365)[0])).outcome == "skipped"


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)  # weeks of housekeeping
async def test_a_stretch_that_rested_for_longer_than_rows_are_kept_has_a_row_again(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("k", every("10m"), "note")
    for _ in range(2):
        await schedules.pause("k")
        await world.advance("40d")
        await schedules.resume("k")
    (stretch,) = await schedules.history("k")
    assert stretch.count == 80 * 144


async def test_a_schedule_keeps_only_as_many_occurrences_as_it_wants(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("few", every("10m"), "note", keep=5)
    await world.app.schedules.create("all", every("10m"), "note")
    await world.advance("2h1m")
    assert len(await world.app.schedules.history("few")) <= 6
    assert len(await world.app.schedules.history("all")) == 12
    newest = (await world.app.schedules.history("few"))[0]
    assert newest.nominal == BEGIN + timedelta(hours=2)


async def test_runs_that_wait_take_no_place_of_the_finished_ones(world: World) -> None:
    """`keep` counts finished occurrences only, however many wait for an earlier run."""
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("k", every("1m"), "slow", input={"seconds": 60}, keep=3, overlap="buffer_all")
    await world.advance("10m")
    await schedules.update("k", input={"seconds": 36_000})
    await world.advance("60m")
    history = await schedules.history("k")
    assert len([one for one in history if one.status == "buffered"]) > 50
    assert len([one for one in history if one.status == "succeeded"]) == 3


async def test_request_ids_are_remembered_for_a_day(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("s", manual(), "note")
    await world.app.schedules.trigger("s", request_id="r")
    await world.advance("23h")
    await world.app.schedules.trigger("s", request_id="r")
    assert len(await world.app.schedules.history("s")) == 1
    await world.advance("3h")
    await world.app.schedules.trigger("s", request_id="r")
    assert len(await world.app.schedules.history("s")) == 2


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)  # weeks of housekeeping
async def test_closed_schedules_go_when_their_time_is_over(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("gone", manual(), "note")
    await world.app.schedules.delete("gone")

    def count(_: int) -> Operation[int]:
        rows = yield sql("stale_schedules", rules="zzz", limit=10)
        return len(rows)

    assert await world.app.store.read(count) == 1
    await world.advance("31d")
    assert await world.app.store.read(count) == 0
