"""Single occurrences that are skipped or moved, also across edits of the spec."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ostinato import OstinatoError, cron, every
from ostinato.testing import World
from tests.support.schedules import (
    BEGIN,
    at,
    start_jobs,
    start_timed_jobs,
)


async def test_exactly_one_occurrence_is_skipped_or_moved(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("hourly", cron("0 * * * *"), "note")
    hour = [BEGIN + timedelta(hours=n) for n in range(6)]
    await world.app.schedules.skip("hourly", hour[1])
    await world.app.schedules.move("hourly", hour[2], hour[2] + timedelta(minutes=20))
    await world.app.schedules.move("hourly", hour[3], hour[3] - timedelta(minutes=20))
    assert (await world.app.schedules.explain("hourly", hour[1])).reason == "asked"
    with pytest.raises(OstinatoError, match="neighbours"):
        await world.app.schedules.move("hourly", hour[4], hour[5] + timedelta(minutes=1))
    with pytest.raises(OstinatoError, match="not a coming time"):
        await world.app.schedules.skip("hourly", hour[1] + timedelta(minutes=3))
    await world.advance_to(hour[2] + timedelta(minutes=19))
    assert seen == []
    await world.advance_to(hour[4])
    history = reversed(await world.app.schedules.history("hourly"))
    assert [(one.nominal, one.due - one.nominal, one.status) for one in history] == [
        (hour[1], timedelta(0), "skipped"),
        (hour[2], timedelta(minutes=20), "succeeded"),
        (hour[3], timedelta(minutes=-20), "succeeded"),
        (hour[4], timedelta(0), "succeeded"),
    ]


async def test_a_skip_or_a_move_can_be_taken_back(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("hourly", cron("0 * * * *"), "note")
    hour = [BEGIN + timedelta(hours=n) for n in range(4)]
    await world.app.schedules.skip("hourly", hour[1])
    await world.app.schedules.move("hourly", hour[2], hour[2] + timedelta(minutes=20))
    assert (await world.app.schedules.get("hourly")).upcoming[0] == hour[2] + timedelta(minutes=20)
    await world.app.schedules.put_back("hourly", hour[1])
    await world.app.schedules.put_back("hourly", hour[2])
    with pytest.raises(OstinatoError, match="neither skipped nor moved"):
        await world.app.schedules.put_back("hourly", hour[3])
    await world.advance_to(hour[3])
    assert [at for at, _, _ in seen] == hour[1:]


async def test_a_moved_occurrence_survives_an_edit_after_its_nominal_time(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("hourly", every("1h"), "note")
    await world.app.schedules.move("hourly", at(hours=1), at(hours=1, minutes=40))
    await world.advance("1h20m")
    await world.app.schedules.update("hourly", notes="nothing about its times")
    await world.advance("30m")
    assert seen == [at(hours=1)]


async def test_all_that_were_moved_survive_an_edit_of_the_spec(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("hourly", every("1h"), "note")
    await world.app.schedules.move("hourly", at(hours=2), at(hours=2, minutes=40))
    await world.app.schedules.move("hourly", at(hours=1), at(hours=2, minutes=20))
    await world.advance("2h10m")
    await world.app.schedules.update("hourly", spec=every("10h"))
    await world.advance("50m")
    assert seen == [at(hours=1), at(hours=2)]


async def test_what_was_moved_and_never_due_does_not_come_back(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("hourly", every("1h"), "note", remaining=0)
    await world.app.schedules.move("hourly", at(hours=1), at(hours=1, minutes=40))
    await world.advance("2h10m")
    await world.app.schedules.update("hourly", remaining=5)
    await world.advance("1h")
    assert seen == [at(hours=3)]


async def test_none_is_put_back_behind_a_neighbour_that_was_moved_past_it(world: World) -> None:
    seen = await start_timed_jobs(world)
    move, put_back = world.app.schedules.move, world.app.schedules.put_back
    await world.app.schedules.create("hourly", every("1h"), "note")
    await move("hourly", at(hours=2), at(hours=2, minutes=40))
    await move("hourly", at(hours=1), at(hours=2, minutes=20))
    with pytest.raises(OstinatoError, match="moved past it, to 2026-01-01T02:20:00Z; put that one back first"):
        await put_back("hourly", at(hours=2))
    await put_back("hourly", at(hours=1))
    await put_back("hourly", at(hours=2))
    await move("hourly", at(hours=1), at(minutes=20))
    await move("hourly", at(hours=2), at(minutes=40))
    with pytest.raises(OstinatoError, match="moved past it, to 2026-01-01T00:40:00Z; put that one back first"):
        await put_back("hourly", at(hours=1))
    await world.advance("50m")
    assert seen == [at(hours=1), at(hours=2)]


async def test_what_an_edit_has_kept_where_it_was_moved_to_is_not_put_back(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("hourly", every("1h", jitter="50m"), "note")
    await world.app.schedules.move("hourly", at(hours=1), at(hours=1, minutes=59))
    await world.advance("60m10s")
    await world.app.schedules.update("hourly", spec=every("1h", jitter="40m"))
    with pytest.raises(OstinatoError, match="not a coming time"):
        await world.app.schedules.put_back("hourly", at(hours=1))
    await world.advance_to(at(hours=1, minutes=58))
    assert seen == []
    await world.advance("90s")
    assert seen == [at(hours=1)]


async def test_a_new_spec_leaves_none_moved_ahead_of_the_one_before_it(world: World) -> None:
    seen = await start_timed_jobs(world)
    update = world.app.schedules.update
    await world.app.schedules.create("hourly", every("1h", jitter="50m"), "note")
    due = (await world.app.schedules.get("hourly")).next
    assert due is not None
    assert due > at(hours=1, minutes=1)
    await update("hourly", spec=every("1h"))
    await world.app.schedules.move("hourly", at(hours=2), at(hours=1, minutes=1))
    await update("hourly", spec=every("1h", jitter="50m"))
    await world.advance("1h59m")
    assert seen == [at(hours=1)]
    await world.advance("1h")
    assert seen == [at(hours=1), at(hours=2)]


async def test_a_time_that_was_moved_ahead_hides_none_of_a_new_spec(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("tick", cron("0 * * * *"), "note")
    await world.app.schedules.move("tick", at(hours=1), at(minutes=30))
    await world.advance_to(at(minutes=31))
    await world.app.schedules.update("tick", spec=cron("*/5 * * * *"))
    await world.advance_to(at(hours=1, minutes=6))
    assert seen == [at(hours=1), *(at(minutes=n) for n in (35, 40, 45, 50, 55)), at(hours=1, minutes=5)]


async def test_times_that_were_moved_ahead_come_once_whatever_the_spec_is_then(world: World) -> None:
    seen = await start_timed_jobs(world)
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
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("tick", cron("0 * * * *"), "note")
    await world.app.schedules.move("tick", at(hours=1), at(hours=1, minutes=50))
    await world.app.schedules.update("tick", spec=cron("*/15 * * * *"))
    await world.advance_to(at(hours=1, minutes=31))
    assert seen == [at(minutes=15 * n) for n in range(1, 7)]
