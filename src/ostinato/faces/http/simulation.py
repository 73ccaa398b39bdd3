"""Simulations over HTTP: what would happen, as data and as a picture."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fastapi import APIRouter, Response

from ostinato.engine.access import Role
from ostinato.errors import OstinatoError
from ostinato.faces.door import Who
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.shapes.simulation import Simulate, SimulationShown
from ostinato.faces.http.simulated import as_json, as_svg
from ostinato.faces.http.who import Reader, declared
from ostinato.schedules.simulate import Simulation

router = APIRouter(route_class=Route, tags=["schedules"])
READ = declared(Role.READER)


@router.post("/simulate", response_model=SimulationShown, **READ)
async def simulate(who: Reader, body: Simulate) -> Response:
    """What would happen, by the engine's own decisions. Nothing is changed."""
    return Response(await _simulated(who, body, as_json), media_type="application/json")


@router.post("/simulate.svg", response_class=Response, responses={200: {"content": {"image/svg+xml": {}}}}, **READ)
async def simulate_svg(who: Reader, body: Simulate) -> Response:
    """The same as a picture."""
    picture = await _simulated(who, body, partial(as_svg, body.schedule or "draft"))
    return Response(picture, media_type="image/svg+xml")


async def _simulated(who: Who, body: Simulate, show: Callable[[Simulation], bytes]) -> bytes:
    if (body.schedule is None) == (body.draft is None):
        raise OstinatoError("give either schedule, a name, or draft, a definition")
    calls = who.app.schedules
    what = body.schedule if body.draft is None else calls.draft("draft", **{"action": "job", **body.draft.given()})
    assert what is not None
    return await calls.simulated(
        show,
        what,
        body.first,
        body.last,
        run_time=body.run_time if isinstance(body.run_time, list) else [body.run_time],
        outages=body.outages,
        pauses=body.pauses,
        seed=body.seed,
    )
