"""`ostinato journeys …`: definitions are checked, put on record and drawn; instances started, answered and stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import NotFound, OstinatoError, shown
from ostinato.faces.cli.answers import Answers, counted, facts, moment, short, status
from ostinato.faces.cli.given import read_object
from ostinato.faces.cli.journey_files import check_files, draw_file, is_file, read_files, write_file
from ostinato.faces.cli.target import Session, Where, command, place_command, reach

journeys = typer.Typer(
    help="Check, deploy, start, answer and draw journeys.", no_args_is_help=True, rich_markup_mode=None
)

Id = Annotated[str, typer.Argument(help="The journey's id, as its start told it.")]
Paths = Annotated[list[str], typer.Argument(help="Files, or folders of *.journey.yaml.", metavar="PATH…")]
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="The most to show.")]
Subject = Annotated[str | None, typer.Option(help="Those of this subject.")]
Key = Annotated[str | None, typer.Option(help="Do it once under this key, however often it is asked for.")]
Headers = Annotated[list[str] | None, typer.Option("--header", help="What the journey is to see, as 'Name: value'.")]
_REPEATED = 3  # places up to which the same problem is said again
Wait = Annotated[float | None, typer.Option(min=0, help="Seconds to wait for it to rest. [default: 20]")]


@place_command(journeys)
async def check(place: Where, out: Answers, path: Paths) -> None:
    """Check definitions, without a store. Says everything that is wrong, and exits with 2 if there is an error."""
    found = check_files(path)
    problems = [one for file in found for one in file["problems"]]
    errors = sum(one["severity"] == "error" for one in problems)
    words = [Text(line, style="red" if severity == "error" else "yellow") for line, severity in _lines(problems)]
    warnings = len(problems) - errors
    end = ", ".join([counted(len(found), "definition"), counted(errors, "error"), counted(warnings, "warning")])
    out.say({"items": found, "errors": errors, "warnings": warnings}, *words, end)
    if errors:
        raise typer.Exit(2)


def _lines(problems: list[Json]) -> Iterator[tuple[str, str]]:
    """One line for each problem; what is the same at many places is said once, with where else it is."""
    same: dict[tuple[str, str, str], list[Json]] = {}
    for one in problems:
        same.setdefault((one["code"], one["message"], one["suggestion"]), []).append(one)
    for group in same.values():
        repeated = len(group) > _REPEATED
        for one in group[:1] if repeated else group:
            yield _said(one), one["severity"]
        if repeated:
            files = len({one["file"] for one in group})
            yield (
                f"  the same at {counted(len(group) - 1, 'other place')} of {counted(files, 'file')}",
                group[0]["severity"],
            )


def _said(one: Json) -> str:
    who = "" if one["state"] is None else f"state {one['state']!r}: "
    hint = f". {one['suggestion'][0].upper()}{one['suggestion'][1:]}" if one["suggestion"] else ""
    return f"{one['file']}:{one['line']}:{one['column']}  {one['severity']} {one['code']}  {who}{one['message']}{hint}"


@command(journeys, creates=True)
async def deploy(session: Session, path: Paths) -> None:
    """Deploy definitions. A version never changes; one that is there already stays."""
    calls = session.client.journeys
    made = [await calls.deploy(one.text, one.file, documents=one.documents) for one in read_files(path)]
    words = [f"{one['name']} {one['version']}" + ("" if one["new"] else ", unchanged") for one in made]
    session.out.say({"items": made}, *words)


@place_command(journeys)
async def draw(
    place: Where,
    out: Answers,
    what: Annotated[str, typer.Argument(help="A file, a journey's name, or an instance's id.")],
    file: Annotated[str, typer.Option("-o", "--output", help="The picture to write.", metavar="FILE.svg")],
) -> None:
    """Draw a journey's states as SVG. Of an instance, also the way it took."""
    if is_file(what):
        picture = draw_file(what)
    else:
        async with reach(place) as client:
            try:
                picture = await client.journeys.draw(what)
            except NotFound:
                picture = await client.journeys.draw_definition(what)
    write_file(file, picture)
    out.say({"file": file, "bytes": len(picture.encode())}, f"wrote {file}")


@command(journeys, creates=True)
async def start(
    session: Session,
    name: Annotated[str, typer.Argument(help="The journey's name.")],
    input: Annotated[str | None, typer.Option(help="Its first context, as a JSON object.")] = None,
    version: Annotated[str | None, typer.Option(help="Another than the latest.")] = None,
    wait: Wait = None,
    at_once: Annotated[bool, typer.Option("--async", help="Answer at once.")] = False,
    header: Headers = None,
    key: Key = None,
) -> None:
    """Start a journey: the answer is its outcome, or where it stands."""
    given = read_object(input, "--input")
    found = await session.client.journeys.start(
        name, given, version=version, wait=wait, at_once=at_once, headers=_headers(header), key=key
    )
    session.out.draw(found, lambda: _page(found))


@command(journeys, "status")
async def show(session: Session, id: Id, header: Headers = None) -> None:
    """Show where it stands, and what it waits for."""
    found = await session.client.journeys.status(id, headers=_headers(header))
    session.out.draw(found, lambda: _page(found))


@command(journeys)
async def result(session: Session, id: Id, header: Headers = None) -> None:
    """Show how it ended."""
    found = await session.client.journeys.result(id, headers=_headers(header))
    session.out.draw(found, lambda: _page(found))


@command(journeys)
async def step(
    session: Session,
    id: Id,
    step: Annotated[str, typer.Argument(help="The step that waits; `status` names it.")],
    input: Annotated[str, typer.Option(help="What it is given, as JSON.")] = "{}",
    wait: Wait = None,
    header: Headers = None,
    key: Key = None,
) -> None:
    """Give it the input that a step waits for."""
    try:
        body: Any = json.loads(input)
    except (ValueError, RecursionError) as problem:
        raise OstinatoError(f"--input {shown(input)} is not JSON: {problem}") from None
    found = await session.client.journeys.step(id, step, body, wait=wait, headers=_headers(header), key=key)
    session.out.draw(found, lambda: _page(found))


@command(journeys)
async def cancel(
    session: Session,
    id: Id,
    reason: Annotated[str, typer.Option(help="Why; kept with the journey.")] = "",
    key: Key = None,
) -> None:
    """End a journey, and compensate it."""
    found = await session.client.journeys.cancel(id, reason, key=key)
    session.out.draw(found, lambda: _page(found))


@command(journeys, "list")
async def list_journeys(
    session: Session,
    name: Annotated[str | None, typer.Option(help="Journeys of this name.")] = None,
    phase: Annotated[str | None, typer.Option(help="running, succeeded or failed.")] = None,
    subject: Subject = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="With this tag; several times for several.")] = None,
    limit: Limit = 50,
) -> None:
    """List instances, the newest first."""
    session.out.items(
        await session.client.journeys.list(
            name=name, phase=phase.upper() if phase else None, subject=subject, tags=tag or (), limit=limit
        ),
        ("journey", "name", "phase", "state", "updated", "labels"),
        lambda one: (
            one["journeyId"],
            one["journeyName"],
            status(one["phase"].lower()),
            one["currentState"],
            moment(one["updatedAt"]),
            short(", ".join([*one.get("tags", []), *(f"{k}={v}" for k, v in one.get("attributes", {}).items())])),
        ),
        nothing="no journeys",
    )


@command(journeys)
async def bindings(
    session: Session,
    name: Annotated[str | None, typer.Option(help="Bindings of this journey.")] = None,
    subject: Subject = None,
    cancel: Annotated[str | None, typer.Option(help="Let this one start nothing more.", metavar="ID")] = None,
    limit: Limit = 100,
) -> None:
    """List what journeys have scheduled for themselves, or --cancel one."""
    calls = session.client.journeys
    if cancel is not None:
        gone = await calls.cancel_binding(cancel)
        session.out.say(gone, f"cancelled {gone['scheduleId']}")
        return
    session.out.items(
        await calls.bindings(name=name, subject=subject, limit=limit),
        ("binding", "journey", "start", "subject", "every", "runs", "state", "next"),
        lambda one: (
            one["scheduleId"],
            f"{one['journeyName']} {one['journeyVersion']}",
            one["startStateId"],
            one["subjectId"],
            one["interval"],
            f"{one['runsExecuted']} of {one['maxRuns']}",
            status(one["state"]),
            moment(one["next"]),
        ),
        nothing="no bindings",
    )


def _headers(given: list[str] | None) -> dict[str, str]:
    found = {}
    for one in given or []:
        name, colon, value = one.partition(":")
        if not colon or not name.strip():
            raise OstinatoError(f"--header {shown(one)} is not 'Name: value'")
        found[name.strip()] = value.strip()
    return found


def _page(one: Json) -> RenderableType:
    """A start's answer, a status or an outcome."""
    known = ("journeyId", "journeyName", "phase", "currentState", "updatedAt", "statusUrl", "_links")
    steps = [name for name, link in one.get("_links", {}).items() if link["method"] == "POST" and name != "cancel"]
    phase = one.get("phase", "RUNNING")
    return Group(
        Text.assemble((one["journeyName"], "bold"), "  ", status(phase.lower())),
        facts(
            {
                "journey": one["journeyId"],
                "state": one.get("currentState"),
                "waits for": ", ".join(steps),
                "updated": moment(one.get("updatedAt")),
                **{name: short(value, 200) for name, value in one.items() if name not in known},
            }
        ),
    )
