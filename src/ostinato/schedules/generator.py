"""The Generator: from a schedule and the time to the occurrences that are due, and when to look again. Pure.

It goes by nominal times and never past one whose jittered moment is still to come, so that neither an edit nor a
completion in between can lose it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from ostinato.schedules.model import GRACE, Occurrence, Reason, Schedule
from ostinato.when.instants import SECOND, Micros

BATCH = 10_000
Judge = Callable[[Occurrence], Reason | None]


@dataclass(frozen=True, slots=True)
class Generated:
    """`reached` is the new high-water mark; `wake` when to look again, if ever. `more`: others are due now already,
    the batch was full or the pace of the catch-up is reached. `late`: how many came too late to be on time."""

    occurrences: tuple[Occurrence, ...]
    reached: Micros
    wake: Micros | None
    more: bool = False
    coalesced: int = 0
    late: int = 0


def nominal_of(schedule: Schedule, at: Micros) -> Micros:
    """The nominal time that somebody means: the one itself, or the one that was moved to it."""
    return next((nominal for nominal, to in schedule.memory.moved.items() if to == at), at)


def generate(schedule: Schedule, now: Micros, batch: int = BATCH) -> Generated:
    """Every occurrence due by now, each with what the catch-up policy and the schedule's state make of it."""
    if schedule.exhausted:  # out of actions it has no times, until someone gives it more
        return Generated((), schedule.reached, None, coalesced=schedule.memory.coalesced)
    found: list[Occurrence] = []
    reached, wake, more = schedule.reached, None, False
    coalesced, paced, late = schedule.memory.coalesced, 0, 0
    judge: Judge | None = None
    pace = schedule.policies.catchup.pace if batch <= BATCH else batch  # an edit settles everything before it
    for one in _coming(schedule):
        if one.actual > now:
            wake = one.actual
            break
        if one.nominal in schedule.memory.ahead and not one.apart:
            reached = max(reached, one.nominal)
            continue
        if judge is None:
            judge = _judge(schedule, one, now)
        reason = one.reason or judge(one)
        is_late = now - one.actual > GRACE
        if reason is None and is_late:
            paced += 1
        if len(found) == batch or paced > pace:
            wake, more = (now if len(found) == batch else now + SECOND), True
            break
        late += is_late
        reached = max(reached, one.nominal)
        if reason is Reason.COALESCED:
            coalesced += 1
        if reason is None and coalesced:
            one, coalesced = replace(one, stands_for=coalesced), 0
        found.append(one if reason is None else replace(one, reason=reason))
    return Generated(tuple(found), reached, wake, more, coalesced, late)


def _judge(schedule: Schedule, first: Occurrence, now: Micros) -> Judge:
    """What becomes of those that are due: to run (None), or not and why. `first` is the oldest of them."""
    if schedule.paused:
        return lambda one: Reason.PAUSED
    if now - first.actual <= GRACE:
        return lambda one: None
    policy = schedule.policies.catchup
    if policy.mode == "latest":
        newest = _newest(schedule, now, 1, None, instead=True)
        return lambda one: None if (one.actual, one.nominal) >= newest else Reason.COALESCED
    on_time = now - GRACE
    if policy.mode == "skip":
        return lambda one: None if one.actual >= on_time else Reason.CATCHUP_WINDOW
    window = None if policy.window is None else now - max(policy.window, GRACE)
    if policy.most is not None:
        oldest = _newest(schedule, now, policy.most, window)
        return lambda one: None if (one.actual, one.nominal) >= oldest else Reason.CATCHUP_WINDOW
    return lambda one: None if window is None or one.actual >= window else Reason.CATCHUP_WINDOW


def _newest(
    schedule: Schedule, now: Micros, most: int, since: Micros | None, *, instead: bool = False
) -> tuple[Micros, Micros]:
    """The actual and the nominal time from which on occurrences run: all that are on time, and up to `most` late ones,
    with `instead` only where none is on time. Found from the end: what is long past need not be walked through."""
    oldest = (now + 1, 0)
    late = on_time = 0
    for one in _going_back(schedule, now):
        if now - one.actual <= GRACE:
            on_time += 1
        elif late == most or (instead and on_time) or (since is not None and one.actual < since):
            break
        else:
            late += 1
        oldest = (one.actual, one.nominal)
    return oldest


def count_due(schedule: Schedule, first: Occurrence, now: Micros) -> tuple[int, Micros]:
    """How many nominal times there are from one on whose moment has come, and the last of them."""
    compiled = schedule.spec.compiled
    last = compiled.previous(now + 1)
    while last is not None and last > first.nominal and occurrence(schedule, last).actual > now:
        last = compiled.previous(last)
    if last is None or last <= first.nominal:
        return 1, first.nominal
    return compiled.count(first.nominal, last), last


def upcoming(schedule: Schedule, now: Micros, count: int = 10) -> list[Occurrence]:
    """The occurrences to come, a jittered one that is pending included."""
    return list(islice(coming_up(schedule, now), count))


def coming_up(schedule: Schedule, now: Micros) -> Iterator[Occurrence]:
    """The same, worked out one by one as they are asked for."""
    begin = min([now - schedule.spec.jitter, *schedule.memory.moved]) - 1  # nothing before can still be to come
    ahead = replace(schedule, reached=max(schedule.reached, begin))
    found = (one for one in _coming(ahead) if one.actual > now and one.reason is None)
    return found if schedule.remaining is None else islice(found, max(0, schedule.remaining))


def occurrence(schedule: Schedule, nominal: Micros) -> Occurrence:
    """A nominal time with the moment it really runs, or with the wish that it be left out."""
    memory = schedule.memory
    actual = memory.moved.get(nominal)
    if actual is None:
        actual = schedule.spec.compiled.jittered(nominal, schedule.seed)
    wanted = nominal not in memory.left_out and nominal not in memory.ahead
    return Occurrence(nominal, actual, None if wanted else Reason.ASKED)


def pending(schedule: Schedule, now: Micros) -> list[Occurrence]:
    """Those that stand between their nominal time and the moment that jitter, or someone, has moved them to."""
    begin = min([now - schedule.spec.jitter, *schedule.memory.moved]) - 1
    recent = replace(schedule, reached=max(schedule.reached, begin))
    return [one for one in takewhile(lambda one: one.nominal <= now, _by_nominal(recent)) if one.actual > now]


def next_time(schedule: Schedule) -> Micros | None:
    """When the next occurrence that is not dealt with is due."""
    if schedule.exhausted:
        return None
    first = next(iter(_coming(schedule)), None)
    return None if first is None else first.actual


def _coming(schedule: Schedule) -> Iterator[Occurrence]:
    """Everything that is not dealt with yet, by when it is due."""
    kept = [Occurrence(n, at, apart=True) for n, at in schedule.memory.kept.items()]
    kept.sort(key=lambda one: (one.actual, one.nominal))
    if not kept:
        return _by_nominal(schedule)
    return _merged(kept, _by_nominal(schedule))


def _merged(kept: list[Occurrence], rest: Iterator[Occurrence]) -> Iterator[Occurrence]:
    for one in rest:
        while kept and kept[0].actual <= one.actual:
            yield kept.pop(0)
        yield one
    yield from kept


def _by_nominal(schedule: Schedule) -> Iterator[Occurrence]:
    compiled, memory, updated = schedule.spec.compiled, schedule.memory, schedule.updated
    plain, jittered = not (memory.moved or memory.left_out or memory.ahead), compiled.jittered
    # What an edit brought into the past was never due, so the search begins at the edit, less the longest jitter; what
    # was moved may lie further back.
    begin = min([updated - schedule.spec.jitter, *memory.moved]) - 1
    for nominal in compiled.times(max(schedule.reached, begin)):
        one = Occurrence(nominal, jittered(nominal, schedule.seed)) if plain else occurrence(schedule, nominal)
        if one.actual >= updated:
            yield one


def _going_back(schedule: Schedule, now: Micros) -> Iterator[Occurrence]:
    """What is due by now, not dealt with and not left out, the newest first."""
    others = [Occurrence(n, at) for n, at in schedule.memory.kept.items() if at <= now]
    ahead = [occurrence(schedule, n) for n, at in schedule.memory.moved.items() if n > now >= at >= schedule.updated]
    others += [one for one in ahead if one.reason is None]
    others.sort(key=lambda one: (one.actual, one.nominal))
    for one in _back_by_nominal(schedule, now):
        while others and others[-1].actual > one.actual:
            yield others.pop()
        yield one
    yield from reversed(others)


def _back_by_nominal(schedule: Schedule, now: Micros) -> Iterator[Occurrence]:
    compiled = schedule.spec.compiled
    nominal = compiled.previous(now + 1)
    while nominal is not None and nominal > schedule.reached:
        one = occurrence(schedule, nominal)
        if one.actual < schedule.updated:
            return
        if one.actual <= now and one.reason is None:
            yield one
        nominal = compiled.previous(nominal)
