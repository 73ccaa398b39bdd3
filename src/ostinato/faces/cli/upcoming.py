"""`ostinato upcoming`: what is to come, drawn on a line of time."""

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
from ostinato.faces.cli.target import Session
from ostinato.when.instants import Micros, from_datetime, to_datetime


async def upcoming(
    session: Session,
    late: Annotated[bool, typer.Option("--late", help="Only what is late; exit code 1 if anything is.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The most times to show.")] = 50,
) -> None:
    """Show the next times of all schedules, and what is late."""
    found = await session.client.schedules.upcoming(1000 if late else limit)
    chosen = [one for one in found if one["lateness"]["late"]] if late else found
    if session.out.as_json:
        session.out.json({"items": chosen})
    elif not chosen:
        session.out.console.print(Text("nothing is late" if late else "nothing is to come", style="dim"))
    else:
        width = max(20, min(session.out.console.width - 60, 100))
        session.out.console.print(picture(chosen, SystemClock().now(), width))
    if late and chosen:
        raise typer.Exit(1)


def picture(found: list[Json], now: Micros, width: int) -> RenderableType:
    """A line for each schedule, its next moments as marks between now and the last one."""
    lines: dict[str, list[tuple[Micros, Json]]] = {}
    for one in found:
        coming = lines.setdefault(one["schedule"], [])
        if len(coming) < _MARKS:
            coming.append((_at(one), one))
    moments = [moment for coming in lines.values() for moment in coming]
    first, last = min(now, *(at for at, _ in moments)), max(now, *(at for at, _ in moments))
    span = max(1, last - first)

    def column(at: Micros) -> int:
        return min(width - 1, (at - first) * width // span)

    table = Table.grid(padding=(0, 2))
    table.add_row(Text("schedule", style="dim"), _axis(first, last, width), Text("next", style="dim"), "")
    for name, coming in lines.items():
        marks = [" "] * width
        for at, one in coming:
            place = column(at)
            marks[place] = "!" if one["lateness"]["late"] else "●" if marks[place] == " " else "◉"
        line = Text()
        for place, mark in enumerate(marks):
            here = place == column(now)
            line.append("│" if here and mark == " " else "·" if mark == " " else mark, _STYLES.get(mark, "dim"))
        at, one = coming[0]
        late = one["lateness"]
        if late["late"]:
            note = Text(f"{late['late']} late, will run {late['will_run']}", style="red")
            table.add_row(name, line, Text("now", style="red"), note)
        else:
            table.add_row(name, line, Text(f"in {distance(at - now)}", style="green"), Text(one["job"], style="dim"))
    return Group(table)


_MARKS = 12  # for each schedule: more of them say no more
_STYLES = {"!": "bold red", "●": "green", "◉": "bold green"}


def _axis(first: Micros, last: Micros, width: int) -> Text:
    style = "%H:%M:%S" if last - first < 86_400_000_000 else "%m-%d %H:%M"
    begin, end = (to_datetime(at).strftime(style) for at in (first, last))
    gap = max(1, width - len(begin) - len(end))
    return Text(f"{begin}{' ' * gap}{end}"[:width], style="dim")


def _at(one: Json) -> Micros:
    return from_datetime(datetime.fromisoformat(one["at"]).astimezone(UTC))
