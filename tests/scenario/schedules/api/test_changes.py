"""Calls that change schedules: tokens, request ids, many at once, and what they answer."""

from __future__ import annotations

import asyncio

import pytest

from ostinato import Conflict, every, manual
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations.edit import AlreadyExists, TokenMismatch
from ostinato.testing import World
from tests.support.schedules import (
    minutes,
    start_jobs,
)


async def test_a_stale_token_is_refused_and_told_the_current_one(world: World) -> None:
    await start_jobs(world)
    created = await world.app.schedules.create("s", every("1m"), "note")
    updated = await world.app.schedules.update("s", token=created.token, notes="one")
    with pytest.raises(TokenMismatch, match="current one is 2") as refused:
        await world.app.schedules.update("s", token=created.token, notes="two")
    assert refused.value.current == updated.token == 2
    assert (await world.app.schedules.get("s")).notes == "one"


async def test_a_request_is_done_once(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("s", manual(), "note", request_id="r0")
    await world.app.schedules.create("s", manual(), "note", request_id="r0")
    answer = await world.app.schedules.trigger("s", request_id="r1")
    two = await world.app.schedules.trigger("s", request_id="r1")
    await world.settle()
    assert answer == two
    assert len(seen) == 1
    with pytest.raises(Conflict, match="another call"):
        await world.app.schedules.pause("s", request_id="r1")
    with pytest.raises(Conflict, match="exists already"):
        await world.app.schedules.create("s", manual(), "note")


async def test_schedules_are_created_once_for_a_request_and_only_as_it_named_them(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules

    def drafts(spec: str, count: int = 2) -> list[Schedule]:
        return [schedules.draft(f"s{number}", spec, "note") for number in range(count)]

    for _ in range(2):
        assert await schedules.create_many(drafts("every 1h"), request_id="r") == 2
    for others in (drafts("every 2h"), drafts("every 1h", 1), drafts("every 1h", 3)):
        with pytest.raises(Conflict, match="another call"):
            await schedules.create_many(others, request_id="r")
    assert await schedules.create_many(drafts("every 1h", 501)[2:], request_id="long") == 499
    with pytest.raises(Conflict, match="another call"):
        await schedules.create_many(drafts("every 1h", 502)[2:], request_id="long")


async def test_schedules_whose_creation_met_a_taken_name_are_completed_by_the_same_request(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("s501", "every 2h", "note")
    drafts = [schedules.draft(f"s{number}", "every 1h", "note") for number in range(502)]
    with pytest.raises(AlreadyExists, match="s501"):
        await schedules.create_many(drafts, request_id="r")
    drafts[501] = schedules.draft("s502", "every 1h", "note")
    for _ in range(2):
        assert await schedules.create_many(drafts, request_id="r") == 502
    names = [schedule.name for schedule in await schedules.list(limit=1000)]
    assert sorted(names) == sorted(f"s{number}" for number in range(503))


async def test_bulk_by_a_filter(world: World) -> None:
    await start_jobs(world)
    for n in range(6):
        await world.app.schedules.create(f"job-{n}", every("1m"), "note", tags=["even" if n % 2 == 0 else "odd"])
    steps: list[tuple[int, int]] = []
    done = await world.app.schedules.each(
        world.app.schedules.pause, tag="even", progress=lambda n, of: steps.append((n, of))
    )
    assert done == {"job-0": None, "job-2": None, "job-4": None}
    assert steps == [(1, 3), (2, 3), (3, 3)]
    assert [one.name for one in await world.app.schedules.list(state="paused")] == ["job-0", "job-2", "job-4"]
    assert [one.name for one in await world.app.schedules.list(match="job-[45]")] == ["job-4", "job-5"]


async def test_upsert_creates_changes_and_leaves_alone(world: World) -> None:
    seen = await start_jobs(world)
    put = world.app.schedules.upsert
    assert (await put("s", every("2m"), "note"))[0] == "created"
    assert (await put("s", every("2m"), "note"))[0] == "unchanged"
    await world.advance("3m1s")
    assert (await put("s", every("3m"), "note"))[0] == "updated"
    await world.advance("3m")
    assert [at for at, _, _ in seen] == minutes(2, 6)
    assert (await world.app.schedules.get("s")).counts == {"actions": 2}


async def test_many_large_specs_are_taken_at_once(world: World) -> None:
    """They are read in threads, and none is refused because others are being read."""
    await world.up()
    spec = {"cron": ["0 9 * * *"], "exclude": {"dates": ["2026-12-25"]}}
    await asyncio.gather(*(world.app.schedules.create(f"s{n:02}", spec, "work") for n in range(30)))
    await asyncio.gather(*(world.app.schedules.update(f"s{n:02}", spec={**spec, "tz": "UTC"}) for n in range(30)))
    assert [schedule.token for schedule in await world.app.schedules.list()] == [2] * 30
