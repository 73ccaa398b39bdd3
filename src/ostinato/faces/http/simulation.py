"""Answer the HTTP calls that simulate a schedule. The result is JSON or SVG."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ostinato.engine.access import Role
from ostinato.errors import OstinatoError
from ostinato.faces.auth import Who
from ostinato.faces.http.authentication import Reader, declared
from ostinato.faces.http.routing import Answer, Router
from ostinato.faces.http.shapes.simulation import Simulate, SimulationShown
from ostinato.faces.http.simulation_output import as_json, as_svg
from ostinato.schedules.simulate import Simulation

router = Router(tags=["schedules"])
READ = declared(Role.READER)


@router.post("/simulate", response_model=SimulationShown, **READ)
async def simulate(who: Reader, body: Simulate) -> Answer:
    """Simulate a schedule or a draft. The simulation makes the same decisions as the engine, and changes nothing."""
    return Answer(await _simulate(who, body, as_json), media_type="application/json")


@router.post("/simulate.svg", response_class="Response", responses={200: {"content": {"image/svg+xml": {}}}}, **READ)
async def simulate_svg(who: Reader, body: Simulate) -> Answer:
    """Simulate a schedule or a draft, and draw the result as SVG."""
    picture = await _simulate(who, body, partial(as_svg, body.schedule or "draft"))
    return Answer(picture, media_type="image/svg+xml")


async def _simulate(who: Who, body: Simulate, show: Callable[[Simulation], bytes]) -> bytes:
    if (body.schedule is None) == (body.draft is None):
        raise OstinatoError("give either schedule, a name, or draft, a definition")
    calls = who.app.schedules
    what = body.schedule if body.draft is None else calls.draft("draft", **{"action": "job", **body.draft.fields()})
    assert what is not None
    return await calls.simulate_in_process(
        show,
        what,
        body.first,
        body.last,
        run_time=body.run_time if isinstance(body.run_time, list) else [body.run_time],
        outages=body.outages,
        pauses=body.pauses,
        seed=body.seed,
    )
