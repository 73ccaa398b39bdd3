"""Stores that earlier states of Ostinato have left behind, after a crash: the present one opens them, migrates them,
and goes on where they were. `tests/golden/make.py` makes them and says how to add the next."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from typing import Any

import asyncpg
import pytest

from ostinato import Ostinato
from ostinato.faces.temporal.wire_schedules import WireSchedules
from ostinato.store.migrate import migrations
from ostinato.store.schema_version import read_version
from ostinato.testing import VirtualClock, World, run_virtual
from tests.golden.fill import declare
from tests.support.golden import STORES, load
from tests.support.stores import quick

SCHEMAS = sorted(path.stem for path in STORES.glob("[0-9]*.json"))
OVER = {"succeeded", "failed", "cancelled", "timed_out", "skipped"}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_store_of_an_earlier_state_is_opened_and_goes_on(bare_store_url: str, schema: str) -> None:
    manifest = asyncio.run(load(bare_store_url, schema))
    assert asyncio.run(read_version(bare_store_url)).current == int(schema)
    # A lease that is long enough to live through days of virtual time with few renewals.
    world = World(quick(bare_store_url), clock=VirtualClock(manifest["now"]), lease="2h")
    run_virtual(open_and_go_on(world, manifest), world.clock)
    assert asyncio.run(read_version(bare_store_url)).pending == 0


async def open_and_go_on(world: World, manifest: dict[str, Any]) -> None:
    declare(world.app)
    try:
        async with world.app.connected():
            await check_what_is_there(world, manifest)
            for hook in await world.app.webhooks.list():
                await world.app.webhooks.delete(hook.id)  # what happens next is not for the network
        await go_on(world, manifest)
    finally:
        await world.close()


async def go_on(world: World, manifest: dict[str, Any]) -> None:
    app = world.app
    await world.up()
    await world.advance("1d")
    over: Counter[str] = Counter(run.status for run in await world.runs())
    assert set(over) <= OVER | {"waiting"}, (over, "what was active was taken over, and ended")
    for status in OVER:
        assert over[status] >= manifest["runs"].get(status, 0), "what was over stays over"
    attempts = await app.runs(name="slow", limit=1000, attempts=True)
    assert "crashed" in {run.status for run in attempts}
    await schedules_fire(world, manifest)
    await journeys_go_on(world, manifest)
    await wire_goes_on(world, manifest)
    await world.advance("3d")
    assert {run.status for run in await world.runs("note")} <= OVER, "the one that waited has run, too"
    assert await app.check(repair=False) == []


async def check_what_is_there(world: World, manifest: dict[str, Any]) -> None:
    app = world.app
    assert Counter(run.status for run in await app.runs(limit=1000)) == manifest["runs"]
    assert len(await app.events(limit=100_000)) == manifest["events"]
    for name, state in manifest.get("schedules", {}).items():
        assert (await app.schedules.get(name)).state == state
        assert len(await app.schedules.history(name, limit=1000)) == manifest["occurrences"][name]
    assert len(await app.tokens()) == manifest.get("tokens", 0)
    assert sorted(one.name for one in await app.namespaces()) == manifest.get("namespaces", ["default"])
    assert [one.url for one in await app.webhooks.list()] == manifest.get("webhooks", [])
    for name, id in manifest.get("ids", {}).items():
        assert (await app.journeys.status(id)).phase == manifest["journeys"][name]
    if "workflow_ids" in manifest:
        assert (
            sorted((await WireSchedules.of(app.schedules).describe("wired", 10)).workflow_ids.values())
            == manifest["workflow_ids"]
        )


async def wire_goes_on(world: World, manifest: dict[str, Any]) -> None:
    """Runs of a schedule that came over Temporal's wire have workflow ids, those of before and those of after."""
    if "workflow_ids" not in manifest:
        return
    described = await WireSchedules.of(world.app.schedules).describe("wired", 30)
    workflow_ids = [described.workflow_ids[run.root_id] for run in described.recent]
    assert len(workflow_ids) >= 25
    assert set(manifest["workflow_ids"]) <= set(workflow_ids)
    assert all(id.startswith("greeting-2026-01-0") for id in workflow_ids)


async def schedules_fire(world: World, manifest: dict[str, Any]) -> None:
    if "schedules" not in manifest:
        await world.app.schedules.create("new", "@hourly", "note")  # the tables of later schemas are there
        return
    history = await world.app.schedules.history("hourly", limit=1000)
    assert Counter(one.status for one in history)["succeeded"] >= manifest["occurrences"]["hourly"] + 24
    berlin = await world.app.schedules.history("berlin", limit=1000)
    assert [one.status for one in berlin] == ["succeeded"]
    assert len(await world.app.schedules.history("filled", limit=1000)) >= 9 + 24, "the backfill was finished"
    assert "succeeded" not in await states(world, "paused")
    await world.app.schedules.resume("paused")
    await world.advance("1h")
    assert "succeeded" in await states(world, "paused")


async def states(world: World, schedule: str) -> set[str]:
    return {one.status for one in await world.app.schedules.history(schedule, limit=1000)}


async def journeys_go_on(world: World, manifest: dict[str, Any]) -> None:
    journeys = world.app.journeys
    if "starting" in manifest:  # a schedule whose action is a journey
        assert (await world.app.schedules.export(match="starting")).count("journey: approval") == 1
        assert "waiting" in await states(world, "starting")
    for name, id in manifest.get("ids", {}).items():
        if name != "answered":
            await journeys.submit(id, "ask", {"ok": name})
            assert (await journeys.result(id)).output == {"ok": name}


def test_a_node_of_schema_11_finds_the_table_of_workflow_ids_by_its_former_name(bare_store_url: str) -> None:
    """It reads and deletes rows. It can insert some on PostgreSQL; on SQLite its statement is refused, and it tries
    again until a newer node has done the work."""
    manifest = asyncio.run(load(bare_store_url, "0011"))
    select = "SELECT workflow_id FROM ostinato_workflows"
    insert = """INSERT INTO ostinato_workflows (run_id, namespace, workflow_id, request_id, action)
        SELECT 'r', 'default', 'w', 'q', 'a' WHERE true ON CONFLICT DO NOTHING"""
    delete = "DELETE FROM ostinato_workflows WHERE run_id <> 'r'"

    async def migrate() -> None:
        async with Ostinato(bare_store_url).connected():
            pass

    async def on_postgres() -> None:
        remote = await asyncpg.connect(bare_store_url)
        assert [row[0] for row in await remote.fetch(select)] == manifest["workflow_ids"]
        await remote.execute(insert)
        await remote.execute(insert)
        await remote.execute(delete)
        rows = await remote.fetch("SELECT workflow_id FROM ostinato_temporal_executions")
        assert [row[0] for row in rows] == ["w"]
        await remote.close()

    asyncio.run(migrate())
    if not bare_store_url.startswith("sqlite"):
        asyncio.run(on_postgres())
        return
    with closing(sqlite3.connect(bare_store_url.removeprefix("sqlite:///"))) as connection:
        assert [row[0] for row in connection.execute(select)] == manifest["workflow_ids"]
        with pytest.raises(sqlite3.OperationalError, match="view"):
            connection.execute(insert)
        connection.execute(delete)
        assert connection.execute("SELECT count(*) FROM ostinato_temporal_executions").fetchone() == (0,)


def test_there_is_a_golden_store_of_every_schema_that_was_left_behind() -> None:
    """The newest schema has none until the next one comes; `tests/golden/make.py` says how to add it then."""
    earlier = {f"{number:04}" for number, _ in migrations("sqlite")[:-1]}
    together = {"0003", "0006"}  # came with the one after it
    assert earlier - together <= set(SCHEMAS)
