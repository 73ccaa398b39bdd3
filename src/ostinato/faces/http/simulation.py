"""Answer the HTTP calls that simulate a schedule. The result is JSON or SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ostinato.engine.access import Role
from ostinato.errors import ArgumentError
from ostinato.faces.auth import Who
from ostinato.faces.http.authentication import Reader, requires
from ostinato.faces.http.mistake_places import naming_places
from ostinato.faces.http.routing import SVG, HttpAnswer, Router
from ostinato.faces.http.shapes.simulation import Simulate, SimulationShown
from ostinato.faces.http.simulation_output import as_json, as_svg
from ostinato.schedules.model import Schedule
from ostinato.schedules.simulate import Simulation

router = Router(tags=["schedules"])
READ = requires(Role.READER)


@router.post("/simulate", response_model=SimulationShown, **READ)
async def simulate(who: Reader, body: Simulate) -> HttpAnswer:
    """Simulate a schedule or a draft. The simulation makes the same decisions as the engine, and changes nothing."""
    return HttpAnswer(await _simulate(who, body, as_json))


@router.post("/simulate.svg", **SVG, **READ)
async def simulate_svg(who: Reader, body: Simulate) -> HttpAnswer:
    """Simulate a schedule or a draft, and draw the result as SVG."""
    picture = await _simulate(who, body, partial(as_svg, body.schedule or "draft"))
    return HttpAnswer(picture, media_type="image/svg+xml")


async def _simulate(who: Who, body: Simulate, show: Callable[[Simulation], bytes]) -> bytes:
    if (body.schedule is None) == (body.draft is None):
        name = "schedule" if body.schedule is None else "draft"
        raise ArgumentError("give either schedule, a name, or draft, a definition", name)
    calls = who.app.schedules
    what = body.schedule if body.draft is None else await _read_draft(who, body.draft.fields())
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


async def _read_draft(who: Who, fields: Mapping[str, Any]) -> Schedule:
    async with naming_places(who.app, "draft", fields, ("draft",)):
        return who.app.schedules.draft("draft", **{"action": "job", **fields})
