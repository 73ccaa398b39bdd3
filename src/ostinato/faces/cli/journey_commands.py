"""`ostinato journeys …`: check, deploy and draw definitions; start, answer and cancel instances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import NotFound, OstinatoError, did_you_mean, list_choices, short_repr
from ostinato.faces.cli.arguments import Limit, read_json, read_object, say_note
from ostinato.faces.cli.completion import journey_names, phases
from ostinato.faces.cli.files import write_picture
from ostinato.faces.cli.journey_files import check_files, draw_file, is_file, read_files
from ostinato.faces.cli.output import CommandOutput, counted, facts, moment, short, status
from ostinato.faces.cli.session import Session, StoreOrServer, command, command_group, connect, place_command

journeys = command_group("Check, deploy, start, answer and draw journeys.")

Id = Annotated[str, typer.Argument(help="The journey's id, as its start answered it.")]
Paths = Annotated[list[str], typer.Argument(help="Files, or folders of *.journey.yaml.", metavar="PATH…")]
Subject = Annotated[str | None, typer.Option(help="Only those of this subject.")]
Key = Annotated[str | None, typer.Option(help="Idempotency key: the call takes effect once under it.")]
Headers = Annotated[
    list[str] | None, typer.Option("--header", help="A header that the journey sees, as 'Name: value'.")
]
_PHASES = ("running", "succeeded", "failed")
_REPEATED = 2  # a problem at more places is printed once
Wait = Annotated[
    float | None, typer.Option(min=0, help="Seconds to wait until it ends, or waits for something. [default: 20]")
]


@place_command(journeys)
async def check(place: StoreOrServer, out: CommandOutput, path: Paths) -> None:
    """Check definitions, without a store. Prints all problems. Exit code 2 if there is an error."""
    files = check_files(path)
    problems = [one for file in files for one in file["problems"]]
    errors = sum(one["severity"] == "error" for one in problems)
    colours = {"error": "red"}
    words = [Text(line, style=colours.get(severity, "yellow")) for line, severity in _problem_lines(problems)]
    warnings = len(problems) - errors
    end = ", ".join([counted(len(files), "definition"), counted(errors, "error"), counted(warnings, "warning")])
    out.say({"items": files, "errors": errors, "warnings": warnings}, *words, end)
    if errors:
        raise typer.Exit(2)


def _problem_lines(problems: list[Json]) -> Iterator[tuple[str, str]]:
    """Yield (line, severity) for each problem. If the same problem is at more than `_REPEATED` places, yield only two
    pairs for it: a line about the first place, and a line with the number of other places."""
    groups: dict[tuple[str, str, str], list[Json]] = {}
    for problem in problems:
        groups.setdefault((problem["code"], problem["message"], problem["suggestion"]), []).append(problem)
    for group in groups.values():
        repeated = len(group) > _REPEATED
        for problem in group[:1] if repeated else group:
            yield _line(problem), problem["severity"]
        if repeated:
            files = len({problem["file"] for problem in group})
            yield (
                f"  the same at {counted(len(group) - 1, 'other place')} of {counted(files, 'file')}",
                group[0]["severity"],
            )


def _line(problem: Json) -> str:
    state = "" if problem["state"] is None else f"state {problem['state']!r}: "
    hint = f". {problem['suggestion'][0].upper()}{problem['suggestion'][1:]}" if problem["suggestion"] else ""
    place = f"{problem['file']}:{problem['line']}:{problem['column']}"
    return f"{place}  {problem['severity']} {problem['code']}  {state}{problem['message']}{hint}"


@command(journeys, creates=True)
async def deploy(session: Session, path: Paths) -> None:
    """Deploy definitions. A version that is deployed already is not changed."""
    calls = session.client.journeys
    definitions = [await calls.deploy(one.text, one.file, documents=one.documents) for one in read_files(path)]
    words = [f"{one['name']} {one['version']}" + ("" if one["new"] else ", unchanged") for one in definitions]
    session.out.say({"items": definitions}, *words)


@place_command(journeys)
async def draw(
    place: StoreOrServer,
    out: CommandOutput,
    what: Annotated[str, typer.Argument(help="A file, a journey's name, or an instance's id.")],
    file: Annotated[str, typer.Option("-o", "--output", help="The picture to write.", metavar="FILE.svg")],
) -> None:
    """Draw a journey's states as SVG. For an instance, the path it took is highlighted."""
    if is_file(what):
        picture = draw_file(what)
    else:
        async with connect(place) as client:
            try:
                picture = await client.journeys.draw(what)
            except NotFound:
                picture = await client.journeys.draw_definition(what)
    write_picture(out, file, picture)


@command(journeys, creates=True)
async def start(
    session: Session,
    name: Annotated[str, typer.Argument(help="The journey's name.", autocompletion=journey_names)],
    input: Annotated[str | None, typer.Option(help="Its first context, as a JSON object.")] = None,
    version: Annotated[str | None, typer.Option(help="A version. [default: the latest]")] = None,
    wait: Wait = None,
    at_once: Annotated[bool, typer.Option("--async", help="Do not wait for it.")] = False,
    header: Headers = None,
    key: Key = None,
) -> None:
    """Start a journey, and print its outcome or its status."""
    context = read_object(input, "--input")
    answer = await session.client.journeys.start(
        name, context, version=version, wait=wait, at_once=at_once, headers=_headers(header), key=key
    )
    session.out.draw(answer, _page)
    say_note({"note": answer.get("_note")})


@command(journeys, "status")
async def show(session: Session, id: Id, header: Headers = None) -> None:
    """Show the status of a journey, and what it waits for."""
    session.out.draw(await session.client.journeys.status(id, headers=_headers(header)), _page)


@command(journeys)
async def result(session: Session, id: Id, header: Headers = None) -> None:
    """Show the outcome of a journey."""
    session.out.draw(await session.client.journeys.result(id, headers=_headers(header)), _page)


@command(journeys)
async def step(
    session: Session,
    id: Id,
    step: Annotated[str, typer.Argument(help="The step that waits; `status` names it.")],
    input: Annotated[str, typer.Option(help="Its input, as JSON.")] = "{}",
    wait: Wait = None,
    header: Headers = None,
    key: Key = None,
) -> None:
    """Send the input that a step of a journey waits for."""
    body = read_json(input, "--input")
    journey = await session.client.journeys.step(id, step, body, wait=wait, headers=_headers(header), key=key)
    session.out.draw(journey, _page)
    say_note({"note": journey.get("_note")})


@command(journeys)
async def cancel(
    session: Session,
    id: Id,
    reason: Annotated[str, typer.Option(help="Why; kept with the journey.")] = "",
    key: Key = None,
) -> None:
    """Cancel a journey, and run its compensations."""
    session.out.draw(await session.client.journeys.cancel(id, reason, key=key), _page)


def _read_phase(word: str | None) -> str | None:
    """Return a phase as the API writes it. Raises `OstinatoError` for an unknown phase."""
    if word is None or word.lower() in _PHASES:
        return word and word.upper()
    hint = did_you_mean(word.lower(), _PHASES) or list_choices(_PHASES)
    raise OstinatoError(f"phase {word!r} is unknown; {hint}")


@command(journeys, "list")
async def list_journeys(
    session: Session,
    name: Annotated[str | None, typer.Option(help="Journeys of this name.", autocompletion=journey_names)] = None,
    phase: Annotated[str | None, typer.Option(help="running, succeeded or failed.", autocompletion=phases)] = None,
    subject: Subject = None,
    tag: Annotated[list[str] | None, typer.Option("--tag", help="With this tag; several times for several.")] = None,
    limit: Limit = 50,
) -> None:
    """List instances of journeys, the newest first."""
    session.out.items(
        await session.client.journeys.list(
            name=name, phase=_read_phase(phase), subject=subject, tags=tag or (), limit=limit
        ),
        ("journey", "name", "phase", "state", "updated", "labels"),
        lambda journey: (
            journey["journeyId"],
            journey["journeyName"],
            status(journey["phase"].lower()),
            journey["currentState"],
            moment(journey["updatedAt"]),
            short(
                ", ".join([*journey.get("tags", []), *(f"{k}={v}" for k, v in journey.get("attributes", {}).items())])
            ),
        ),
        nothing="no journeys",
    )


@command(journeys)
async def bindings(
    session: Session,
    name: Annotated[str | None, typer.Option(help="Bindings of this journey.", autocompletion=journey_names)] = None,
    subject: Subject = None,
    cancel: Annotated[
        str | None, typer.Option(help="Cancel this binding instead of listing them.", metavar="ID")
    ] = None,
    limit: Limit = 100,
) -> None:
    """List bindings: the schedules that journeys have created."""
    calls = session.client.journeys
    if cancel is not None:
        binding = await calls.cancel_binding(cancel)
        session.out.say(binding, f"cancelled {binding['scheduleId']}")
        return
    session.out.items(
        await calls.bindings(name=name, subject=subject, limit=limit),
        ("binding", "journey", "start", "subject", "every", "runs", "state", "next"),
        lambda binding: (
            binding["scheduleId"],
            f"{binding['journeyName']} {binding['journeyVersion']}",
            binding["startStateId"],
            binding["subjectId"],
            binding["interval"],
            f"{binding['runsExecuted']} of {binding['maxRuns']}",
            status(binding["state"]),
            moment(binding["next"]),
        ),
        nothing="no bindings",
    )


def _headers(lines: list[str] | None) -> dict[str, str]:
    headers = {}
    for line in lines or []:
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise OstinatoError(f"--header {short_repr(line)} is not 'Name: value'")
        headers[name.strip()] = value.strip()
    return headers


def _page(journey: Json) -> RenderableType:
    shown_above = ("journeyId", "journeyName", "phase", "currentState", "updatedAt", "statusUrl", "_links", "_note")
    steps = [name for name, link in journey.get("_links", {}).items() if link["method"] == "POST" and name != "cancel"]
    phase = journey.get("phase", "RUNNING")
    values = {
        "journey": journey["journeyId"],
        "state": journey.get("currentState"),
        "waits for": ", ".join(steps),
        "updated": moment(journey.get("updatedAt")),
        **{name: short(value, 200) for name, value in journey.items() if name not in shown_above},
    }
    return Group(Text.assemble((journey["journeyName"], "bold"), "  ", status(phase.lower())), facts(values))
