"""`ostinato simulate`: simulate a schedule over a period, and count the outcomes or draw them as SVG.

The simulation uses the decisions of the engine.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from ostinato.client import Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.arguments import only_given, read_when, schedule_zone, zone_of
from ostinato.faces.cli.completion import schedule_names
from ostinato.faces.cli.files import write_text
from ostinato.faces.cli.output import moment, status, table
from ostinato.faces.cli.periods import read_end, read_time
from ostinato.faces.cli.session import Session
from ostinato.model import read_length
from ostinato.when.instants import SECOND
from ostinato.when.zones import Zone

_SHOWN = 12


async def simulate(
    session: Session,
    name: Annotated[
        str | None, typer.Argument(help="An existing schedule; or give --spec.", autocompletion=schedule_names)
    ] = None,
    first: Annotated[str, typer.Option(help="From this time on; a day alone is its beginning.")] = ...,  # type: ignore[assignment]
    last: Annotated[str, typer.Option(help="Up to this time, included; a day alone is the whole day.")] = ...,  # type: ignore[assignment]
    spec: Annotated[str | None, typer.Option(help="A spec to try, instead of a schedule.")] = None,
    tz: Annotated[str, typer.Option(help="Its time zone. [default: UTC]")] = "",
    overlap: Annotated[str | None, typer.Option(help="Its overlap policy.")] = None,
    catchup: Annotated[str | None, typer.Option(help="Its catch-up policy.")] = None,
    run_time: Annotated[list[str] | None, typer.Option(help="How long a run takes; several: one at random.")] = None,
    outage: Annotated[list[str] | None, typer.Option(help="No node from A to B, as A/B.")] = None,
    pause: Annotated[list[str] | None, typer.Option(help="Paused from A to B, as A/B.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the random choice among several run times.")] = 0,
    svg: Annotated[str | None, typer.Option(help="Also draw it into this file.", metavar="FILE")] = None,
) -> None:
    """Simulate a schedule, or a draft of one, over a period. Nothing is changed."""
    if (name is None) == (spec is None):
        raise OstinatoError("name a schedule, or give --spec for a draft; one of them")
    if name is not None and (overlap is not None or catchup is not None):
        raise OstinatoError("--overlap and --catchup are for a draft; the schedule has its own")
    when = read_when(spec, tz)
    zone = zone_of({"spec": when}) if name is None else await schedule_zone(session.client, name)
    options = only_given(
        schedule=name,
        draft=None if when is None else only_given(spec=when, overlap=overlap, catchup=catchup),
        run_time=[read_length(one, "--run-time") / SECOND for one in run_time or []] or None,
        outages=[_span(one, "--outage", zone) for one in outage or []],
        pauses=[_span(one, "--pause", zone) for one in pause or []],
        seed=seed,
    )
    begin, end = read_time(first, "--first", zone), read_end(last, "--last", zone)
    simulation = await session.client.schedules.simulate(begin, end, **options)
    if svg is not None:
        write_text(svg, await session.client.schedules.draw(begin, end, **options))
    session.out.draw(simulation, lambda _: _page(simulation, svg, zone))


def _span(text: str, option: str, zone: Zone) -> list[str]:
    begin, separator, end = text.partition("/")
    if not separator:
        raise OstinatoError(f"{option} {text!r} is not a stretch; write 2026-03-01T08:00/2026-03-01T10:00")
    return [read_time(begin, option, zone), read_end(end, option, zone)]


def _page(simulation: Json, svg: str | None, zone: Zone) -> RenderableType:
    items = simulation["items"]
    parts: list[RenderableType] = [
        Text(f"{len(items)} times", style="bold"),
        table(("", ""), [(status(what), count) for what, count in simulation["counts"].items()]),
    ]
    trouble = [one for one in items if one["outcome"] != "succeeded"]
    if trouble:
        rows = [_row(one, zone) for one in trouble[:_SHOWN]]
        parts += [Text(""), table(("time", "outcome", "why", "in the way"), rows)]
        if len(trouble) > _SHOWN:
            parts.append(Text(f"and {len(trouble) - _SHOWN} more", style="dim"))
    if svg is not None:
        parts.append(Text(f"drawn in {svg}", style="dim"))
    return Group(*parts)


def _row(occurrence: Json, zone: Zone) -> tuple[Any, ...]:
    return (
        moment(occurrence["nominal"], zone),
        status(occurrence["outcome"]),
        occurrence["reason"],
        moment(occurrence["blocked_by"], zone),
    )
