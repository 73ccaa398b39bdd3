"""`ostinato backfills …`: ranges of times that are run now, how far they are, and how to stop them. They are begun
with `ostinato schedules backfill`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ostinato.client import Json
from ostinato.errors import Conflict, NotFound
from ostinato.faces.cli.answers import moment, short, status
from ostinato.faces.cli.given import known, zone_of
from ostinato.faces.cli.target import Session, command
from ostinato.faces.cli.waiting import OPEN, backfill, backfills_made, became_of
from ostinato.when.zones import Zone

backfills = typer.Typer(help="Watch, pause and cancel backfills.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="The schedule's name.")]
Id = Annotated[str | None, typer.Argument(help="Which of its backfills. [default: the one that is not done]")]


@command(backfills, "list")
async def list_backfills(
    session: Session, name: Name, limit: Annotated[int, typer.Option(min=1, max=100_000, help="The most to show.")] = 50
) -> None:
    """List the backfills of a schedule, the newest first."""
    zone = zone_of(await known(session.client, name))
    found = await session.client.schedules.backfills(name, limit=limit)
    columns = ("backfill", "state", "dealt with", "of", "first", "last", "created", "why")
    session.out.items(found, columns, lambda one: _row(one, zone), nothing="no backfills")


@command(backfills)
async def pause(session: Session, name: Name, id: Id = None) -> None:
    """Start no more of its runs for now."""
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
    reason: Annotated[str, typer.Option(help="Why; kept with the backfill.")] = "",
) -> None:
    """Start no more of its runs. Waiting runs are given up; runs that have begun go on."""
    await _turn(session, name, id, "cancel", "cancelled", reason)


@command(backfills)
async def wait(session: Session, name: Name, id: Id = None) -> None:
    """Wait until all its times are dealt with. Exit code 1 if it was cancelled."""
    chosen = await _chosen(session, name, id)
    (found,) = await backfills_made(session, [(name, chosen)])
    session.out.say(found, f"{found['state']} {chosen}: {await became_of(session, [(name, found)])}")
    if found["state"] != "completed":
        raise typer.Exit(1)


async def _turn(session: Session, name: str, id: str | None, to: str, done: str, reason: str = "") -> None:
    chosen = await _chosen(session, name, id)
    await session.client.schedules.turn_backfill(name, chosen, to, reason)
    found = await backfill(session, name, chosen)
    session.out.say(found, f"{done} {chosen}: {found['made']} of {found['total']} times dealt with")


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


def _row(one: Json, zone: Zone) -> tuple[Any, ...]:
    return (
        one["id"],
        status(one["state"]),
        one["made"],
        one["total"],
        moment(one["first"], zone),
        moment(one["last"], zone),
        moment(one["created"]),
        short(one["reason"]),
    )
