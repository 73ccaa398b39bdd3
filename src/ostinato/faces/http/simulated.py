"""A simulation as it is sent. Called in the process that worked it out: 100,000 occurrences take a while to write."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson

from ostinato.schedules.simulate import Simulation
from ostinato.schedules.timeline import timeline
from ostinato.when.instants import Micros, to_datetime


def as_json(found: Simulation) -> bytes:
    """What `shapes.simulation.SimulationShown` describes."""
    items = [
        {
            "nominal": _moment(one.nominal),
            "due": _moment(one.actual),
            "outcome": one.outcome,
            "reason": None if one.reason is None else one.reason.value,
            "started": _moment(one.started),
            "ended": _moment(one.ended),
            "blocked_by": _moment(one.blocked_by),
            "stands_for": one.stands_for,
        }
        for one in found.occurrences
    ]
    return orjson.dumps({"counts": found.counts(), "items": items}, option=orjson.OPT_UTC_Z)


def as_svg(title: str, found: Simulation) -> bytes:
    return timeline(found, UTC, title).encode()


def _moment(at: Micros | None) -> datetime | None:
    return None if at is None else to_datetime(at)
