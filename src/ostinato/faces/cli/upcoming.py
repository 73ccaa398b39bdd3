"""`ostinato upcoming` draws the next times of all schedules on a timeline."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ostinato.client import Json
from ostinato.clock import SystemClock
from ostinato.faces.cli.pictures import distance
from ostinato.faces.cli.session import Session
from ostinato.when.instants import Micros, from_datetime, to_datetime


async def upcoming(
    session: Session,
    late: Annotated[bool, typer.Option("--late", help="Only what is late; exit code 1 if anything is.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The most times to show.")] = 50,
) -> None:
    """Show the next times of all schedules, and late times."""
    schedules = session.client.schedules
    if late:
        times = [one for one in await schedules.upcoming(1000, each=1) if one["lateness"]["late"]]
    else:
        times = await schedules.upcoming(limit)
    if session.out.as_json:
        session.out.json({"items": times})
    elif not times:
        session.out.console.print(Text("nothing is late" if late else "nothing is to come", style="dim"))
    else:
        next_times = times if late else await schedules.upcoming(limit, each=1)
        width = max(20, min(session.out.console.width - 60, 100))
        session.out.console.print(picture(next_times, times, SystemClock().now(), width))
    if late and times:
        raise typer.Exit(1)


def picture(next_times: list[Json], times: list[Json], now: Micros, width: int) -> RenderableType:
    """Return a drawing with a row for each schedule. A row has the schedule's name, a timeline, and how long it is
    until the schedule's next time.

    - `next_times`: the next time of each schedule, one for each row
    - `times`: the times that are marked on the timelines, at most `_MARKS` on each
    - `width`: the length of a timeline in characters

    All timelines begin now, or at the earliest overdue time. They end at the last marked time.
    """
    marked: dict[str, list[Json]] = {}
    for time in times:
        marks_of = marked.setdefault(time["schedule"], [])
        if len(marks_of) < _MARKS:
            marks_of.append(time)
    moments = [now, *(_at(time) for marks_of in marked.values() for time in marks_of)]
    first, last = min(moments), max(moments)
    span = max(1, last - first)

    def column(at: Micros) -> int:
        return min(width - 1, (at - first) * width // span)

    table = Table.grid(padding=(0, 2))
    table.add_row(Text("schedule", style="dim"), _axis(first, last, width), Text("next", style="dim"), "")
    for soonest in next_times:
        name, lateness = soonest["schedule"], soonest["lateness"]
        marks = [" "] * width
        for time in marked.get(name, ()):
            place = column(_at(time))
            marks[place] = "!" if time["lateness"]["late"] else "●" if marks[place] == " " else "◉"
        line = Text()
        for place, mark in enumerate(marks):
            here = place == column(now)
            line.append("│" if here and mark == " " else "·" if mark == " " else mark, _STYLES.get(mark, "dim"))
        if lateness["late"]:
            note = Text(f"{lateness['late']} late, will run {lateness['will_run']}", style="red")
            table.add_row(name, line, Text("now", style="red"), note)
        else:
            wait = Text(f"in {distance(_at(soonest) - now)}", style="green")
            table.add_row(name, line, wait, Text(soonest["starts"], style="dim"))
    return Group(table)


_MARKS = 12  # the most marks for each schedule
_STYLES = {"!": "bold red", "●": "green", "◉": "bold green"}


def _axis(first: Micros, last: Micros, width: int) -> Text:
    style = "%H:%M:%SZ" if last - first < 86_400_000_000 else "%m-%d %H:%MZ"
    begin, end = (to_datetime(at).strftime(style) for at in (first, last))
    gap = max(1, width - len(begin) - len(end))
    return Text(f"{begin}{' ' * gap}{end}"[:width], style="dim")


def _at(time: Json) -> Micros:
    return from_datetime(datetime.fromisoformat(time["at"]).astimezone(UTC))
