"""`ostinato runs …`: list, inspect, cancel and retry runs."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.faces.cli.arguments import Limit
from ostinato.faces.cli.completion import job_names, statuses
from ostinato.faces.cli.output import facts, moment, short, status, took
from ostinato.faces.cli.session import Session, command, command_group
from ostinato.model import Status

runs = command_group("List, inspect, cancel and retry runs.")

Id = Annotated[str, typer.Argument(help="A run's id, or the id it was started with.")]
Reason = Annotated[str, typer.Option(help="Why; kept with the run.")]
_KINDS = {"function": "a durable function", "journey": "a journey"}
_COLUMNS = ("run", "job", "status", "attempt", "due", "took", "reason or result")


@command(runs, "list")
async def list_runs(
    session: Session,
    name: Annotated[str | None, typer.Option(help="Runs of this job.", autocompletion=job_names)] = None,
    status: Annotated[
        str | None, typer.Option(help="Runs with this status, such as failed.", autocompletion=statuses)
    ] = None,
    parent: Annotated[str | None, typer.Option(help="Runs that this run has started.")] = None,
    attempts: Annotated[bool, typer.Option("--attempts", help="Every attempt as a line of its own.")] = False,
    limit: Limit = 50,
) -> None:
    """List runs, the newest first."""
    listed = await session.client.runs(name=name, status=status, parent=parent, attempts=attempts, limit=limit)
    session.out.items(listed, _COLUMNS, _row, nothing="no runs")


@command(runs)
async def show(session: Session, id: Id) -> None:
    """Show the newest attempt of a run."""
    session.out.draw(await session.client.run(id), page)


@command(runs)
async def attempts(session: Session, id: Id) -> None:
    """List all attempts of a run, the first one first."""
    session.out.items(await session.client.attempts(id), _COLUMNS, _row)


@command(runs)
async def log(session: Session, id: Id) -> None:
    """Show the log lines of all attempts of a run."""
    session.out.items(
        await session.client.log(id),
        ("at", "level", "message"),
        lambda line: (moment(line["at"]), line["level"], line["message"]),
        nothing="it has logged nothing",
    )


@command(runs)
async def cancel(session: Session, id: Id, reason: Reason = "") -> None:
    """Ask a run to stop."""
    print_stopped(session, id, await session.client.cancel(id, reason))


@command(runs)
async def terminate(session: Session, id: Id, reason: Reason = "") -> None:
    """End a run at once, whatever it is doing."""
    print_stopped(session, id, await session.client.terminate(id, reason))


@command(runs)
async def retry(session: Session, id: Id) -> None:
    """Start a new run with the input of a run that has ended."""
    answer = await session.client.retry(id)
    session.out.say(answer, f"started {answer['id']}, which repeats {id}")


def print_stopped(session: Session, id: str, state: str) -> None:
    """Print what a request to stop a run did. `state` is the run's status after the request."""
    words = Text.assemble(f"{id}: ", status(state)) if Status(state).over else f"asked {id} to stop"
    session.out.say({"status": state}, words)


def _row(run: Json) -> tuple[Any, ...]:
    outcome = short(run["reason"] if run["reason"] else run["result"])
    duration = took(run["started"], run["finished"])
    return run["id"], run["name"], status(run["status"]), run["attempt"], moment(run["due"]), duration, outcome


def page(run: Json) -> RenderableType:
    values = {
        "run": run["id"],
        "kind": _KINDS.get(run["kind"]),
        "attempt": run["attempt"],
        "started with the id": run["key"],
        "input": short(run["input"], 1000) if run["input"] else None,
        "result": short(run["result"], 1000),
        "progress": short(run["progress"]) if run["progress"] else None,
        "due": moment(run["due"]),
        "began": moment(run["started"]),
        "ended": moment(run["finished"]),
        "took": took(run["started"], run["finished"]),
        "queue": run["queue"],
        "node": run["node"],
        "parent": run["parent_id"],
        "serial key": run["serial_key"],
        "limit": run["concurrency_key"],
        "by": run["actor"],
    }
    head = Text.assemble((run["name"], "bold"), "  ", status(run["status"]), "  ", run["reason"] or "")
    parts: list[RenderableType] = [head, facts(values)]
    if run["error"]:
        parts.append(Text(error_text(run["error"]), style="red"))
    if run["kind"] == "function":
        parts.append(Text(f"`ostinato functions steps {run['id']}` shows its steps", style="dim"))
    return Group(*parts)


def error_text(error: Any) -> str:
    """Return the traceback of an error as Python prints it. Without a traceback, return the error as JSON."""
    trace = error.get("traceback") if isinstance(error, dict) else None
    return f"\n{str(trace).rstrip()}" if trace else short(error, 2000)
