"""Backfills: a range of times runs now, beside or behind what the clock brings."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from ostinato import Conflict, NotFound, OstinatoError, cron, every
from ostinato.schedules.api.changes import Changed
from ostinato.schedules.model import OverlapName
from ostinato.schedules.operations.backfills import backfill_row, read_backfill
from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from tests.support.schedules import (
    BEGIN,
    at,
    events_by_id,
    events_of,
    start_jobs,
    start_timed_jobs,
)


async def test_a_backfill_runs_a_range_and_leaves_its_record(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("daily", cron("0 9 * * *"), "note")
    answer = await world.app.schedules.backfill(
        "daily", "2025-01-01T09:00Z", "2025-01-10T09:00Z", overlap="buffer_all", input={"who": "fill"}
    )
    await world.settle()
    assert [(at.day, who) for at, _, who in seen if at] == [(day, "fill") for day in range(1, 11)]
    (record,) = await world.app.schedules.backfills("daily")
    assert (record.id, record.state, record.made, record.total) == (answer.backfill, "completed", 10, 10)
    names = await events_of(world, "daily")
    assert "backfill_started" in names
    assert names[-1] in ("backfill_completed", "run_completed")
    assert (await world.app.schedules.get("daily")).backfills == 0


async def test_a_backfill_that_is_asked_for_again_has_its_answer_whatever_became_of_the_schedule(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules

    async def fill() -> Changed:
        return await schedules.backfill("daily", "2025-01-01T09:00Z", "2025-12-31T10:00Z", request_id="fill")

    await schedules.create("daily", cron("0 9 * * *"), "note")
    first = await fill()
    await schedules.update("daily", spec=cron("0 9 * * *", end="2025-06-01T00:00Z"))
    assert await fill() == first
    await schedules.delete("daily")
    assert await fill() == first
    with pytest.raises(Conflict, match="was used for another call"):
        await schedules.backfill("daily", "2025-01-01T09:00Z", "2025-01-02T09:00Z", request_id="fill")
    with pytest.raises(NotFound):
        await schedules.backfill("daily", "2025-01-01T09:00Z", "2025-01-02T09:00Z", request_id="another")


async def test_a_backfill_of_what_is_still_to_come_is_refused(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("daily", cron("0 9 * * *", tz="Europe/Berlin"), "note")
    with pytest.raises(OstinatoError, match=r"still to come, from 2026-01-01T09:00:00\+01:00 on"):
        await world.app.schedules.backfill("daily", "2025-12-30T00:00Z", "2026-01-05T00:00Z")
    assert await world.app.schedules.backfills("daily") == []
    await world.app.schedules.backfill("daily", "2025-12-30T00:00Z", "2026-01-01T07:59Z")  # no time of it is to come


async def test_a_backfill_can_be_paused_resumed_and_cancelled(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("hourly", cron("0 * * * *"), "note")
    answer = await world.app.schedules.backfill(
        "hourly", "2025-01-01T00:00Z", "2025-01-31T00:00Z", overlap="allow_all", rate=10
    )
    assert answer.backfill is not None
    await world.advance("3s")
    done = len(seen)
    assert 30 <= done <= 50
    await world.app.schedules.pause_backfill("hourly", answer.backfill)
    await world.advance("10s")
    assert len(seen) == done
    await world.app.schedules.resume_backfill("hourly", answer.backfill)
    await world.advance("2s")
    assert len(seen) >= done + 20
    await world.app.schedules.cancel_backfill("hourly", answer.backfill)
    done = len(seen)
    await world.advance("10s")
    assert len(seen) == done
    (record,) = await world.app.schedules.backfills("hourly")
    assert (record.state, record.made) == ("cancelled", done)
    with pytest.raises(Conflict, match="cancelled"):
        await world.app.schedules.resume_backfill("hourly", answer.backfill)


async def test_deleting_a_schedule_cancels_its_unfinished_backfills_also_older_ones_than_a_thousand(
    world: World,
) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("hourly", cron("0 * * * *"), "note")
    paused = await schedules.backfill("hourly", "2025-01-01T00:00Z", "2025-01-31T00:00Z", rate=1)
    await schedules.backfill("hourly", "2025-01-01T00:00Z", "2025-01-31T00:00Z", rate=1)
    assert paused.backfill is not None
    await schedules.pause_backfill("hourly", paused.backfill)
    id = (await schedules.get("hourly")).id

    def add_newer() -> Operation[None]:
        for row in (yield sql("backfill", id=paused.backfill)):
            over = replace(read_backfill(row), state="completed", finished=0)
            yield sql("insert_backfill", [backfill_row(replace(over, id=f"z{n:04}")) for n in range(1_001)])

    def states() -> Operation[list[str]]:
        rows = yield sql("backfills_of", schedule=id, before="z", limit=10)
        return [read_backfill(row).state for row in rows]

    await world.app.store.run(lambda _: add_newer())
    assert await world.app.store.read(lambda _: states()) == ["running", "paused"]
    await schedules.delete("hourly")
    assert await world.app.store.read(lambda _: states()) == ["cancelled", "cancelled"]
    assert (await events_by_id(world, id)).count("backfill_cancelled") == 2


@pytest.mark.parametrize("overlap", ["buffer_all", "allow_all"])
async def test_a_long_backfill_drops_nothing_and_leaves_room_for_what_is_live(
    world: World, overlap: OverlapName
) -> None:
    await start_jobs(world)
    length = 2 if overlap == "allow_all" else 0
    await world.app.schedules.create("live", every("1s"), "note", catchup="all", overlap="allow_all")
    await world.app.schedules.create("filled", cron("* * * * *"), "slow", paused=True, input={"seconds": length})
    times = 1_500 if overlap == "allow_all" else 200
    last = BEGIN - timedelta(minutes=1)
    await world.app.schedules.backfill("filled", last - timedelta(minutes=times - 1), last, overlap=overlap)
    await world.advance("65s")
    (record,) = await world.app.schedules.backfills("filled")
    assert (record.state, record.made, record.total) == ("completed", times, times)
    assert Counter(await world.occurrences("filled")) == {"succeeded": times}
    assert (await world.app.schedules.get("filled")).counts == {"actions": times}
    late = [one.started - one.due for one in await world.app.schedules.history("live") if one.started]
    assert len(late) == 65
    assert max(late) < timedelta(seconds=1)


async def test_a_cancelled_backfill_lets_its_schedule_complete(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("few", every("1m"), "note", remaining=0)
    answer = await world.app.schedules.backfill("few", at(minutes=-10), at(minutes=-1), overlap="allow_all", rate=1)
    await world.advance("2s")
    assert (await world.app.schedules.get("few")).state == "running"
    await world.app.schedules.cancel_backfill("few", answer.backfill or "")
    assert (await world.app.schedules.get("few")).state == "completed"


async def test_what_a_cancelled_backfill_gives_up_is_counted(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("few", every("1h"), "note", input={"seconds": 30})
    answer = await world.app.schedules.backfill("few", at(hours=-60), at(hours=-1), overlap="buffer_all")
    await world.advance("1s")
    assert (await world.app.schedules.get("few")).waiting == 49
    await world.app.schedules.cancel_backfill("few", answer.backfill or "")
    info = await world.app.schedules.get("few")
    assert (info.waiting, info.counts) == (0, {"actions": 1, "closed": 49})


async def test_a_backfill_stands_behind_what_the_clock_brings(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("5m"), "note", overlap="buffer_all", input={"seconds": 60})
    await world.app.schedules.backfill("tick", at(days=-3), at(days=-1), overlap="buffer_all")
    await world.advance("2h")
    live = [one for one in seen if one > BEGIN]
    assert len(live) >= 23
    assert len(seen) - len(live) >= 90


async def test_a_backfill_beside_others_is_in_nobodys_way(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note", input={"seconds": 20})
    await world.app.schedules.backfill("tick", at(hours=-4), at(hours=-1), overlap="allow_all")
    await world.advance("5m30s")
    history = await world.app.schedules.history("tick", first=at(minutes=1))
    assert [one.status for one in history] == ["succeeded"] * 5
