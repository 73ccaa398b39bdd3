"""Waiting for what was started: with a bar for who watches, until it is over."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import typer

from ostinato.client import Json
from ostinato.errors import NotFound
from ostinato.faces.cli.target import Session

_LOOK = 0.3  # seconds between two looks
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


async def _watched(session: Session, look: Callable[[], Awaitable[list[Json]]]) -> list[Json]:
    with session.out.progress("started") as tell:
        while True:
            found = await look()
            states = {one["state"] for one in found}
            words = "paused" if states & set(OPEN) == {"paused"} else "started"
            tell(sum(one["made"] for one in found), sum(one["total"] for one in found), words=words)
            if not states & set(OPEN):
                return found
            await asyncio.sleep(_LOOK)


async def backfill(session: Session, name: str, id: str) -> Json:
    for one in await session.client.schedules.backfills(name, limit=1000):
        if one["id"] == id:
            return one
    raise NotFound(f"{name!r} has no backfill {id!r}; `ostinato backfills list {name}` names them")
