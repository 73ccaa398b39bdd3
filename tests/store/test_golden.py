"""Stores that earlier states of Ostinato have left behind, after a crash: the present one opens them, migrates them,
and goes on where they were. `tests/golden/make.py` makes them and says how to add the next."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from ostinato.store.contract import Store
from ostinato.store.migrate import migrations
from ostinato.store.schema import look
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, World, run_virtual
from tests.golden.fill import declare

STORES = Path(__file__).parents[1] / "golden" / "stores"
SCHEMAS = sorted(path.stem for path in STORES.glob("*.json"))
OVER = {"succeeded", "failed", "cancelled", "timed_out", "skipped"}


async def load(url: str, schema: str) -> dict[str, Any]:
    """Put a golden store where nothing is yet; give back what is in it."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.executescript((STORES / f"{schema}.sqlite.sql").read_text(encoding="utf-8"))
    else:
        remote = await asyncpg.connect(url)
        await remote.execute((STORES / f"{schema}.postgres.sql").read_text(encoding="utf-8"))
        await remote.close()
    manifest: dict[str, Any] = json.loads((STORES / f"{schema}.json").read_text(encoding="utf-8"))
    return manifest


def quick(url: str) -> Store | str:
    """The same store; a file without waiting for the disk."""
    is_file = url.startswith("sqlite")
    return SqliteStore(url.removeprefix("sqlite:///"), inline=True, durable=False) if is_file else url


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_store_of_an_earlier_state_is_opened_and_goes_on(bare_store_url: str, schema: str) -> None:
    told = asyncio.run(load(bare_store_url, schema))
    assert asyncio.run(look(bare_store_url)).found == int(schema)
    # A lease that is long enough to live through days of virtual time with few renewals.
    world = World(quick(bare_store_url), clock=VirtualClock(told["now"]), lease="2h")
    run_virtual(open_and_go_on(world, told), world.clock)
    assert asyncio.run(look(bare_store_url)).pending == 0


async def open_and_go_on(world: World, told: dict[str, Any]) -> None:
    declare(world.app)
    try:
        async with world.app.connected():
            await check_what_is_there(world, told)
            for hook in await world.app.webhooks.list():
                await world.app.webhooks.delete(hook.id)  # what happens next is not for the network
        await go_on(world, told)
    finally:
        await world.close()


async def go_on(world: World, told: dict[str, Any]) -> None:
    app = world.app
    await world.up()
    await world.advance("1d")
    over: Counter[str] = Counter(run.status for run in await world.runs())
    assert set(over) <= OVER | {"waiting"}, (over, "what was active was taken over, and ended")
    for status in OVER:
        assert over[status] >= told["runs"].get(status, 0), "what was over stays over"
    attempts = await app.runs(name="slow", limit=1000, attempts=True)
    assert "crashed" in {run.status for run in attempts}
    await schedules_fire(world, told)
    await journeys_go_on(world, told)
    await world.advance("3d")
    assert {run.status for run in await world.runs("note")} <= OVER, "the one that waited has run, too"
    assert await app.check(repair=False) == []


async def check_what_is_there(world: World, told: dict[str, Any]) -> None:
    app = world.app
    assert Counter(run.status for run in await app.runs(limit=1000)) == told["runs"]
    assert len(await app.events(limit=100_000)) == told["events"]
    for name, state in told.get("schedules", {}).items():
        assert (await app.schedules.get(name)).state == state
        assert len(await app.schedules.history(name, limit=1000)) == told["occurrences"][name]
    assert len(await app.tokens()) == told.get("tokens", 0)
    assert sorted(one.name for one in await app.namespaces()) == told.get("namespaces", ["default"])
    assert [one.url for one in await app.webhooks.list()] == told.get("webhooks", [])
    for name, id in told.get("ids", {}).items():
        assert (await app.journeys.status(id)).phase == told["journeys"][name]


async def schedules_fire(world: World, told: dict[str, Any]) -> None:
    if "schedules" not in told:
        await world.app.schedules.create("new", "@hourly", "note")  # the tables of later schemas are there
        return
    history = await world.app.schedules.history("hourly", limit=1000)
    assert Counter(one.status for one in history)["succeeded"] >= told["occurrences"]["hourly"] + 24
    berlin = await world.app.schedules.history("berlin", limit=1000)
    assert [one.status for one in berlin] == ["succeeded"]
    assert len(await world.app.schedules.history("filled", limit=1000)) >= 9 + 24, "the backfill was finished"
    assert "succeeded" not in await states(world, "paused")
    await world.app.schedules.resume("paused")
    await world.advance("1h")
    assert "succeeded" in await states(world, "paused")


async def states(world: World, schedule: str) -> set[str]:
    return {one.status for one in await world.app.schedules.history(schedule, limit=1000)}


async def journeys_go_on(world: World, told: dict[str, Any]) -> None:
    journeys = world.app.journeys
    for name, id in told.get("ids", {}).items():
        if name != "answered":
            await journeys.submit(id, "ask", {"ok": name})
            assert (await journeys.result(id)).output == {"ok": name}


def test_there_is_a_golden_store_of_every_schema_that_was_left_behind() -> None:
    """The newest schema has none until the next one comes; `tests/golden/make.py` says how to add it then."""
    earlier = {f"{number:04}" for number, _ in migrations("sqlite")[:-1]}
    together = {"0003", "0006"}  # came with the one after it
    assert earlier - together <= set(SCHEMAS)
