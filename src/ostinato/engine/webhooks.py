"""Webhooks: events sent to a URL. Which events go where is decided here; each becomes a run of the job `webhook`, in
the transaction that moves the webhook's place in the order, so that none is lost between the two and a repetition
changes nothing. Nothing here talks to the network: sending is the run's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import orjson

from ostinato.engine.rows import audit, read_event, write_options
from ostinato.engine.runs import start
from ostinato.errors import NotFound
from ostinato.model import Event, Limit, Options, Run, event_data
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros, format_instant

JOB = "webhook"
BATCH = 500
PRIORITY = -10  # behind the work that the events are about
AT_ONCE = 4  # calls to one receiver: one that hangs must not take the place of everything else
ACTIVE, DISABLED = "active", "disabled"


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where events are sent. `seq` is the last one looked at; `failing` since when no delivery has succeeded, and
    `failing_seq` the first event that this concerns."""

    id: str
    namespace: str
    url: str
    patterns: tuple[str, ...]
    secrets: tuple[str, ...]
    notes: str = ""
    state: str = ACTIVE
    reason: str | None = None
    seq: int = 0
    replays: int = 0
    failing: Micros | None = None
    failing_seq: int | None = None
    succeeded: Micros | None = None
    created: Micros = 0
    updated: Micros = 0
    actor: str | None = None

    def wants(self, event: Event) -> bool:
        """Whether an event goes to it. Its own life is not its business, and what deliveries bring about is nobody's:
        an event for each event would never end."""
        if event.namespace != self.namespace or event.subject == self.id or event.seq <= self.seq:
            return False
        if event.name.startswith("run:") and event.data.get("name") == JOB:
            return False
        return any(fnmatchcase(event.name, pattern) for pattern in self.patterns)


def read_webhook(row: Row) -> Webhook:
    id, namespace, url, patterns, secrets, *rest = row
    return Webhook(id, namespace, url, tuple(orjson.loads(patterns)), tuple(orjson.loads(secrets)), *rest)


def webhook_row(one: Webhook) -> Row:
    return (
        one.id,
        one.namespace,
        one.url,
        _json(one.patterns),
        _json(one.secrets),
        one.notes,
        one.state,
        one.reason,
        one.seq,
        one.replays,
        one.failing,
        one.failing_seq,
        one.succeeded,
        one.created,
        one.updated,
        one.actor,
    )


def _json(texts: Sequence[str]) -> str:
    return orjson.dumps(list(texts)).decode()


def told(event: Event) -> dict[str, Any]:
    """An event as receivers see it: the same shape as over the API."""
    return {
        "seq": event.seq,
        "at": format_instant(event.at),
        "namespace": event.namespace,
        "name": event.name,
        "subject": event.subject,
        "data": event_data(event),
        "actor": event.actor,
    }


def deliveries(webhook: Webhook, events: Iterable[Event], now: Micros, new_id: Callable[[Micros], str]) -> list[Run]:
    """The runs that bring events to a webhook. In order for each subject, because a later fact makes no sense before
    an earlier one; different subjects do not wait for one another."""
    turn = f"{webhook.replays}/" if webhook.replays else ""
    limit = Limit(f"webhook/{webhook.id}", most=AT_ONCE)
    options = write_options(Options(limit=limit))
    found = []
    for event in events:
        if webhook.wants(event):
            id = new_id(now)
            given = {"webhook": webhook.id, "event": told(event)}
            run = Run(
                id=id,
                root_id=id,
                name=JOB,
                namespace=webhook.namespace,
                key=f"webhook/{webhook.id}/{turn}{event.seq}",
                priority=PRIORITY,
                due=now,
                created=now,
                parent_id=webhook.id,
                serial_key=f"webhook/{webhook.id}/{event.subject}",
                serial_hold="chain",
                concurrency_key=limit.key,
                options=options,
                input=orjson.dumps(given).decode(),
                actor=webhook.actor,
            )
            found.append(run)
    return found


@dataclass(frozen=True, slots=True)
class Dispatched:
    """How far a webhook has come, how many deliveries that made, and whether there may be more."""

    webhook: Webhook
    seq: int
    made: int
    more: bool


def dispatch(id: str, after: int, now: Micros, new_id: Callable[[Micros], str]) -> Operation[Dispatched | None]:
    """The next events for one webhook, from where it stands; `after` is later if those between are known not to be
    wanted. None where another node is at it, or nothing is to be sent there any more."""
    rows = yield sql("hold_webhook", id=id)
    webhook = read_webhook(rows[0]) if rows else None
    if webhook is None or webhook.state != ACTIVE:
        return None
    found = yield sql("read_events", after=max(after, webhook.seq), limit=BATCH)
    if not found:
        return Dispatched(webhook, webhook.seq, 0, False)
    events = [read_event(row) for row in found]
    runs = deliveries(webhook, events, now, new_id)
    reached = events[-1].seq
    yield sql("move_webhook", id=id, seq=reached)
    if runs:
        yield from start(runs, now)
    return Dispatched(webhook, reached, len(runs), len(found) == BATCH)


def note_success(webhook: Webhook, now: Micros) -> Operation[None]:
    yield sql("webhook_succeeded", id=webhook.id, now=now)


def note_failure(webhook: Webhook, seq: int, now: Micros, patience: Micros, why: str) -> Operation[bool]:
    """A delivery failed. After a long time without any success the webhook is given up. Returns whether it is."""
    rows = yield sql("webhook_failed", id=webhook.id, seq=seq, now=now)
    if not rows:
        return True
    there = read_webhook(rows[0])
    if there.state == ACTIVE and there.failing is not None and now - there.failing >= patience:
        reason = f"no delivery has succeeded since {format_instant(there.failing)}; the last one: {why}"
        yield from disable(there, reason, now, None)
        return True
    return there.state != ACTIVE


def note_refusal(webhook: Webhook, seq: int, now: Micros, why: str) -> Operation[None]:
    """The receiver, or our own policy, wants no more of it."""
    rows = yield sql("webhook_failed", id=webhook.id, seq=seq, now=now)
    if rows:
        yield from disable(read_webhook(rows[0]), why, now, None)


def disable(webhook: Webhook, reason: str, now: Micros, actor: str | None) -> Operation[Webhook]:
    """Send nothing more there. Deliveries that wait are given up when their turn comes; the first of all that were is
    remembered, for when it is enabled again."""
    rows = yield sql("disable_webhook", id=webhook.id, reason=reason[:1000], now=now)
    if rows:
        event = audit(now, webhook.namespace, "webhook:disabled", webhook.id, actor, url=webhook.url, reason=reason)
        yield sql("insert_events", [event])
    return read_webhook(rows[0]) if rows else webhook


def find(namespace: str, id: str) -> Operation[Webhook]:
    return _one((yield sql("webhook", id=id, namespace=namespace)), id)


def locked(namespace: str, id: str) -> Operation[Webhook]:
    return _one((yield sql("lock_webhook", id=id, namespace=namespace)), id)


def change(webhook: Webhook) -> Operation[None]:
    row = webhook_row(webhook)
    yield sql("change_webhooks", [(row[0], *row[2:12], row[14])])


def _one(rows: Sequence[Row], id: str) -> Webhook:
    if not rows:
        raise NotFound(f"there is no webhook {id!r}")
    return read_webhook(rows[0])
