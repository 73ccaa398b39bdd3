"""Disable a webhook and record why: after failures for too long, after a refusal, or on request."""

from __future__ import annotations

from ostinato.engine.rows import audit
from ostinato.store.contract import Operation, sql
from ostinato.webhooks.store import statement
from ostinato.webhooks.subscriptions import ACTIVE, Webhook, read_webhook
from ostinato.when.instants import Micros, format_instant


def note_failure(webhook: Webhook, seq: int, now: Micros, patience: Micros, why: str) -> Operation[bool]:
    """Record that the delivery of the event with the sequence number `seq` has failed. If deliveries to the webhook
    have failed for `patience` without a success, disable the webhook. Return whether the webhook is now disabled or
    deleted."""
    rows = yield statement("webhook_failed", id=webhook.id, seq=seq, now=now)
    if not rows:
        return True
    current = read_webhook(rows[0])
    if current.state == ACTIVE and current.failing is not None and now - current.failing >= patience:
        reason = f"no delivery has succeeded since {format_instant(current.failing)}; the last one: {why}"
        yield from disable(current, reason, now, None)
        return True
    return current.state != ACTIVE


def note_refusal(webhook: Webhook, seq: int, now: Micros, why: str) -> Operation[None]:
    """Record that the delivery of the event with the sequence number `seq` has failed, and disable the webhook. Call
    this if the receiver or the egress policy refuses the webhook's deliveries."""
    rows = yield statement("webhook_failed", id=webhook.id, seq=seq, now=now)
    if rows:
        yield from disable(read_webhook(rows[0]), why, now, None)


def disable(webhook: Webhook, reason: str, now: Micros, actor: str | None) -> Operation[Webhook]:
    """Disable a webhook, and return the changed webhook. If it is already disabled, return it unchanged.

    A delivery that is still waiting will fail, and no HTTP request is sent for it. The failure is recorded in the
    webhook's row, so that `enable` can continue with the first undelivered event.
    """
    rows = yield statement("disable_webhook", id=webhook.id, reason=reason[:1000], now=now)
    if rows:
        event = audit(now, webhook.namespace, "webhook:disabled", webhook.id, actor, url=webhook.url, reason=reason)
        yield sql("insert_events", [event])
    return read_webhook(rows[0]) if rows else webhook
