"""Print the output of commands, as JSON or as text. Times of a schedule are in its zone, all other times in UTC."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from ostinato.faces.cli.console import SafeConsole
from ostinato.when.zones import Zone

_WIDE = 160
COLOURS = {
    "succeeded": "green",
    "success": "green",
    "done": "green",
    "sending": "cyan",
    "running": "green",
    "ok": "green",
    "created": "green",
    "failed": "red",
    "timed_out": "red",
    "crashed": "red",
    "missed": "red",
    "wrong": "red",
    "dead": "red",
    "parked": "red",
    "disabled": "red",
    "active": "cyan",
    "ready": "yellow",
    "buffered": "yellow",
    "notice": "yellow",
    "waiting": "blue",
    "completed": "blue",
    "paused": "magenta",
    "cancelled": "magenta",
    "canceled": "magenta",
    "terminated": "magenta",
    "skipped": "dim",
}


class CommandOutput:
    """Prints a command's answer, as JSON or for people."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        # In a pipe or a file, lines are as wide as in a wide terminal.
        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDE
        self.console = SafeConsole(highlight=False, width=width)

    def json(self, value: Any) -> None:
        typer.echo(as_text(value))

    def line(self, value: Mapping[str, Any]) -> None:
        """Print one JSON object on one line."""
        typer.echo(json.dumps(value, ensure_ascii=False))

    def say(self, value: Any, *words: str | Text) -> None:
        """Print `value` if JSON is wanted. Otherwise print each text in `words` as a line."""
        if self.as_json:
            self.json(value)
            return
        for line in words:
            self.console.print(line if isinstance(line, Text) else Text(line), soft_wrap=True)

    def items(
        self,
        items: Sequence[Any],
        columns: Sequence[str],
        row: Callable[[Any], Iterable[Any]],
        *,
        nothing: str = "none",
        **more: Any,
    ) -> None:
        """Print items.

        - If JSON is wanted, print `{"items": […]}`, with the fields in `more` added.
        - Otherwise, if `items` is empty, print the text `nothing`.
        - Otherwise print a table with the given columns. `row` gets an item and returns its cells.
        """
        if self.as_json:
            self.json({"items": list(items), **more})
        elif not items:
            self.console.print(Text(nothing, style="dim"))
        else:
            self.console.print(table(columns, map(row, items)))

    def draw(self, value: Any, picture: Callable[[Any], RenderableType]) -> None:
        if self.as_json:
            self.json(value)
        else:
            self.console.print(picture(value))

    @contextmanager
    def progress(self, what: str, total: float | None = None) -> Any:
        """Show a progress bar on standard error, if that is a terminal. Yield a function that updates the bar."""
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        shown = Console(stderr=True)
        columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()]
        with Progress(*columns, console=shown, disable=not sys.stderr.isatty(), transient=True) as bar:
            task = bar.add_task(what, total=total)

            def tell(done: float, of: float | None = total, words: str = what) -> None:
                bar.update(task, completed=done, total=of, description=words)

            yield tell


def as_text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def table(columns: Sequence[str], rows: Iterable[Iterable[Any]]) -> Table:
    grid = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*(cell if isinstance(cell, Text) else Text("" if cell is None else str(cell)) for cell in row))
    return grid


def facts(pairs: Mapping[str, Any]) -> Table:
    """Return a table with a row for each name and value. Empty values are left out."""
    grid = Table.grid(padding=(0, 2))
    for name, value in pairs.items():
        if value not in (None, "", [], {}):
            grid.add_row(Text(name, style="dim"), value if isinstance(value, Text) else Text(str(value)))
    return grid


def status(word: str) -> Text:
    return Text(word, style=COLOURS.get(word, ""))


def moment(text: str | None, zone: Zone | None = None) -> str:
    """Return a time as text without spaces. In a `zone` it has an offset, as in `2026-03-01T09:00:00+01:00`. Without a
    zone it is in UTC, as in `2026-03-01T08:00:00Z`. Returns "" for None."""
    if text is None:
        return ""
    at = datetime.fromisoformat(text).astimezone(UTC)
    if zone is not None:
        at = at.astimezone(timezone(timedelta(seconds=zone.offset(int(at.timestamp())))))
    shown = at.isoformat(timespec="milliseconds" if at.microsecond else "seconds")
    return shown.replace("+00:00", "Z")


def took(started: str | None, finished: str | None) -> str:
    if started is None or finished is None:
        return ""
    seconds = (datetime.fromisoformat(finished) - datetime.fromisoformat(started)).total_seconds()
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def counted(number: int, what: str) -> str:
    """Return a number with its noun: `1 error`, `2 errors`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def short(value: Any, most: int = 60) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace("\n", " ")
    return text if len(text) <= most else f"{text[: most - 1]}…"


def printable(text: str) -> str:
    """Return a text with its control characters replaced, so that untrusted text cannot control the terminal."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\ufffd" for char in text)
