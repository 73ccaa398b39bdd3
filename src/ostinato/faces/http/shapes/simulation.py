"""Define the HTTP request bodies and answers about simulations of schedules."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from ostinato.faces.http.shapes.common import Moment, RequestBody, Text
from ostinato.faces.http.shapes.schedules import Definition

Seconds = Annotated[float, Field(ge=0, le=1_000_000_000)]


class Simulate(RequestBody):
    """Simulate a schedule, given by name or as a draft, over a period."""

    schedule: Text | None = None
    draft: Definition | None = None
    first: Moment
    last: Moment
    run_time: Seconds | Annotated[list[Seconds], Field(max_length=1000)] = Field(
        default=0, description="Seconds, or several to draw from."
    )
    outages: list[tuple[Moment, Moment]] = Field(default_factory=list, max_length=1000)
    pauses: list[tuple[Moment, Moment]] = Field(default_factory=list, max_length=1000)
    seed: int = 0


class SimulatedShown(BaseModel):
    nominal: datetime
    due: datetime
    outcome: str
    reason: str | None
    started: datetime | None
    ended: datetime | None
    blocked_by: datetime | None
    stands_for: int


class SimulationShown(BaseModel):
    counts: dict[str, int]
    items: list[SimulatedShown]
