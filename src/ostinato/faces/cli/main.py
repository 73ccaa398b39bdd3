"""`ostinato`: the command line. Each command lives in a module of its own name."""

from __future__ import annotations

import sys

import typer
from rich.console import Console
from rich.text import Text

from ostinato import __version__
from ostinato.errors import OstinatoError
from ostinato.faces.cli.page import page
from ostinato.faces.cli.serve import serve, worker
from ostinato.faces.cli.when import when
from ostinato.when import rules_in_force

app = typer.Typer(
    help="One durable clockwork for Python.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(when)
app.command()(page)
app.command()(serve)
app.command()(worker)


@app.command()
def version() -> None:
    """Say which Ostinato this is, and which edition of the time-zone rules it uses."""
    rules = rules_in_force()
    typer.echo(f"ostinato {__version__}, time-zone rules {rules.version} from {rules.source}")


def main() -> None:
    """Run a command; a mistake in its input is one clear line and exit code 2."""
    try:
        app()
    except OstinatoError as problem:
        message = Text.assemble(("error:", "bold red"), " ", str(problem))
        Console(stderr=True, soft_wrap=True, highlight=False).print(message)
        sys.exit(2)
