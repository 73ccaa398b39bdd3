"""Answer the HTTP calls that manage webhooks and their deliveries. A webhook sends events to a URL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ostinato.engine.access import Role
from ostinato.faces.http.authentication import JourneyOperator, JourneyReader, Operator, Reader, requires
from ostinato.faces.http.idempotency import Key
from ostinato.faces.http.pagination import After, Before, Limit
from ostinato.faces.http.read_guard import visible_run, visible_runs
from ostinato.faces.http.routing import Body, Path, Router
from ostinato.faces.http.shapes.common import NO_NUL, StopBody
from ostinato.faces.http.shapes.runs import Runs, RunShown, Started
from ostinato.faces.http.shapes.webhooks import Enable, NewWebhook, Replay, WebhookChange, WebhookShown, WebhooksShown
from ostinato.model import Status, StatusName

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request, Response

router = Router(tags=["webhooks"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
Id = Annotated[str, Path(min_length=1, max_length=64, pattern=NO_NUL)]
Delivery = Annotated[str, Path(min_length=1, max_length=64, pattern=NO_NUL, description="A delivery's run.")]


@router.get("/webhooks", **READ)
async def list_webhooks(who: Reader, after: After = None, limit: Limit = 100) -> WebhooksShown:
    """List the webhooks of the namespace, the oldest first."""
    webhooks = await who.app.webhooks.list(after=after or "", limit=limit)
    more = webhooks[-1].id if len(webhooks) == limit else None
    return WebhooksShown(items=[WebhookShown.model_validate(one) for one in webhooks], next=more)


@router.post("/webhooks", status_code=201, **WRITE)
async def create_webhook(who: Operator, body: NewWebhook, response: Response, key: Key = None) -> WebhookShown:
    """Create a webhook: send events to a URL from now on."""
    webhook = await who.app.webhooks.create(
        body.url, body.patterns, secret=body.secret, notes=body.notes or "", request_id=key
    )
    response.headers["Location"] = f"/api/v1/webhooks/{webhook.id}"
    return WebhookShown.model_validate(webhook)


@router.get("/webhooks/{id}", **READ)
async def read_webhook(who: Reader, id: Id) -> WebhookShown:
    """Read a webhook."""
    return WebhookShown.model_validate(await who.app.webhooks.get(id))


@router.patch("/webhooks/{id}", **WRITE)
async def update_webhook(who: Operator, id: Id, body: WebhookChange, key: Key = None) -> WebhookShown:
    """Change the fields that are sent. Waiting deliveries use the new values, too."""
    done = await who.app.webhooks.update(
        id, url=body.url, patterns=body.patterns, secret=body.secret, notes=body.notes, request_id=key
    )
    return WebhookShown.model_validate(done)


@router.delete("/webhooks/{id}", status_code=204, **WRITE)
async def delete_webhook(who: Operator, id: Id, key: Key = None) -> None:
    """Delete a webhook. Waiting deliveries are dropped."""
    await who.app.webhooks.delete(id, request_id=key)


@router.post("/webhooks/{id}/disable", **WRITE)
async def disable_webhook(who: Operator, id: Id, body: StopBody, key: Key = None) -> WebhookShown:
    """Disable a webhook: no more events are sent to it. Waiting deliveries are dropped; their events are sent when the
    webhook is enabled again."""
    return WebhookShown.model_validate(await who.app.webhooks.disable(id, body.reason, request_id=key))


@router.post("/webhooks/{id}/enable", **WRITE)
async def enable_webhook(
    who: Operator, id: Id, body: Annotated[Enable, Body(default_factory=Enable)], key: Key = None
) -> WebhookShown:
    """Enable a webhook again. Without `after`, sending begins with the first undelivered event. With `after`, sending
    begins with the first event after that sequence number."""
    return WebhookShown.model_validate(await who.app.webhooks.enable(id, after=body.after, request_id=key))


@router.post("/webhooks/{id}/replay", **WRITE)
async def replay_webhook(who: Operator, id: Id, body: Replay, key: Key = None) -> WebhookShown:
    """Send all stored events after the sequence number `after` once more. If the webhook is disabled, the answer is a
    conflict (409)."""
    return WebhookShown.model_validate(await who.app.webhooks.replay(id, body.after, request_id=key))


@router.get("/webhooks/{id}/deliveries", **READ)
async def list_deliveries(
    request: Request,
    who: JourneyReader,
    id: Id,
    status: Status | None = None,
    before: Before = None,
    limit: Limit = 100,
) -> Runs:
    """List deliveries, the newest first. Deliveries about a journey that the caller may not read are left out."""
    status_name: StatusName | None = None if status is None else status.value
    runs = await who.app.webhooks.deliveries(id, status=status_name, before=before, limit=limit)
    items = [RunShown.model_validate(one) for one in await visible_runs(request, who, runs)]
    return Runs(items=items, next=runs[-1].run_id if len(runs) == limit else None)


@router.post("/webhooks/{id}/deliveries/{delivery}/redeliver", status_code=201, **WRITE)
async def redeliver(request: Request, who: JourneyOperator, id: Id, delivery: Delivery, key: Key = None) -> Started:
    """Send the event of a finished delivery again, under the same webhook-id."""
    await visible_run(request, who, delivery)
    return Started(id=await who.app.webhooks.redeliver(id, delivery, request_id=key), new=True)
