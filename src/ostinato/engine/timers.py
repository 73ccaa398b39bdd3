"""Fire timers when they are due.

`Beat` is the loop that sleeps until the next timer is due. `fire` fires a batch of due timers in one transaction: for
each purpose of a timer, it calls the function that is registered for this purpose.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple, TypeAlias

from ostinato.clock import Clock
from ostinato.engine.claim_loop import Claimer
from ostinato.engine.claims import DirectClaim
from ostinato.engine.group_commit import is_trouble
from ostinato.engine.kinds import Kinds
from ostinato.engine.limits import open_by_rate
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.log import log
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import FOR_OTHERS, expire, wake
from ostinato.engine.telemetry import Metrics, Spans
from ostinato.errors import TriggerFailed
from ostinato.model import Run, Timer
from ostinato.store.contract import Operation, Row, Store, single, sql
from ostinato.when.instants import SECOND, Micros

# Act on due timers of one purpose. It may claim runs with the DirectClaim. Returns the events to write.
Fire: TypeAlias = Callable[[Sequence[Timer], Micros, DirectClaim, Kinds], Operation[list[Row]]]
# Store with a timer's owner that the timer failed, and the reason. Returns whether the owner exists and has stored it.
Park: TypeAlias = Callable[[Timer, str, Micros], Operation[bool]]
ANY = "*"  # in place of a purpose: all purposes of this kind of owner that are not registered by name
_IN_ORDER = attrgetter("due", "owner")
_FIRE = 500  # timers in one batch
_BEGIN = 100  # with at least this many free slots, fire no more timers than slots, so that no run has to queue
_SLICE: Micros = 5 * SECOND  # the longest sleep, to notice that the machine was suspended or its clock was set
POSTPONED: Micros = 30 * SECOND  # for a timer that a trigger of the database has stopped
_ELSEWHERE: Micros = 5_000  # the pause while another node fires the due timers


class TimerFailed(Exception):
    """Raised if a batch of only one timer failed. Because the batch had no other timer, `timer` must be the cause."""

    def __init__(self, timer: Timer, cause: BaseException) -> None:
        super().__init__(f"{timer.kind} {timer.owner} {timer.purpose}: {cause!r}")
        self.timer = timer


class Fired(NamedTuple):
    """The result of firing one batch of timers.

    - `timers`: how many timers were handled
    - `plain`: how many of these timers only started a run
    - `claimed`: the runs that this node claimed directly
    - `more`: whether more timers may be due
    """

    timers: int
    plain: int = 0
    claimed: Sequence[Run] = ()
    more: bool = False


def fire(
    now: Micros,
    limit: int,
    purposes: Mapping[tuple[str, str], Fire],
    direct: DirectClaim,
    kinds: Kinds,
    tries: int = 0,
    taken: list[Timer] | None = None,
) -> Operation[Fired]:
    """Fire up to `limit` due timers in one transaction. If `taken` is not None, the timers are put into this list.

    `tries` is how often this transaction was tried before. An earlier try may have been committed although its reply
    was lost. If so, the result includes the runs that the earlier try claimed.

    An error that occurs while timers are fired is raised. But if the batch has only one timer, `TimerFailed` is raised
    instead, because that timer must be the cause.
    """
    if tries:
        yield from direct.recover(now)
    due = list(map(Timer._make, (yield sql("take_due", now=now, limit=limit))))
    if taken is not None:
        taken[:] = due
    if not due:
        return Fired(0, 0, direct.claimed)
    groups: dict[tuple[str, str], list[Timer]] = {}
    due.sort(key=_IN_ORDER)
    for timer in due:
        key = timer.kind, timer.purpose
        groups.setdefault(key if key in purposes else (timer.kind, ANY), []).append(timer)
    events: list[Row] = []
    for key, timers in groups.items():
        act = purposes.get(key)
        if act is None:  # a purpose that only nodes with a newer version know: leave it to them
            yield sql("set_timers", [timer_row(timer._replace(due=now + FOR_OTHERS)) for timer in timers])
            continue
        try:
            events += yield from act(timers, now, direct, kinds)
        except Exception as problem:
            if len(due) == 1:
                raise TimerFailed(timers[0], problem) from problem
            raise
    yield sql("notify")
    if events:
        yield sql("insert_events", events)
    return Fired(len(due), direct.plain, direct.claimed, len(due) == limit)


def park(timer: Timer, reason: str, now: Micros, parks: Mapping[tuple[str, str], Park]) -> Operation[None]:
    """Make sure that a failed timer is not fired again. `parks` is a dict from (kind, purpose) to a function. The
    function tries to store `reason` with the timer's owner, and returns whether it has stored it.

    - If there is a function for this timer, and it has stored the reason, the timer is deleted.
    - Otherwise, the timer is kept and marked as parked, with the reason.
    """
    act = parks.get((timer.kind, timer.purpose))
    if act is None or not (yield from act(timer, reason, now)):
        yield sql("park_timer", kind=timer.kind, owner=timer.owner, purpose=timer.purpose, reason=reason)
    else:
        yield sql("clear_timers", [(timer.kind, timer.owner, timer.purpose)])


def postpone(timer: Timer, now: Micros) -> Operation[None]:
    """Let a timer that a trigger of the database has stopped fire later, so that it holds up no others. Do nothing if
    the timer is not the next one any more."""
    due = list(map(Timer._make, (yield sql("take_due", now=now, limit=1))))
    if due == [timer]:
        yield sql("set_timers", [timer_row(timer._replace(due=now + POSTPONED))])


def unpark() -> Operation[int]:
    """Let all parked timers fire again. Returns the number of these timers."""
    return len((yield sql("unpark_timers")))


def _wake(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    return (yield from wake([t.owner for t in timers], now))


def _deadline(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    return (yield from expire([t.owner for t in timers], now, kinds))


def _rate(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    yield from open_by_rate([(t.namespace, t.data or "") for t in timers], now)
    return []


PURPOSES: dict[tuple[str, str], Fire] = {
    ("run", "wake"): _wake,
    ("run", "deadline"): _deadline,
    ("limit", "rate"): _rate,
}


# The beat


class Beat:
    """The loop that fires timers. The event `due` wakes it. `fired` is called after each batch that fired a timer."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        purposes: Mapping[tuple[str, str], Fire],
        claimer: Claimer,
        metrics: Metrics,
        spans: Spans,
        *,
        parks: Mapping[tuple[str, str], Park],
        kinds: Kinds,
        refresh_clock: Callable[[], Awaitable[None]],
        fired: Callable[[Fired], Awaitable[None]],
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
        """Stop firing timers after the batch in progress. Other nodes fire the timers that are left."""
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

    async def _fire(self, now: Micros, begin: Micros) -> Fired:
        try:
            with self._spans.of("beat", lag_ms=(now - begin) // 1000):
                fired = await self._fire_some(now, _FIRE)
        except Exception as problem:
            if is_trouble(problem) and not isinstance(problem, TriggerFailed):  # the store failed, not a timer
                raise
            log.warning("timers failed together; firing them one by one", action="batch_failed", problem=repr(problem))
            fired = await self._fire_one_by_one(now)
        self._metrics.fired.inc(fired.timers)
        self._metrics.lag.observe(max(0, now - begin) / SECOND)
        return fired

    async def _fire_some(self, now: Micros, limit: int, taken: list[Timer] | None = None) -> Fired:
        direct = self._claimer.reserve(limit)
        if direct.room >= _BEGIN:
            limit = min(limit, direct.room)
        claimed: Sequence[Run] = ()
        try:
            fired = await self._store.run(
                lambda tries: fire(now, limit, self._purposes, direct.restart(), self._kinds, tries, taken)
            )
            claimed = fired.claimed
        finally:
            self._claimer.give_back(direct, claimed)
        return fired

    async def _fire_one_by_one(self, now: Micros) -> Fired:
        """Fire the timers of a failed batch, each in its own transaction. Park a timer that fails again, or postpone it
        if a trigger of the database is the cause."""
        taken: list[Timer] = []
        for count in range(_FIRE):
            if self._stopping:
                return Fired(count)
            try:
                if not (await self._fire_some(now, 1, taken)).timers:
                    return Fired(count)
            except TriggerFailed as problem:
                (stopped,) = taken
                words = f"{stopped.kind} {stopped.owner} {stopped.purpose}: {problem}"
                log.warning("a timer is postponed", action="timer_postponed", problem=words)
                await self._store.run(lambda _: postpone(stopped, now))  # noqa: B023
            except TimerFailed as problem:
                log.error("a timer failed", action="timer_parked", problem=str(problem))
                self._metrics.parked.inc()
                parked, reason = problem.timer, str(problem)
                await self._store.run(lambda _: park(parked, reason, now, self._parks))  # noqa: B023
        return Fired(_FIRE)

    async def _next_due(self) -> Micros | None:
        rows = await self._store.read(lambda _: single(sql("next_due")))
        return int(rows[0][0]) if rows else None

    async def _sleep_until(self, due: Micros | None) -> None:
        wait = None if due is None else max(0, due - self._clock.now())
        if not self._clock.virtual:
            wait = _SLICE if wait is None else min(wait, _SLICE)
        await wait_for_event(self.due, None if wait is None else wait / SECOND)

    def late_by(self) -> Micros:
        """Return how late the loop is: the time since it last looked for due timers, minus its longest sleep."""
        return max(0, self._clock.now() - self.at - _SLICE) if self.at else 0
