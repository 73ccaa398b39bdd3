"""Write a simulation as JSON or SVG.

This runs in the worker process that made the simulation, because writing 100,000 occurrences takes a while.
"""

from __future__ import annotations

from datetime import UTC

import orjson

from ostinato.schedules.drawing import timeline
from ostinato.schedules.simulate import Simulation


def as_json(simulation: Simulation) -> bytes:
    """Return a simulation as JSON, in the form of `shapes.simulation.SimulationShown`."""
    items = [
        {
            "nominal": occurrence.nominal,
            "due": occurrence.actual,
            "outcome": occurrence.outcome,
            "reason": None if occurrence.reason is None else occurrence.reason.value,
            "started": occurrence.started,
            "ended": occurrence.ended,
            "blocked_by": occurrence.blocked_by,
            "stands_for": occurrence.stands_for,
        }
        for occurrence in simulation.occurrences
    ]
    return orjson.dumps({"counts": simulation.counts(), "items": items}, option=orjson.OPT_UTC_Z)


def as_svg(title: str, simulation: Simulation) -> bytes:
    return timeline(simulation, UTC, title).encode()
