"""Jobs, times and records that the tests of schedules share. Every world begins at `BEGIN`."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from ostinato.store.columns import SCHEDULE_COLUMNS
from ostinato.store.contract import Operation, sql
from ostinato.testing import World

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
UNREADABLE_SPEC = '{"cron": ["0 9 * * *"], "tz": "Mars/Base"}'


async def start_jobs(world: World) -> list[tuple[Any, ...]]:
    """Start a node with `note`, `slow` and `bad`; return the calls of the first two as they come."""
    calls: list[tuple[Any, ...]] = []

    @world.app.job()
    async def note(ctx: Any, who: str = "") -> int:
        calls.append((ctx.nominal, ctx.coalesced, who))
        return len(calls)

    @world.app.job()
    async def slow(ctx: Any, seconds: float = 90) -> None:
        calls.append((ctx.nominal, ctx.coalesced, "slow"))
        await asyncio.sleep(seconds)

    @world.app.job()
    async def bad() -> None:
        raise ValueError("no")

    await world.up()
    return calls


async def start_timed_jobs(world: World) -> list[datetime]:
    """Start a node with `note` and `bad`, which take some seconds; return the times of `note` as it is called."""
    times: list[datetime] = []

    @world.app.job()
    async def note(ctx: Any, seconds: float = 0) -> None:
        times.append(ctx.nominal)
        await asyncio.sleep(seconds)

    @world.app.job()
    async def bad(seconds: float = 0) -> None:
        await asyncio.sleep(seconds)
        raise ValueError("no")

    await world.up()
    return times


def at(**length: float) -> datetime:
    """Return the moment that is this long after the beginning."""
    return BEGIN + timedelta(**length)


def minutes(*numbers: float) -> list[datetime]:
    return [at(minutes=number) for number in numbers]


async def outcomes(world: World, name: str) -> list[tuple[datetime, str, str | None]]:
    """Return time, status and reason of each of a schedule's occurrences, the oldest first."""
    history = await world.app.schedules.history(name, limit=1000)
    return [(occurrence.nominal, occurrence.status, occurrence.reason) for occurrence in reversed(history)]


async def events_of(world: World, name: str) -> list[str]:
    return await events_by_id(world, (await world.app.schedules.get(name)).id)


async def events_by_id(world: World, id: str) -> list[str]:
    """Return the names of a schedule's events, also of one that is deleted."""
    return [event.name.removeprefix("schedule:") for event in await world.app.events(subject=id, limit=1000)]


async def write_column(world: World, name: str, column: str, text: str) -> str:
    """Write a text into a column of a schedule's row, past all checks; return what was there before."""
    id = (await world.app.schedules.get(name)).id
    index = SCHEDULE_COLUMNS.index(column)

    def write(_: int) -> Operation[str]:
        (row,) = yield sql("schedules_by_ids", [(id,)])
        yield sql("replace_schedules", [[*row[:index], text, *row[index + 1 :]]])
        return str(row[index])

    return await world.app.store.run(write)


async def read_column(world: World, name: str, column: str) -> str:
    id = (await world.app.schedules.get(name)).id

    def read(_: int) -> Operation[str]:
        (row,) = yield sql("schedules_by_ids", [(id,)])
        return str(row[SCHEDULE_COLUMNS.index(column)])

    return await world.app.store.read(read)
