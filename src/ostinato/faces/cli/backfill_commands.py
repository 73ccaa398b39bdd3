"""`ostinato backfills …`: ranges of times that are run now, how far they are, and how to stop them. They are begun
with `ostinato schedules backfill`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ostinato.client import Json
from ostinato.errors import Conflict, NotFound
from ostinato.faces.cli.answers import moment, short, status
from ostinato.faces.cli.given import known
from ostinato.faces.cli.target import Session, command
from ostinato.faces.cli.waiting import OPEN, backfill, backfills_made

backfills = typer.Typer(
    help="Backfills: how far they are, and how to stop them.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[str, typer.Argument(help="The schedule's name.")]
Id = Annotated[str | None, typer.Argument(help="Which of its backfills. [default: the one that is not done]")]


@command(backfills, "list")
async def list_backfills(
    session: Session, name: Name, limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most so many.")] = 50
) -> None:
    """The backfills of a schedule, the newest first."""
    await known(session.client, name)
    found = await session.client.schedules.backfills(name, limit=limit)
    columns = ("backfill", "state", "made", "of", "first", "last", "created", "why")
    session.out.items(found, columns, _row, nothing="it was never filled")


@command(backfills)
async def pause(session: Session, name: Name, id: Id = None) -> None:
    """Make no more of its times for now."""
    await _turn(session, name, id, "pause", "paused")


@command(backfills)
async def resume(session: Session, name: Name, id: Id = None) -> None:
    """Go on where it was paused."""
    await _turn(session, name, id, "resume", "resumed")


@command(backfills)
async def cancel(
    session: Session,
    name: Name,
    id: Id = None,
    reason: Annotated[str, typer.Option(help="Why, for whoever looks.")] = "",
) -> None:
    """Make no more of its times; those that wait are given up, those that run run on."""
    await _turn(session, name, id, "cancel", "cancelled", reason)


@command(backfills)
async def wait(session: Session, name: Name, id: Id = None) -> None:
    """Wait until all its times are made, with a bar. Exit code 1 if it was cancelled."""
    chosen = await _chosen(session, name, id)
    (found,) = await backfills_made(session, [(name, chosen)])
    session.out.say(found, f"{found['state']} {chosen}: {found['made']} of {found['total']} made")
    if found["state"] != "completed":
        raise typer.Exit(1)


async def _turn(session: Session, name: str, id: str | None, to: str, done: str, reason: str = "") -> None:
    chosen = await _chosen(session, name, id)
    await session.client.schedules.turn_backfill(name, chosen, to, reason)
    found = await backfill(session, name, chosen)
    session.out.say(found, f"{done} {chosen}: {found['made']} of {found['total']} made")


async def _chosen(session: Session, name: str, id: str | None) -> str:
    await known(session.client, name)
    if id is not None:
        return id
    open_ = [one for one in await session.client.schedules.backfills(name, limit=1000) if one["state"] in OPEN]
    if not open_:
        raise NotFound(f"{name!r} has no backfill that is not done")
    if len(open_) > 1:
        raise Conflict(f"{name!r} has {len(open_)} backfills; name one: {', '.join(one['id'] for one in open_)}")
    return str(open_[0]["id"])


def _row(one: Json) -> tuple[Any, ...]:
    return (
        one["id"],
        status(one["state"]),
        one["made"],
        one["total"],
        moment(one["first"]),
        moment(one["last"]),
        moment(one["created"]),
        short(one["reason"]),
    )
