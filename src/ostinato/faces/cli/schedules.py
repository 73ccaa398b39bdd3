"""`ostinato apply`, `export` and `import crontab`: schedules as files. They work on a store directly, without a node.

Exit codes: 0 it is done; 1 it is not, or not all of it (declared elsewhere, lines left out); 2 the input is wrong."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from ostinato import Ostinato
from ostinato.errors import OstinatoError
from ostinato.schedules.crontabs import JOB, Crontab, read_crontab
from ostinato.schedules.declared import DeclaredElsewhere, Plan, Step
from ostinato.schedules.files import Document, parse_schedules, write_document
from ostinato.schedules.marked import FileError, read_marked
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url

T = TypeVar("T")
_STYLES = {"create": "green", "update": "yellow", "unchanged": "dim", "missing": "magenta", "taken": "red"}
_SIGNS = {"create": "+", "update": "~", "unchanged": "=", "missing": "-", "taken": "!"}
_MOST = 200

StoreUrl = Annotated[
    str, typer.Option("--store", help="Which store: sqlite:///ostinato.db or postgresql://…", envvar="OSTINATO_STORE")
]
Namespace = Annotated[str, typer.Option(help="The namespace of the schedules.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
OriginName = Annotated[
    str, typer.Option("--name", help="What the schedules are known to come from. [default: the file's name]")
]
Prune = Annotated[bool, typer.Option(help="Close what this file declared before and declares no longer.")]
Take = Annotated[bool, typer.Option(help="Take over schedules that something else declares.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")]
Output = Annotated[str, typer.Option("--output", "-o", help="Write to this file. [default: standard output]")]

import_app = typer.Typer(help="Bring schedules from elsewhere.", no_args_is_help=True, rich_markup_mode=None)


def apply(
    file: Annotated[str, typer.Argument(help="A file of schedules, YAML or JSON; - is standard input.")],
    store: StoreUrl = "",
    dry_run: DryRun = False,
    prune: Prune = False,
    take: Take = False,
    name: OriginName = "",
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Make a store's schedules say what a file says: all of it, or nothing."""
    text = _read(file)
    try:
        document = parse_schedules(text, _shown_name(file), name=name or None)
        plan = _applied(document, _url(store), namespace, dry_run=dry_run, prune=prune, take=take)
    except (FileError, DeclaredElsewhere) as problem:
        _refused(problem, as_json)
    _show(plan, done=not dry_run, as_json=as_json)


def export(
    store: StoreUrl = "",
    match: Annotated[str, typer.Option(help="Only schedules whose name fits, such as 'billing-*'.")] = "*",
    tag: Annotated[str, typer.Option(help="Only schedules with this tag.")] = "",
    output: Output = "",
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Write a store's schedules as a file that `ostinato apply` takes."""

    async def exported(app: Ostinato) -> str:
        return await app.schedules.export(match=match, tag=tag or None, form="json" if as_json else "yaml")

    _write(_with(_url(store), namespace, exported, must_exist=True), output)


@import_app.command("crontab")
def import_crontab(
    file: Annotated[str, typer.Argument(help="A crontab; - is standard input.")],
    system: Annotated[bool, typer.Option(help="Its lines name the user, as in /etc/crontab.")] = False,
    job: Annotated[str, typer.Option(help="The job that runs the commands; it gets them as its input.")] = JOB,
    jobs: Annotated[
        str, typer.Option(help="A YAML or JSON file of patterns of command lines and the jobs that stand for them.")
    ] = "",
    tz: Annotated[str, typer.Option(help="Where the crontab's times are read. [default: UTC]")] = "",
    output: Output = "",
    apply_now: Annotated[bool, typer.Option("--apply", help="Apply it to --store instead of writing it.")] = False,
    store: StoreUrl = "",
    dry_run: DryRun = False,
    prune: Prune = False,
    take: Take = False,
    name: OriginName = "",
    namespace: Namespace = "default",
    as_json: AsJson = False,
) -> None:
    """Turn a crontab into a file of schedules, or apply it."""
    text = _read(file)
    try:
        found = read_crontab(text, _shown_name(file), system=system, zone=tz)
        entries = found.entries(job, _jobs(jobs))
        if not apply_now:
            _tell(found, entries, as_json=False)
            form = "json" if as_json else "yaml"
            _write(write_document(entries, form=form) if not as_json else _imported(found, entries), output)
        else:
            document = parse_schedules(write_document(entries), _shown_name(file), name=name or None)
            plan = _applied(document, _url(store), namespace, dry_run=dry_run, prune=prune, take=take)
            _tell(found, entries, as_json=as_json)
            _show(plan, done=not dry_run, as_json=as_json, more=_beside(found))
    except (FileError, DeclaredElsewhere) as problem:
        _refused(problem, as_json)
    if found.left_out:
        raise typer.Exit(1)


def _applied(document: Document, url: str, namespace: str, *, dry_run: bool, prune: bool, take: bool) -> Plan:
    async def work(app: Ostinato) -> Plan:
        if dry_run:
            return await app.schedules.plan(document, prune=prune, take=take)
        return await app.schedules.apply(document, prune=prune, take=take)

    return _with(url, namespace, work, must_exist=dry_run)


def _with(url: str, namespace: str, work: Callable[[Ostinato], Awaitable[T]], *, must_exist: bool) -> T:
    store = open_url(url)
    # Opening a file that is not there makes one; who only looks has mistyped its name.
    if must_exist and isinstance(store, SqliteStore) and not Path(store.path).exists():
        raise OstinatoError(f"there is no store {url!r}; check --store")

    async def connected() -> T:
        app = Ostinato(store, namespace=namespace, actor="cli")
        async with app.connected():
            return await work(app)

    return asyncio.run(connected())


def _url(given: str) -> str:
    if not given:
        raise OstinatoError("no store is given; write --store sqlite:///ostinato.db, or set OSTINATO_STORE")
    return given


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


def _write(text: str, output: str) -> None:
    if not output:
        typer.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise OstinatoError(f"{output} cannot be written: {problem.strerror}") from None


def _jobs(file: str) -> dict[str, str]:
    if not file:
        return {}
    given = read_marked(_read(file), file).value
    if not isinstance(given, dict) or not all(isinstance(job, str) and job for job in given.values()):
        raise OstinatoError(f"{file} is not an object of patterns and jobs; write\n'/usr/bin/backup*': backup")
    return given


def _refused(problem: FileError | DeclaredElsewhere, as_json: bool) -> NoReturn:
    """What is wrong, for people or for programs, and the exit code that tells whose mistake it is."""
    wrong_file = isinstance(problem, FileError)
    if as_json:
        what: dict[str, Any] = {"error": str(problem)}
        if isinstance(problem, FileError):
            what["problems"] = [one.as_dict() for one in problem.problems]
        else:
            what["plan"] = problem.plan.as_dict()
        typer.echo(json.dumps(what, indent=2, ensure_ascii=False))
    else:
        console = Console(stderr=True, soft_wrap=True, highlight=False)
        lines = [str(one) for one in problem.problems] if isinstance(problem, FileError) else [str(problem)]
        for line in lines:
            console.print(Text.assemble(("error:", "bold red"), " ", line))
        if len(lines) > 1:
            console.print(Text(f"{len(lines)} mistakes; nothing was done", style="dim"))
    raise typer.Exit(2 if wrong_file else 1)


def _show(plan: Plan, *, done: bool, as_json: bool, more: dict[str, Any] | None = None) -> None:
    if as_json:
        whole = {"done": done, **plan.as_dict(), **(more or {})}
        typer.echo(json.dumps(whole, indent=2, ensure_ascii=False))
    else:
        Console(highlight=False).print(plan_page(plan, done=done))
    if plan.taken:
        raise typer.Exit(1)


def plan_page(plan: Plan, *, done: bool) -> Group:
    """A plan for people: a row for each schedule that is not as it was, and a line that counts."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("", "schedule", "what changes", "next times"):
        table.add_column(column)
    shown = [step for step in plan.steps if step.verb != "unchanged"]
    for step in shown[:_MOST]:
        style = _STYLES[step.verb]
        table.add_row(
            Text(_SIGNS[step.verb], style=style), Text(step.name, style=style), _what(step, plan), _times(step)
        )
    parts: list[Any] = [table] if shown else []
    if len(shown) > _MOST:
        parts.append(Text(f"and {len(shown) - _MOST} more", style="dim"))
    parts += [Text(f"note: {note}", style="yellow") for note in plan.notes]
    counted = str(plan)
    if done:
        for plain, past in (("to create", "created"), ("to update", "updated"), ("to prune", "pruned")):
            counted = counted.replace(plain, past)
    return Group(*parts, Text(counted, style="bold"))


def _what(step: Step, plan: Plan) -> Text:
    match step.verb:
        case "create":
            assert step.wanted is not None
            return Text(f"{step.wanted.spec.describe()} → {step.wanted.action.job}")
        case "missing":
            return Text("no longer declared" + (", pruned" if plan.pruned else "; goes on unless pruned"))
        case "taken":
            return Text(f"declared by {step.owner}; left as it is unless taken over (--take)")
    return Text("\n").join(Text(str(change)) for change in step.changes)


def _times(step: Step) -> Text:
    if step.verb == "update" and step.before != step.after:
        return Text.assemble((_moments(step.before), "strike dim"), "\n", _moments(step.after))
    return Text(_moments(step.after or step.before), style="dim" if step.verb == "missing" else "")


def _moments(times: tuple[Any, ...]) -> str:
    return ", ".join(f"{one:%a %m-%d %H:%M}" for one in times) or "none"


def _tell(found: Crontab, entries: dict[str, dict[str, Any]], *, as_json: bool) -> None:
    """What was left out and what reads otherwise, beside the answer and not in it."""
    if as_json:
        return
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    for one in found.left_out:
        console.print(Text.assemble(("left out:", "bold magenta"), " ", str(one)))
    for note in [*found.notes, *_declare(entries)]:
        console.print(Text.assemble(("note:", "yellow"), " ", note))


def _declare(entries: dict[str, dict[str, Any]]) -> list[str]:
    jobs = sorted({one["action"]["job"] for one in entries.values()})
    return [f"the job {job!r} is yours to declare; it gets the command line as input 'command'" for job in jobs]


def _beside(found: Crontab) -> dict[str, Any]:
    return {"left_out": [one.as_dict() for one in found.left_out], "crontab_notes": list(found.notes)}


def _imported(found: Crontab, entries: dict[str, dict[str, Any]]) -> str:
    whole = {"document": {"schedules": entries}, **_beside(found)}
    return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
