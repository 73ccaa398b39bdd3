"""`ostinato functions …`: start durable functions, watch them, send them messages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.faces.cli.arguments import read_json, read_object
from ostinato.faces.cli.completion import function_names, statuses
from ostinato.faces.cli.files import write_text
from ostinato.faces.cli.options import FunctionOptions
from ostinato.faces.cli.output import counted, facts, moment, short, status, took
from ostinato.faces.cli.periods import read_time
from ostinato.faces.cli.run_commands import error_text
from ostinato.faces.cli.session import Session, command
from ostinato.faces.cli.step_timeline import StepTimeline, now, span
from ostinato.faces.cli.waiting import say_without_nodes

functions = typer.Typer(
    help="Start durable functions, watch them, send them messages.", no_args_is_help=True, rich_markup_mode=None
)

Id = Annotated[str, typer.Argument(help="A run's id, or the id it was started with.")]
Reason = Annotated[str, typer.Option(help="Why; kept with the run.")]
_SHOWN = 20  # steps on the page of a run
_LOOK = 0.3  # seconds between two looks


@command(functions)
async def start(
    session: Session,
    function: Annotated[str, typer.Argument(help="The function's name.", autocompletion=function_names)],
    options: FunctionOptions,
    input: Annotated[str | None, typer.Option(help="Its input, a JSON object.")] = None,
    id: Annotated[str | None, typer.Option(help="Start it once under this id, however often you ask.")] = None,
    at: Annotated[str | None, typer.Option(help="Not before this time; without an offset, UTC.")] = None,
    send: Annotated[
        str | None, typer.Option(help="Messages for it, by name: a JSON object.", metavar="MESSAGES")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for its end; exit code 1 if it did not succeed.")] = False,
) -> None:
    """Start a function, now or later."""
    time = None if at is None else read_time(at, "--at")
    answer = await session.client.functions.start(
        function,
        read_object(input, "--input"),
        id=id,
        at=time,
        send=read_object(send, "--send"),
        **options.as_fields(),
    )
    if not wait:
        words = f"started {answer['id']}" if answer["new"] else f"{answer['id']} was started before"
        session.out.say(answer, words)
        return
    run = await _wait(session, answer["id"])
    await _show(session, run)
    if run["status"] != "succeeded":
        raise typer.Exit(1)


@command(functions, "list")
async def list_functions(
    session: Session,
    name: Annotated[str | None, typer.Option(help="Runs of this function.", autocompletion=function_names)] = None,
    status: Annotated[
        str | None, typer.Option(help="Runs with this status, such as waiting.", autocompletion=statuses)
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The most to show.")] = 50,
) -> None:
    """List runs of functions, the newest first."""
    session.out.items(
        await session.client.functions.list(name=name, status=status, limit=limit),
        ("run", "function", "status", "version", "steps", "started", "took", "why, or what came of it"),
        _row,
        nothing="no runs of functions",
    )


@command(functions)
async def show(session: Session, id: Id) -> None:
    """Show a run: its status, what it waits for, its last steps."""
    await _show(session, await session.client.functions.get(id))


@command(functions)
async def steps(
    session: Session,
    id: Id,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="The most to show, the newest.")] = 1000,
) -> None:
    """Show the recorded steps of a run as a timeline."""
    recorded = await session.client.functions.steps(id)
    if session.out.as_json:
        session.out.json({"items": recorded[-limit:]})
        return
    run = await session.client.functions.get(id)
    session.out.console.print(_timeline(run, recorded, limit, "--limit shows more"))


@command(functions)
async def send(
    session: Session,
    id: Id,
    name: Annotated[str, typer.Argument(help="The message's name.")],
    payload: Annotated[str | None, typer.Argument(help="What to send, as JSON.")] = None,
    message_id: Annotated[
        str | None, typer.Option("--id", help="Send it once under this id, however often you ask.", metavar="TEXT")
    ] = None,
) -> None:
    """Send a message to a run. In the run's code, `ctx.receive` returns it."""
    answer = await session.client.functions.send(id, name, read_json(payload, "PAYLOAD"), message_id=message_id)
    session.out.say(answer, f"sent {name} to {answer['run_id']}")


@command(functions)
async def cancel(session: Session, id: Id, reason: Reason = "") -> None:
    """Ask a run to stop. Its code may clean up."""
    _print_stopped(session, id, await session.client.functions.cancel(id, reason))


@command(functions)
async def terminate(session: Session, id: Id, reason: Reason = "") -> None:
    """End a run at once, without notifying its code."""
    _print_stopped(session, id, await session.client.functions.terminate(id, reason))


@command(functions)
async def drain(session: Session) -> None:
    """List the code versions that unfinished runs began with."""
    codes = await session.client.functions.drain()
    if session.out.as_json:
        session.out.json({"items": codes})
    elif not codes:
        session.out.console.print(Text("no run of a function has begun and is not over", style="dim"))
    for code in [] if session.out.as_json else codes:
        session.out.console.print(_drain_words(code), soft_wrap=True)


@command(functions)
async def draw(
    session: Session,
    id: Id,
    file: Annotated[str, typer.Option("-o", "--output", help="The picture to write.", metavar="FILE.svg")] = "",
) -> None:
    """Draw the steps of a run as SVG. Without -o, the file is ID.svg."""
    picture = await session.client.functions.draw(id)
    file = file or f"{id.replace('/', '-')}.svg"
    write_text(file, picture)
    session.out.say({"file": file, "bytes": len(picture.encode())}, f"wrote {file}")


async def _wait(session: Session, id: str) -> Json:
    """Wait until a run is over, and return it."""
    warned = False
    with session.out.progress("waiting", None) as tell:
        while True:
            run = await session.client.functions.get(id)
            if run["finished"] is not None:
                return run
            if not warned:
                warned = True
                await say_without_nodes(session)
            words = f"waits for {run['waits_for']}" if run["waits_for"] else run["status"]
            tell(run["steps"], words=words)
            await asyncio.sleep(_LOOK)


async def _show(session: Session, run: Json) -> None:
    if session.out.as_json:
        session.out.json(run)
        return
    recorded = await session.client.functions.steps(run["id"])
    hint = f"`ostinato functions steps {run['id']}` shows them"
    session.out.console.print(Group(_page(run), Text(""), _timeline(run, recorded, _SHOWN, hint)))


def _print_stopped(session: Session, id: str, state: str) -> None:
    over = state in ("succeeded", "failed", "timed_out", "cancelled", "terminated", "crashed")
    words: str | Text = Text.assemble(f"{id}: ", status(state)) if over else f"asked {id} to stop"
    session.out.say({"status": state}, words)


def _row(run: Json) -> tuple[Any, ...]:
    outcome = short(run["reason"] if run["reason"] else run["result"])
    duration = took(run["created"], run["finished"])
    began = moment(run["created"])
    return run["id"], run["name"], status(run["status"]), run["version"], run["steps"], began, duration, outcome


def _page(run: Json) -> RenderableType:
    waits = f"waits for {run['waits_for']}" if run["waits_for"] else run["reason"] or ""
    version = None if run["version"] is None else f"{run['version']}, code {run['code']}"
    parts: list[RenderableType] = [
        Text.assemble((run["name"], "bold"), "  ", status(run["status"]), "  ", waits),
        facts(
            {
                "run": run["id"],
                "started with the id": run["key"],
                "state": short(run["state"], 1000) if run["state"] is not None else None,
                "input": short(run["input"], 1000) if run["input"] else None,
                "result": short(run["result"], 1000) if run["result"] is not None else None,
                "version": f"{version}, pinned" if version and run["pinned"] else version,
                "histories": run["generation"] + 1 if run["generation"] else None,
                "cancel asked for": moment(run["cancel_requested"]),
                "started": moment(run["created"]),
                "ended": moment(run["finished"]),
                "took": took(run["created"], run["finished"]),
                "parent": run["parent_id"],
            }
        ),
    ]
    if run["error"]:
        parts.append(Text(error_text(run["error"]), style="red"))
    return Group(*parts)


def _timeline(run: Json, recorded: Sequence[Json], most: int, hint: str) -> RenderableType:
    """Return a timeline of the newest `most` steps. If there are earlier steps, a line above the timeline says how
    many, and shows `hint`."""
    newest = recorded[-most:]
    left_out = len(recorded) - len(newest)
    notes = [f"{counted(left_out, 'earlier step')}; {hint}"] if left_out else []
    words = span(run, newest)
    return Group(
        *(Text(note, style="dim") for note in notes),
        StepTimeline(run, newest, now()),
        *([Text(words, style="dim")] if words else []),
    )


def _drain_words(code: Json) -> Text:
    """Return a sentence about a code version: how many unfinished runs began with it, and which code continues them."""
    by_status = ", ".join(f"{count} {word}" for word, count in sorted(code["by_status"].items()))
    words = Text.assemble(
        (code["name"], "bold"),
        f" version {code['version']}, code {code['code']}: {counted(code['runs'], 'run')} ({by_status}), "
        f"the oldest since {moment(code['oldest'])}; ",
    )
    if code["current"]:
        return words.append("this is the newest code that a node has declared", style="green")
    if code["declared"] and code["pinned"]:
        return words.append("pinned to this version, which a node has declared: keep it deployed", style="yellow")
    if code["declared"]:
        return words.append("a newer version is declared, and goes on with them", style="yellow")
    if code["pinned"]:
        return words.append("pinned to this version, and no node has declared this code: deploy it", style="red")
    return words.append("no node has declared this code; the newest code goes on with them", style="yellow")
