"""`ostinato explain` says why a schedule ran or did not run, or whether it will."""

from __future__ import annotations

from typing import Annotated

import typer

from ostinato.faces.cli.arguments import schedule_zone
from ostinato.faces.cli.completion import schedule_names
from ostinato.faces.cli.periods import read_time
from ostinato.faces.cli.session import Session


async def explain(
    session: Session,
    name: Annotated[str, typer.Argument(help="The schedule's name.", autocompletion=schedule_names)],
    at: Annotated[str, typer.Argument(help="A moment; without an offset, wall-clock time in the schedule's zone.")],
) -> None:
    """Explain why a schedule ran, why not, or whether it will. AT is the time to explain."""
    zone = await schedule_zone(session.client, name)
    explanation = await session.client.schedules.explain(name, read_time(at, "AT", zone))
    session.out.say(explanation, " ".join(explanation["sentences"]))
