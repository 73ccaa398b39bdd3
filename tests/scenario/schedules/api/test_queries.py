"""Calls that read schedules: lists, figures for alerts, what is late."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

from ostinato import Ostinato, OstinatoError, every
from ostinato.testing import World
from tests.support import journey_parts
from tests.support.schedules import (
    minutes,
    start_jobs,
    start_timed_jobs,
    write_column,
)


async def test_what_is_late_is_said_before_it_happens(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note")
    await world.down()
    await asyncio.sleep(17 * 60 + 20)
    async with world.app.connected():
        assert {name: str(one) for name, one in (await world.app.schedules.late()).items()} == {
            "tick": "17 late, will run 1"
        }
        coming = await world.app.schedules.upcoming(3)
        assert [str(one.lateness) for one in coming] == [
            "17 late, will run 1",
            "0 late, will run 0",
            "0 late, will run 0",
        ]
        assert str((await world.app.schedules.get("tick")).lateness) == "17 late, will run 1"
        explained = await world.app.schedules.explain("tick", minutes(1)[0])
        assert explained.outcome == "late"


async def test_coming_times_say_what_starts(world: World) -> None:
    await start_jobs(world)
    await world.app.journeys.deploy(journey_parts.text("a: {type: succeed}", name="greet"))
    schedules = world.app.schedules
    actions: dict[str, Any] = {"a": "note", "b": {"journey": "greet"}, "c": {"function": "onboard"}}
    for name, action in actions.items():
        await schedules.create(name, every("1m"), action)
    starts = [one.starts for one in await schedules.upcoming(each=1)]
    assert starts == ["note", "journey greet", "function onboard"]
    assert starts == [one.starts for one in await schedules.list()]


async def test_what_is_said_to_be_late_is_all_of_it_whatever_the_pace(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note", catchup="all", overlap="allow_all")
    await world.down()
    await asyncio.sleep(500 * 60 + 20)
    async with world.app.connected():
        assert str((await world.app.schedules.late())["tick"]) == "500 late, will run 500"


async def test_lateness_is_of_one_namespace(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("tick", every("1m"), "note")
    await world.down()
    await asyncio.sleep(3600)
    async with Ostinato(world.app.store, clock=world.clock, namespace="other").connected() as other:
        assert await other.schedules.late() == {}


async def test_an_unknown_state_is_refused(world: World) -> None:
    await start_jobs(world)
    with pytest.raises(OstinatoError, match="did you mean 'running'"):
        await world.app.schedules.list(state="runing")  # type: ignore[arg-type]


COLUMNS = ("spec", "action", "policies", "memory", "outcome", "memo", "tags", "attributes")


@pytest.mark.parametrize("column", COLUMNS)
async def test_one_that_cannot_be_read_does_not_hide_the_others(world: World, column: str) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    for name in ("a", "bad", "c"):
        await schedules.create(name, every("1m"), "note")
    for text in ("7", "{", '{"unknown": [1]}'):
        if text == '{"unknown": [1]}' and column in ("memory", "memo", "tags", "attributes"):
            continue  # these can be read so
        if text == "7" and column == "memo":
            continue
        await write_column(world, "bad", column, text)
        assert [(one.name, one.state) for one in await schedules.list()] == [
            ("a", "running"),
            ("bad", "parked"),
            ("c", "running"),
        ]
        assert (await schedules.get("bad")).reason
        assert len(await schedules.staleness()) == 3
        assert {"a", "c"} <= {one.schedule for one in await schedules.upcoming()}
        assert list(orjson.loads(await schedules.export(form="json"))["schedules"]) == ["a", "bad", "c"]
        assert await schedules.each(schedules.get) == {"a": None, "bad": None, "c": None}
    await world.advance("2h")  # housekeeping, too
    assert await world.occurrences("a") == ["succeeded"] * 120
    await schedules.upsert("bad", every("1m"), "note")
    assert (await schedules.get("bad")).state == "running"


async def test_staleness_tells_what_an_alert_needs(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("good", every("10m"), "note")
    await world.app.schedules.create("never", every("1h"), "nobody has this job")
    await world.advance("25m")
    figures = {one.schedule: one for one in await world.app.measure_schedules()}
    assert figures["good"].since_success == pytest.approx(300)
    assert figures["good"].overdue == 0
    assert figures["never"].since_success is None
    registry = world.app.engine.metrics.registry
    labels = {"namespace": "default", "schedule": "good"}
    assert registry.get_sample_value("ostinato_schedule_since_success_seconds", labels) == pytest.approx(300)
    await world.down()
    await asyncio.sleep(3600)
    async with world.app.connected():
        figures = {one.schedule: one for one in await world.app.schedules.staleness()}
    assert figures["good"].overdue == pytest.approx(3300)
