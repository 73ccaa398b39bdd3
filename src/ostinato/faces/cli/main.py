"""`ostinato`: the command line. Each command lives in a module of its own, which is imported when it is called for: a
command answers at once, whatever the others need."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import signature
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer._click.exceptions import NoSuchOption, UsageError
from typer.core import TyperCommand, TyperGroup

from ostinato.errors import Conflict, NotAStore, NotFound, OstinatoError, StoreError, nearest
from ostinato.faces.cli.wording import in_words
from ostinato.version import __version__

# Name: module and what of it, and what it is for.
COMMANDS = {
    "serve": ("serve:serve", "Run the engine and the API in one process."),
    "worker": ("serve:worker", "Run the engine without the API."),
    "schedules": ("schedule_commands:schedules", "List, create and change schedules."),
    "backfills": ("backfill_commands:backfills", "Watch, pause and cancel backfills."),
    "runs": ("run_commands:runs", "List, inspect, cancel and retry runs."),
    "journeys": ("journey_commands:journeys", "Check, deploy, start, answer and draw journeys."),
    "jobs": ("job_commands:jobs", "List the known jobs, and start one."),
    "apply": ("declared_commands:apply", "Make the schedules what a file declares: all, or nothing."),
    "export": ("declared_commands:export_app", "Write schedules to a file, or to a Temporal cluster."),
    "import": ("declared_commands:import_app", "Read schedules from a file, a crontab or a cluster."),
    "events": ("events:events", "Show what happened, the newest last."),
    "upcoming": ("upcoming:upcoming", "Show the next times of all schedules, and what is late."),
    "explain": ("explain:explain", "Say why a schedule ran, why not, or whether it will."),
    "simulate": ("simulate:simulate", "Play a schedule, or a draft of one, through a period."),
    "webhooks": ("webhook_commands:webhooks", "Send events to URLs."),
    "nodes": ("access:nodes", "List the processes that run jobs."),
    "token": ("access:token", "Create, list and revoke tokens."),
    "namespaces": ("access:namespaces", "Create, list and delete namespaces."),
    "backup": ("backup:backup", "Copy the store to a file while it is in use."),
    "restore": ("backup:restore", "Put a backup in the place of the store."),
    "migrate": ("migrate:migrate", "Create the store's schema, or bring it up to date."),
    "doctor": ("doctor:doctor", "Look for trouble, and say what to do."),
    "when": ("when:when", "Say when a spec fires: words, times, a small picture."),
    "page": ("page:page", "Type a spec and see its words and next times."),
    "version": ("when:version", "Say the version, and that of the time-zone rules."),
}


# What people type for a command that has another name: under which group, and the command to run.
ALIASES = {
    ("", "tokens"): "token",
    ("schedules", "explain"): "explain",
    ("runs", "logs"): "log",
    ("jobs", "run"): "start",
}
_FORMATS = (["-o", "json"], ["--output", "json"])


def code_of(problem: OstinatoError) -> int:
    """1: the answer is no. 2: what was given is not right. 3: the store or the server cannot be used."""
    from ostinato.client import Denied, Unreachable

    match problem:
        case NotAStore():
            return 2
        case Unreachable() | StoreError():
            return 3
        case NotFound() | Conflict() | Denied():
            return 1
        case _:
            return 2


class Later(TyperCommand):
    """A command by its name and what it is for; the rest is imported when it is called for."""

    def __init__(self, name: str, place: str, help: str) -> None:
        super().__init__(name, help=help)
        self._place = place

    def load(self) -> Any:
        module, _, name = self._place.partition(":")
        found = getattr(import_module(f"ostinato.faces.cli.{module}"), name)
        if isinstance(found, typer.Typer):
            return typer.main.get_group(found)
        group = typer.Typer(add_completion=False, rich_markup_mode=None)
        match next(iter(signature(found).parameters), None):
            case "session":
                from ostinato.faces.cli.target import command

                command(group, self.name)(found)
            case "place":
                from ostinato.faces.cli.target import place_command

                place_command(group, self.name)(found)
            case _:
                group.command(self.name)(found)
        return typer.main.get_command(group)


class Careful(TyperGroup):
    """A mistake is one clear line on standard error and an exit code, never a traceback."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = {name: Later(name, *what) for name, what in COMMANDS.items()}

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, found, rest = super().resolve_command(ctx, spelled(args))
        return name, found.load() if isinstance(found, Later) else found, rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except NoSuchOption as problem:
            names = [one for part in problem.ctx.command.params for one in part.opts] if problem.ctx else []
            near = nearest(problem.option_name.lstrip("-"), [one.lstrip("-") for one in names])
            problem.possibilities = [] if near is None or near in names else [f"--{near}"]
            if near in names:
                problem.message += f". Give it as the argument {near.upper()}."
            raise
        except UsageError as problem:
            unknown = _UNKNOWN.match(problem.message)
            if unknown is not None and problem.ctx is not None:
                near = nearest(unknown[1], getattr(problem.ctx.command, "commands", {}))
                problem.message = f"No such command {unknown[1]!r}." + (f" Did you mean {near!r}?" if near else "")
            raise
        except OstinatoError as problem:
            message = Text.assemble(("error:", "bold red"), " ", in_words(problem))
            Console(stderr=True, soft_wrap=True, highlight=False).print(message)
            ctx.exit(code_of(problem))


_UNKNOWN = re.compile(r"No such command '([^']*)'")


def spelled(args: list[str]) -> list[str]:
    """The arguments with names of commands as they are here, and `-o json` as `--json`."""
    if not args:
        return args
    first = ALIASES.get(("", args[0]), args[0])
    rest = args[1:]
    if rest and (second := ALIASES.get((first, rest[0]))) is not None:
        if second in COMMANDS:
            first, rest = second, rest[1:]
        else:
            rest = [second, *rest[1:]]
    if first not in ("export", "import") and rest[:1] != ["draw"]:  # theirs is a file
        for place in range(len(rest) - 1):
            if rest[place : place + 2] in _FORMATS:
                rest = [*rest[:place], "--json", *rest[place + 2 :]]
                break
    return [first, *rest]


app = typer.Typer(
    cls=Careful,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"ostinato {__version__}")
        raise typer.Exit


@app.callback()
def ostinato(
    version: Annotated[
        bool, typer.Option("--version", help="Say which Ostinato this is.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """One durable clockwork for Python."""


def main() -> None:
    app()
