"""Draw times for the terminal: tables that also show clock changes, and months with marked days."""

from __future__ import annotations

import calendar
from collections import Counter
from dataclasses import dataclass, replace
from datetime import date, datetime

from rich.columns import Columns
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ostinato.when import Micros, Spec
from ostinato.when.instants import SECOND, to_datetime

_MONTHS_SHOWN = 3
_CHANGES_SHOWN = 2  # clock changes shown one by one; if there are more between two times, a line counts them


@dataclass(frozen=True, slots=True)
class ShownTime:
    """One time of a spec: as an instant, and as local time. `note` says what a clock change does to this time, for
    example "moved here out of the gap". It is "" if no clock change affects the time."""

    instant: Micros
    local: datetime
    note: str


@dataclass(frozen=True, slots=True)
class ClockChange:
    instant: Micros
    before: str
    after: str

    @property
    def words(self) -> str:
        way = "forward" if self.after > self.before else "back"
        if self.after[:10] != self.before[:10]:
            return f"clocks go {way}, {self.before[:10]} {self.before[11:]} → {self.after[:10]} {self.after[11:]}"
        return f"clocks go {way}, {self.before[11:]} → {self.after[11:]}"


def shown_times(spec: Spec, times: list[Micros]) -> list[ShownTime]:
    """Return a `ShownTime` for each of `times`, which are times of `spec`. The `note` of a `ShownTime` says what a
    clock change does to the time. If the time comes from an interval or is a single time, the note is "", because clock
    changes do not affect such times."""
    on_the_wall = spec.wall_sources
    literal = replace(on_the_wall, dst="wall")
    return [ShownTime(t, to_datetime(t).astimezone(spec.tzinfo), _note(on_the_wall, literal, t)) for t in times]


def _note(spec: Spec, literal: Spec, instant: Micros) -> str:
    if spec.manual or not spec.compiled.matches(instant):
        return ""
    zone = spec.compiled.zone
    second, fraction = divmod(instant, SECOND)
    at = zone.segment(second)
    both = zone.instants(second + zone.offsets[at])
    if len(both) == 2:
        if second == both[0] and not spec.compiled.matches(both[1] * SECOND + fraction):
            return "this hour comes twice; runs the first time only"
        return f"this hour comes twice; {'first' if second == both[0] else 'second'} pass"
    if second == zone.starts[at] and not literal.compiled.matches(instant):
        return "moved here out of the gap"
    return ""


def changes_between(spec: Spec, first: Micros, last: Micros) -> list[ClockChange]:
    changes = []
    for second, before, after in spec.compiled.zone.changes(first // SECOND, last // SECOND):
        readings = [to_datetime((second + o) * SECOND).strftime("%Y-%m-%d %H:%M") for o in (before, after)]
        changes.append(ClockChange(second * SECOND, *readings))
    return changes


def times_table(
    spec: Spec, first: Micros, last: Micros, times: list[ShownTime], now: Micros | None = None
) -> RenderableType:
    """Return a table with a row for each of `times`, which are times of `spec` from `first` to `last`. If the clocks
    change between two rows, or between `first` and the first row, a line in the table says so. If `now` is given, a
    column shows how long it is from `now` until each time."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("local", no_wrap=True)
    table.add_column("offset", style="dim")
    table.add_column("UTC", style="dim", no_wrap=True)
    if now is not None:
        table.add_column("in", style="green", no_wrap=True)
    table.add_column("")
    changes = changes_between(spec, min(first, times[0].instant), max(last, times[-1].instant)) if times else []
    columns = 5 if now is not None else 4
    for shown in times:
        passed = [change for change in changes if change.instant <= shown.instant]
        changes = changes[len(passed) :]
        lines = [c.words for c in passed] if len(passed) <= _CHANGES_SHOWN else [f"{len(passed)} clock changes"]
        for line in lines:
            table.add_row(Text(f"── {line}", style="yellow"), *[""] * (columns - 1))
        fraction = f".{shown.local.microsecond:06d}".rstrip("0").rstrip(".")
        row = [
            shown.local.strftime("%a %Y-%m-%d %H:%M:%S") + fraction,
            shown.local.strftime("%z")[:3] + ":" + shown.local.strftime("%z")[3:5],
            to_datetime(shown.instant).strftime("%m-%d %H:%M:%S") + fraction,
        ]
        if now is not None:
            row.append(distance(shown.instant - now))
        table.add_row(*row, Text(shown.note, style="yellow"))
    return table


def distance(length: Micros) -> str:
    """Return a length in its two largest units: `3 d 4 h`, `12 m 5 s`."""
    seconds = max(0, -(-length // SECOND))
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, rest = divmod(rest, 60)
    parts = [(days, "d"), (hours, "h"), (minutes, "m"), (rest, "s")]
    while len(parts) > 1 and not parts[0][0]:
        parts = parts[1:]
    return " ".join(f"{n} {unit}" for n, unit in parts[:2])


def month_pictures(spec: Spec, times: list[ShownTime]) -> RenderableType:
    """Draw the first months that have times. A day with one time is marked `•`, and a day with several times `:`."""
    days = Counter(t.local.date() for t in times)
    months = list(dict.fromkeys((d.year, d.month) for d in sorted(days)))[:_MONTHS_SHOWN]
    return Columns([_month_picture(year, month, days) for year, month in months], padding=(1, 4))


def _month_picture(year: int, month: int, days: Counter[date]) -> Text:
    text = Text(f"{calendar.month_name[month]} {year}".center(20) + "\n", style="")
    text.append("Mo Tu We Th Fr Sa Su\n", style="dim")
    for week in calendar.Calendar().monthdatescalendar(year, month):
        for day in week:
            if day.month != month:
                text.append("   ")
            elif day in days:
                text.append(f"{day.day:2d}", style="bold green reverse")
                text.append("•" if days[day] == 1 else ":", style="bold green")
            else:
                text.append(f"{day.day:2d} ", style="dim")
        text.append("\n")
    return text
