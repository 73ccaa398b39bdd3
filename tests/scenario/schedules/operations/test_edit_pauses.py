"""Pausing and resuming: a backlog is settled by the policy, and each passed time has its record."""

from __future__ import annotations

import asyncio

import pytest

from ostinato import every
from ostinato.testing import World
from tests.support.schedules import (
    at,
    events_of,
    minutes,
    outcomes,
    start_jobs,
    start_timed_jobs,
)


async def test_pausing_keeps_the_record_and_resuming_asks(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note", overlap="buffer_all")
    await world.advance("90s")
    await world.app.schedules.pause("tick", "holiday")
    assert (await world.app.schedules.get("tick")).state == "paused"
    await world.advance("3m")
    answer = await world.app.schedules.resume("tick")
    assert str(answer.lateness) == "3 late, will run 0"
    await world.advance("1m")
    assert [(at, s, r) for at, s, r in await outcomes(world, "tick")][1:4] == [
        (at, "skipped", "paused") for at in minutes(2, 3, 4)
    ]
    assert [at for at, _, _ in seen] == minutes(1, 5)
    await world.app.schedules.pause("tick")
    await world.advance("3m")
    answer = await world.app.schedules.resume("tick", catchup="all")
    assert str(answer.lateness) == "3 late, will run 3"
    await world.settle()
    assert [at for at, _, _ in seen] == minutes(1, 5, 6, 7, 8)
    names = await events_of(world, "tick")
    assert names.count("paused") == names.count("resumed") == 2


async def test_a_long_pause_is_one_row(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note", paused=True)
    await world.advance("1d")
    await world.app.schedules.resume("tick")
    await world.advance("1m")
    stretch, after = reversed(await world.app.schedules.history("tick"))
    assert (stretch.count, stretch.nominal, stretch.last) == (1440, minutes(1)[0], minutes(1440)[0])
    assert after.status == "succeeded"
    assert (await world.app.schedules.explain("tick", minutes(700)[0])).reason == "paused"
    assert (await world.app.schedules.get("tick")).counts == {"paused": 1440, "actions": 1}


async def test_times_that_pass_while_paused_are_on_record_though_the_schedule_was_edited_meanwhile(
    world: World,
) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("1h"), "note", paused=True)
    await world.advance("2h30m")
    await world.app.schedules.update("tick", notes="nothing about its times")
    await world.advance("2h")
    await world.app.schedules.resume("tick")
    assert await outcomes(world, "tick") == [(at(hours=n), "skipped", "paused") for n in (1, 2, 3, 4)]


async def test_time_spent_paused_is_not_called_late(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note")
    id = (await world.app.schedules.get("tick")).id
    for catchup in (None, "all"):
        await world.app.schedules.pause("tick")
        await world.advance("10m")
        await world.app.schedules.resume("tick", catchup=catchup)
    names = [event.name for event in await world.app.events(subject=id, limit=1000)]
    assert "schedule:late" not in names
    assert names.count("schedule:resumed") == 2


@pytest.mark.parametrize("stop", ["pause", "delete"])
async def test_stopping_a_schedule_that_catches_up_starts_nothing(world: World, stop: str) -> None:
    seen = await start_timed_jobs(world)
    slow = {"mode": "all", "pace": 10}
    await world.app.schedules.create("tick", every("1m"), "note", catchup=slow, overlap="allow_all")
    await world.outage(at(seconds=30), at(hours=5, seconds=20))
    assert len(seen) == 10
    id = (await world.app.schedules.get("tick")).id
    await (world.app.schedules.pause("tick") if stop == "pause" else world.app.schedules.delete("tick"))
    await world.settle()
    assert len(seen) == 10
    if stop == "delete":
        skipped = [e.data for e in await world.app.events(subject=id, limit=1000) if e.name == "schedule:skipped"]
        assert [(data["reason"], data["count"]) for data in skipped] == [("closed", 290)]


async def test_however_long_a_pause_was_it_ends_in_a_moment(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("1s"), "note", paused=True)
    await world.app.schedules.create("other", every("1s"), "note", paused=True)
    await world.down()
    await asyncio.sleep(400 * 86_400)
    async with world.app.connected():
        answer = await world.app.schedules.resume("tick")
        assert answer.lateness.late == 400 * 86_400
        (row,) = await world.app.schedules.history("tick")
        assert (row.reason, row.count) == ("paused", 400 * 86_400)
        await world.app.schedules.delete("other")


async def test_what_a_resume_promises_runs(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create(
        "tick", every("1m"), "note", overlap="buffer_all", catchup="1m", input={"seconds": 30}, paused=True
    )
    await world.advance("10m")
    answer = await world.app.schedules.resume("tick", catchup="all")
    assert (answer.lateness.late, answer.lateness.will_run) == (10, 10)
    await world.advance("30m")
    assert seen[:10] == [at(minutes=n) for n in range(1, 11)]


@pytest.mark.parametrize("pause", ["1m", "1h"])
async def test_what_waits_through_a_pause_goes_when_its_turn_comes(world: World, pause: str) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("1h"), "note", overlap="buffer_one", input={"seconds": 3 * 3600})
    await world.advance("2h10m")
    await world.app.schedules.pause("tick")
    await world.advance(pause)
    await world.app.schedules.update("tick", spec=every("1d"))
    await world.app.schedules.resume("tick")
    await world.advance_to(at(hours=4, minutes=10))
    assert seen == [at(hours=1), at(hours=2)]


async def test_what_was_left_out_in_a_long_pause_has_its_own_row(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note", paused=True)
    for time in minutes(1, 50, 200):
        await world.app.schedules.skip("tick", time)
    await world.advance("300m")
    answer = await world.app.schedules.resume("tick")
    assert (answer.lateness.late, answer.lateness.will_run) == (300, 0)
    assert (await world.app.schedules.get("tick")).counts == {"asked": 3, "paused": 297}
    rows = await world.app.schedules.history("tick", limit=1000)
    asked = [one.nominal for one in rows if one.reason == "asked"]
    assert asked == [at(minutes=minutes) for minutes in (200, 50, 1)]
    (stretch,) = [one for one in rows if one.reason == "paused"]
    assert (stretch.nominal, stretch.last, stretch.count) == (at(minutes=2), at(minutes=300), 297)
