"""Wait for runs and backfills, with a progress bar."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import typer

from ostinato.client import Json
from ostinato.errors import NotFound
from ostinato.faces.cli.session import Session

_LOOK = 0.3  # seconds between two looks
_COUNTED = 5_000  # records that are read to count what did not run
OPEN = ("running", "paused")


async def wait_for_run(session: Session, id: str) -> Json:
    """Wait until a run has ended, and return it. The bar shows the progress that the job reports."""
    warned = False
    with session.out.progress("waiting", 1.0) as tell:
        while True:
            run = await session.client.run(id)
            if run["finished"] is not None:
                return run
            if not warned:
                warned = True
                await say_without_nodes(session)
            tell((run["progress"] or {}).get("done", 0.0), words=run["status"])
            await asyncio.sleep(_LOOK)


async def say_without_nodes(session: Session) -> bool:
    """Print a warning if no node is running, because then nothing will happen. Return whether the warning was
    printed."""
    if any(node["alive"] for node in await session.client.nodes()):
        return False
    typer.echo("no node is at work there: it waits until one is started, with `ostinato worker --app …`", err=True)
    return True


async def wait_for_backfills(session: Session, wanted: Sequence[tuple[str, str]]) -> list[Json]:
    """Wait until backfills have processed all their times or were cancelled, and return them.

    `wanted` has the schedule name and the id of each backfill.
    """

    async def look() -> list[Json]:
        return [await read_backfill(session, name, id) for name, id in wanted]

    return await _watch(session, look)


async def count_outcomes(session: Session, backfills: Sequence[tuple[str, Json]]) -> str:
    """Return a text that counts the processed and the skipped times of `backfills`.

    If the history of a backfill's period has `_COUNTED` or more records, skipped times are not counted.
    """
    total, done = (
        sum(backfill["total"] for _, backfill in backfills),
        sum(backfill["made"] for _, backfill in backfills),
    )
    summary = f"{done} of {total} times dealt with"
    skipped: Counter[str] = Counter()
    for name, backfill in backfills:
        records = await session.client.schedules.history(
            name, first=backfill["first"], last=backfill["last"], limit=_COUNTED
        )
        if len(records) == _COUNTED:
            return f"{summary}; `ostinato schedules history {name}` says what became of them"
        for record in records:
            if record["origin"] == f"backfill-{backfill['id']}" and record["status"] in ("skipped", "missed"):
                skipped[record["reason"] or record["status"]] += record["count"]
    if not skipped:
        return f"{summary}: {done} {'run' if done == 1 else 'runs'}"
    ran = done - skipped.total()
    why = ", ".join(f"{count} for {reason}" for reason, count in skipped.most_common())
    return f"{summary}: {ran} {'run' if ran == 1 else 'runs'}, {skipped.total()} skipped ({why})"


async def _watch(session: Session, look: Callable[[], Awaitable[list[Json]]]) -> list[Json]:
    with session.out.progress("dealt with") as tell:
        while True:
            backfills = await look()
            states = {one["state"] for one in backfills}
            words = "paused" if states & set(OPEN) == {"paused"} else "dealt with"
            tell(sum(one["made"] for one in backfills), sum(one["total"] for one in backfills), words=words)
            if not states & set(OPEN):
                return backfills
            await asyncio.sleep(_LOOK)


async def read_backfill(session: Session, name: str, id: str) -> Json:
    for backfill in await session.client.schedules.backfills(name, limit=1000):
        if backfill["id"] == id:
            return backfill
    raise NotFound(f"{name!r} has no backfill {id!r}; `ostinato backfills list {name}` names them")
