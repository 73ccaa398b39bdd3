"""What stays on record and for how long; zone rules that change; figures for alerts."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ostinato import Ostinato, SyncOstinato, cron, every, manual
from ostinato.diagnosis import diagnose
from ostinato.schedules import keeping
from ostinato.schedules.scheduler import recompute_zones
from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from ostinato.when import rules_in_force

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


async def begin(world: World) -> list[Any]:
    seen: list[Any] = []

    @world.app.job()
    async def note(ctx: Any) -> None:
        seen.append(ctx.nominal)

    await world.up()
    return seen


async def test_a_schedule_keeps_only_as_many_occurrences_as_it_wants(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("few", every("10m"), "note", keep=5)
    await world.app.schedules.create("all", every("10m"), "note")
    await world.advance("2h1m")
    assert len(await world.app.schedules.history("few")) <= 6
    assert len(await world.app.schedules.history("all")) == 12
    newest = (await world.app.schedules.history("few"))[0]
    assert newest.nominal == BEGIN + timedelta(hours=2)


async def test_request_ids_are_remembered_for_a_day(world: World) -> None:
    await begin(world)
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
    await begin(world)
    await world.app.schedules.create("gone", manual(), "note")
    await world.app.schedules.delete("gone")

    def count(_: int) -> Operation[int]:
        rows = yield sql("stale_schedules", rules="zzz", limit=10)
        return len(rows)

    assert await world.app.store.read(count) == 1
    await world.advance("31d")
    assert await world.app.store.read(count) == 0


async def test_times_worked_out_with_older_zone_rules_are_worked_out_anew(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("nine", cron("0 9 * * *", tz="Europe/Berlin"), "note")
    await world.app.schedules.create("paused", cron("0 9 * * *", tz="Europe/Berlin"), "note", paused=True)
    id = (await world.app.schedules.get("nine")).id
    await world.down()

    async with world.app.connected():

        def age(_: int) -> Operation[None]:
            yield sql("stamp_rules", [(id, "1970a")])
            due = int((BEGIN + timedelta(days=300)).timestamp()) * 1_000_000
            yield sql("set_timers", [("schedule", id, "next", due, "default", None)])

        await world.app.store.run(age)
    await world.advance("1d")
    assert seen == [BEGIN + timedelta(hours=8)]
    assert await recompute_zones(world.app.store) == 0
    assert rules_in_force().version


async def test_staleness_tells_what_an_alert_needs(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("good", every("10m"), "note")
    await world.app.schedules.create("never", every("1h"), "nobody has this job")
    await world.advance("25m")
    found = {one.schedule: one for one in await world.app.measure_schedules()}
    assert found["good"].since_success == pytest.approx(300)
    assert found["good"].overdue == 0
    assert found["never"].since_success is None
    registry = world.app.engine.metrics.registry
    labels = {"namespace": "default", "schedule": "good"}
    assert registry.get_sample_value("ostinato_schedule_since_success_seconds", labels) == pytest.approx(300)
    await world.down()
    await asyncio.sleep(3600)
    async with world.app.connected():
        found = {one.schedule: one for one in await world.app.schedules.staleness()}
    assert found["good"].overdue == pytest.approx(3300)


def test_the_sync_facade_has_the_same_calls(tmp_path: Any) -> None:
    app = Ostinato(f"sqlite:///{tmp_path}/s.db")

    with SyncOstinato(app) as sync:
        sync.schedules.create("s", every("1h"), "some job")
        sync.schedules.pause("s", "wait")
        assert sync.schedules.get("s").state == "paused"


async def test_what_an_earlier_version_has_not_labelled_is_found_again(world: World) -> None:
    await begin(world)
    app = world.app
    for name in ("a", "b", "c"):
        await app.schedules.create(name, "0 9 * * *", "note", tags=["billing"])
    await app.schedules.create("wrong", "0 9 * * *", "note")

    def as_earlier(_: int) -> Operation[None]:
        gone = [("default", label, name) for label in ("job:note", "tag:billing") for name in ("a", "b")]
        yield sql("unlabel_schedules", gone)

    async def found() -> list[list[str]]:
        by_tag, by_job = await app.schedules.list(tag="billing"), await app.schedules.list(job="note")
        return [[one.name for one in by_tag], [one.name for one in by_job]]

    async def told() -> tuple[str, str]:
        (check,) = [one for one in await diagnose(app) if one.name == "schedule_labels"]
        return check.state, check.words

    await app.store.run(as_earlier)
    assert await found() == [["c"], ["c", "wrong"]]
    assert (await told())[0] == "notice"
    assert (await told())[1].startswith("4 jobs or tags of schedules")
    await world.advance("2h")
    assert await found() == [["a", "b", "c"], ["a", "b", "c", "wrong"]]
    assert (await told())[0] == "ok"

    await app.store.run(as_earlier)
    await diagnose(app, repair=True)
    assert await found() == [["a", "b", "c"], ["a", "b", "c", "wrong"]]


async def test_the_walk_over_labels_goes_on_where_it_stopped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "_BITE", 2)
    await begin(world)
    app = world.app
    names = [f"s{number}" for number in range(7)]
    for name in names:
        await app.schedules.create(name, "0 9 * * *", "note")

    def as_earlier(_: int) -> Operation[None]:
        yield sql("unlabel_schedules", [("default", "job:note", name) for name in names])

    await app.store.run(as_earlier)
    assert await app.schedules.list(job="note") == []
    await world.advance("2h")
    assert [one.name for one in await app.schedules.list(job="note")] == names
