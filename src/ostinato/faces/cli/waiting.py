"""Wait for runs and backfills, with a progress bar."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import typer

from ostinato.client import Json
from ostinato.errors import NotFound
from ostinato.faces.cli.output import counted
from ostinato.faces.cli.session import Session

_LOOK = 0.3  # seconds between two looks
_COUNTED = 5_000  # records that are read to count what did not run
OPEN = ("running", "paused")
T = TypeVar("T")


async def wait_until(
    session: Session,
    read: Callable[[], Awaitable[T]],
    is_over: Callable[[T], bool],
    show: Callable[[T], None],
) -> T:
    """Call `read` until `is_over` accepts the result, and return this result. Call `show` with each earlier result.

    If the first result is not accepted and no node is running, print a warning.
    """
    value = await read()
    if not is_over(value):
        await say_without_nodes(session)
    while not is_over(value):
        show(value)
        await asyncio.sleep(_LOOK)
        value = await read()
    return value


def is_finished(run: Json) -> bool:
    return run["finished"] is not None


async def wait_for_run(session: Session, id: str) -> Json:
    """Wait until a run has ended, and return it. The bar shows the progress that the job reports."""
    with session.out.progress("waiting", 1.0) as tell:

        def show(run: Json) -> None:
            tell((run["progress"] or {}).get("done", 0.0), words=run["status"])

        return await wait_until(session, lambda: session.client.run(id), is_finished, show)


async def say_without_nodes(session: Session) -> bool:
    """Print a warning if no node is running. Return whether it was printed."""
    if any(node["alive"] for node in await session.client.nodes()):
        return False
    typer.echo("no node is at work there: it waits until one is started, with `ostinato worker --app …`", err=True)
    return True


async def wait_for_backfills(session: Session, wanted: Sequence[tuple[str, str]]) -> list[Json]:
    """Wait until backfills are over, and return them. An item of `wanted` is a schedule's name and a backfill's id."""
    with session.out.progress("dealt with") as tell:

        async def read() -> list[Json]:
            return [await read_backfill(session, name, id) for name, id in wanted]

        def show(backfills: list[Json]) -> None:
            words = "paused" if _states(backfills) & set(OPEN) == {"paused"} else "dealt with"
            tell(sum(one["made"] for one in backfills), sum(one["total"] for one in backfills), words=words)

        return await wait_until(session, read, lambda backfills: not _states(backfills) & set(OPEN), show)


def _states(backfills: Sequence[Json]) -> set[str]:
    return {backfill["state"] for backfill in backfills}


async def count_outcomes(session: Session, backfills: Sequence[tuple[str, Json]]) -> str:
    """Return a text about the times that backfills have processed. The text says how many of these times became runs,
    how many were skipped, and why. An item of `backfills` is a schedule's name and a backfill.

    If the history of a schedule is too long to count the runs, the text names a command that shows the history.
    """
    total = sum(backfill["total"] for _, backfill in backfills)
    done = sum(backfill["made"] for _, backfill in backfills)
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
        return f"{summary}: {counted(done, 'run')}"
    ran = counted(done - skipped.total(), "run")
    why = ", ".join(f"{count} for {reason}" for reason, count in skipped.most_common())
    return f"{summary}: {ran}, {skipped.total()} skipped ({why})"


async def read_backfill(session: Session, name: str, id: str) -> Json:
    for backfill in await session.client.schedules.backfills(name, limit=1000):
        if backfill["id"] == id:
            return backfill
    raise NotFound(f"{name!r} has no backfill {id!r}; `ostinato backfills list {name}` names them")
