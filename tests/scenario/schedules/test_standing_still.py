"""Stopping, standing still and going on: a backlog is nobody's surprise, and nothing of it is without a record."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ostinato import OstinatoError, cron, every
from ostinato.store.contract import Operation, sql
from ostinato.testing import World

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


async def begin(world: World) -> list[datetime]:
    seen: list[datetime] = []

    @world.app.job()
    async def note(ctx: Any, seconds: float = 0) -> None:
        seen.append(ctx.nominal)
        await asyncio.sleep(seconds)

    await world.up()
    return seen


def at(**parts: float) -> datetime:
    return BEGIN + timedelta(**parts)


async def spoil(world: World, name: str, spec: str) -> str:
    """Make a schedule unreadable, or readable again; returns the spec it had."""
    schedule = await world.app.schedules._get(name)

    def write(_: int) -> Operation[str]:
        (row,) = yield sql("schedules_by_ids", [(schedule.id,)])
        yield sql("replace_schedules", [[*row[:3], spec, *row[4:]]])
        return str(row[3])

    return await world.app.store.run(write)


@pytest.mark.parametrize("stop", ["pause", "delete"])
async def test_stopping_a_schedule_that_catches_up_starts_nothing(world: World, stop: str) -> None:
    seen = await begin(world)
    slow = {"mode": "all", "pace": 10}
    await world.app.schedules.create("tick", every("1m"), "note", catchup=slow, overlap="allow_all")
    await world.outage(at(seconds=30), at(hours=5, seconds=20))
    assert len(seen) == 10
    id = (await world.app.schedules.get("tick")).id
    await (world.app.schedules.pause("tick") if stop == "pause" else world.app.schedules.delete("tick"))
    await world.settle()
    assert len(seen) == 10
    if stop == "delete":
        told = [e.data for e in await world.app.events(subject=id, limit=1000) if e.name == "schedule:skipped"]
        assert [(data["reason"], data["count"]) for data in told] == [("closed", 290)]


async def test_however_long_a_pause_was_it_ends_in_a_moment(world: World) -> None:
    await begin(world)
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
    seen = await begin(world)
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
    seen = await begin(world)
    await world.app.schedules.create("tick", every("1h"), "note", overlap="buffer_one", input={"seconds": 3 * 3600})
    await world.advance("2h10m")
    await world.app.schedules.pause("tick")
    await world.advance(pause)
    await world.app.schedules.update("tick", spec=every("1d"))
    await world.app.schedules.resume("tick")
    await world.advance_to(at(hours=4, minutes=10))
    assert seen == [at(hours=1), at(hours=2)]


async def test_what_was_left_out_in_a_long_pause_has_its_own_row(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note", paused=True)
    for minutes in (1, 50, 200):
        await world.app.schedules.skip("tick", at(minutes=minutes))
    await world.advance("300m")
    answer = await world.app.schedules.resume("tick")
    assert (answer.lateness.late, answer.lateness.will_run) == (300, 0)
    assert (await world.app.schedules.get("tick")).counts == {"asked": 3, "paused": 297}
    rows = await world.app.schedules.history("tick", limit=1000)
    asked = [one.nominal for one in rows if one.reason == "asked"]
    assert asked == [at(minutes=minutes) for minutes in (200, 50, 1)]
    (stretch,) = [one for one in rows if one.reason == "paused"]
    assert (stretch.nominal, stretch.last, stretch.count) == (at(minutes=2), at(minutes=300), 297)


async def test_a_backfill_stands_behind_what_the_clock_brings(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", every("5m"), "note", overlap="buffer_all", input={"seconds": 60})
    await world.app.schedules.backfill("tick", at(days=-3), at(days=-1), overlap="buffer_all")
    await world.advance("2h")
    live = [one for one in seen if one > BEGIN]
    assert len(live) >= 23
    assert len(seen) - len(live) >= 90


async def test_a_backfill_beside_others_is_in_nobodys_way(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note", input={"seconds": 20})
    await world.app.schedules.backfill("tick", at(hours=-4), at(hours=-1), overlap="allow_all")
    await world.advance("5m30s")
    found = await world.app.schedules.history("tick", first=at(minutes=1))
    assert [one.status for one in found] == ["succeeded"] * 5


@pytest.mark.parametrize("catchup", [None, "all"])
async def test_times_that_passed_while_a_schedule_was_parked_are_on_record(world: World, catchup: str | None) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", every("1h"), "note", overlap="buffer_all")
    before = await spoil(world, "tick", '{"cron": ["0 9 * * *"], "tz": "Mars/Base"}')
    await world.advance("5h30m")
    assert (await world.app.schedules.get("tick")).state == "parked"
    await spoil(world, "tick", before)
    answer = await world.app.schedules.resume("tick", catchup=catchup)
    await world.settle()
    assert answer.lateness.late == 5
    assert len(seen) == (5 if catchup else 0)
    assert len(await world.occurrences("tick")) == 5
    if catchup is None:
        assert set(await world.occurrences("tick")) == {"skipped: parked"}


async def test_what_waited_when_a_schedule_was_parked_goes_on_when_it_is_mended(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note", overlap="buffer_all", input={"seconds": 90})
    await world.app.schedules.backfill("tick", at(hours=-1), at(minutes=-51), overlap="allow_all", rate=0.05)
    await world.advance("2m10s")
    before = await spoil(world, "tick", '{"cron": ["0 9 * * *"], "tz": "Mars/Base"}')
    await world.advance("10m")
    assert (await world.app.schedules.get("tick")).state == "parked"
    await spoil(world, "tick", before)
    await world.app.schedules.resume("tick")
    await world.advance("10m")
    (record,) = await world.app.schedules.backfills("tick")
    assert (record.state, record.made) == ("completed", 10)
    assert at(minutes=2) in seen


async def test_a_time_that_was_moved_ahead_hides_none_of_a_new_spec(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", cron("0 * * * *"), "note")
    await world.app.schedules.move("tick", at(hours=1), at(minutes=30))
    await world.advance_to(at(minutes=31))
    await world.app.schedules.update("tick", spec=cron("*/5 * * * *"))
    await world.advance_to(at(hours=1, minutes=6))
    assert seen == [at(hours=1), *(at(minutes=n) for n in (35, 40, 45, 50, 55)), at(hours=1, minutes=5)]


async def test_times_that_were_moved_ahead_come_once_whatever_the_spec_is_then(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", cron("0 * * * *"), "note")
    await world.app.schedules.move("tick", at(hours=1), at(minutes=10))
    await world.app.schedules.move("tick", at(hours=2), at(minutes=20))
    await world.advance_to(at(minutes=21))
    await world.app.schedules.update("tick", spec=cron("*/30 * * * *"))
    with pytest.raises(OstinatoError, match="not a coming time"):
        await world.app.schedules.skip("tick", at(hours=2))
    await world.advance_to(at(hours=2, minutes=31))
    assert seen == [at(hours=1), at(hours=2), at(minutes=30), at(minutes=90), at(minutes=150)]
    assert (await world.app.schedules.get("tick")).counts == {"actions": 5}


async def test_a_move_that_a_new_spec_leaves_no_place_for_is_dropped(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", cron("0 * * * *"), "note")
    await world.app.schedules.move("tick", at(hours=1), at(hours=1, minutes=50))
    await world.app.schedules.update("tick", spec=cron("*/15 * * * *"))
    await world.advance_to(at(hours=1, minutes=31))
    assert seen == [at(minutes=15 * n) for n in range(1, 7)]


async def test_a_beat_takes_only_so_much_of_a_long_backlog_at_once(world: World) -> None:
    await begin(world)
    for n in range(6):
        await world.app.schedules.create(f"tick {n}", every("1s"), "note")
    await world.outage(at(seconds=1), at(hours=2, seconds=1))
    for n in range(6):
        info = await world.app.schedules.get(f"tick {n}", recent=0)
        assert sum(info.counts.values()) == 7201
