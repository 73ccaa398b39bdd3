"""Simulations over HTTP: what would happen, as data and as a picture."""

from __future__ import annotations

import asyncio
from datetime import UTC
from typing import Any

from fastapi import APIRouter, Response

from ostinato.engine.access import Role
from ostinato.errors import OstinatoError
from ostinato.faces.door import Who
from ostinato.faces.http.shapes.simulation import Simulate, SimulatedShown, SimulationShown
from ostinato.faces.http.who import Reader, declared
from ostinato.schedules.simulate import Simulation
from ostinato.schedules.timeline import timeline
from ostinato.when.instants import Micros, to_datetime

router = APIRouter(tags=["schedules"])
READ = declared(Role.READER)


@router.post("/simulate", response_model=SimulationShown, **READ)
async def simulate(who: Reader, body: Simulate) -> Response:
    """What would happen, by the engine's own decisions. Nothing is changed."""
    found = await _simulated(who, body)
    # Up to 100,000 occurrences: written in a thread, as they were worked out, so that nothing else waits for it.
    text = await asyncio.to_thread(lambda: _simulation(found).model_dump_json())
    return Response(text, media_type="application/json")


@router.post("/simulate.svg", response_class=Response, responses={200: {"content": {"image/svg+xml": {}}}}, **READ)
async def simulate_svg(who: Reader, body: Simulate) -> Response:
    """The same as a picture."""
    found = await _simulated(who, body)
    picture = await asyncio.to_thread(timeline, found, UTC, body.schedule or "draft")
    return Response(picture, media_type="image/svg+xml")


async def _simulated(who: Who, body: Simulate) -> Simulation:
    if (body.schedule is None) == (body.draft is None):
        raise OstinatoError("give either schedule, a name, or draft, a definition")
    calls = who.app.schedules
    what = body.schedule if body.draft is None else calls.draft("draft", **{"action": "job", **body.draft.given()})
    assert what is not None
    lengths = body.run_time if isinstance(body.run_time, list) else [body.run_time]
    return await calls.simulate(
        what,
        body.first,
        body.last,
        run_time=lengths,
        outages=body.outages,
        pauses=body.pauses,
        seed=body.seed,
    )


def _simulation(found: Simulation) -> SimulationShown:
    def moment(at: Micros | None) -> Any:
        return None if at is None else to_datetime(at)

    return SimulationShown(
        counts=found.counts(),
        items=[
            SimulatedShown(
                nominal=moment(one.nominal),
                due=moment(one.actual),
                outcome=one.outcome,
                reason=None if one.reason is None else one.reason.value,
                started=moment(one.started),
                ended=moment(one.ended),
                blocked_by=moment(one.blocked_by),
                stands_for=one.stands_for,
            )
            for one in found.occurrences
        ],
    )
