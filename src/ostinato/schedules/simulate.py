"""What would happen: a schedule played through a period by the very decisions that the engine takes. Pure.

Assumed are how long runs take, when no node is up, and when the schedule is paused. A run that an outage meets is
tried again after it.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ostinato.errors import OstinatoError
from ostinato.schedules.generator import generate
from ostinato.schedules.invoker import Waiting, process_buffer
from ostinato.schedules.model import Reason, Schedule
from ostinato.when.instants import Micros, format_instant

MOST = 100_000  # occurrences in one simulation
Span = tuple[Micros, Micros]
RunTime = Micros | Sequence[Micros] | Callable[[random.Random], Micros]


@dataclass(slots=True)
class Simulated:
    """One due time and what became of it: `succeeded`, `cancelled`, `terminated`, `running` at the end of the period,
    `waiting` then, or not run, with the reason and what was in the way."""

    nominal: Micros
    actual: Micros
    outcome: str = "waiting"
    started: Micros | None = None
    ended: Micros | None = None
    reason: Reason | None = None
    blocked_by: Micros | None = None
    stands_for: int = 0


@dataclass(frozen=True, slots=True)
class Simulation:
    first: Micros
    last: Micros
    occurrences: tuple[Simulated, ...]
    outages: tuple[Span, ...] = ()
    pauses: tuple[Span, ...] = ()

    def counts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for one in self.occurrences:
            key = one.reason.value if one.reason is not None else one.outcome
            found[key] = found.get(key, 0) + 1
        return found


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
    """Play a schedule from `first` to `last`. `run_time` is a length, several to draw from, or a function."""
    for begin, end in [(first, last), *outages, *pauses]:
        if end < begin:
            raise OstinatoError(f"a stretch from {format_instant(begin)} cannot end at {format_instant(end)}")
    begun = replace(schedule, reached=first - 1, updated=min(schedule.updated, first))  # as if it had always been there
    play = _Play(begun, _lengths(run_time, random.Random(seed)))
    down, paused = sorted(outages), sorted(pauses)
    at = first
    while True:
        at = _after(at, down)
        if at > last:
            break
        play.schedule = replace(play.schedule, paused=schedule.paused or _inside(at, paused))
        wake = play.step(at, down)
        coming = [wake, *(r.ended for r in play.running), *(edge for span in paused for edge in span)]
        following = [t for t in coming if t is not None and t > at]
        if not following or min(following) > last:
            break
        at = min(following)
    for run in play.running:
        if run.ended is not None and run.ended > last:
            run.outcome, run.ended = "running", None
    return Simulation(first, last, tuple(play.seen), tuple(down), tuple(paused))


class _Play:
    """The state of one simulation: the schedule, what waits, what runs, and everything seen."""

    def __init__(self, schedule: Schedule, length: Callable[[], Micros]) -> None:
        self.schedule = schedule
        self.length = length
        self.waiting: list[Simulated] = []
        self.running: list[Simulated] = []
        self.seen: list[Simulated] = []

    def step(self, now: Micros, down: Sequence[Span]) -> Micros | None:
        """Everything that happens at one moment. Returns when the next occurrence is due."""
        self.running = [r for r in self.running if r.ended is None or r.ended > now]
        generated = generate(self.schedule, now)
        memory = replace(self.schedule.memory, coalesced=generated.coalesced)
        self.schedule = replace(self.schedule, reached=generated.reached, memory=memory)
        for one in generated.occurrences:
            found = Simulated(one.nominal, one.actual, reason=one.reason, stands_for=one.stands_for)
            if one.reason is None:
                self.waiting.append(found)
            else:
                found.outcome = one.reason.status.value
            self.seen.append(found)
        if len(self.seen) > MOST:
            raise OstinatoError(f"more than {MOST:,} occurrences in this period; simulate a shorter one")
        self._let_go(now, down)
        return generated.wake

    def _let_go(self, now: Micros, down: Sequence[Span]) -> None:
        by_id = {str(n): one for n, one in enumerate(self.waiting)}
        names = {id(one): str(-n - 1) for n, one in enumerate(self.running)}
        in_the_way = {names[id(one)]: one for one in self.running} | by_id
        waiting = [Waiting(key, one.actual) for key, one in by_id.items()]
        verdict = process_buffer(self.schedule, waiting, list(names.values()), now)
        for key, (reason, blocker) in verdict.dropped.items():
            one = by_id[key]
            one.outcome, one.reason = "skipped", reason
            one.blocked_by = in_the_way[blocker].nominal if blocker is not None else None
        for key in verdict.start:
            one = by_id[key]
            one.outcome, one.started = "succeeded", now
            one.ended = _end(now, self.length(), down)
            self.running.append(one)
        self.waiting = [by_id[key] for key in verdict.keep]
        self.schedule = replace(self.schedule, remaining=verdict.remaining)
        if verdict.cancel or verdict.terminate:
            for run in self.running:
                run.outcome, run.ended = "terminated" if verdict.terminate else "cancelled", now
            self.running = []
            self._let_go(now, down)
        self.running = [r for r in self.running if r.ended is None or r.ended > now]


def _lengths(run_time: RunTime, dice: random.Random) -> Callable[[], Micros]:
    if callable(run_time):
        return lambda: max(0, run_time(dice))
    if isinstance(run_time, int):
        return lambda: run_time
    choices = list(run_time)
    if not choices:
        raise OstinatoError("run_time has no lengths to draw from")
    return lambda: dice.choice(choices)


def _end(start: Micros, length: Micros, down: Sequence[Span]) -> Micros:
    """When a run ends; one that an outage meets begins again after it."""
    end = start + length
    for begin, back in down:
        if start < begin < end:
            start, end = back, back + length
    return end


def _inside(at: Micros, spans: Sequence[Span]) -> bool:
    n = bisect_right(spans, (at, 1 << 62)) - 1
    return n >= 0 and at < spans[n][1]


def _after(at: Micros, down: Sequence[Span]) -> Micros:
    """The same moment, or the end of the outage it falls into."""
    for begin, back in down:
        if begin <= at < back:
            at = back
    return at
