"""`ostinato explain`: why it ran, why it did not, whether it will."""

from __future__ import annotations

from typing import Annotated

import typer

from ostinato.faces.cli.given import known, zone_of
from ostinato.faces.cli.periods import read_time
from ostinato.faces.cli.target import Session


async def explain(
    session: Session,
    name: Annotated[str, typer.Argument(help="The schedule's name.")],
    at: Annotated[str, typer.Argument(help="A moment; without an offset, wall-clock time in the schedule's zone.")],
) -> None:
    """Say why a schedule ran, why not, or whether it will. AT is the moment."""
    zone = zone_of(await known(session.client, name))
    found = await session.client.schedules.explain(name, read_time(at, "AT", zone))
    session.out.say(found, " ".join(found["sentences"]))
