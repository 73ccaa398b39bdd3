"""`ostinato events` shows the last events, or follows events as they happen."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any

import typer
from rich.text import Text

from ostinato.client import Json
from ostinato.event_names import EventNames
from ostinato.faces.cli.named_ways import ways_here
from ostinato.faces.cli.output import moment, short
from ostinato.faces.cli.session import Session


async def events(
    session: Session,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Keep showing events as they happen.")] = False,
    pattern: Annotated[str, typer.Option(help="Names, such as 'schedule:*'.")] = "*",
    subject: Annotated[str | None, typer.Option(help="About this run or schedule, by id.")] = None,
    after: Annotated[int | None, typer.Option(min=0, help="Begin after this number.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="The most to show of those on record.")] = 50,
) -> None:
    """Show the last events, or follow events as they happen."""
    client, out = session.client, session.out
    EventNames(ways_here().events).refuse_unknown(pattern)
    if follow:
        async for event in client.follow(pattern=pattern, subject=subject, after=after):
            if out.as_json:
                out.line(event)
            else:
                out.console.print(_line(event), soft_wrap=True)
        return
    if after is None and subject is None:
        read = await client.events(newest=True, limit=1000 if pattern != "*" else limit)
    else:
        read = await client.events(after=after or 0, subject=subject, limit=1000 if pattern != "*" else limit)
    chosen = [one for one in read if fnmatchcase(one["name"], pattern)]
    chosen = chosen[:limit] if after is not None else chosen[-limit:]
    out.items(chosen, ("", "at", "event", "about", "data", "by"), _row, nothing="nothing happened")


def _row(event: Json) -> tuple[Any, ...]:
    return event["seq"], moment(event["at"]), event["name"], event["subject"], short(event["data"], 80), event["actor"]


def _line(event: Json) -> Text:
    seq, at, name, subject, data, actor = _row(event)
    by = f" by {actor}" if actor else ""
    return Text.assemble((f"{seq:>8} {at} ", "dim"), (name, "cyan"), f" {subject} {data}{by}")
