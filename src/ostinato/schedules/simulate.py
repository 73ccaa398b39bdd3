"""Simulate a schedule over a period, with the same decisions as on a node. Pure. The caller says how long runs take,
when no node is up, and when the schedule is paused. A run that an outage interrupts starts again after the outage. A
cancelled run ends at once."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ostinato.errors import ArgumentError, OstinatoError
from ostinato.model import Status
from ostinato.schedules.decisions.catchup import generate
from ostinato.schedules.decisions.decide import Live, ScheduleDecision, decide
from ostinato.schedules.decisions.times_not_run import Passed
from ostinato.schedules.model import Occurrence, Reason, Schedule
from ostinato.when.instants import Micros, format_instant, optional_datetime, to_datetime

MOST = 100_000  # occurrences in one simulation
WORK = 5_000_000  # the sum of running and waiting runs over all steps
Span = tuple[Micros, Micros]
RunTime = Micros | Sequence[Micros] | Callable[[random.Random], Micros]


@dataclass(frozen=True, slots=True)
class Simulated:
    """One due time and its outcome. All moments are in UTC.

    - `outcome`: `succeeded`, `cancelled`, `terminated`, `skipped` or `missed`, or `running` or `waiting` if the run
      does not end in the simulated period
    - `reason`: why the time was skipped or missed, or None if it was neither
    - `blocked_by`: the nominal time of the run that blocked this one, or None if no such run is known
    """

    nominal: datetime
    actual: datetime
    outcome: str
    started: datetime | None
    ended: datetime | None
    reason: Reason | None
    blocked_by: datetime | None
    stands_for: int


@dataclass(slots=True)
class _Draft:
    """A `Simulated` while the simulation goes on, with moments in microseconds."""

    nominal: Micros
    actual: Micros
    outcome: str = "waiting"
    started: Micros | None = None
    ended: Micros | None = None
    reason: Reason | None = None
    blocked_by: Micros | None = None
    stands_for: int = 0

    @classmethod
    def of(cls, occurrence: Occurrence) -> _Draft:
        return cls(occurrence.nominal, occurrence.actual, stands_for=occurrence.stands_for)

    def finish(self) -> Simulated:
        return Simulated(
            to_datetime(self.nominal),
            to_datetime(self.actual),
            self.outcome,
            optional_datetime(self.started),
            optional_datetime(self.ended),
            self.reason,
            optional_datetime(self.blocked_by),
            self.stands_for,
        )


@dataclass(frozen=True, slots=True)
class Simulation:
    first: datetime
    last: datetime
    occurrences: tuple[Simulated, ...]
    outages: tuple[tuple[datetime, datetime], ...] = ()
    pauses: tuple[tuple[datetime, datetime], ...] = ()

    def counts(self) -> dict[str, int]:
        """Return a dict from outcome to number of occurrences. An occurrence that did not run is counted under its
        reason, as in `{"succeeded": 5, "overlap": 1}`."""
        return dict(Counter(shown.reason.value if shown.reason else shown.outcome for shown in self.occurrences))


def simulate(
    schedule: Schedule,
    first: Micros,
    last: Micros,
    *,
    run_time: RunTime = 0,
    outages: Sequence[Span] = (),
    pauses: Sequence[Span] = (),
    seed: int = 0,
) -> Simulation:
    """Simulate a schedule from `first` to `last`. `run_time` is a length, a list of lengths to draw from, or a function
    that takes a `random.Random` and returns a length. `seed` makes the draws repeatable. Raises OstinatoError if a
    period ends before it begins, or if the simulation is too large."""
    _check_period(first, last, "last")
    for field, spans in (("outages", outages), ("pauses", pauses)):
        for number, (begin, end) in enumerate(spans):
            _check_period(begin, end, field, number)
    begun = replace(schedule, reached=first - 1, updated=min(schedule.updated, first))  # as if it had existed before
    merged = _merged(outages)
    play = _Play(begun, _lengths(run_time, random.Random(seed)), merged)
    down, paused = sorted(outages), sorted(pauses)
    edges = sorted({edge for span in paused for edge in span})
    at = first
    while True:
        at = _after(at, merged)
        if at > last:
            break
        play.schedule = replace(play.schedule, paused=schedule.paused or (at if _inside(at, paused) else None))
        play.step(at)
        edge = bisect_right(edges, at)
        coming = [play.schedule.next, *(run.ended for run in play.running.values()), *edges[edge : edge + 1]]
        following = [moment for moment in coming if moment is not None and moment > at]
        if not following or min(following) > last:
            break
        at = min(following)
    for run in play.running.values():
        if run.ended is not None and run.ended > last:
            run.outcome, run.ended = "running", None
    seen = tuple(draft.finish() for draft in play.seen)
    return Simulation(to_datetime(first), to_datetime(last), seen, _as_datetimes(down), _as_datetimes(paused))


def _as_datetimes(spans: Sequence[Span]) -> tuple[tuple[datetime, datetime], ...]:
    return tuple((to_datetime(begin), to_datetime(end)) for begin, end in spans)


def _check_period(begin: Micros, end: Micros, *path: str | int) -> None:
    if end < begin:
        words = f"a period from {format_instant(begin)} cannot end at {format_instant(end)}; end it later"
        raise ArgumentError(words, *path)


class _Play:
    """The state of one simulation: the schedule, its live runs, and every occurrence so far."""

    def __init__(self, schedule: Schedule, length: Callable[[], Micros], down: Sequence[Span]) -> None:
        self.schedule = schedule
        self.seen: list[_Draft] = []
        self.running: dict[str, _Draft] = {}
        self._waiting: dict[str, _Draft] = {}
        self._names: dict[str, _Draft] = {}  # by id: the runs that the present decision may refer to
        self._length = length
        self._down = down
        self._work = 0
        self._ids = 0

    def step(self, now: Micros) -> None:
        """End the runs that are over at `now`, then decide which due times run and which waiting runs start."""
        ended = self._drop_ended(now)
        while True:
            # A pause leaves waiting runs alone until a run ends.
            self._decide(now, [] if self.schedule.paused and not ended else self._live())
            more = self.schedule.next is not None and self.schedule.next <= now  # one batch was not enough
            ended = self._drop_ended(now)
            if not more and not (ended and self._waiting):
                return

    def _drop_ended(self, now: Micros) -> bool:
        before = len(self.running)
        self.running = {id: run for id, run in self.running.items() if run.ended is None or run.ended > now}
        return len(self.running) < before

    def _decide(self, now: Micros, live: Sequence[Live]) -> None:
        self._count_work(1 + len(self.running) + len(self._waiting))
        self._names = {**self.running, **self._waiting}
        generated = generate(self.schedule, now)
        decision = decide(self.schedule, live, generated.occurrences, now, self._new_id, generated)
        self._apply(decision, generated.occurrences, now)
        if decision.stop:
            outcome = Status.TERMINATED if decision.terminate else Status.CANCELLED
            for stopped in decision.stop:
                run = self.running.pop(stopped.root_id)
                run.outcome, run.ended = outcome.value, now
            if not decision.terminate:  # when runs end, the next one starts
                self._apply(decide(self.schedule, self._live(), [], now, self._new_id), [], now)

    def _live(self) -> list[Live]:
        running = [Live(id, id, Status.ACTIVE, False, run.actual) for id, run in self.running.items()]
        return running + [Live(id, id, Status.BUFFERED, True, run.actual) for id, run in self._waiting.items()]

    def _apply(self, decision: ScheduleDecision, occurrences: Sequence[Occurrence], now: Micros) -> None:
        """Apply a decision to the simulation, as `write.write_decisions` does to the store."""
        by_nominal = {occurrence.nominal: _Draft.of(occurrence) for occurrence in occurrences}
        self.schedule = decision.schedule
        self.seen += by_nominal.values()
        if len(self.seen) > MOST:
            raise OstinatoError(f"more than {MOST:,} occurrences in this period; simulate a shorter one")
        for fresh in (*decision.start, *decision.hold):
            self._names[fresh.id] = by_nominal[fresh.occurrence.nominal]
        self._waiting |= {fresh.id: self._names[fresh.id] for fresh in decision.hold}
        for row in decision.passed:
            if row.added == 1:
                self._names[row.id] = by_nominal[row.since]
        for row in decision.passed:
            for occurrence in _represented(row, occurrences):
                self._pass(by_nominal[occurrence.nominal], row.reason, row.blocked_by)
        for dropped, reason, blocked_by in decision.drop:
            self._pass(self._waiting.pop(dropped.id), reason, blocked_by)
        for id in [*(live.id for live in decision.release), *(fresh.id for fresh in decision.start)]:
            self._waiting.pop(id, None)
            run = self._names[id]
            run.outcome, run.started = Status.SUCCEEDED.value, now
            run.ended = self._end(now, self._length())
            self.running[id] = run

    def _pass(self, simulated: _Draft, reason: Reason, blocked_by: str | None) -> None:
        simulated.outcome, simulated.reason = reason.status.value, reason
        blocker = None if blocked_by is None else self._names.get(blocked_by)  # times within a long stretch have no row
        simulated.blocked_by = None if blocker is None else blocker.nominal

    def _new_id(self) -> str:
        self._ids += 1
        return f"{self._ids:08}"

    def _count_work(self, much: int) -> None:
        self._work += much
        if self._work > WORK:
            raise OstinatoError(
                "too many runs are active or waiting at once in this period; simulate a shorter period, or shorter runs"
            )

    def _end(self, start: Micros, length: Micros) -> Micros:
        """Return when a run ends. A run that an outage interrupts starts again after the outage."""
        number = bisect_right(self._down, (start, 1 << 62))
        while number < len(self._down) and self._down[number][0] < start + length:
            start = self._down[number][1]
            number += 1
            self._count_work(1)
        return start + length


def _represented(row: Passed, occurrences: Sequence[Occurrence]) -> Iterator[Occurrence]:
    """Yield the occurrences whose times were just added to `row`: those with nominal times from `row.since` to
    `row.last`. If several times were added, leave out occurrences of an earlier spec (`apart`), which have separate
    rows."""
    for occurrence in occurrences:
        if row.since <= occurrence.nominal <= row.last and (row.added == 1 or not occurrence.apart):
            yield occurrence


def _lengths(run_time: RunTime, dice: random.Random) -> Callable[[], Micros]:
    if callable(run_time):
        return lambda: max(0, run_time(dice))
    if isinstance(run_time, int):
        return lambda: run_time
    choices = list(run_time)
    if not choices:
        raise ArgumentError("run_time has no lengths to draw from; give one such as '5m'", "run_time")
    return lambda: dice.choice(choices)


def _merged(spans: Sequence[Span]) -> list[Span]:
    """Return the periods in order, and join those that overlap or touch."""
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return merged


def _inside(at: Micros, spans: Sequence[Span]) -> bool:
    n = bisect_right(spans, (at, 1 << 62)) - 1
    return n >= 0 and at < spans[n][1]


def _after(at: Micros, down: Sequence[Span]) -> Micros:
    """Return the end of the outage that contains `at`, or `at` itself if no outage does."""
    number = bisect_right(down, (at, 1 << 62)) - 1
    return max(at, down[number][1]) if number >= 0 else at
