"""`ostinato when` describes a spec and shows its times. `ostinato version` shows the version and the zone rules."""

from __future__ import annotations

import json
from enum import StrEnum
from itertools import islice
from typing import Annotated, cast

import typer
from rich.console import Console, Group
from rich.text import Text

from ostinato.clock import SystemClock
from ostinato.errors import SpecError
from ostinato.faces.cli.periods import first_of, last_of
from ostinato.faces.cli.pictures import ShownTime, changes_between, month_pictures, shown_times, times_table
from ostinato.version import __version__
from ostinato.when import Spec, format_instant, rules_in_force
from ostinato.when.field_grammar import Dialect
from ostinato.when.instants import Micros
from ostinato.when.spec import Dst
from ostinato.when.spec_text import parse_spec_text

_MOST = 10_000


class DialectName(StrEnum):
    cron = "cron"
    temporal = "temporal"


class DstRule(StrEnum):
    cron = "cron"
    wall = "wall"


def when(
    spec: Annotated[
        str, typer.Argument(help="'0 9 * * 1-5', 'every 15m', 'R/2026-01-31T09:00Z/P1M', a time, or JSON.")
    ],
    tz: Annotated[str, typer.Option(help="Time zone, such as Europe/Berlin. [default: UTC]")] = "",
    count: Annotated[
        int | None, typer.Option("--next", min=1, max=_MOST, help="How many times to show. [default: 10]")
    ] = None,
    between: Annotated[
        tuple[str, str] | None, typer.Option(help="Show the times from A to B instead, both included.", metavar="A B")
    ] = None,
    after: Annotated[str, typer.Option(help="Begin after this moment instead of now.")] = "",
    dialect: Annotated[DialectName | None, typer.Option(help="How a cron string is read. [default: cron]")] = None,
    dst: Annotated[DstRule | None, typer.Option(help="Daylight-saving rule. [default: the dialect's own]")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Show when a spec fires: words, times, a small picture."""
    parsed = parse_spec_text(
        spec,
        tz=tz,
        dialect=cast(Dialect | None, dialect and dialect.value),
        dst=cast(Dst | None, dst and dst.value),
    )
    zone = parsed.compiled.zone
    more = False
    if between:
        if after or count:
            raise SpecError(
                "--between says by itself which times to show",
                field="--between",
                value=between,
                hint="leave out --after and --next, or --between",
            )
        first, last = first_of(between[0], "--between", zone), last_of(between[1], "--between", zone)
        if last < first:
            raise SpecError(
                "--between ends before it starts", field="--between", value=between, hint="exchange A and B"
            )
        nominal = list(islice(parsed.compiled.between(first, last), _MOST + 1))
        more = len(nominal) > _MOST
        nominal = nominal[:_MOST]
    else:
        first = first_of(after, "--after", zone) if after else SystemClock().now()
        nominal = list(islice(parsed.compiled.times(first), count or 10))
        last = nominal[-1] if nominal else first
    times = shown_times(parsed, nominal)
    if as_json:
        typer.echo(json.dumps(_document(parsed, first, last, times, more), indent=2, ensure_ascii=False))
        return
    console = Console()
    console.print(_page(parsed, first, last, times))
    if more:
        console.print(Text(f"and more: the list stops at {_MOST:,}", style="dim"))


def _page(spec: Spec, first: Micros, last: Micros, times: list[ShownTime]) -> Group:
    # Text, not markup, because the typed spec may contain brackets.
    head = [Text(spec.describe(), style="bold"), *(Text(f"note: {w}", style="yellow") for w in spec.check())]
    if not times:
        return Group(*head, Text("no times", style="dim"))
    return Group(*head, times_table(spec, first, last, times), month_pictures(spec, times))


def _document(spec: Spec, first: Micros, last: Micros, times: list[ShownTime], more: bool) -> dict[str, object]:
    rules = rules_in_force()
    return {
        "words": spec.describe(),
        "spec": spec.to_json(),
        "tz": spec.compiled.zone.name,
        "dst": spec.rule,
        "rules": {"version": rules.version, "source": rules.source},
        "warnings": list(spec.check()),
        "times": [{"utc": format_instant(t.instant), "local": t.local.isoformat(), "note": t.note} for t in times],
        "more": more,
        "clock_changes": [
            {"utc": format_instant(c.instant), "before": c.before, "after": c.after}
            for c in changes_between(spec, first, last)
        ],
    }


def version(as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False) -> None:
    """Show the version, and that of the time zone rules."""
    rules = rules_in_force()
    if as_json:
        typer.echo(json.dumps({"version": __version__, "zone_rules": rules.version, "zone_source": rules.source}))
        return
    typer.echo(f"ostinato {__version__}, time-zone rules {rules.version} from {rules.source}")
