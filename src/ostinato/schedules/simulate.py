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
WORK = 5_000_000  # runs that are going on or waiting, counted again at each moment at which something happens
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
    play = _Play(begun, _lengths(run_time, random.Random(seed)), _merged(outages))
    down, paused = sorted(outages), sorted(pauses)
    edges = sorted({edge for span in paused for edge in span})
    at = first
    while True:
        at = _after(at, play.down)
        if at > last:
            break
        play.schedule = replace(play.schedule, paused=schedule.paused or _inside(at, paused))
        wake = play.step(at)
        edge = bisect_right(edges, at)
        coming = [wake, *(r.ended for r in play.running), *edges[edge : edge + 1]]
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

    def __init__(self, schedule: Schedule, length: Callable[[], Micros], down: Sequence[Span]) -> None:
        self.schedule = schedule
        self.length = length
        self.down = down
        self.work = 0
        self.waiting: list[Simulated] = []
        self.running: list[Simulated] = []
        self.seen: list[Simulated] = []

    def step(self, now: Micros) -> Micros | None:
        """Everything that happens at one moment. Returns when the next occurrence is due."""
        self._worked(1 + len(self.running) + len(self.waiting))
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
        self._let_go(now)
        return generated.wake

    def _worked(self, much: int) -> None:
        self.work += much
        if self.work > WORK:
            raise OstinatoError(
                "so many runs go on or wait at once in this period that it would take too long; simulate a shorter "
                "one, or shorter runs"
            )

    def _end(self, start: Micros, length: Micros) -> Micros:
        """When a run ends; one that an outage meets begins again after it."""
        number = bisect_right(self.down, (start, 1 << 62))
        while number < len(self.down) and self.down[number][0] < start + length:
            start = self.down[number][1]
            number += 1
            self._worked(1)
        return start + length

    def _let_go(self, now: Micros) -> None:
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
            one.ended = self._end(now, self.length())
            self.running.append(one)
        self.waiting = [by_id[key] for key in verdict.keep]
        self.schedule = replace(self.schedule, remaining=verdict.remaining)
        if verdict.cancel or verdict.terminate:
            for run in self.running:
                run.outcome, run.ended = "terminated" if verdict.terminate else "cancelled", now
            self.running = []
            self._let_go(now)
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


def _merged(spans: Sequence[Span]) -> list[Span]:
    """The same stretches, in order; those that touch are one."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def _inside(at: Micros, spans: Sequence[Span]) -> bool:
    n = bisect_right(spans, (at, 1 << 62)) - 1
    return n >= 0 and at < spans[n][1]


def _after(at: Micros, down: Sequence[Span]) -> Micros:
    """The same moment, or the end of the outage it falls into."""
    number = bisect_right(down, (at, 1 << 62)) - 1
    return max(at, down[number][1]) if number >= 0 else at
