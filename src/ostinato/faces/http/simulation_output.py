"""Write a simulation as JSON or SVG.

This runs in the worker process that made the simulation, because writing 100,000 occurrences takes a while.
"""

from __future__ import annotations

from datetime import UTC

import orjson

from ostinato.schedules.drawing import timeline
from ostinato.schedules.simulate import Simulation
from ostinato.when.instants import optional_datetime


def as_json(simulation: Simulation) -> bytes:
    """Return a simulation as JSON, in the form of `shapes.simulation.SimulationShown`."""
    items = [
        {
            "nominal": optional_datetime(occurrence.nominal),
            "due": optional_datetime(occurrence.actual),
            "outcome": occurrence.outcome,
            "reason": None if occurrence.reason is None else occurrence.reason.value,
            "started": optional_datetime(occurrence.started),
            "ended": optional_datetime(occurrence.ended),
            "blocked_by": optional_datetime(occurrence.blocked_by),
            "stands_for": occurrence.stands_for,
        }
        for occurrence in simulation.occurrences
    ]
    return orjson.dumps({"counts": simulation.counts(), "items": items}, option=orjson.OPT_UTC_Z)


def as_svg(title: str, simulation: Simulation) -> bytes:
    return timeline(simulation, UTC, title).encode()
