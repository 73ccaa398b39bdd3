"""The beat: sleep until the next timer is due, fire what is, look again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from ostinato.clock import Clock
from ostinato.engine import timers
from ostinato.engine.claimer import Claimer
from ostinato.engine.commits import is_trouble
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.log import log
from ostinato.engine.telemetry import Metrics, Spans
from ostinato.model import Run
from ostinato.store.contract import Operation, Store, sql
from ostinato.when.instants import SECOND, Micros

_FIRE = 500  # timers in one go
_BEGIN = 100  # where so many can begin at once, no more are fired than that: nothing is left to stand in line
_SLICE: Micros = 5 * SECOND  # the longest sleep, so that a suspend or a step of the clock is noticed
_ELSEWHERE: Micros = 5_000  # before another look at timers that another node is about to fire


class Beat:
    """`fired` is called whenever something was. `due` wakes it."""

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
        refresh_clock: Callable[[], Awaitable[None]],
        fired: Callable[[timers.Fired], Awaitable[None]],
    ) -> None:
        self.due = asyncio.Event()
        self.at: Micros = 0  # when it last came round
        self._processed: Micros = 0
        self._stopping = False
        self._store = store
        self._clock = clock
        self._purposes = purposes
        self._claimer = claimer
        self._metrics = metrics
        self._spans = spans
        self._parks = parks
        self._refresh_clock = refresh_clock
        self._fired = fired

    def stop(self) -> None:
        """Fire no more: what comes due is another node's. A firing that is on its way is heard out."""
        self._stopping = True
        self.due.set()

    async def run(self) -> None:
        due: Micros | None = None
        more = False
        while not self._stopping:
            self.due.clear()
            if not more:
                due = await self._next_due()
            now = self._now_or_later()
            if due is None or due > now:
                await self._sleep_until(due)
                await self._refresh_clock()
                now = self._now_or_later()
                if due is None or due > now or self.due.is_set():
                    continue
            if self._stopping:
                break
            fired = await self._fire(now, due)
            if fired.taken:
                await asyncio.sleep(0)  # what has begun and is quickly done makes room again
            if fired.timers:
                await self._fired(fired)
            elif not more:
                await self._sleep_until(now + _ELSEWHERE)
            more = fired.more

    def _now_or_later(self) -> Micros:
        """Not behind what was already processed, should the clock step back a little. A step that is more than that is
        one that all nodes agree on, and what comes by the new time is not late by the old one."""
        self.at = self._clock.now()
        if not self.at < self._processed <= self.at + SECOND:
            self._processed = self.at
        return self._processed

    async def _fire(self, now: Micros, begin: Micros) -> timers.Fired:
        try:
            with self._spans.of("beat", lag_ms=(now - begin) // 1000):
                fired = await self._fire_some(now, _FIRE)
        except Exception as problem:
            if is_trouble(problem):  # of the store, and no timer's own
                raise
            log.warning("timers failed together; one by one now", action="batch_failed", problem=repr(problem))
            fired = await self._fire_one_by_one(now)
        self._metrics.fired.inc(fired.timers)
        self._metrics.lag.observe(max(0, now - begin) / SECOND)
        return fired

    async def _fire_some(self, now: Micros, limit: int) -> timers.Fired:
        hands = self._claimer.hands(limit)
        if hands.room >= _BEGIN:
            limit = min(limit, hands.room)
        taken: Sequence[Run] = ()
        try:
            fired = await self._store.run(lambda tries: timers.fire(now, limit, self._purposes, hands.anew(), tries))
            taken = fired.taken
        finally:
            self._claimer.give_back(hands, taken)
        return fired

    async def _fire_one_by_one(self, now: Micros) -> timers.Fired:
        """One of a batch is poison: find it, park it with its reason, let the others go."""
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
        def due(_: int) -> Operation[Micros | None]:
            rows = yield sql("next_due")
            return int(rows[0][0]) if rows else None

        return await self._store.read(due)

    async def _sleep_until(self, due: Micros | None) -> None:
        wait = None if due is None else max(0, due - self._clock.now())
        if not self._clock.virtual:
            wait = _SLICE if wait is None else min(wait, _SLICE)
        await wait_for_event(self.due, None if wait is None else wait / SECOND)

    def late_by(self) -> Micros:
        """How long the beat has not come round, over what it may sleep."""
        return max(0, self._clock.now() - self.at - _SLICE) if self.at else 0
