"""Schedules that cannot be read are parked, harm no other, and go on when they are mended."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from ostinato import Conflict, cron, every
from ostinato.testing import World
from tests.support.schedules import (
    UNREADABLE_SPEC,
    at,
    read_column,
    start_jobs,
    start_timed_jobs,
    write_column,
)


async def test_a_poison_schedule_is_parked_and_harms_no_other(world: World) -> None:
    seen = await start_jobs(world)
    for n in range(5):
        await world.app.schedules.create(f"s{n}", every("1m"), "note", input={"who": str(n)})
    bad = (await world.app.schedules.get("s2")).id
    await write_column(world, "s2", "spec", UNREADABLE_SPEC)
    await world.advance("3m")
    assert Counter(who for _, _, who in seen) == {"0": 3, "1": 3, "3": 3, "4": 3}
    events = [event for event in await world.app.events(subject=bad, limit=100) if event.name == "schedule:parked"]
    assert len(events) == 1
    assert "Mars/Base" in events[0].data["reason"]
    await world.app.schedules.upsert("s2", every("1m"), "note", input={"who": "mended"})
    await world.advance("1m")
    assert "mended" in {who for _, _, who in seen}


async def test_a_schedule_that_cannot_be_read_is_not_overwritten_with_what_could_be_read_of_it(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("s", cron("0 9 * * *"), "note")
    await write_column(world, "s", "spec", UNREADABLE_SPEC)
    await world.advance("1d")
    assert (await schedules.get("s")).state == "parked"
    changes: list[Any] = [
        schedules.pause,
        schedules.resume,
        schedules.trigger,
        lambda s: schedules.update(s, notes="n"),
    ]
    for change in changes:
        with pytest.raises(Conflict, match="cannot be read: tz 'Mars/Base'"):
            await change("s")
    assert "Mars/Base" in await read_column(world, "s", "spec")
    await schedules.update("s", spec=cron("0 10 * * *"), action="note")
    assert (await schedules.get("s")).state == "running"
    await write_column(world, "s", "spec", UNREADABLE_SPEC)
    await schedules.delete("s")
    assert await schedules.list() == []


@pytest.mark.parametrize("catchup", [None, "all"])
async def test_times_that_passed_while_a_schedule_was_parked_are_on_record(world: World, catchup: str | None) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("1h"), "note", overlap="buffer_all")
    before = await write_column(world, "tick", "spec", UNREADABLE_SPEC)
    await world.advance("5h30m")
    assert (await world.app.schedules.get("tick")).state == "parked"
    await write_column(world, "tick", "spec", before)
    answer = await world.app.schedules.resume("tick", catchup=catchup)
    await world.settle()
    assert answer.lateness.late == 5
    assert len(seen) == (5 if catchup else 0)
    assert len(await world.occurrences("tick")) == 5
    if catchup is None:
        assert set(await world.occurrences("tick")) == {"skipped: parked"}


async def test_what_waited_when_a_schedule_was_parked_goes_on_when_it_is_mended(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note", overlap="buffer_all", input={"seconds": 90})
    await world.app.schedules.backfill("tick", at(hours=-1), at(minutes=-51), overlap="allow_all", rate=0.05)
    await world.advance("2m10s")
    before = await write_column(world, "tick", "spec", UNREADABLE_SPEC)
    await world.advance("10m")
    assert (await world.app.schedules.get("tick")).state == "parked"
    await write_column(world, "tick", "spec", before)
    await world.app.schedules.resume("tick")
    await world.advance("10m")
    (record,) = await world.app.schedules.backfills("tick")
    assert (record.state, record.made) == ("completed", 10)
    assert at(minutes=2) in seen
