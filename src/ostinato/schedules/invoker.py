"""The Invoker: which waiting occurrences start, which wait on, which are dropped, and what is to be stopped. Pure.

The rules are Temporal's (service/worker/scheduler/buffer.go), with our own where its behaviour surprises: whatever
was let go counts as running until its chain is over, a time that has expired does not take the slot, BUFFER_ONE keeps
the earliest, ALLOW_ALL always starts, and every drop has a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ostinato.schedules.model import GRACE, Overlap, Reason, Schedule
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class Waiting:
    """An occurrence in the buffer. A manual one (a trigger's or a backfill's) never expires, and is not bound by
    pause or remaining actions; one that was asked for does not expire either. `overlap` is its own policy, else the
    schedule's current one."""

    id: str
    due: Micros
    manual: bool = False
    overlap: Overlap | None = None
    asked: bool = False


@dataclass(slots=True)
class Verdict:
    """What is to happen, each list in the order of the buffer. `dropped`: id → reason and, for an overlap, the id of
    what was in the way."""

    start: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    dropped: dict[str, tuple[Reason, str | None]] = field(default_factory=dict)
    cancel: bool = False
    terminate: bool = False
    remaining: int | None = None


def process_buffer(schedule: Schedule, waiting: Sequence[Waiting], running: Sequence[str], now: Micros) -> Verdict:
    """Decide on the whole buffer, oldest first."""
    verdict = Verdict(remaining=schedule.remaining)
    slot: Waiting | None = None
    for one in waiting:
        refusal = _refusal(schedule, verdict, one, now)
        if refusal is not None:
            verdict.dropped[one.id] = (refusal, None)
            continue
        match one.overlap or schedule.policies.overlap:
            case Overlap.ALLOW_ALL:
                _start(schedule, verdict, one)
            case _ if not running and slot is None:
                slot = one
                _start(schedule, verdict, one)
            case Overlap.BUFFER_ALL if _full(schedule, verdict, one):
                verdict.dropped[one.id] = (Reason.BUFFER_FULL, None)
            case Overlap.BUFFER_ALL:
                verdict.keep.append(one.id)
            case Overlap.BUFFER_ONE if not verdict.keep:
                verdict.keep.append(one.id)
            case Overlap.CANCEL_OTHER | Overlap.TERMINATE_OTHER as policy if running:
                verdict.keep.append(one.id)
                verdict.cancel = verdict.cancel or policy is Overlap.CANCEL_OTHER
                verdict.terminate = verdict.terminate or policy is Overlap.TERMINATE_OTHER
            case Overlap.CANCEL_OTHER | Overlap.TERMINATE_OTHER:
                assert slot is not None
                _replace(schedule, verdict, slot, one)
                slot = one
            case _:
                in_the_way = running[0] if running else slot.id if slot is not None else None
                verdict.dropped[one.id] = (Reason.OVERLAP, in_the_way)
    verdict.cancel = verdict.cancel and not verdict.terminate  # to terminate is to cancel, and more
    return verdict


def _full(schedule: Schedule, verdict: Verdict, one: Waiting) -> bool:
    """A limit on the buffer binds what the clock brings; what someone asked for is never dropped for want of room."""
    most = schedule.policies.max_buffer
    return most is not None and not one.manual and len(verdict.keep) >= most


def _refusal(schedule: Schedule, verdict: Verdict, one: Waiting, now: Micros) -> Reason | None:
    """Why this one may not start at all, whatever else is running."""
    counted = one.manual and schedule.policies.manual_counts
    if counted and verdict.remaining is not None and verdict.remaining <= 0:
        return Reason.EXHAUSTED
    if one.manual:
        return None
    catchup = schedule.policies.catchup
    window = None if catchup.mode != "all" or one.asked else catchup.window
    if window is not None and now - one.due > max(window, GRACE):
        return Reason.CATCHUP_WINDOW
    if schedule.paused:
        return Reason.PAUSED
    if verdict.remaining is not None and verdict.remaining <= 0:
        return Reason.EXHAUSTED
    return None


def _start(schedule: Schedule, verdict: Verdict, one: Waiting) -> None:
    verdict.start.append(one.id)
    if _counts(schedule, one) and verdict.remaining is not None:
        verdict.remaining -= 1


def _counts(schedule: Schedule, one: Waiting) -> bool:
    return not one.manual or schedule.policies.manual_counts


def _replace(schedule: Schedule, verdict: Verdict, before: Waiting, by: Waiting) -> None:
    """A later one takes the slot; what it takes it from gives its action back."""
    verdict.start.remove(before.id)
    verdict.dropped[before.id] = (Reason.REPLACED, by.id)
    if _counts(schedule, before) and verdict.remaining is not None:
        verdict.remaining += 1
    _start(schedule, verdict, by)
