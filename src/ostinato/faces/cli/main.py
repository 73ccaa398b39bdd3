"""`ostinato`: the command line. Each command lives in a module of its own, which is imported when it is called for: a
command answers at once, whatever the others need."""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from ostinato.errors import Conflict, NotAStore, NotFound, OstinatoError, StoreError

# Name: module and what of it, and what it is for.
COMMANDS = {
    "serve": ("serve:serve", "Run the engine and the API in one process."),
    "worker": ("serve:worker", "Run the engine without the API."),
    "schedules": ("schedule_commands:schedules", "Schedules: look, make, change."),
    "backfills": ("backfill_commands:backfills", "Backfills: how far they are, and how to stop them."),
    "runs": ("run_commands:runs", "Runs: look, stop, do again."),
    "journeys": ("journey_commands:journeys", "Journeys: check, deploy, start, answer, draw."),
    "jobs": ("job_commands:jobs", "Jobs: which are known, and starting one."),
    "apply": ("declared_commands:apply", "Make the schedules say what a file says: all of it, or nothing."),
    "export": ("declared_commands:export_app", "Take schedules elsewhere: to a file, to a Temporal cluster."),
    "import": ("declared_commands:import_app", "Bring schedules from elsewhere."),
    "events": ("events:events", "What happened, the newest last."),
    "upcoming": ("upcoming:upcoming", "What is to come, soonest first; what is late, with what will become of it."),
    "explain": ("explain:explain", "Say why a schedule ran at a moment, why it did not, or whether it will."),
    "simulate": ("simulate:simulate", "Play a schedule, or a draft of one, through a period."),
    "webhooks": ("webhook_commands:webhooks", "Webhooks: URLs that are told of events."),
    "nodes": ("access:nodes", "The processes that do the work."),
    "token": ("access:token", "Tokens: who may do what."),
    "namespaces": ("access:namespaces", "Namespaces: schedules and runs of their own."),
    "backup": ("backup:backup", "Copy the store to a file while it is in use."),
    "restore": ("backup:restore", "Put a backup where the store is to be."),
    "migrate": ("migrate:migrate", "Bring the store's schema up to date, or make it."),
    "doctor": ("doctor:doctor", "Look for trouble, and say what to do."),
    "when": ("when:when", "Say when a spec fires: in words, as times, and as a small picture."),
    "page": ("page:page", "Open a living page: type a spec, see it in words and its next times."),
    "version": ("when:version", "Say which Ostinato this is, and which edition of the time-zone rules it uses."),
}


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
        name, found, rest = super().resolve_command(ctx, args)
        return name, found.load() if isinstance(found, Later) else found, rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except OstinatoError as problem:
            message = Text.assemble(("error:", "bold red"), " ", str(problem))
            Console(stderr=True, soft_wrap=True, highlight=False).print(message)
            ctx.exit(code_of(problem))


app = typer.Typer(cls=Careful, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.callback()
def ostinato() -> None:
    """One durable clockwork for Python."""


def main() -> None:
    app()
