"""`ostinato functions …`: start durable functions, watch them, send them messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.faces.cli.arguments import Limit, read_json, read_object
from ostinato.faces.cli.completion import function_names, statuses
from ostinato.faces.cli.files import write_picture
from ostinato.faces.cli.options import FunctionOptions
from ostinato.faces.cli.output import counted, facts, moment, short, status, took
from ostinato.faces.cli.periods import read_time
from ostinato.faces.cli.run_commands import Id, Reason, error_text, print_stopped
from ostinato.faces.cli.session import Session, command, command_group
from ostinato.faces.cli.step_timeline import StepTimeline, now, span
from ostinato.faces.cli.waiting import is_finished, wait_until

functions = command_group("Start durable functions, watch them, send them messages.")

_SHOWN = 20  # steps on the page of a run
_TRACEBACKS = 5  # the most tracebacks below the timeline


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
    messages = read_object(send, "--send")
    answer = await session.client.functions.start(
        function, read_object(input, "--input"), id=id, at=time, send=messages, **options.as_fields()
    )
    if not wait:
        session.out.say(answer, f"started {answer['id']}" if answer["new"] else f"{answer['id']} was started before")
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
    limit: Limit = 50,
) -> None:
    """List runs of functions, the newest first."""
    session.out.items(
        await session.client.functions.list(name=name, status=status, limit=limit),
        ("run", "function", "status", "version", "steps", "started", "took", "reason or result"),
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
    session.out.console.print(
        Group(_timeline(run, recorded, limit, "--limit shows more"), *_tracebacks(recorded[-limit:]))
    )


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
    print_stopped(session, id, await session.client.functions.cancel(id, reason))


@command(functions)
async def terminate(session: Session, id: Id, reason: Reason = "") -> None:
    """End a run at once, without notifying its code."""
    print_stopped(session, id, await session.client.functions.terminate(id, reason))


@command(functions)
async def drain(session: Session) -> None:
    """List the code versions that unfinished runs began with. The list shows which old versions must stay deployed. The
    command changes nothing."""
    codes = await session.client.functions.drain()
    none = Text("no run of a function has begun and is not over", style="dim")
    session.out.say({"items": codes}, *(map(_drain_words, codes) if codes else [none]))


@command(functions)
async def draw(
    session: Session,
    id: Id,
    file: Annotated[str, typer.Option("-o", "--output", help="The picture to write.", metavar="FILE.svg")] = "",
) -> None:
    """Draw the steps of a run as SVG. Without -o, the file is ID.svg."""
    picture = await session.client.functions.draw(id)
    write_picture(session.out, file or f"{id.replace('/', '-')}.svg", picture)


async def _wait(session: Session, id: str) -> Json:
    with session.out.progress("waiting") as tell:

        def show(run: Json) -> None:
            tell(run["steps"], words=f"waits for {run['waits_for']}" if run["waits_for"] else run["status"])

        return await wait_until(session, lambda: session.client.functions.get(id), is_finished, show)


async def _show(session: Session, run: Json) -> None:
    if session.out.as_json:
        session.out.json(run)
        return
    recorded = await session.client.functions.steps(run["id"])
    hint = f"`ostinato functions steps {run['id']}` shows them"
    session.out.console.print(Group(_page(run), Text(""), _timeline(run, recorded, _SHOWN, hint)))


def _row(run: Json) -> tuple[Any, ...]:
    outcome = short(run["reason"] if run["reason"] else run["result"])
    duration = took(run["created"], run["finished"])
    began = moment(run["created"])
    return run["id"], run["name"], status(run["status"]), run["version"], run["steps"], began, duration, outcome


def _page(run: Json) -> RenderableType:
    waits = f"waits for {run['waits_for']}" if run["waits_for"] else run["reason"] or ""
    version = None if run["version"] is None else f"{run['version']}, code {run['code']}"
    values = {
        "run": run["id"],
        "started with the id": run["key"],
        "state": short(run["state"], 1000),
        "input": short(run["input"], 1000) if run["input"] else None,
        "result": short(run["result"], 1000),
        "version": f"{version}, pinned" if version and run["pinned"] else version,
        "histories": run["generation"] + 1 if run["generation"] else None,
        "cancel asked for": moment(run["cancel_requested"]),
        "started": moment(run["created"]),
        "ended": moment(run["finished"]),
        "took": took(run["created"], run["finished"]),
        "parent": run["parent_id"],
    }
    head = Text.assemble((run["name"], "bold"), "  ", status(run["status"]), "  ", waits)
    parts: list[RenderableType] = [head, facts(values)]
    if run["error"]:
        parts.append(Text(error_text(run["error"]), style="red"))
    return Group(*parts)


def _timeline(run: Json, recorded: Sequence[Json], most: int, hint: str) -> RenderableType:
    """Draw the last `most` recorded steps of a run. If earlier steps are left out, a line above the drawing says how
    many, followed by `hint`."""
    newest = recorded[-most:]
    left_out = len(recorded) - len(newest)
    above = [Text(f"{counted(left_out, 'earlier step')}; {hint}", style="dim")] if left_out else []
    below = [Text(words, style="dim")] if (words := span(run, newest)) else []
    return Group(*above, StepTimeline(run, newest, now()), *below)


def _tracebacks(recorded: Sequence[Json]) -> list[Text]:
    """Return the tracebacks of the newest steps whose last attempt failed."""
    failed = [step for step in recorded if isinstance(step["error"], dict) and step["error"].get("traceback")]
    return [
        Text(f"\n{step['position']} {step['name']}:{error_text(step['error'])}", style="red")
        for step in failed[-_TRACEBACKS:]
    ]


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
