"""`ostinato apply`, `ostinato export` and `ostinato import`: apply, write and read files of schedules.

The exit code is 2 if the input is wrong. It is 1 if something was not done, for example because a schedule is declared
elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.console import SafeConsole
from ostinato.faces.cli.files import read_text, write_text
from ostinato.faces.cli.named_ways import more_ways
from ostinato.faces.cli.output import CommandOutput, as_text, counted
from ostinato.faces.cli.plans import refused, show_plan
from ostinato.faces.cli.session import (
    StoreOrServer,
    command_group,
    connect,
    empty_store,
    or_empty_store,
    place_command,
    store_exists,
)
from ostinato.faces.cli.temporal_commands import export_temporal, import_temporal
from ostinato.schedules.declared.crontab import JOB, Crontab, read_crontab
from ostinato.schedules.declared.files import LEFT_OUT, read_yaml, write_document
from ostinato.schedules.declared.problems import FileError
from ostinato.ways import parse_schedules

OriginName = Annotated[
    str | None, typer.Option("--name", help="Origin to record with the schedules. [default: the file's name]")
]
Prune = Annotated[bool, typer.Option("--prune", help="Delete what this file declared before and no longer declares.")]
Take = Annotated[bool, typer.Option("--take", help="Take over schedules that something else declares.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
OutputFile = Annotated[str | None, typer.Option("--output", "-o", help="Write to this file; - is standard output.")]

export_app = command_group("Write schedules to a file, or to a Temporal cluster.")
import_app = command_group("Read schedules from a file, a crontab or a cluster.")
place_command(export_app, "temporal")(export_temporal)
place_command(import_app, "temporal")(import_temporal)


async def apply(
    place: StoreOrServer,
    out: CommandOutput,
    file: Annotated[str, typer.Argument(help="A file of schedules, YAML or JSON; - is standard input.")],
    dry_run: DryRun = False,
    prune: Prune = False,
    take: Take = False,
    name: OriginName = None,
) -> None:
    """Apply a file of schedules: all of them, or none."""
    show_plan(out, await _apply(place, out, read_text(file), file, dry_run, prune=prune, take=take, name=name))


@place_command(export_app, "file")
async def export(
    place: StoreOrServer,
    out: CommandOutput,
    file: Annotated[str | None, typer.Argument(help="Write to this file. [default: standard output]")] = None,
    match: Annotated[str, typer.Option(help="Only schedules whose name fits, such as 'billing-*'.")] = "*",
    tag: Annotated[str | None, typer.Option(help="Only schedules with this tag.")] = None,
    output: OutputFile = None,
) -> None:
    """Write schedules as a file for `ostinato apply`."""
    if file is not None and output is not None:
        raise OstinatoError("FILE and --output are the same; give one of them")
    async with connect(place) as client:
        document = await client.schedules.export(match=match, tag=tag)
    file = file or output
    if file == "-":
        file = None
    schedules, left_out = document["schedules"], document.get(LEFT_OUT, {})
    _write(write_document(schedules, left_out=left_out, form="json" if out.as_json else "yaml"), file)
    if not out.as_json:
        _print_left_out([f"{name}: {reason}" for name, reason in left_out.items()])
    if file is not None:
        typer.echo(f"wrote {counted(len(schedules), 'schedule')} to {file}", err=True)


@place_command(import_app, "file")
async def import_file(
    place: StoreOrServer,
    out: CommandOutput,
    file: Annotated[str, typer.Argument(help="A file that was exported, or written by hand; - is standard input.")],
    dry_run: DryRun = False,
    take: Take = False,
    name: OriginName = None,
) -> None:
    """Apply the schedules of a file, as `ostinato apply` does."""
    show_plan(out, await _apply(place, out, read_text(file), file, dry_run, take=take, name=name))


@place_command(import_app, "crontab")
async def import_crontab(
    place: StoreOrServer,
    out: CommandOutput,
    file: Annotated[str, typer.Argument(help="A crontab; - is standard input.")],
    system: Annotated[bool, typer.Option("--system", help="Its lines name the user, as in /etc/crontab.")] = False,
    job: Annotated[str, typer.Option(help="The job that runs the commands; it gets them as its input.")] = JOB,
    jobs: Annotated[
        str | None, typer.Option(help="A YAML or JSON file of patterns of command lines and the jobs for them.")
    ] = None,
    tz: Annotated[str, typer.Option(help="Time zone of the crontab. [default: UTC]")] = "",
    output: OutputFile = None,
    apply_now: Annotated[bool, typer.Option("--apply", help="Apply it instead of writing it.")] = False,
    dry_run: DryRun = False,
    prune: Prune = False,
    take: Take = False,
    name: OriginName = None,
) -> None:
    """Turn a crontab into a file of schedules. With --apply, apply the schedules instead of writing the file."""
    try:
        crontab = read_crontab(read_text(file), _name_in_errors(file), system=system, tz=tz)
        entries = crontab.entries(job, _jobs(jobs))
    except FileError as problem:
        refused(out, problem)
    if apply_now:
        options = {"prune": prune, "take": take, "name": name}
        plan = await _apply(place, out, write_document(entries), file, dry_run, **options)
        _print_notes(out, crontab, entries)
        show_plan(out, plan, _notes_as_json(crontab))
    elif out.as_json:
        _write(as_text({"document": {"schedules": entries}, **_notes_as_json(crontab)}) + "\n", output)
    else:
        _print_notes(out, crontab, entries)
        _write(write_document(entries), output)
    if crontab.left_out:
        raise typer.Exit(1)


async def _apply(place: StoreOrServer, out: CommandOutput, text: str, file: str, dry_run: bool, **options: Any) -> Json:
    """Apply `text`, the content of a file of schedules, and return the plan. If `dry_run` is true, only make the plan.
    `file` names the file in errors. If the file is refused, print why and exit."""
    name_in_errors = _name_in_errors(file)
    try:
        if not dry_run and place.server is None and not store_exists(place.store):
            # A wrong file must not create a store, whatever is wrong with it.
            parse_schedules(text, name_in_errors, ways=more_ways())
            with empty_store(place) as empty:
                async with connect(empty, create=True) as client:
                    await client.schedules.plan(text, file=name_in_errors, **options)
        with or_empty_store(place, dry_run, "without --dry-run") as target:
            async with connect(target, create=not dry_run or target is not place) as client:
                send = client.schedules.plan if dry_run else client.schedules.apply
                return await send(text, file=name_in_errors, **options)
    except OstinatoError as problem:
        refused(out, problem)


def _name_in_errors(file: str) -> str:
    return "stdin" if file == "-" else file


def _write(text: str, output: str | None) -> None:
    if output is None:
        typer.echo(text, nl=False)
        return
    write_text(output, text)


def _jobs(file: str | None) -> dict[str, str]:
    if file is None:
        return {}
    jobs = read_yaml(read_text(file), file).value
    if not isinstance(jobs, dict) or not all(isinstance(job, str) and job for job in jobs.values()):
        raise OstinatoError(f"{file} is not an object of patterns and jobs; write\n'/usr/bin/backup*': backup")
    return jobs


def _print_notes(out: CommandOutput, crontab: Crontab, entries: dict[str, Json]) -> None:
    """Print the lines of a crontab that were not turned into schedules, and other notes, to standard error. If JSON is
    wanted, print nothing."""
    if out.as_json:
        return
    console = _print_left_out(map(str, crontab.left_out))
    jobs = sorted({entry["action"]["job"] for entry in entries.values()})
    theirs = [f"the job {job!r} is yours to declare; it gets the command line as input 'command'" for job in jobs]
    for note in [*crontab.notes, *theirs]:
        console.print(Text.assemble(("note:", "yellow"), " ", note))


def _print_left_out(lines: Iterable[str]) -> Console:
    """Print what is left out to standard error. Return the console, for further notes."""
    console = SafeConsole(stderr=True, soft_wrap=True, highlight=False)
    for line in lines:
        console.print(Text.assemble(("left out:", "bold magenta"), " ", line))
    return console


def _notes_as_json(crontab: Crontab) -> Json:
    return {"left_out": [one.as_dict() for one in crontab.left_out], "crontab_notes": list(crontab.notes)}
