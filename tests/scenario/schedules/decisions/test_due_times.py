"""Catching up after an outage."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest

from ostinato import cron, every
from ostinato.schedules.model import OverlapName
from ostinato.testing import World
from tests.support.schedules import (
    at,
    events_of,
    minutes,
    outcomes,
    start_jobs,
    start_timed_jobs,
)


async def test_an_occurrence_missed_during_an_outage_runs_once_late(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("report", cron("0 9 * * *"), "note")
    await world.outage("2026-01-02T08:00Z", "2026-01-04T10:00Z")
    nines = [datetime(2026, 1, day, 9, tzinfo=UTC) for day in (1, 2, 3, 4)]
    assert await outcomes(world, "report") == [
        (nines[0], "succeeded", None),
        (nines[1], "missed", "coalesced"),
        (nines[2], "missed", "coalesced"),
        (nines[3], "succeeded", None),
    ]
    assert seen[-1] == (nines[3], 2, "")
    assert (await world.app.schedules.history("report"))[0].previous == nines[0]
    assert "late" in await events_of(world, "report")


@pytest.mark.parametrize(
    ("catchup", "counts"),
    [
        ("skip", {"succeeded": 1, "catchup_window": 60}),
        ("all", {"succeeded": 61}),
        ("10m", {"succeeded": 11, "catchup_window": 50}),
        ({"mode": "all", "most": 5}, {"succeeded": 6, "catchup_window": 55}),
    ],
)
async def test_an_outage_follows_the_catchup_policy(world: World, catchup: Any, counts: dict[str, int]) -> None:
    await start_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note", catchup=catchup, overlap="buffer_all")
    await world.outage("2026-01-01T00:01:30Z", "2026-01-01T01:01:20Z")
    statuses = [reason or status for _, status, reason in await outcomes(world, "tick")]
    assert Counter(statuses) == Counter(counts)


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        ("skip", ["succeeded"] + ["skipped"] * 7),
        ("buffer_one", ["succeeded"] * 2 + ["skipped"] * 6),
        ("cancel_other", ["skipped"] * 7 + ["succeeded"]),
        ("buffer_all", ["succeeded"] * 8),
        ("allow_all", ["succeeded"] * 8),
    ],
)
@pytest.mark.parametrize("catchup", ["latest", "skip", "all"])
async def test_times_of_a_short_outage_are_on_time_and_follow_the_overlap_policy(
    world: World, overlap: OverlapName, expected: list[str], catchup: str
) -> None:
    await start_jobs(world)
    await world.app.schedules.create("tick", every("1s"), "note", overlap=overlap, catchup=catchup)
    await world.outage("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:08.5Z")
    assert [status for _, status, _ in await outcomes(world, "tick")] == expected
    assert "late" not in await events_of(world, "tick")


async def test_late_runs_are_paced(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create(
        "tick", every("1m"), "note", catchup={"mode": "all", "pace": 10}, overlap="allow_all"
    )
    await world.outage("2026-01-01T00:00:30Z", "2026-01-01T01:00:20Z")
    assert len(seen) == 10
    await world.app.schedules.skip("tick", "2026-01-01T02:00Z")  # a change does not spur it on
    await world.settle()
    assert len(seen) == 10
    await world.advance("3s")
    assert len(seen) == 40
    await world.advance("1m")
    assert [at for at, _, _ in seen] == minutes(*range(1, 62))


async def test_the_latest_that_runs_late_may_be_one_that_was_moved_ahead(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("hourly", every("1h"), "note")
    await world.app.schedules.move("hourly", at(hours=2), at(hours=1, minutes=40))
    await world.outage(at(minutes=50), at(hours=1, minutes=50))
    assert seen == [at(hours=2)]
    assert await outcomes(world, "hourly") == [(at(hours=1), "missed", "coalesced"), (at(hours=2), "succeeded", None)]


async def test_of_two_that_are_late_at_the_same_moment_one_is_the_latest(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("1h"), "note", overlap="allow_all")
    await world.app.schedules.move("tick", at(hours=1), at(hours=1, minutes=30))
    await world.advance("75m")
    await world.app.schedules.update("tick", spec=every("30m"))
    await world.outage(at(minutes=80), at(minutes=110))
    assert seen == [at(minutes=90)]
    assert await outcomes(world, "tick") == [(at(hours=1), "missed", "coalesced"), (at(minutes=90), "succeeded", None)]


async def test_one_that_was_moved_ahead_and_is_left_out_stands_for_none_that_is_late(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("hourly", every("1h"), "note")
    await world.app.schedules.move("hourly", at(hours=2), at(hours=1, minutes=40))
    await world.app.schedules.skip("hourly", at(hours=2))
    await world.outage(at(minutes=50), at(hours=1, minutes=50))
    assert seen == [at(hours=1)]
    assert await outcomes(world, "hourly") == [(at(hours=1), "succeeded", None), (at(hours=2), "skipped", "asked")]
