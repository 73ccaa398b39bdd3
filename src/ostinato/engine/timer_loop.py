"""The beat: sleep until the next timer is due, fire all timers that are due, and repeat."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from ostinato.clock import Clock
from ostinato.engine import timers
from ostinato.engine.claim_loop import Claimer
from ostinato.engine.group_commit import is_trouble
from ostinato.engine.kinds import Kinds
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.log import log
from ostinato.engine.telemetry import Metrics, Spans
from ostinato.model import Run
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.instants import SECOND, Micros

_FIRE = 500  # timers in one batch
_BEGIN = 100  # with at least this many free slots, fire no more timers than slots, so that no run has to queue
_SLICE: Micros = 5 * SECOND  # the longest sleep, to notice that the machine was suspended or its clock was set
_ELSEWHERE: Micros = 5_000  # the pause while another node fires the due timers


class Beat:
    """The loop that fires timers. Set the event `due` to wake the loop. `fired` is called after each batch that fired
    at least one timer."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        purposes: Mapping[tuple[str, str], timers.Fire],
        claimer: Claimer,
        metrics: Metrics,
        spans: Spans,
        *,
        parks: Mapping[tuple[str, str], timers.Park],
        kinds: Kinds,
        refresh_clock: Callable[[], Awaitable[None]],
        fired: Callable[[timers.Fired], Awaitable[None]],
    ) -> None:
        self.due = asyncio.Event()
        self.at: Micros = 0  # when the loop last looked for due timers
        self._stopping = False
        self._store = store
        self._clock = clock
        self._purposes = purposes
        self._claimer = claimer
        self._metrics = metrics
        self._spans = spans
        self._parks = parks
        self._kinds = kinds
        self._refresh_clock = refresh_clock
        self._fired = fired

    def stop(self) -> None:
        """Fire no more timers. Finish the batch in progress; other nodes fire the timers that are left."""
        self._stopping = True
        self.due.set()

    async def run(self) -> None:
        due: Micros | None = None
        more = False
        while not self._stopping:
            self.due.clear()
            if not more:
                due = await self._next_due()
            now = self.at = self._clock.now()
            if due is None or due > now:
                more = False  # the clock was set back: read the next due time again
                await self._sleep_until(due)
                await self._refresh_clock()
                now = self.at = self._clock.now()
                if due is None or due > now or self.due.is_set():
                    continue
            if self._stopping:
                break
            fired = await self._fire(now, due)
            if fired.claimed:
                await asyncio.sleep(0)  # let short runs finish, which frees their slots
            if fired.timers:
                await self._fired(fired)
            elif not more:
                await self._sleep_until(now + _ELSEWHERE)
            more = fired.more

    async def _fire(self, now: Micros, begin: Micros) -> timers.Fired:
        try:
            with self._spans.of("beat", lag_ms=(now - begin) // 1000):
                fired = await self._fire_some(now, _FIRE)
        except Exception as problem:
            if is_trouble(problem):  # the store failed, not a timer
                raise
            log.warning("timers failed together; firing them one by one", action="batch_failed", problem=repr(problem))
            fired = await self._fire_one_by_one(now)
        self._metrics.fired.inc(fired.timers)
        self._metrics.lag.observe(max(0, now - begin) / SECOND)
        return fired

    async def _fire_some(self, now: Micros, limit: int) -> timers.Fired:
        direct = self._claimer.reserve(limit)
        if direct.room >= _BEGIN:
            limit = min(limit, direct.room)
        claimed: Sequence[Run] = ()
        try:
            fired = await self._store.run(
                lambda tries: timers.fire(now, limit, self._purposes, direct.restart(), self._kinds, tries)
            )
            claimed = fired.claimed
        finally:
            self._claimer.give_back(direct, claimed)
        return fired

    async def _fire_one_by_one(self, now: Micros) -> timers.Fired:
        """Fire the timers of a failed batch, each in its own transaction. A timer that fails again is parked with the
        reason, so that it is not fired any more."""
        for count in range(_FIRE):
            if self._stopping:
                return timers.Fired(count)
            try:
                if not (await self._fire_some(now, 1)).timers:
                    return timers.Fired(count)
            except timers.TimerFailed as problem:
                log.error("a timer failed", action="timer_parked", problem=str(problem))
                self._metrics.parked.inc()
                parked, reason = problem.timer, str(problem)
                await self._store.run(lambda _: timers.park(parked, reason, now, self._parks))  # noqa: B023
        return timers.Fired(_FIRE)

    async def _next_due(self) -> Micros | None:
        def select(_: int) -> Operation[Micros | None]:
            rows = yield sql("next_due")
            return int(rows[0][0]) if rows else None

        return await self._store.read(select)

    async def _sleep_until(self, due: Micros | None) -> None:
        wait = None if due is None else max(0, due - self._clock.now())
        if not self._clock.virtual:
            wait = _SLICE if wait is None else min(wait, _SLICE)
        await wait_for_event(self.due, None if wait is None else wait / SECOND)

    def late_by(self) -> Micros:
        """Return how late the loop is: the time since it last looked for due timers, minus its longest sleep. Returns
        0 if it is not late."""
        return max(0, self._clock.now() - self.at - _SLICE) if self.at else 0
