"""Run the command line, `ostinato`. The module of a command is imported only when the command is called."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from copy import copy
from inspect import signature
from typing import Annotated, Any

import typer
from rich.text import Text
from typer._click.exceptions import NoSuchOption, UsageError
from typer.core import TyperCommand, TyperGroup

from ostinato.engine.ways import Command, load
from ostinato.errors import Conflict, NotAStore, NotFound, OstinatoError, StoreError, nearest
from ostinato.faces.cli.console import SafeConsole
from ostinato.faces.cli.named_ways import ways_here
from ostinato.faces.cli.plain_values import read_plainly
from ostinato.faces.cli.wording import in_words
from ostinato.version import __version__

# From the name of a command to its module and function, and its help. Ways add commands of their own.
_COMMANDS = {
    "serve": ("serve:serve", "Run the engine and the API in one process."),
    "worker": ("serve:worker", "Run the engine without the API."),
    "schedules": ("schedule_commands:schedules", "List, create and change schedules."),
    "backfills": ("backfill_commands:backfills", "Watch, pause and cancel backfills."),
    "runs": ("run_commands:runs", "List, inspect, cancel and retry runs."),
    "jobs": ("job_commands:jobs", "List the known jobs, and start one."),
    "apply": ("declared_commands:apply", "Apply a file of schedules: all of them, or none."),
    "export": ("declared_commands:export_app", "Write schedules to a file, or to a Temporal cluster."),
    "import": ("declared_commands:import_app", "Read schedules from a file, a crontab or a cluster."),
    "events": ("events:events", "Show the last events, or follow events as they happen."),
    "upcoming": ("upcoming:upcoming", "Show the next times of all schedules, and late times."),
    "explain": ("explain:explain", "Explain why a schedule ran, why not, or whether it will."),
    "simulate": ("simulate:simulate", "Simulate a schedule, or a draft of one, over a period."),
    "mcp": ("mcp:mcp", "Serve tools for operators to an MCP client."),
    "nodes": ("access:nodes", "List the processes that run jobs."),
    "token": ("access:token", "Create, list and revoke tokens."),
    "namespaces": ("access:namespaces", "Create, list and delete namespaces."),
    "backup": ("backup:backup", "Copy the store to a file while it is in use."),
    "restore": ("backup:restore", "Replace the store by a backup."),
    "migrate": ("migrate:migrate", "Create the store's schema, or bring it up to date."),
    "doctor": ("doctor:doctor", "Check the store and the server, and say what to do."),
    "when": ("when:when", "Show when a spec fires: words, times, a small picture."),
    "page": ("page:page", "Type a spec, and see its description and next times."),
    "version": ("when:version", "Show the version, and that of the time zone rules."),
}
_BEFORE = "jobs"  # the commands of ways are listed before this command


def commands() -> dict[str, Command]:
    """Return a dict from a name to a command, including the commands of extensions (`Way`)."""
    by_name: dict[str, Command] = {}
    for name, (place, help) in _COMMANDS.items():
        if name == _BEFORE:
            by_name |= {name: one for name, one in ways_here().commands.items() if name not in _COMMANDS}
        by_name[name] = Command(f"ostinato.faces.cli.{place}", help)
    return by_name


# Other names of commands: the group, the name that is typed, and the command to run.
ALIASES = {
    ("", "tokens"): "token",
    ("schedules", "explain"): "explain",
    ("runs", "logs"): "log",
    ("jobs", "run"): "start",
}
_FORMATS = (["-o", "json"], ["--output", "json"])


def code_of(problem: OstinatoError) -> int:
    """Return the exit code of an error.

    - 1: something was refused or not found
    - 2: the input is wrong
    - 3: the store or the server cannot be used
    """
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
    """A placeholder for a command, with its name and its help text. `load` imports the command itself, so that only the
    code of the command that the user calls is imported."""

    def __init__(self, name: str, place: str, help: str) -> None:
        super().__init__(name, help=help)
        self._place = place

    def load(self, args: Sequence[str] = ()) -> Any:
        """Import and return the command. `args` are the words that the user typed after the name of the command. If the
        command is a group, and `args` names one of its subcommands, only this subcommand is built, to save time."""
        target = load(self._place)
        if isinstance(target, typer.Typer):
            return read_plainly(typer.main.get_group(_only(target, args)))
        group = typer.Typer(add_completion=False, rich_markup_mode=None)
        match next(iter(signature(target).parameters), None):
            case "session":
                from ostinato.faces.cli.session import command

                command(group, self.name)(target)
            case "place":
                from ostinato.faces.cli.session import place_command

                place_command(group, self.name)(target)
            case _:
                group.command(self.name)(target)
        return read_plainly(typer.main.get_command(group))


def _only(group: typer.Typer, args: Sequence[str]) -> typer.Typer:
    """Return a copy of `group` with only the member that is called `args[0]`. If this member is a group, it is reduced
    in the same way, to the member that is called `args[1]`. If `group` has no member `args[0]`, return `group`."""
    commands = [one for one in group.registered_commands if one.name in args[:1]]
    groups = [copy(one) for one in group.registered_groups if one.name in args[:1]]
    if not commands and not groups:
        return group
    for inner in groups:
        if inner.typer_instance is not None:
            inner.typer_instance = _only(inner.typer_instance, args[1:])
    group = copy(group)
    group.registered_commands, group.registered_groups = commands, groups
    return group


class Careful(TyperGroup):
    """The group of all commands. If a command raises `OstinatoError`, the group prints the message to standard error,
    without a traceback, and exits with the code of the error."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        read_plainly(self)
        try:
            self.commands = {name: Later(name, *what) for name, what in commands().items()}
        except OstinatoError as problem:
            print(f"error: {problem}", file=sys.stderr)
            sys.exit(2)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, spelled(args))
        return name, command.load(rest) if isinstance(command, Later) else command, rest

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
            SafeConsole(stderr=True, soft_wrap=True, highlight=False).print(message)
            ctx.exit(code_of(problem))


_UNKNOWN = re.compile(r"No such command '([^']*)'")


def spelled(args: list[str]) -> list[str]:
    """Return `args` with each alias replaced by the command's name, and with `-o json` and `--output json` replaced by
    `--json`. If the command's option `-o` names a file, as for `export`, the option is not changed."""
    if not args:
        return args
    first = ALIASES.get(("", args[0]), args[0])
    rest = args[1:]
    if rest and (second := ALIASES.get((first, rest[0]))) is not None:
        if second in _COMMANDS:
            first, rest = second, rest[1:]
        else:
            rest = [second, *rest[1:]]
    if first not in ("export", "import") and rest[:1] != ["draw"]:  # for these, -o names a file
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
        bool, typer.Option("--version", help="Show the version.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """A durable scheduler for Python: schedules, jobs, journeys, workflows and functions."""


def main() -> None:
    app()
