"""What journeys have scheduled for themselves, over HTTP: listed by journey and subject, and cancelled. A binding's
context may hold tokens: it is never shown."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from ostinato.engine.access import Role
from ostinato.engine.requests import digest
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.journeys import Label
from ostinato.faces.http.keys import Key, done_once
from ostinato.faces.http.paging import After, Limit
from ostinato.faces.http.shapes.common import NO_NUL
from ostinato.faces.http.shapes.journeys import BindingShown, BindingsShown
from ostinato.faces.http.who import Operator, Reader, declared
from ostinato.journeys.bindings import BindingInfo

router = APIRouter(route_class=Route, tags=["journeys"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)
Id = Annotated[str, Path(min_length=1, max_length=64, pattern=NO_NUL)]


@router.get("/journey-bindings", **READ)
async def list_bindings(
    who: Reader, journeyName: Label = None, subjectId: Label = None, after: After = None, limit: Limit = 100
) -> BindingsShown:
    """Bindings of a journey, of a subject, or of both; without their contexts."""
    found = await who.app.journeys.bindings(
        name=journeyName or "", subject=subjectId or "", after=after or "", limit=limit
    )
    return BindingsShown(items=[_shown(one) for one in found], next=found[-1].id if len(found) == limit else None)


@router.get("/journey-bindings/{id}", **READ)
async def read_binding(who: Reader, id: Id) -> BindingShown:
    """A binding as it stands."""
    return _shown(await who.app.journeys.binding(id))


@router.post("/journey-bindings/{id}/cancel", **WRITE)
async def cancel_binding(who: Operator, id: Id, key: Key = None) -> BindingShown:
    """Let a binding start nothing more. A run that is going finishes, and carries nothing on."""

    async def cancel() -> BindingShown:
        return _shown(await who.app.journeys.cancel_binding(id))

    return await done_once(who.app, key, f"cancel binding {digest(id)}", BindingShown, cancel)


def _shown(one: BindingInfo) -> BindingShown:
    return BindingShown(
        scheduleId=one.id,
        journeyName=one.journey,
        journeyVersion=one.version,
        startStateId=one.start,
        subjectId=one.subject,
        startAt=one.start_at,
        interval=one.interval,
        maxRuns=one.max_runs,
        runsExecuted=one.runs_executed,
        state=one.state,
        schedule=one.schedule,
        next=one.next,
        created=one.created,
        updated=one.updated,
    )
