"""Answer the HTTP calls that list, read and cancel bindings.

A binding is a schedule that a journey has created. No answer contains a binding's context, because the context may
contain tokens.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.faces.http.authentication import JourneyOperator, JourneyReader, requires
from ostinato.faces.http.idempotency import Key, answer_once
from ostinato.faces.http.journeys import Id, Label
from ostinato.faces.http.pagination import After, Limit
from ostinato.faces.http.read_guard import visible_binding, visible_bindings
from ostinato.faces.http.routing import Router
from ostinato.faces.http.shapes.journeys import BindingShown, BindingsShown

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request

router = Router(tags=["journeys"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)


@router.get("/journey-bindings", **READ)
async def list_bindings(
    request: Request,
    who: JourneyReader,
    journeyName: Label = None,
    subjectId: Label = None,
    after: After = None,
    limit: Limit = 100,
) -> BindingsShown:
    """List the bindings that the caller may read, without their contexts. The parameters `journeyName` and `subjectId`
    select the bindings of one journey and of one subject."""
    bindings = await who.app.journeys.bindings(
        name=journeyName or "", subject=subjectId or "", after=after or "", limit=limit
    )
    items = [BindingShown.model_validate(one) for one in await visible_bindings(request, who, bindings)]
    return BindingsShown(items=items, next=bindings[-1].id if len(bindings) == limit else None)


@router.get("/journey-bindings/{id}", **READ)
async def read_binding(request: Request, who: JourneyReader, id: Id) -> BindingShown:
    """Read a binding."""
    return BindingShown.model_validate(await visible_binding(request, who, id))


@router.post("/journey-bindings/{id}/cancel", **WRITE)
async def cancel_binding(request: Request, who: JourneyOperator, id: Id, key: Key = None) -> BindingShown:
    """Cancel a binding: it starts no further runs. An active run finishes."""
    await visible_binding(request, who, id)
    cancel = partial(who.app.journeys.cancel_binding, id)
    return await answer_once(who.app, key, f"cancel binding {digest(id)}", BindingShown, cancel)
