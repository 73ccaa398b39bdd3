"""How commands answer: JSON for machines, tables and sentences for people. Times of a schedule are
shown on the clock of its zone with the offset, all other moments in UTC with `Z`."""

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

from ostinato.when.zones import Zone

_WIDE = 160
COLOURS = {
    "succeeded": "green",
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
    "terminated": "magenta",
    "skipped": "dim",
}


class Answers:
    """Where a command's answer goes."""

    def __init__(self, as_json: bool = False) -> None:
        self.as_json = as_json
        # Into a pipe or a file nothing is folded that a terminal of some width would not fold.
        width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDE
        self.console = Console(highlight=False, width=width)

    def json(self, value: Any) -> None:
        typer.echo(as_text(value))

    def line(self, value: Mapping[str, Any]) -> None:
        """One JSON object on one line, as it comes."""
        typer.echo(json.dumps(value, ensure_ascii=False))

    def say(self, value: Any, *words: str | Text) -> None:
        """One answer: as data, or in words."""
        if self.as_json:
            self.json(value)
            return
        for one in words:
            self.console.print(one if isinstance(one, Text) else Text(one), soft_wrap=True)

    def items(
        self,
        found: Sequence[Any],
        columns: Sequence[str],
        row: Callable[[Any], Iterable[Any]],
        *,
        nothing: str = "none",
        **more: Any,
    ) -> None:
        """Many: as `{"items": […]}`, or as a table."""
        if self.as_json:
            self.json({"items": list(found), **more})
        elif not found:
            self.console.print(Text(nothing, style="dim"))
        else:
            self.console.print(table(columns, map(row, found)))

    def draw(self, value: Any, picture: Callable[[], RenderableType]) -> None:
        if self.as_json:
            self.json(value)
        else:
            self.console.print(picture())

    @contextmanager
    def progress(self, what: str, total: float | None = None) -> Any:
        """A bar on standard error, where someone is there to see it."""
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
    made = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        made.add_column(column, overflow="fold")
    for row in rows:
        made.add_row(*(cell if isinstance(cell, Text) else Text("" if cell is None else str(cell)) for cell in row))
    return made


def facts(pairs: Mapping[str, Any]) -> Table:
    """Names and values below one another; what is empty is left out."""
    made = Table.grid(padding=(0, 2))
    for name, value in pairs.items():
        if value not in (None, "", [], {}):
            made.add_row(Text(name, style="dim"), value if isinstance(value, Text) else Text(str(value)))
    return made


def status(word: str) -> Text:
    return Text(word, style=COLOURS.get(word, ""))


def moment(text: str | None, zone: Zone | None = None) -> str:
    """A moment of an answer: in UTC with `Z`, or on the clock of a zone with its offset. It has no blank in it, so that
    it can be given back to a command as it is."""
    if text is None:
        return ""
    found = datetime.fromisoformat(text).astimezone(UTC)
    if zone is not None:
        found = found.astimezone(timezone(timedelta(seconds=zone.offset(int(found.timestamp())))))
    shown = found.isoformat(timespec="milliseconds" if found.microsecond else "seconds")
    return shown.replace("+00:00", "Z")


def took(started: str | None, finished: str | None) -> str:
    if started is None or finished is None:
        return ""
    seconds = (datetime.fromisoformat(finished) - datetime.fromisoformat(started)).total_seconds()
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def counted(number: int, what: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def short(value: Any, most: int = 60) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace("\n", " ")
    return text if len(text) <= most else f"{text[: most - 1]}…"
