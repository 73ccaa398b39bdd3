"""Decide which events go to which webhook, and create the runs that deliver them. A webhook's row stores the sequence
number of the last event that was checked. One transaction moves this number and creates a run of the job `webhook` for
each matching event. So no event is lost, and if the transaction is repeated, no event gets a second run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import orjson

from ostinato.engine.rows import read_event, write_options
from ostinato.engine.runs import start
from ostinato.errors import NotFound
from ostinato.model import Event, Limit, Options, Run, event_data
from ostinato.store.columns import reader, writer
from ostinato.store.contract import Operation, Row, sql
from ostinato.webhooks import JOB
from ostinato.webhooks.store import TABLES, statement
from ostinato.when.instants import Micros, format_instant

BATCH = 500
PRIORITY = -10  # lower than the work that the events report
AT_ONCE = 4  # requests to one receiver: a receiver that hangs must not occupy all slots
ACTIVE, DISABLED = "active", "disabled"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A URL that events are sent to.

    - `seq`: the sequence number of the last event that was checked
    - `replays`: how often `enable` or `replay` has set `seq`
    - `failing`: since when deliveries fail; None if no delivery has failed since the last success or `enable`
    - `failing_seq`: the lowest sequence number of the events whose delivery has failed since `failing`, or None
    """

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
        """Return whether an event is to be sent to this webhook. Events about this webhook and about deliveries are
        never sent: each delivery causes such events, so deliveries would never end."""
        if event.namespace != self.namespace or event.subject == self.id or event.seq <= self.seq:
            return False
        if event.name.startswith("run:") and event.data.get("name") == JOB:
            return False
        return any(fnmatchcase(event.name, pattern) for pattern in self.patterns)


def _read_texts(text: str) -> tuple[str, ...]:
    return tuple(orjson.loads(text))


def _write_texts(texts: Sequence[str]) -> str:
    return orjson.dumps(list(texts)).decode()


read_webhook = reader(Webhook, TABLES["webhook"].columns, patterns=_read_texts, secrets=_read_texts)
# The row of a webhook for `insert_webhooks` and `change_webhooks`.
webhook_row = writer(TABLES["webhook"].columns, patterns=_write_texts, secrets=_write_texts)


def event_document(event: Event) -> dict[str, Any]:
    """Return an event as the JSON that receivers get. The HTTP API returns the same JSON."""
    return {
        "seq": event.seq,
        "at": format_instant(event.instant),
        "namespace": event.namespace,
        "name": event.name,
        "subject": event.subject,
        "data": event_data(event),
        "actor": event.actor,
    }


def deliveries(webhook: Webhook, events: Iterable[Event], now: Micros, new_id: Callable[[Micros], str]) -> list[Run]:
    """Return a run for each event that is to be sent to the webhook. Events of one subject are delivered in order."""
    turn = f"{webhook.replays}/" if webhook.replays else ""
    limit = Limit(f"webhook/{webhook.id}", most=AT_ONCE)
    options = write_options(Options(limit=limit))
    runs = []
    for event in events:
        if webhook.wants(event):
            id = new_id(now)
            input = {"webhook": webhook.id, "event": event_document(event)}
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
                serial_key=_line(webhook, event),
                serial_hold="chain",
                concurrency_key=limit.key,
                options=options,
                input=orjson.dumps(input).decode(),
                actor=webhook.actor,
            )
            runs.append(run)
    return runs


def dispatch(id: str, after: int, now: Micros, new_id: Callable[[Micros], str]) -> Operation[tuple[int, bool]]:
    """Check the next events of a webhook, and create deliveries of those that match. Return (number of deliveries,
    whether there may be more events).

    The check begins after the sequence number `after`, or after the webhook's `seq` if that is higher. The caller must
    know that no event between `seq` and `after` matches. If another node has locked the webhook, or if the webhook is
    deleted or disabled, do nothing and return (0, False).
    """
    rows = yield statement("hold_webhook", id=id)
    webhook = read_webhook(rows[0]) if rows else None
    if webhook is None or webhook.state != ACTIVE:
        return 0, False
    rows_read = yield sql("read_events", after=max(after, webhook.seq), limit=BATCH)
    if not rows_read:
        return 0, False
    events = [read_event(row) for row in rows_read]
    now = yield from _after_waiting_deliveries(webhook, events, now)
    runs = deliveries(webhook, events, now, new_id)
    yield statement("move_webhook", id=id, seq=events[-1].seq)
    if runs:
        yield from start(runs, now)
    return len(runs), len(events) == BATCH


def _after_waiting_deliveries(webhook: Webhook, events: Iterable[Event], now: Micros) -> Operation[Micros]:
    """Return a time for the deliveries of these events that is later than the time of each delivery that waits in line
    for the same subjects. Usually this is `now`. But another node may have created those with a clock that is ahead, or
    after this call had read its clock."""
    lines = {(webhook.namespace, _line(webhook, event)) for event in events if webhook.wants(event)}
    rows = (yield statement("last_in_lines", sorted(lines))) if lines else []
    return max([now, *(int(due) + 1 for (due,) in rows if due is not None)])


def _line(webhook: Webhook, event: Event) -> str:
    """Return the serial key of the deliveries for one subject."""
    return f"webhook/{webhook.id}/{event.subject}"


def note_success(webhook: Webhook, now: Micros) -> Operation[None]:
    yield statement("webhook_succeeded", id=webhook.id, now=now)


def find(namespace: str, id: str) -> Operation[Webhook]:
    return _first((yield statement("webhook", id=id, namespace=namespace)), id)


def lock(namespace: str, id: str) -> Operation[Webhook]:
    return _first((yield statement("lock_webhook", id=id, namespace=namespace)), id)


def _first(rows: Sequence[Row], id: str) -> Webhook:
    if not rows:
        raise NotFound(f"there is no webhook {id!r}")
    return read_webhook(rows[0])
