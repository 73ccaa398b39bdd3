"""`ostinato apply`, `export` and `import`: schedules as files, on a store or on a server.

Exit codes: 0 it is done; 1 it is not, or not all of it (declared elsewhere, lines left out); 2 the input is wrong."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.answers import Answers, as_text, counted
from ostinato.faces.cli.plans import refused, show_plan
from ostinato.faces.cli.target import Where, is_there, or_an_empty_one, place_command, reach
from ostinato.faces.cli.temporal_commands import export_temporal, import_temporal
from ostinato.schedules.crontabs import JOB, Crontab, read_crontab
from ostinato.schedules.files import parse_schedules, write_document
from ostinato.schedules.marked import FileError, read_marked

OriginName = Annotated[
    str | None, typer.Option("--name", help="What the schedules are known to come from. [default: the file's name]")
]
Prune = Annotated[bool, typer.Option("--prune", help="Close what this file declared before and declares no longer.")]
Take = Annotated[bool, typer.Option("--take", help="Take over schedules that something else declares.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Output = Annotated[str | None, typer.Option("--output", "-o", help="Write to this file. [default: standard output]")]

export_app = typer.Typer(
    help="Write schedules to a file, or to a Temporal cluster.", no_args_is_help=True, rich_markup_mode=None
)
import_app = typer.Typer(
    help="Read schedules from a file, a crontab or a cluster.", no_args_is_help=True, rich_markup_mode=None
)
place_command(export_app, "temporal")(export_temporal)
place_command(import_app, "temporal")(import_temporal)


async def apply(
    place: Where,
    out: Answers,
    file: Annotated[str, typer.Argument(help="A file of schedules, YAML or JSON; - is standard input.")],
    dry_run: DryRun = False,
    prune: Prune = False,
    take: Take = False,
    name: OriginName = None,
) -> None:
    """Make the schedules what a file declares: all, or nothing."""
    show_plan(out, await _applied(place, out, _read(file), file, dry_run, prune=prune, take=take, name=name))


@place_command(export_app, "file")
async def export(
    place: Where,
    out: Answers,
    file: Annotated[str | None, typer.Argument(help="Write to this file. [default: standard output]")] = None,
    match: Annotated[str, typer.Option(help="Only schedules whose name fits, such as 'billing-*'.")] = "*",
    tag: Annotated[str | None, typer.Option(help="Only schedules with this tag.")] = None,
    output: Output = None,
) -> None:
    """Write schedules as a file that `ostinato apply` takes."""
    if file is not None and output is not None:
        raise OstinatoError("FILE and --output are the same; give one of them")
    async with reach(place) as client:
        found = await client.schedules.export(match=match, tag=tag)
    file = file or output
    _write(write_document(found["schedules"], form="json" if out.as_json else "yaml"), file)
    if file is not None:
        typer.echo(f"wrote {counted(len(found['schedules']), 'schedule')} to {file}", err=True)


@place_command(import_app, "file")
async def import_file(
    place: Where,
    out: Answers,
    file: Annotated[str, typer.Argument(help="A file that was exported, or written by hand; - is standard input.")],
    dry_run: DryRun = False,
    take: Take = False,
    name: OriginName = None,
) -> None:
    """Apply the schedules of a file, as `ostinato apply` does."""
    show_plan(out, await _applied(place, out, _read(file), file, dry_run, take=take, name=name))


@place_command(import_app, "crontab")
async def import_crontab(
    place: Where,
    out: Answers,
    file: Annotated[str, typer.Argument(help="A crontab; - is standard input.")],
    system: Annotated[bool, typer.Option("--system", help="Its lines name the user, as in /etc/crontab.")] = False,
    job: Annotated[str, typer.Option(help="The job that runs the commands; it gets them as its input.")] = JOB,
    jobs: Annotated[
        str | None, typer.Option(help="A YAML or JSON file of patterns of command lines and the jobs for them.")
    ] = None,
    tz: Annotated[str, typer.Option(help="Where the crontab's times are read. [default: UTC]")] = "",
    output: Output = None,
    apply_now: Annotated[bool, typer.Option("--apply", help="Apply it instead of writing it.")] = False,
    dry_run: DryRun = False,
    prune: Prune = False,
    take: Take = False,
    name: OriginName = None,
) -> None:
    """Turn a crontab into a file of schedules, or apply it."""
    try:
        found = read_crontab(_read(file), _shown_name(file), system=system, tz=tz)
        entries = found.entries(job, _jobs(jobs))
    except FileError as problem:
        refused(out, problem)
    if apply_now:
        given = {"prune": prune, "take": take, "name": name}
        plan = await _applied(place, out, write_document(entries), file, dry_run, **given)
        _tell(out, found, entries)
        show_plan(out, plan, _beside(found))
    elif out.as_json:
        _write(as_text({"document": {"schedules": entries}, **_beside(found)}) + "\n", output)
    else:
        _tell(out, found, entries)
        _write(write_document(entries), output)
    if found.left_out:
        raise typer.Exit(1)


async def _applied(place: Where, out: Answers, text: str, file: str, dry_run: bool, **given: Any) -> Json:
    """The plan of a file, done or not."""
    shown = _shown_name(file)
    try:
        if not dry_run and place.server is None and not is_there(place.store):
            parse_schedules(text, shown)  # a file that is wrong makes no store
        with or_an_empty_one(place, dry_run, "without --dry-run") as there:
            async with reach(there, create=not dry_run or there is not place) as client:
                do = client.schedules.plan if dry_run else client.schedules.apply
                return await do(text, file=shown, **given)
    except OstinatoError as problem:
        refused(out, problem)


def _read(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as problem:
        raise OstinatoError(f"{file} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise OstinatoError(f"{file} is not UTF-8: {problem.reason} at byte {problem.start}") from None


def _shown_name(file: str) -> str:
    return "stdin" if file == "-" else file


def _write(text: str, output: str | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise OstinatoError(f"{output} cannot be written: {problem.strerror}") from None


def _jobs(file: str | None) -> dict[str, str]:
    if file is None:
        return {}
    given = read_marked(_read(file), file).value
    if not isinstance(given, dict) or not all(isinstance(job, str) and job for job in given.values()):
        raise OstinatoError(f"{file} is not an object of patterns and jobs; write\n'/usr/bin/backup*': backup")
    return given


def _tell(out: Answers, found: Crontab, entries: dict[str, Json]) -> None:
    """What was left out and what reads otherwise, beside the answer and not in it."""
    if out.as_json:
        return
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for one in found.left_out:
        console.print(Text.assemble(("left out:", "bold magenta"), " ", str(one)))
    jobs = sorted({one["action"]["job"] for one in entries.values()})
    theirs = [f"the job {job!r} is yours to declare; it gets the command line as input 'command'" for job in jobs]
    for note in [*found.notes, *theirs]:
        console.print(Text.assemble(("note:", "yellow"), " ", note))


def _beside(found: Crontab) -> Json:
    return {"left_out": [one.as_dict() for one in found.left_out], "crontab_notes": list(found.notes)}
