"""Apply the catch-up policy and the pauses of a schedule to its due occurrences. This module is pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ostinato.schedules.decisions.due_times import coming, latest_first
from ostinato.schedules.model import GRACE, Occurrence, Reason, Schedule
from ostinato.when.instants import SECOND, Micros

BATCH = 10_000
Judge = Callable[[Occurrence], Reason | None]


@dataclass(frozen=True, slots=True)
class Generated:
    """The due occurrences that `generate` has listed.

    - `reached`: the value that `Schedule.reached` gets when the list is processed: the time up to which all nominal
      times are processed
    - `wake`: when to call `generate` again, or None if no occurrence follows
    - `more`: whether the list was cut off, so that further occurrences are due already
    - `coalesced`: how many late times without a run are left for the next run to represent; a run in this list already
      represents the times before it (`Occurrence.stands_for`)
    - `late`: the number of late occurrences in the list
    """

    occurrences: tuple[Occurrence, ...]
    reached: Micros
    wake: Micros | None
    more: bool = False
    coalesced: int = 0
    late: int = 0


def generate(schedule: Schedule, now: Micros, batch: int = BATCH) -> Generated:
    """List at most `batch` due occurrences. If the catch-up policy or a pause prevents an occurrence from running, its
    `reason` is set. If jitter or a move delays an occurrence beyond `now`, a later call lists it."""
    if schedule.exhausted:  # without actions it has no times
        return Generated((), schedule.reached, None, coalesced=schedule.memory.coalesced)
    occurrences: list[Occurrence] = []
    reached, wake, more = schedule.reached, None, False
    coalesced, paced, late = schedule.memory.coalesced, 0, 0
    judge: Judge | None = None
    pace = schedule.policies.catchup.pace if batch <= BATCH else batch  # an edit processes all due times at once
    for due in coming(schedule):
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
    """Return a function that takes a due occurrence, and returns the reason why it does not run, or None if it runs.
    `first` is the oldest due occurrence."""
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
    """Find the oldest due occurrence that may run, and return its (actual time, nominal time). All newer due
    occurrences may run, too. If no due occurrence may run, return (`now` + 1, 0).

    - Every occurrence that is on time may run.
    - Late occurrences that were due before `since` may not run. Of the other late occurrences, the newest may run, at
      most `most` of them.
    - If `instead` is true and an occurrence is on time, no late occurrence may run.
    """
    oldest = (now + 1, 0)
    late = on_time = 0
    for due in latest_first(schedule, now):
        if now - due.actual <= GRACE:
            on_time += 1
        elif late == most or (instead and on_time) or (since is not None and due.actual < since):
            break
        else:
            late += 1
        oldest = (due.actual, due.nominal)
    return oldest
