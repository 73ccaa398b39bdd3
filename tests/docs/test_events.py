"""The table of schedules' events in the reference is a contract: each of them is provoked and compared with it."""

from __future__ import annotations

import asyncio
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ostinato import every, manual
from ostinato.event_names import EventNames
from ostinato.store.contract import Operation, sql
from ostinato.store.sql import Query, queries
from ostinato.testing import World
from ostinato.ways import all_ways

PAGE = Path(__file__).parents[2] / "docs/reference/events.md"
ROW = re.compile(r"^\| `(schedule:\w+)` \| .* \| (.*)\|$", re.MULTILINE)
FIELD = re.compile(r"`(\w+)(\??)` (text|number|moment|truth|object)")
TYPES: dict[str, type] = {"text": str, "number": int, "moment": int, "truth": bool, "object": dict}
DATE = 1_000_000_000_000_000  # moments are microseconds since 1970, so none of ours is smaller

for dialect in ("sqlite", "postgres"):
    queries(dialect)["spoil_this_schedule"] = Query(
        "spoil_this_schedule", 'UPDATE ostinato_schedules SET spec = \'{"cron": ["?"]}\' WHERE id = :id', (), False
    )


def documented() -> dict[str, dict[str, tuple[str, bool]]]:
    """By name of the event: each field, its type and whether it may be missing."""
    table = {}
    for name, cell in ROW.findall(PAGE.read_text(encoding="utf-8")):
        fields = {field: (kind, bool(optional)) for field, optional, kind in FIELD.findall(cell)}
        table[name] = {"name": ("text", False), **fields}
    return table


@pytest.fixture
def world() -> World:
    return World()


async def provoke(world: World) -> None:
    """A life of schedules in which everything happens that can."""
    schedules = world.app.schedules

    @world.app.job()
    async def quick() -> None: ...

    @world.app.job()
    async def bad() -> None:
        raise ValueError("no")

    @world.app.job()
    async def slow(seconds: float = 150) -> None:
        await asyncio.sleep(seconds)

    await world.up()
    await schedules.create("plain", every("1m"), "quick")
    await schedules.create("bad", every("1m"), "bad", pause_after_failures=2)
    await schedules.create("slow", every("1m"), "slow")
    await schedules.create("cut short", every("1m"), "slow", overlap="terminate_other", remaining=3)
    await schedules.create("poison", every("1m"), "quick")
    poison = (await schedules.get("poison")).id

    def spoil(_: int) -> Operation[None]:
        yield sql("spoil_this_schedule", id=poison)

    await world.app.store.run(spoil)
    await world.advance("3m30s")

    await schedules.update("plain", spec=every("2m"))
    await schedules.skip("plain", "2026-01-01T00:06:00Z")
    await schedules.move("plain", "2026-01-01T00:08:00Z", "2026-01-01T00:08:30Z")
    await schedules.move("plain", "2026-01-01T00:10:00Z", "2026-01-01T00:10:30Z")
    await schedules.put_back("plain", "2026-01-01T00:10:00Z")
    await world.advance("6m")
    await schedules.pause("plain", "a while")
    await world.advance("5h")
    await schedules.resume("plain")
    await world.outage("2026-01-01T06:01Z", "2026-01-01T10:05Z")

    await schedules.create("filled", manual(), "quick")
    await schedules.update("filled", spec=every("1h"))
    first, last = "2025-01-01T00:00Z", "2025-01-03T00:00Z"
    turned = (await schedules.backfill("filled", first, last, overlap="allow_all", rate=5)).backfill
    assert turned is not None
    await world.advance("3s")
    await schedules.pause_backfill("filled", turned)
    await schedules.resume_backfill("filled", turned)
    await schedules.cancel_backfill("filled", turned)
    await schedules.backfill("filled", first, last, overlap="allow_all")
    await world.advance("1m")
    await schedules.delete("filled")


async def test_every_event_of_schedules_is_as_the_reference_says(world: World) -> None:
    await provoke(world)
    contract = documented()
    seen: dict[str, set[str]] = defaultdict(set)
    after = 0
    while events := await world.app.events(after=after, limit=1000):
        after = events[-1].seq
        for event in events:
            if event.name.startswith("schedule:"):
                compare(event.name, event.data, contract[event.name])
                seen[event.name] |= event.data.keys()
    assert sorted(seen) == sorted(contract)
    assert {name: set(fields) for name, fields in contract.items()} == seen


def compare(name: str, data: Mapping[str, Any], fields: dict[str, tuple[str, bool]]) -> None:
    for field, (kind, optional) in fields.items():
        if field not in data:
            assert optional, f"{name} has no {field!r}: {data}"
            continue
        assert type(data[field]) is TYPES[kind], f"{name}: {field!r} is {data[field]!r}, which is no {kind}"
        if kind == "moment":
            assert data[field] > DATE, f"{name}: {field!r} is {data[field]!r}, which is no moment"
    assert data.keys() <= fields.keys(), f"{name} says more than the reference: {data}"


def test_the_table_is_read() -> None:
    """A table that is written in another way would make the test above see nothing."""
    table = documented()
    assert len(table) == 21
    assert table["schedule:skipped"]["blocked_by"] == ("text", True)


def test_every_event_is_in_the_reference_and_in_the_list_of_names() -> None:
    listed = set(re.findall(r"`([a-z_]+:[a-z_]+)`", PAGE.read_text(encoding="utf-8"))) - {"subject:verb"}
    assert listed == set(EventNames(all_ways().events).all)
