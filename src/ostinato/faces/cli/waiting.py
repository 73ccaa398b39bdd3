"""Waiting for what was started: with a bar for who watches, until it is over."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import typer

from ostinato.client import Json
from ostinato.errors import NotFound
from ostinato.faces.cli.target import Session

_LOOK = 0.3  # seconds between two looks
_COUNTED = 5_000  # records that are read to count what did not run
OPEN = ("running", "paused")


async def run_over(session: Session, id: str) -> Json:
    """The run, once it is over. A job that tells how far it is moves the bar."""
    told = False
    with session.out.progress("waiting", 1.0) as tell:
        while True:
            found = await session.client.run(id)
            if found["finished"] is not None:
                return found
            if not told:
                told = True
                await _say_without_nodes(session)
            tell((found["progress"] or {}).get("done", 0.0), words=found["status"])
            await asyncio.sleep(_LOOK)


async def _say_without_nodes(session: Session) -> None:
    if not any(node["alive"] for node in await session.client.nodes()):
        typer.echo("no node is at work there: it waits until one is started, with `ostinato worker --app …`", err=True)


async def backfills_made(session: Session, wanted: Sequence[tuple[str, str]]) -> list[Json]:
    """Backfills, by schedule and id, once all their times are made or none of them will be."""

    async def look() -> list[Json]:
        return [await backfill(session, name, id) for name, id in wanted]

    return await _watched(session, look)


async def became_of(session: Session, made: Sequence[tuple[str, Json]]) -> str:
    """How many times of backfills were dealt with, and how many of these did not run. Beyond some thousand records the
    second is left to the history."""
    total, done = sum(one["total"] for _, one in made), sum(one["made"] for _, one in made)
    told = f"{done} of {total} times dealt with"
    skipped: Counter[str] = Counter()
    for name, one in made:
        records = await session.client.schedules.history(name, first=one["first"], last=one["last"], limit=_COUNTED)
        if len(records) == _COUNTED:
            return f"{told}; `ostinato schedules history {name}` says what became of them"
        for record in records:
            if record["origin"] == f"backfill-{one['id']}" and record["status"] in ("skipped", "missed"):
                skipped[record["reason"] or record["status"]] += record["count"]
    if not skipped:
        return f"{told}: {done} {'run' if done == 1 else 'runs'}"
    ran = done - skipped.total()
    why = ", ".join(f"{count} for {reason}" for reason, count in skipped.most_common())
    return f"{told}: {ran} {'run' if ran == 1 else 'runs'}, {skipped.total()} skipped ({why})"


async def _watched(session: Session, look: Callable[[], Awaitable[list[Json]]]) -> list[Json]:
    with session.out.progress("dealt with") as tell:
        while True:
            found = await look()
            states = {one["state"] for one in found}
            words = "paused" if states & set(OPEN) == {"paused"} else "dealt with"
            tell(sum(one["made"] for one in found), sum(one["total"] for one in found), words=words)
            if not states & set(OPEN):
                return found
            await asyncio.sleep(_LOOK)


async def backfill(session: Session, name: str, id: str) -> Json:
    for one in await session.client.schedules.backfills(name, limit=1000):
        if one["id"] == id:
            return one
    raise NotFound(f"{name!r} has no backfill {id!r}; `ostinato backfills list {name}` names them")
