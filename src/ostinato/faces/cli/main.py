"""`ostinato`: the command line. Each command lives in a module of its own name."""

from __future__ import annotations

from typing import Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperGroup

from ostinato import __version__
from ostinato.client import Denied, Unreachable
from ostinato.errors import Conflict, NotAStore, NotFound, OstinatoError, StoreError
from ostinato.faces.cli.access import namespaces, nodes, token
from ostinato.faces.cli.backfill_commands import backfills
from ostinato.faces.cli.backup import backup, restore
from ostinato.faces.cli.declared_commands import apply, export, import_app
from ostinato.faces.cli.doctor import doctor
from ostinato.faces.cli.events import events
from ostinato.faces.cli.explain import explain
from ostinato.faces.cli.job_commands import jobs
from ostinato.faces.cli.migrate import migrate
from ostinato.faces.cli.page import page
from ostinato.faces.cli.run_commands import runs
from ostinato.faces.cli.schedule_commands import schedules
from ostinato.faces.cli.serve import serve, worker
from ostinato.faces.cli.simulate import simulate
from ostinato.faces.cli.target import command, place_command
from ostinato.faces.cli.upcoming import upcoming
from ostinato.faces.cli.webhook_commands import webhooks
from ostinato.faces.cli.when import when
from ostinato.when import rules_in_force


def code_of(problem: OstinatoError) -> int:
    """1: the answer is no. 2: what was given is not right. 3: the store or the server cannot be used."""
    match problem:
        case NotAStore():
            return 2
        case Unreachable() | StoreError():
            return 3
        case NotFound() | Conflict() | Denied():
            return 1
        case _:
            return 2


class Careful(TyperGroup):
    """A mistake is one clear line on standard error and an exit code, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except OstinatoError as problem:
            message = Text.assemble(("error:", "bold red"), " ", str(problem))
            Console(stderr=True, soft_wrap=True, highlight=False).print(message)
            ctx.exit(code_of(problem))


app = typer.Typer(
    help="One durable clockwork for Python.",
    cls=Careful,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(serve)
app.command()(worker)
app.add_typer(schedules, name="schedules")
app.add_typer(backfills, name="backfills")
app.add_typer(runs, name="runs")
app.add_typer(jobs, name="jobs")
place_command(app)(apply)
place_command(app)(export)
app.add_typer(import_app, name="import")
command(app)(events)
command(app)(upcoming)
command(app)(explain)
command(app)(simulate)
app.add_typer(webhooks, name="webhooks")
command(app)(nodes)
app.add_typer(token, name="token")
app.add_typer(namespaces, name="namespaces")
place_command(app)(backup)
place_command(app)(restore)
place_command(app)(migrate)
place_command(app)(doctor)
app.command()(when)
app.command()(page)


@app.command()
def version() -> None:
    """Say which Ostinato this is, and which edition of the time-zone rules it uses."""
    rules = rules_in_force()
    typer.echo(f"ostinato {__version__}, time-zone rules {rules.version} from {rules.source}")


def main() -> None:
    app()
