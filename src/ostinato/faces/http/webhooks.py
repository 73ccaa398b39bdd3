"""Webhooks over HTTP: subscribe URLs to events, and look after the deliveries."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Path, Response

from ostinato.engine.access import Role
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.keys import Key
from ostinato.faces.http.paging import After, Before, Limit
from ostinato.faces.http.runs import shown as run_shown
from ostinato.faces.http.shapes.common import NO_NUL, Stop
from ostinato.faces.http.shapes.runs import Runs, Started
from ostinato.faces.http.shapes.webhooks import Enable, NewWebhook, Replay, WebhookChange, WebhookShown, WebhooksShown
from ostinato.faces.http.who import Operator, Reader, declared
from ostinato.model import Status
from ostinato.webhooks import WebhookInfo

router = APIRouter(route_class=Route, tags=["webhooks"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)
Id = Annotated[str, Path(min_length=1, max_length=64, pattern=NO_NUL)]
Delivery = Annotated[str, Path(min_length=1, max_length=64, pattern=NO_NUL, description="A delivery's run.")]


def shown(one: WebhookInfo) -> WebhookShown:
    return WebhookShown.model_validate(one)


@router.get("/webhooks", **READ)
async def list_webhooks(
    who: Reader,
    after: After = None,
    limit: Limit = 100,
) -> WebhooksShown:
    """The webhooks of the namespace, oldest first."""
    found = await who.app.webhooks.list(after=after or "", limit=limit)
    return WebhooksShown(items=[shown(one) for one in found], next=found[-1].id if len(found) == limit else None)


@router.post("/webhooks", status_code=201, **WRITE)
async def create_webhook(who: Operator, body: NewWebhook, response: Response, key: Key = None) -> WebhookShown:
    """Send events to a URL from now on."""
    made = await who.app.webhooks.create(
        body.url, body.patterns, secret=body.secret, notes=body.notes or "", request_id=key
    )
    response.headers["Location"] = f"/api/v1/webhooks/{made.id}"
    return shown(made)


@router.get("/webhooks/{id}", **READ)
async def read_webhook(who: Reader, id: Id) -> WebhookShown:
    """A webhook as it stands."""
    return shown(await who.app.webhooks.get(id))


@router.patch("/webhooks/{id}", **WRITE)
async def update_webhook(who: Operator, id: Id, body: WebhookChange, key: Key = None) -> WebhookShown:
    """Change what is given; what waits to be delivered goes by it, too."""
    done = await who.app.webhooks.update(
        id, url=body.url, patterns=body.patterns, secret=body.secret, notes=body.notes, request_id=key
    )
    return shown(done)


@router.delete("/webhooks/{id}", status_code=204, **WRITE)
async def delete_webhook(who: Operator, id: Id, key: Key = None) -> None:
    """Forget it; what waits to be delivered is given up."""
    await who.app.webhooks.delete(id, request_id=key)


@router.post("/webhooks/{id}/disable", **WRITE)
async def disable_webhook(
    who: Operator, id: Id, body: Annotated[Stop, Body(default_factory=Stop)], key: Key = None
) -> WebhookShown:
    """Send nothing more there."""
    return shown(await who.app.webhooks.disable(id, body.reason, request_id=key))


@router.post("/webhooks/{id}/enable", **WRITE)
async def enable_webhook(
    who: Operator, id: Id, body: Annotated[Enable, Body(default_factory=Enable)], key: Key = None
) -> WebhookShown:
    """Send there again: from the first event on that could not be delivered, or from the one after `after`."""
    return shown(await who.app.webhooks.enable(id, after=body.after, request_id=key))


@router.post("/webhooks/{id}/replay", **WRITE)
async def replay_webhook(who: Operator, id: Id, body: Replay, key: Key = None) -> WebhookShown:
    """Send everything after an event once more, as far as events are kept."""
    return shown(await who.app.webhooks.replay(id, body.after, request_id=key))


@router.get("/webhooks/{id}/deliveries", **READ)
async def list_deliveries(
    who: Reader,
    id: Id,
    status: Status | None = None,
    before: Before = None,
    limit: Limit = 100,
) -> Runs:
    """The runs that bring, or brought, events there, newest first."""
    told = None if status is None else status.value
    found = await who.app.webhooks.deliveries(id, status=told, before=before, limit=limit)
    return Runs(items=[run_shown(one) for one in found], next=found[-1].run_id if len(found) == limit else None)


@router.post("/webhooks/{id}/deliveries/{delivery}/redeliver", status_code=201, **WRITE)
async def redeliver(who: Operator, id: Id, delivery: Delivery, key: Key = None) -> Started:
    """Send the event of a delivery that is over once more, under the same webhook-id."""
    return Started(id=await who.app.webhooks.redeliver(id, delivery, request_id=key), new=True)
