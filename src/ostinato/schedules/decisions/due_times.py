"""List the occurrences of a schedule in the order in which they are due, after jitter, moves and skips. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice, takewhile

from ostinato.schedules.model import Occurrence, Reason, Schedule
from ostinato.when.instants import Micros


def nominal_of(schedule: Schedule, at: Micros) -> Micros:
    """Return the nominal time of the occurrence that a user moved to `at`. Return `at` if no occurrence was moved to
    `at`."""
    return next((nominal for nominal, to in schedule.memory.moved.items() if to == at), at)


def count_due(schedule: Schedule, first: Occurrence, now: Micros) -> tuple[int, Micros]:
    """Return (number, last): how many nominal times are due from the occurrence `first` on, and the last of them."""
    compiled = schedule.spec.compiled
    last = compiled.previous(now + 1)
    while last is not None and last > first.nominal and occurrence(schedule, last).actual > now:
        last = compiled.previous(last)
    if last is None or last <= first.nominal:
        return 1, first.nominal
    return compiled.count(first.nominal, last), last


def upcoming(schedule: Schedule, now: Micros, count: int = 10) -> list[Occurrence]:
    """Return up to `count` occurrences that will run after `now`, soonest first."""
    return list(islice(each_upcoming(schedule, now), count))


def each_upcoming(schedule: Schedule, now: Micros) -> Iterator[Occurrence]:
    """Yield the occurrences that will run after `now`, soonest first. Their nominal times may be before `now`."""
    begin = min([now - schedule.spec.jitter, *schedule.memory.moved]) - 1  # no earlier occurrence can still run
    ahead = replace(schedule, reached=max(schedule.reached, begin))
    following = (due for due in coming(ahead) if due.actual > now and due.reason is None)
    return following if schedule.remaining is None else islice(following, max(0, schedule.remaining))


def occurrence(schedule: Schedule, nominal: Micros) -> Occurrence:
    """Return the occurrence of a nominal time. Its actual time includes jitter or a user's move. Its `reason` is set if
    a user skipped the occurrence, or if it was processed early (`Memory.ahead`)."""
    memory = schedule.memory
    actual = memory.moved.get(nominal)
    if actual is None:
        actual = schedule.spec.compiled.jittered(nominal, schedule.seed)
    wanted = nominal not in memory.left_out and nominal not in memory.ahead
    return Occurrence(nominal, actual, None if wanted else Reason.ASKED)


def pending(schedule: Schedule, now: Micros) -> list[Occurrence]:
    """Return the occurrences whose nominal time has passed, but which jitter or a move delays beyond `now`."""
    begin = min([now - schedule.spec.jitter, *schedule.memory.moved]) - 1
    recent = replace(schedule, reached=max(schedule.reached, begin))
    return [one for one in takewhile(lambda one: one.nominal <= now, _by_nominal(recent)) if one.actual > now]


def next_time(schedule: Schedule) -> Micros | None:
    """Return when the next occurrence is due, or None if no occurrence will come."""
    if schedule.exhausted:
        return None
    first = next(iter(coming(schedule)), None)
    return None if first is None else first.actual


def coming(schedule: Schedule) -> Iterator[Occurrence]:
    """Yield the occurrences after `schedule.reached`, and those of an earlier spec (`Memory.kept`), in due order."""
    kept = [Occurrence(n, at, apart=True) for n, at in schedule.memory.kept.items()]
    kept.sort(key=lambda one: (one.actual, one.nominal))
    if not kept:
        return _by_nominal(schedule)
    return _merge(kept, _by_nominal(schedule))


def _merge(kept: list[Occurrence], rest: Iterator[Occurrence]) -> Iterator[Occurrence]:
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


def latest_first(schedule: Schedule, now: Micros) -> Iterator[Occurrence]:
    """Yield the due occurrences that are not processed yet, newest first, without those that a user skipped."""
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


def neighbours(schedule: Schedule, nominal: Micros) -> tuple[Micros, Micros | None]:
    """Return (low, high). If a user moves the occurrence of `nominal`, its new time must be between these two times.

    - `low`: when the occurrence before `nominal` is due; 0 if that occurrence was processed already, or if `nominal` is
      the first time of the spec
    - `high`: when the occurrence after `nominal` is due; None if `nominal` is the last time of the spec
    """
    compiled = schedule.spec.compiled
    before, following = compiled.previous(nominal), compiled.next(nominal)
    low = 0 if before is None or before <= schedule.reached else occurrence(schedule, before).actual
    return low, None if following is None else occurrence(schedule, following).actual
