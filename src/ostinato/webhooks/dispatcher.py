"""Read events in order, and create deliveries for the webhooks whose patterns match. Every node has a dispatcher. A
dispatcher locks a webhook's row while it creates deliveries, so no event is dispatched twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from ostinato.clock import Clock
from ostinato.engine.listeners import Listeners, wait_for_event
from ostinato.engine.log import log
from ostinato.engine.rows import read_event
from ostinato.errors import StoreError
from ostinato.model import Event
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.webhooks.store import statement
from ostinato.webhooks.subscriptions import BATCH, Webhook, dispatch, read_webhook
from ostinato.when.instants import Micros

_POLL = 1.0


class _Seen(NamedTuple):
    """A range of events that do not match a webhook: the events with a sequence number above `seq` and up to `until`.
    The dispatcher does not check these events again, as long as the webhook's row has the same `seq` and `replays`."""

    seq: int
    replays: int
    until: int


class Dispatcher:
    def __init__(
        self,
        store: Store,
        clock: Clock,
        listeners: Listeners,
        new_id: Callable[[Micros], str],
        nudge: Callable[[], None],
    ) -> None:
        self._store = store
        self._clock = clock
        self._listeners = listeners
        self._new_id = new_id
        self._nudge = nudge
        self._changed = asyncio.Event()
        self._seen: dict[str, _Seen] = {}

    def changed(self) -> None:
        """Wake the dispatcher after a webhook was created or changed in this process."""
        self._changed.set()

    async def run(self) -> None:
        poll = None if self._clock.virtual else _POLL
        with self._listeners.watching() as some:
            while True:
                some.clear()
                self._changed.clear()
                webhooks, last = await self._store.read(lambda _: _look())
                if not webhooks:
                    # No webhooks. A new one is noticed within a second; it has its own position, so it misses nothing.
                    await wait_for_event(self._changed, poll)
                elif not await self._step(webhooks, last):
                    await wait_for_event(some, poll)

    async def _step(self, webhooks: list[Webhook], last: int) -> bool:
        """Dispatch one batch of events for each webhook. Return whether there may be more events."""
        batches: dict[int, list[Event]] = {}
        more = False
        for webhook in webhooks:
            after = self._place(webhook)
            if after >= last:
                continue
            if after not in batches:
                rows = await self._store.read(lambda _, after=after: _read(after))  # type: ignore[misc]
                batches[after] = [read_event(row) for row in rows]
            try:
                more = await self._serve(webhook, after, batches[after]) or more
            except StoreError:
                raise
            except Exception:
                log.exception("dispatching events to a webhook failed", action="webhook_trouble", webhook=webhook.id)
        self._seen = {one.id: self._seen[one.id] for one in webhooks if one.id in self._seen}
        return more

    def _place(self, webhook: Webhook) -> int:
        seen = self._seen.get(webhook.id)
        if seen is None or (seen.seq, seen.replays) != (webhook.seq, webhook.replays):
            return webhook.seq
        return max(webhook.seq, seen.until)

    async def _serve(self, webhook: Webhook, after: int, events: list[Event]) -> bool:
        if not events:
            return False
        if len(events) < BATCH and not any(webhook.wants(event) for event in events):
            self._seen[webhook.id] = _Seen(webhook.seq, webhook.replays, events[-1].seq)
            return False
        now = self._clock.now()
        runs, more = await self._store.run(lambda _: dispatch(webhook.id, after, now, self._new_id))
        if runs:
            self._nudge()
        return more


def _look() -> Operation[tuple[list[Webhook], int]]:
    rows = yield statement("active_webhooks")
    if not rows:
        return [], 0
    return [read_webhook(row) for row in rows], int((yield sql("last_event"))[0][0])


def _read(after: int) -> Operation[list[Row]]:
    return (yield sql("read_events", after=after, limit=BATCH))
