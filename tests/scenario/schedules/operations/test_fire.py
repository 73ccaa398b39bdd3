"""Due schedules are fired: each time comes once and leaves its record."""

from __future__ import annotations

from ostinato import every
from ostinato.testing import World
from tests.support.schedules import (
    at,
    minutes,
    outcomes,
    start_jobs,
    start_timed_jobs,
)


async def test_a_schedule_runs_at_each_of_its_times(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note", input={"who": "me"})
    await world.advance("5m")
    assert seen == [(at, 0, "me") for at in minutes(1, 2, 3, 4, 5)]
    info = await world.app.schedules.get("tick")
    assert info.state == "running"
    assert info.counts == {"actions": 5}
    assert info.last_result == 5
    assert info.next == minutes(6)[0]
    assert info.upcoming[:3] == tuple(minutes(6, 7, 8))
    assert [one.status for one in info.recent] == ["succeeded"] * 5


async def test_an_unknown_job_is_parked_and_counts_as_running(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("later", every("1m"), "not yet there")
    await world.advance("3m")
    statuses = [(status, reason) for _, status, reason in await outcomes(world, "later")]
    assert statuses == [("waiting", "no_handler"), ("skipped", "overlap"), ("skipped", "overlap")]


async def test_a_beat_takes_only_so_much_of_a_long_backlog_at_once(world: World) -> None:
    await start_timed_jobs(world)
    for n in range(6):
        await world.app.schedules.create(f"tick {n}", every("1s"), "note")
    await world.outage(at(seconds=1), at(hours=2, seconds=1))
    for n in range(6):
        info = await world.app.schedules.get(f"tick {n}", recent=0)
        assert sum(info.counts.values()) == 7201
