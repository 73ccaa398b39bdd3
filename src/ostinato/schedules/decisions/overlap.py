"""Apply the overlap policy of a schedule to its new and waiting occurrences. This module is pure.

The rules are those of Temporal (service/worker/scheduler/buffer.go), with five differences. In this module:

- A started occurrence counts as running until its last attempt ends.
- An expired occurrence does not block others.
- BUFFER_ONE buffers the earliest occurrence.
- ALLOW_ALL starts an occurrence regardless of other runs.
- Every drop has a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ostinato.schedules.model import GRACE, Overlap, Reason, Schedule
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class Waiting:
    """A new or waiting occurrence in the buffer.

    - `manual`: whether the occurrence belongs to a trigger or a backfill
    - `overlap`: the overlap policy of this occurrence alone, or None if the schedule's policy applies
    - `asked`: whether a user resumed the schedule with a catch-up policy, and that policy lets this occurrence run

    Manual and asked occurrences never expire: the catch-up window does not apply to them. A pause does not stop manual
    occurrences. If no actions remain, manual occurrences start nevertheless, unless the policy `manual_counts` is set.
    """

    id: str
    due: Micros
    manual: bool = False
    overlap: Overlap | None = None
    asked: bool = False


@dataclass(slots=True)
class BufferDecision:
    """The decision about the occurrences in a buffer. Occurrences are given by their ids.

    - `start`: the occurrences that start, in the order of the buffer
    - `keep`: the occurrences that wait, in the order of the buffer
    - `dropped`: all other occurrences, as a dict from id to (reason, run id); the run id is that of the run that blocks
      or replaces the occurrence, or None if there is no such run
    - `cancel`: whether to cancel the running runs
    - `terminate`: whether to terminate the running runs
    - `remaining`: the number of actions left, or None if there is no limit
    """

    start: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    dropped: dict[str, tuple[Reason, str | None]] = field(default_factory=dict)
    cancel: bool = False
    terminate: bool = False
    remaining: int | None = None


def process_buffer(
    schedule: Schedule, waiting: Sequence[Waiting], running: Sequence[str], now: Micros
) -> BufferDecision:
    """Decide about the whole buffer, oldest first. `running` has the ids of the running runs, oldest first."""
    verdict = BufferDecision(remaining=schedule.remaining)
    slot: Waiting | None = None
    for item in waiting:
        refusal = _refusal(schedule, verdict, item, now)
        if refusal is not None:
            verdict.dropped[item.id] = (refusal, None)
            continue
        match item.overlap or schedule.policies.overlap:
            case Overlap.ALLOW_ALL:
                _start(schedule, verdict, item)
            case _ if not running and slot is None:
                slot = item
                _start(schedule, verdict, item)
            case Overlap.BUFFER_ALL if _full(schedule, verdict, item):
                verdict.dropped[item.id] = (Reason.BUFFER_FULL, None)
            case Overlap.BUFFER_ALL:
                verdict.keep.append(item.id)
            case Overlap.BUFFER_ONE if not verdict.keep:
                verdict.keep.append(item.id)
            case Overlap.CANCEL_OTHER | Overlap.TERMINATE_OTHER as policy if running:
                verdict.keep.append(item.id)
                verdict.cancel = verdict.cancel or policy is Overlap.CANCEL_OTHER
                verdict.terminate = verdict.terminate or policy is Overlap.TERMINATE_OTHER
            case Overlap.CANCEL_OTHER | Overlap.TERMINATE_OTHER:
                assert slot is not None
                _replace(schedule, verdict, slot, item)
                slot = item
            case _:
                blocker = running[0] if running else slot.id if slot is not None else None
                verdict.dropped[item.id] = (Reason.OVERLAP, blocker)
    verdict.cancel = verdict.cancel and not verdict.terminate
    return verdict


def _full(schedule: Schedule, verdict: BufferDecision, item: Waiting) -> bool:
    most = schedule.policies.max_buffer
    return most is not None and not item.manual and len(verdict.keep) >= most


def _refusal(schedule: Schedule, verdict: BufferDecision, item: Waiting, now: Micros) -> Reason | None:
    """Return the reason why an occurrence may not start, or None if it may. Other runs do not matter here. The possible
    reasons are that no actions remain, that the occurrence is too late, and that the schedule is paused."""
    counted = item.manual and schedule.policies.manual_counts
    if counted and verdict.remaining is not None and verdict.remaining <= 0:
        return Reason.EXHAUSTED
    if item.manual:
        return None
    catchup = schedule.policies.catchup
    window = None if catchup.mode != "all" or item.asked else catchup.window
    if window is not None and now - item.due > max(window, GRACE):
        return Reason.CATCHUP_WINDOW
    if schedule.paused:
        return Reason.PAUSED
    if verdict.remaining is not None and verdict.remaining <= 0:
        return Reason.EXHAUSTED
    return None


def _start(schedule: Schedule, verdict: BufferDecision, item: Waiting) -> None:
    verdict.start.append(item.id)
    if _counts(schedule, item) and verdict.remaining is not None:
        verdict.remaining -= 1


def _counts(schedule: Schedule, item: Waiting) -> bool:
    return not item.manual or schedule.policies.manual_counts


def _replace(schedule: Schedule, verdict: BufferDecision, before: Waiting, by: Waiting) -> None:
    """Start `by` instead of `before`, and move `before` from `verdict.start` to `verdict.dropped`. If `before` was
    counted in `verdict.remaining`, the number of actions left, do not count it any longer."""
    verdict.start.remove(before.id)
    verdict.dropped[before.id] = (Reason.REPLACED, by.id)
    if _counts(schedule, before) and verdict.remaining is not None:
        verdict.remaining += 1
    _start(schedule, verdict, by)
