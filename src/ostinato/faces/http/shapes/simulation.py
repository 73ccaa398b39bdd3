"""Define the HTTP request bodies and answers about simulations of schedules."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, Discriminator, Field, PlainValidator, StrictInt, Tag

from ostinato.faces.http.shapes.common import Moment, RequestBody, Text, naming_the_field
from ostinato.faces.http.shapes.schedules import Definition
from ostinato.model import read_length
from ostinato.when.instants import SECOND

_LONGEST = 1_000_000_000  # seconds


def _seconds(value: Any) -> float:
    """Return a length of time in seconds. Raises ValueError if `value` is not a length, is negative, or is too long."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ValueError("not a length of time; write '5m', or seconds")
    with naming_the_field():
        seconds = read_length(value, "run_time") / SECOND
    if not 0 <= seconds <= _LONGEST:
        raise ValueError(f"not from 0 to {_LONGEST:,} s")
    return seconds


# Read by one function: pydantic reports a mistake once for each type of a union.
RunTime = Annotated[
    float, PlainValidator(_seconds, json_schema_input_type=Annotated[float, Field(ge=0, le=_LONGEST)] | str)
]


class Simulate(RequestBody):
    """Simulate a schedule, given by name or as a draft, over a period."""

    schedule: Text | None = None
    draft: Definition | None = None
    first: Moment
    last: Moment
    run_time: Annotated[
        Annotated[RunTime, Tag("one")] | Annotated[list[RunTime], Field(max_length=1000), Tag("several")],
        Discriminator(lambda value: "several" if isinstance(value, list) else "one"),
    ] = Field(
        default=0,
        description="How long a run takes: `30s`, `5m`, `PT1H`, or seconds; or a list of lengths to draw from.",
    )
    outages: list[tuple[Moment, Moment]] = Field(default_factory=list, max_length=1000)
    pauses: list[tuple[Moment, Moment]] = Field(default_factory=list, max_length=1000)
    seed: StrictInt = 0


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
