"""The shortcuts of `runs.end` write the rows and events that its general path would write."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

import pytest

from ostinato import Fatal, Ostinato, every
from ostinato.engine import runs
from ostinato.engine.rows import whole_run
from ostinato.engine.run_queries import list_runs
from ostinato.testing import World

IDS = ("id", "root_id", "node", "schedule_id")
TIMES = ("due", "created", "started", "finished", "ready_at")


def declare(app: Ostinato) -> None:
    @app.job()
    async def returns(value: Any = None) -> Any:
        await asyncio.sleep(1)
        return value

    @app.job()
    async def raises(message: str) -> None:
        raise Fatal(message)

    @app.job(timeout="2s", retry=1)
    async def hangs() -> None:
        await asyncio.sleep(60)


def count_calls(monkeypatch: pytest.MonkeyPatch, name: str) -> list[int]:
    """Replace a function of `runs` by itself, and note how many ends each call gets."""
    calls: list[int] = []
    function = getattr(runs, name)

    def wrapper(ends: list[runs.End], *arguments: Any) -> Any:
        calls.append(len(ends))
        return function(ends, *arguments)

    monkeypatch.setattr(runs, name, wrapper)
    return calls


async def rows_since(world: World, seen: set[str]) -> list[dict[str, Any]]:
    """Return the rows of all other runs, in the order in which they were created. Ids become true or false, and times
    the distance from the creation of the run."""
    rows = await world.app.store.read(lambda _: list_runs("default", attempts=True, limit=1000))
    records = [asdict(run) for run in map(whole_run, reversed(rows)) if run.id not in seen]
    seen |= {row["id"] for row in records}
    for row in records:
        created = row["created"]
        row.update({name: row[name] is not None for name in IDS})
        row.update({name: row[name] and row[name] - created for name in TIMES})
        row["detail"] = row["key"] = None
        row["error"] = bool(row["error"])
    return records


async def events_since(world: World, after: int) -> list[list[tuple[Any, ...]]]:
    """Return the events of each run and each schedule, without ids and times."""
    kept = ("name", "attempt", "reason")
    by_subject: dict[str, list[tuple[Any, ...]]] = {}
    for event in await world.app.events(after=after, limit=1000):
        if event.name.startswith(("run:", "schedule:run")):
            data = tuple((key, value) for key, value in event.data.items() if key in kept)
            by_subject.setdefault(event.subject, []).append((event.name, event.actor, data))
    return list(by_subject.values())


async def run_all(world: World) -> None:
    """Let runs of jobs end in every way that has a shortcut, and some that have none."""
    for value in (None, {"n": 1}, 'é "quoted"'):
        await world.start("returns", {"value": value})
    await world.start("raises", {"message": 'é "quoted"'})
    await world.start("hangs")
    lost = await world.start("returns", {"value": "late"})
    await world.settle()
    await world.app.terminate(lost.id, reason="no longer wanted")
    await world.advance("5s")


async def run_schedules(world: World) -> None:
    """Let runs of three schedules succeed together."""
    for name in ("a", "b", "c"):
        await world.app.schedules.create(name, every("60s"), "returns", input={"value": name})
    await world.advance("65s")
    for name in ("a", "b", "c"):
        await world.app.schedules.delete(name)


@pytest.mark.parametrize(("play", "shortcut"), [(run_all, "_finish"), (run_schedules, "_succeed")])
async def test_a_shortcut_writes_what_the_general_path_writes(
    world: World, monkeypatch: pytest.MonkeyPatch, play: Any, shortcut: str
) -> None:
    declare(world.app)
    await world.up()
    calls = count_calls(monkeypatch, shortcut)
    seen: set[str] = set()
    await play(world)
    rows, events = await rows_since(world, seen), await events_since(world, 0)
    assert sum(calls) >= 3, "the shortcut was taken"
    after = (await world.app.events(newest=True, limit=1))[-1].seq

    calls.clear()
    monkeypatch.setattr(runs, "_is_final_and_plain", lambda end: False)
    await play(world)
    assert calls == []
    assert await rows_since(world, seen) == rows
    assert await events_since(world, after) == events
