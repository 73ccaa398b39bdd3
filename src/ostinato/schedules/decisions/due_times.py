"""The Generator: list the due occurrences of a schedule, and when the next one is due. Pure.

It reads nominal times in order. It stops before an occurrence that jitter or a move delays until after now, so that
neither an edit nor a completion can lose that occurrence.
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
    """Due occurrences. `reached` is the last nominal time that was handled. `wake` is when the next occurrence is due,
    or None. `more` means that others are due already, but the batch was full or the pace of the catch-up was reached.
    `late` counts the occurrences that were not on time."""

    occurrences: tuple[Occurrence, ...]
    reached: Micros
    wake: Micros | None
    more: bool = False
    coalesced: int = 0
    late: int = 0


def nominal_of(schedule: Schedule, at: Micros) -> Micros:
    """Return the nominal time of the occurrence that was moved to `at`; if none was, return `at`."""
    return next((nominal for nominal, to in schedule.memory.moved.items() if to == at), at)


def generate(schedule: Schedule, now: Micros, batch: int = BATCH) -> Generated:
    """List the due occurrences. Those that the catch-up policy or a pause keeps from running have a reason."""
    if schedule.exhausted:  # without actions it has no times
        return Generated((), schedule.reached, None, coalesced=schedule.memory.coalesced)
    occurrences: list[Occurrence] = []
    reached, wake, more = schedule.reached, None, False
    coalesced, paced, late = schedule.memory.coalesced, 0, 0
    judge: Judge | None = None
    pace = schedule.policies.catchup.pace if batch <= BATCH else batch  # an edit processes all due times at once
    for due in _coming(schedule):
        if due.actual > now:
            wake = due.actual
            break
        if due.nominal in schedule.memory.ahead and not due.apart:
            reached = max(reached, due.nominal)
            continue
        if judge is None:
            judge = _judge(schedule, due, now)
        reason = due.reason or judge(due)
        is_late = now - due.actual > GRACE
        if reason is None and is_late:
            paced += 1
        if len(occurrences) == batch or paced > pace:
            wake, more = (now if len(occurrences) == batch else now + SECOND), True
            break
        late += is_late
        reached = max(reached, due.nominal)
        if reason is Reason.COALESCED:
            coalesced += 1
        if reason is None and coalesced:
            due, coalesced = replace(due, stands_for=coalesced), 0
        occurrences.append(due if reason is None else replace(due, reason=reason))
    return Generated(tuple(occurrences), reached, wake, more, coalesced, late)


def _judge(schedule: Schedule, first: Occurrence, now: Micros) -> Judge:
    """Return a function that returns why a due occurrence does not run, or None if it runs. `first` is the oldest due
    one."""
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
    """Return the actual and the nominal time from which on occurrences run: all that are on time, and up to `most` late
    ones. With `instead`, late ones run only if none is on time. Searches backwards, so that old times are never
    visited."""
    oldest = (now + 1, 0)
    late = on_time = 0
    for due in _going_back(schedule, now):
        if now - due.actual <= GRACE:
            on_time += 1
        elif late == most or (instead and on_time) or (since is not None and due.actual < since):
            break
        else:
            late += 1
        oldest = (due.actual, due.nominal)
    return oldest


def count_due(schedule: Schedule, first: Occurrence, now: Micros) -> tuple[int, Micros]:
    """Return how many nominal times are due from `first` on, and the last of them."""
    compiled = schedule.spec.compiled
    last = compiled.previous(now + 1)
    while last is not None and last > first.nominal and occurrence(schedule, last).actual > now:
        last = compiled.previous(last)
    if last is None or last <= first.nominal:
        return 1, first.nominal
    return compiled.count(first.nominal, last), last


def upcoming(schedule: Schedule, now: Micros, count: int = 10) -> list[Occurrence]:
    """Return the next occurrences, including those whose nominal time has passed but which jitter delays until after
    now."""
    return list(islice(each_upcoming(schedule, now), count))


def each_upcoming(schedule: Schedule, now: Micros) -> Iterator[Occurrence]:
    """Yield the occurrences of `upcoming` without a limit."""
    begin = min([now - schedule.spec.jitter, *schedule.memory.moved]) - 1  # no earlier occurrence can still run
    ahead = replace(schedule, reached=max(schedule.reached, begin))
    coming = (due for due in _coming(ahead) if due.actual > now and due.reason is None)
    return coming if schedule.remaining is None else islice(coming, max(0, schedule.remaining))


def occurrence(schedule: Schedule, nominal: Micros) -> Occurrence:
    """Return the occurrence of a nominal time, with its jitter, or as a user moved or skipped it."""
    memory = schedule.memory
    actual = memory.moved.get(nominal)
    if actual is None:
        actual = schedule.spec.compiled.jittered(nominal, schedule.seed)
    wanted = nominal not in memory.left_out and nominal not in memory.ahead
    return Occurrence(nominal, actual, None if wanted else Reason.ASKED)


def pending(schedule: Schedule, now: Micros) -> list[Occurrence]:
    """Return the occurrences whose nominal time has passed but which jitter or a move delays until after now."""
    begin = min([now - schedule.spec.jitter, *schedule.memory.moved]) - 1
    recent = replace(schedule, reached=max(schedule.reached, begin))
    return [one for one in takewhile(lambda one: one.nominal <= now, _by_nominal(recent)) if one.actual > now]


def next_time(schedule: Schedule) -> Micros | None:
    """Return when the next occurrence is due, or None."""
    if schedule.exhausted:
        return None
    first = next(iter(_coming(schedule)), None)
    return None if first is None else first.actual


def _coming(schedule: Schedule) -> Iterator[Occurrence]:
    """Yield all occurrences after `reached`, in the order in which they are due."""
    kept = [Occurrence(n, at, apart=True) for n, at in schedule.memory.kept.items()]
    kept.sort(key=lambda one: (one.actual, one.nominal))
    if not kept:
        return _by_nominal(schedule)
    return _merged(kept, _by_nominal(schedule))


def _merged(kept: list[Occurrence], rest: Iterator[Occurrence]) -> Iterator[Occurrence]:
    for due in rest:
        while kept and kept[0].actual <= due.actual:
            yield kept.pop(0)
        yield due
    yield from kept


def _by_nominal(schedule: Schedule) -> Iterator[Occurrence]:
    compiled, memory, updated = schedule.spec.compiled, schedule.memory, schedule.updated
    plain, jittered = not (memory.moved or memory.left_out or memory.ahead), compiled.jittered
    # Times before the last edit of the spec are not due by it, so the search begins there, less the longest jitter. The
    # nominal time of a moved occurrence may be earlier.
    begin = min([updated - schedule.spec.jitter, *memory.moved]) - 1
    for nominal in compiled.times(max(schedule.reached, begin)):
        due = Occurrence(nominal, jittered(nominal, schedule.seed)) if plain else occurrence(schedule, nominal)
        if due.actual >= updated:
            yield due


def _going_back(schedule: Schedule, now: Micros) -> Iterator[Occurrence]:
    """Yield the occurrences after `reached` that are due by now and were not skipped by a user, newest first."""
    others = [Occurrence(n, at) for n, at in schedule.memory.kept.items() if at <= now]
    ahead = [occurrence(schedule, n) for n, at in schedule.memory.moved.items() if n > now >= at >= schedule.updated]
    others += [one for one in ahead if one.reason is None]
    others.sort(key=lambda one: (one.actual, one.nominal))
    for due in _back_by_nominal(schedule, now):
        while others and others[-1].actual > due.actual:
            yield others.pop()
        yield due
    yield from reversed(others)


def _back_by_nominal(schedule: Schedule, now: Micros) -> Iterator[Occurrence]:
    compiled = schedule.spec.compiled
    nominal = compiled.previous(now + 1)
    while nominal is not None and nominal > schedule.reached:
        due = occurrence(schedule, nominal)
        if due.actual < schedule.updated:
            return
        if due.actual <= now and due.reason is None:
            yield due
        nominal = compiled.previous(nominal)
