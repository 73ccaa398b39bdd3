"""`ostinato backfills …`: watch, pause, resume and cancel backfills. `ostinato schedules backfill` starts one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ostinato.client import Json
from ostinato.errors import Conflict, NotFound
from ostinato.faces.cli.arguments import Limit, schedule_zone
from ostinato.faces.cli.completion import schedule_names
from ostinato.faces.cli.output import moment, short, status
from ostinato.faces.cli.session import Session, command, command_group
from ostinato.faces.cli.waiting import OPEN, count_outcomes, read_backfill, wait_for_backfills
from ostinato.when.zones import Zone

backfills = command_group("Watch, pause and cancel backfills.")

Name = Annotated[str, typer.Argument(help="The schedule's name.", autocompletion=schedule_names)]
Id = Annotated[str | None, typer.Argument(help="Which of its backfills. [default: the one that is not done]")]


@command(backfills, "list")
async def list_backfills(session: Session, name: Name, limit: Limit = 50) -> None:
    """List the backfills of a schedule, the newest first."""
    zone = await schedule_zone(session.client, name)
    listed = await session.client.schedules.backfills(name, limit=limit)
    columns = ("backfill", "state", "dealt with", "of", "first", "last", "created", "why")
    session.out.items(listed, columns, lambda backfill: _row(backfill, zone), nothing="no backfills")


@command(backfills)
async def pause(session: Session, name: Name, id: Id = None) -> None:
    """Pause a backfill: it starts no more runs for now."""
    await _turn(session, name, id, "pause", "paused")


@command(backfills)
async def resume(session: Session, name: Name, id: Id = None) -> None:
    """Resume a paused backfill."""
    await _turn(session, name, id, "resume", "resumed")


@command(backfills)
async def cancel(
    session: Session,
    name: Name,
    id: Id = None,
    reason: Annotated[str, typer.Option(help="Why; kept with the backfill.")] = "",
) -> None:
    """Cancel a backfill: it starts no more runs. Waiting runs are dropped; active runs continue."""
    await _turn(session, name, id, "cancel", "cancelled", reason)


@command(backfills)
async def wait(session: Session, name: Name, id: Id = None) -> None:
    """Wait until a backfill has processed all its times. Exit code 1 if it was cancelled."""
    chosen = await _chosen(session, name, id)
    (ended,) = await wait_for_backfills(session, [(name, chosen)])
    session.out.say(ended, f"{ended['state']} {chosen}: {await count_outcomes(session, [(name, ended)])}")
    if ended["state"] != "completed":
        raise typer.Exit(1)


async def _turn(session: Session, name: str, id: str | None, to: str, done: str, reason: str = "") -> None:
    chosen = await _chosen(session, name, id)
    await session.client.schedules.turn_backfill(name, chosen, to, reason)
    turned = await read_backfill(session, name, chosen)
    session.out.say(turned, f"{done} {chosen}: {turned['made']} of {turned['total']} times dealt with")


async def _chosen(session: Session, name: str, id: str | None) -> str:
    await session.client.schedules.get(name, recent=0)  # NotFound for a schedule that does not exist
    if id is not None:
        return id
    unfinished = [one for one in await session.client.schedules.backfills(name, limit=1000) if one["state"] in OPEN]
    if not unfinished:
        raise NotFound(f"{name!r} has no backfill that is not done")
    if len(unfinished) > 1:
        ids = ", ".join(one["id"] for one in unfinished)
        raise Conflict(f"{name!r} has {len(unfinished)} backfills; name one: {ids}")
    return str(unfinished[0]["id"])


def _row(backfill: Json, zone: Zone) -> tuple[Any, ...]:
    return (
        backfill["id"],
        status(backfill["state"]),
        backfill["made"],
        backfill["total"],
        moment(backfill["first"], zone),
        moment(backfill["last"], zone),
        moment(backfill["created"]),
        short(backfill["reason"]),
    )
