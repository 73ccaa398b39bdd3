"""`ostinato workflows …`: watch workflows, and resolve their problems."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.faces.cli.arguments import Limit
from ostinato.faces.cli.completion import event_statuses, input_statuses, output_statuses, resolutions, workflow_names
from ostinato.faces.cli.files import write_picture
from ostinato.faces.cli.output import facts, moment, short, table
from ostinato.faces.cli.session import Session, command, command_group

workflows = command_group("Watch workflows, and settle their problems.")

Name = Annotated[str, typer.Argument(help="The workflow's name.", autocompletion=workflow_names)]
_STYLES = {
    "Running": "green",
    "Idle": "blue",
    "Needs attention": "red",
    "Stopped": "magenta",
    "committed": "green",
    "applied": "green",
    "done": "green",
    "consumed": "green",
    "active": "cyan",
    "reserved": "cyan",
    "pending": "yellow",
    "unconfirmed": "yellow",
    "cancelled": "magenta",
    "skipped": "dim",
}
_RUN = ("run", "handler", "status", "phase", "retry of", "version", "begun", "what")


@command(workflows, "list")
async def list_workflows(session: Session, limit: Limit = 1000) -> None:
    """List workflows, ordered by name."""
    session.out.items(
        await session.client.workflows.list(limit=limit),
        ("workflow", "version", "status", "when", "pending", "issue"),
        lambda workflow: (
            workflow["name"],
            workflow["version"],
            _status(workflow["status"]),
            workflow["timing"],
            _pending(workflow),
            short(workflow["issue"]),
        ),
        nothing="no workflows",
    )


@command(workflows)
async def show(
    session: Session,
    name: Name,
    recent: Annotated[int, typer.Option(min=0, max=100, help="How many lines of activity to show.")] = 5,
) -> None:
    """Show a workflow's status, inputs and latest activity."""
    session.out.draw(await session.client.workflows.get(name, recent=recent), _page)


@command(workflows)
async def runs(
    session: Session,
    name: Name,
    handler: Annotated[str | None, typer.Option(help="Attempts of this producer or consumer.")] = None,
    limit: Limit = 50,
) -> None:
    """List the attempts of a workflow's handlers, the newest first."""
    attempts = await session.client.workflows.runs(name, handler=handler, limit=limit)
    session.out.items(attempts, _RUN, _run, nothing="no runs")


@command(workflows)
async def run(session: Session, name: Name, run: Annotated[str, typer.Argument(help="The id of a run.")]) -> None:
    """Show a run: its attempts, the events it reserved, its effect."""
    session.out.draw(await session.client.workflows.run(name, run), _run_page)


@command(workflows)
async def events(
    session: Session,
    name: Name,
    topic: Annotated[str | None, typer.Option(help="Events of this topic.")] = None,
    status: Annotated[
        str | None,
        typer.Option(help="pending, reserved, consumed or skipped.", autocompletion=event_statuses),
    ] = None,
    limit: Limit = 50,
) -> None:
    """List the events of a workflow's topics, the oldest first."""
    session.out.items(
        await session.client.workflows.events(name, topic=topic, status=status, limit=limit),
        ("topic", "message", "status", "attempt", "published", "payload"),
        lambda event: (
            event["topic"],
            event["message_id"],
            _status(event["status"]),
            event["attempt"],
            moment(event["created"]),
            short(event["payload"]),
        ),
        nothing="no events",
    )


@command(workflows)
async def inputs(
    session: Session,
    name: Name,
    status: Annotated[str | None, typer.Option(help="pending, done or skipped.", autocompletion=input_statuses)] = None,
    limit: Limit = 50,
) -> None:
    """List inputs and their results, the newest first."""
    session.out.items(
        await session.client.workflows.inputs(name, status=status, limit=limit),
        ("input", "what", "title", "status", "result", "attention", "since"),
        lambda input: (
            input["id"],
            f"{input['source']} {input['type']}",
            short(input["title"] or input["external_id"]),
            _status(input["status"]),
            input["result"],
            Text(input["attention"] or "", style="red"),
            moment(input["created"]),
        ),
        nothing="no inputs",
    )


@command(workflows)
async def outputs(
    session: Session,
    name: Name,
    status: Annotated[str | None, typer.Option(help="applied or unconfirmed.", autocompletion=output_statuses)] = None,
    limit: Limit = 50,
) -> None:
    """List effects on other systems, the newest first."""
    session.out.items(
        await session.client.workflows.outputs(name, status=status, limit=limit),
        ("output", "status", "what", "by", "from", "run", "at"),
        lambda output: (
            output["id"],
            _status(output["status"]),
            short(output["title"]),
            output["mutator"],
            short(output["stems_from"]),
            output["run_id"],
            moment(output["updated"]),
        ),
        nothing="no outputs",
    )


@command(workflows)
async def draw(
    session: Session,
    name: Name,
    file: Annotated[str, typer.Option("-o", "--output", help="The picture to write.", metavar="FILE.svg")] = "",
) -> None:
    """Draw the producers, topics and consumers of a workflow as SVG. Without -o, the file is NAME.svg."""
    picture = await session.client.workflows.draw(name)
    write_picture(session.out, file or f"{name.replace('/', '-')}.svg", picture)


@command(workflows)
async def pause(session: Session, name: Name) -> None:
    """Pause a workflow: it starts no more runs. An active run completes."""
    session.out.say(await session.client.workflows.pause(name), f"paused {name}")


@command(workflows)
async def resume(session: Session, name: Name) -> None:
    """Resume a paused workflow."""
    session.out.say(await session.client.workflows.resume(name), f"resumed {name}")


@command(workflows)
async def stop(session: Session, name: Name) -> None:
    """Stop a workflow permanently. Its records are kept."""
    session.out.say(await session.client.workflows.stop(name), f"stopped {name}")


@command(workflows)
async def run_now(session: Session, name: Name) -> None:
    """Run all producers of a workflow now."""
    session.out.say(await session.client.workflows.run_now(name), f"{name} runs now")


@command(workflows)
async def resolve(
    session: Session,
    name: Name,
    choice: Annotated[
        str,
        typer.Argument(
            help="reauthenticate, approve, resume, try_again, did_not_happen or skip.", autocompletion=resolutions
        ),
    ],
    run: Annotated[str | None, typer.Option(help="Only if this run blocks the workflow.")] = None,
) -> None:
    """Resolve the problem that blocks a workflow. `show` lists the choices."""
    workflow = await session.client.workflows.resolve(name, choice, run_id=run)
    session.out.say(workflow, Text.assemble(f"{name} is ", _status(workflow["status"])))


@command(workflows)
async def skip_event(
    session: Session,
    name: Name,
    topic: Annotated[str, typer.Argument(help="The topic.")],
    message: Annotated[str, typer.Argument(help="The event's message id.")],
) -> None:
    """Skip an event that is not consumed yet."""
    session.out.say(await session.client.workflows.skip_event(name, topic, message), f"skipped {message} of {topic}")


@command(workflows)
async def skip_input(
    session: Session, name: Name, input: Annotated[str, typer.Argument(help="The id of an input.")]
) -> None:
    """Skip an input: skip all its events, including later ones."""
    session.out.say(await session.client.workflows.skip_input(name, input), f"skipped {input}")


def _status(word: str) -> Text:
    return Text(word, style=_STYLES.get(word, "red" if word.startswith(("failed", "crashed")) else "yellow"))


def _pending(workflow: Json) -> str:
    return ", ".join(f"{count} in {topic}" for topic, count in sorted(workflow["pending"].items()))


def _run(run: Json) -> tuple[object, ...]:
    error = run["error"] or {}
    return (
        run["id"],
        run["handler"],
        _status(run["status"]),
        run["phase"],
        run["retry_of"],
        run["version"],
        moment(run["created"]),
        short(error.get("message") or run["title"]),
    )


def _page(workflow: Json) -> RenderableType:
    values = {
        "issue": Text(workflow["issue"], style="red") if workflow["issue"] else None,
        "choices": ", ".join(workflow["choices"]),
        "attention": Text(workflow["attention"], style="red") if workflow["attention"] else None,
        "when": workflow["timing"],
        "pending": _pending(workflow),
        "inputs": "\n".join(_group(group) for group in workflow["inputs"]),
        "run": workflow["run_id"],
        "version": workflow["version"],
        "deployed": moment(workflow["deployed"]),
    }
    head = Text.assemble((workflow["name"], "bold"), "  ", _status(workflow["status"]))
    parts: list[RenderableType] = [head, facts(values)]
    if workflow["activity"]:
        parts += [Text(""), *(Text(line) for line in workflow["activity"])]
    return Group(*parts)


def _group(group: Json) -> str:
    counts = ", ".join(f"{group[status]} {status}" for status in ("pending", "done", "skipped"))
    return f"{group['source']} {group['type']}: {counts}"


def _run_page(detail: Json) -> RenderableType:
    run, output = detail["run"], detail["output"] or {}
    events = ", ".join(f"{event['topic']} {event['message_id']}" for event in detail["events"])
    error = run["error"] or {}
    values = {
        "run": run["id"],
        "phase": run["phase"],
        "error": Text(error["message"], style="red") if error else None,
        "title": run["title"],
        "events": short(events, 200),
        "effect": f"{output['status']}: {output['title']} ({output['mutator']})" if output else None,
        "from": output.get("stems_from"),
        "version": run["version"],
        "begun": moment(run["created"]),
    }
    head = Text.assemble((run["handler"], "bold"), "  ", _status(run["status"]))
    return Group(head, facts(values), Text(""), table(_RUN, map(_run, detail["attempts"])))
