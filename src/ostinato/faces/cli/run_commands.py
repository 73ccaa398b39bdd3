"""`ostinato runs …`: what ran, what runs, and how to stop it or do it again."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.faces.cli.answers import facts, moment, short, status, took
from ostinato.faces.cli.target import Session, command

runs = typer.Typer(help="List, inspect, cancel and retry runs.", no_args_is_help=True, rich_markup_mode=None)

Id = Annotated[str, typer.Argument(help="A run's id, or the id it was started with.")]
Reason = Annotated[str, typer.Option(help="Why; kept with the run.")]
_COLUMNS = ("run", "job", "status", "attempt", "due", "took", "why, or what came of it")


@command(runs, "list")
async def list_runs(
    session: Session,
    name: Annotated[str | None, typer.Option(help="Runs of this job.")] = None,
    status: Annotated[str | None, typer.Option(help="Runs with this status, such as failed.")] = None,
    parent: Annotated[str | None, typer.Option(help="Runs that this run has started.")] = None,
    attempts: Annotated[bool, typer.Option("--attempts", help="Every attempt as a line of its own.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=100_000)] = 50,
) -> None:
    """List runs, the newest first."""
    found = await session.client.runs(name=name, status=status, parent=parent, attempts=attempts, limit=limit)
    session.out.items(found, _COLUMNS, _row, nothing="no runs")


@command(runs)
async def show(session: Session, id: Id) -> None:
    """Show a run: its newest attempt."""
    found = await session.client.run(id)
    session.out.draw(found, lambda: page(found))


@command(runs)
async def attempts(session: Session, id: Id) -> None:
    """List every attempt of a run, the first one first."""
    found = await session.client.attempts(id)
    session.out.items(found, _COLUMNS, _row)


@command(runs)
async def log(session: Session, id: Id) -> None:
    """Show what every attempt has logged."""
    found = await session.client.log(id)
    columns = ("at", "level", "message")
    session.out.items(
        found, columns, lambda one: (moment(one["at"]), one["level"], one["message"]), nothing="it has logged nothing"
    )


@command(runs)
async def cancel(session: Session, id: Id, reason: Reason = "") -> None:
    """Ask a run to stop."""
    await _stopped(session, id, await session.client.cancel(id, reason))


@command(runs)
async def terminate(session: Session, id: Id, reason: Reason = "") -> None:
    """End a run at once, whatever it is doing."""
    await _stopped(session, id, await session.client.terminate(id, reason))


@command(runs)
async def retry(session: Session, id: Id) -> None:
    """Start a run that is over once more, with the same input."""
    answer = await session.client.retry(id)
    session.out.say(answer, f"started {answer['id']}, which repeats {id}")


async def _stopped(session: Session, id: str, found: str) -> None:
    words = f"asked {id} to stop" if found == "active" else Text.assemble(f"{id} is ", status(found))
    session.out.say({"status": found}, words)


def _row(one: Json) -> tuple[Any, ...]:
    said = short(one["reason"] if one["reason"] else one["result"])
    took_ = took(one["started"], one["finished"])
    return one["id"], one["name"], status(one["status"]), one["attempt"], moment(one["due"]), took_, said


def page(one: Json) -> RenderableType:
    error = one["error"]
    parts: list[RenderableType] = [
        Text.assemble((one["name"], "bold"), "  ", status(one["status"]), "  ", one["reason"] or ""),
        facts(
            {
                "run": one["id"],
                "attempt": one["attempt"],
                "started with the id": one["key"],
                "input": short(one["input"], 1000) if one["input"] else None,
                "result": short(one["result"], 1000) if one["result"] is not None else None,
                "progress": short(one["progress"]) if one["progress"] else None,
                "due": moment(one["due"]),
                "began": moment(one["started"]),
                "ended": moment(one["finished"]),
                "took": took(one["started"], one["finished"]),
                "queue": one["queue"],
                "node": one["node"],
                "parent": one["parent_id"],
                "serial key": one["serial_key"],
                "limit": one["concurrency_key"],
                "by": one["actor"],
            }
        ),
    ]
    if error:
        parts.append(Text(error_text(error), style="red"))
    return Group(*parts)


def error_text(error: Any) -> str:
    """What a job raised: its traceback as Python prints it, or else what there is."""
    trace = error.get("traceback") if isinstance(error, dict) else None
    return f"\n{str(trace).rstrip()}" if trace else short(error, 2000)
