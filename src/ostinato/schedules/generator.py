"""The Generator: from a schedule and the time to the occurrences that are due, and when to look again. Pure.

It goes by nominal times and never past one whose jittered moment is still to come, so that neither an edit nor a
completion in between can lose it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from ostinato.schedules.model import GRACE, CatchUp, Occurrence, Reason, Schedule
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class Generated:
    """`reached` is the new high-water mark; `wake` when the next occurrence is due, if there is one. `more`: the
    batch was full, and others are due now."""

    occurrences: tuple[Occurrence, ...]
    reached: Micros
    wake: Micros | None
    more: bool = False


def generate(schedule: Schedule, now: Micros, batch: int = 10_000) -> Generated:
    """Every occurrence due by now, each with what the catch-up policy and the schedule's state make of it."""
    due: list[Occurrence] = []
    reached, wake, more = schedule.reached, None, False
    for occurrence in _from(schedule, schedule.reached):
        if occurrence.actual > now:
            wake = occurrence.actual
            break
        if len(due) == batch:
            wake, more = now, True
            break
        reached = occurrence.nominal
        if occurrence.actual >= schedule.updated:  # what an edit brought into the past was never due
            due.append(occurrence)
    if schedule.paused or schedule.exhausted:
        reason = Reason.PAUSED if schedule.paused else Reason.EXHAUSTED
        judged = [replace(one, reason=reason) for one in due]
    else:
        judged = catch_up(due, schedule.policies.catchup, now)
    return Generated(tuple(judged), reached, wake, more)


def catch_up(due: list[Occurrence], policy: CatchUp, now: Micros) -> list[Occurrence]:
    """What becomes of times that are late. Those within the grace are not."""
    late = [one for one in due if now - one.actual > GRACE]
    on_time = due[len(late) :]
    if policy.mode == "skip":
        return [replace(one, reason=Reason.CATCHUP_WINDOW) for one in late] + on_time
    if policy.mode == "latest":
        if not late:
            return on_time
        passed, stands = (late, on_time) if on_time else (late[:-1], late[-1:])
        first = replace(stands[0], stands_for=len(passed))
        return [replace(one, reason=Reason.COALESCED) for one in passed] + [first, *stands[1:]]
    kept = [one for one in late if policy.window is None or now - one.actual <= max(policy.window, GRACE)]
    if policy.most is not None:
        kept = kept[-policy.most :]
    missed = late[: len(late) - len(kept)]
    return [replace(one, reason=Reason.CATCHUP_WINDOW) for one in missed] + kept + on_time


def upcoming(schedule: Schedule, now: Micros, count: int = 10) -> list[Occurrence]:
    """The occurrences to come, a jittered one that is pending included."""
    if schedule.remaining is not None:
        count = max(0, min(count, schedule.remaining))
    coming = (one for one in _from(schedule, schedule.reached) if one.actual > now and one.actual >= schedule.updated)
    return list(islice(coming, count))


def _from(schedule: Schedule, after: Micros) -> Iterator[Occurrence]:
    compiled = schedule.spec.compiled
    for nominal in compiled.times(after):
        yield Occurrence(nominal, compiled.jittered(nominal, schedule.seed))
