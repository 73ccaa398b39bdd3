"""Measure how late a schedule is, and how long ago it last succeeded. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ostinato.schedules.decisions.catchup import BATCH
from ostinato.schedules.decisions.decide import Live, advance
from ostinato.schedules.model import Schedule, State
from ostinato.when.instants import SECOND, Micros


@dataclass(frozen=True, slots=True)
class Lateness:
    """How many times of a schedule are due, but not processed yet (`late`), and how many of these will run
    (`will_run`). Both numbers are 0 if no due time is late."""

    late: int = 0
    will_run: int = 0

    def __str__(self) -> str:
        return f"{self.late} late, will run {self.will_run}"


def lateness(schedule: Schedule, live: Sequence[Live], now: Micros) -> Lateness:
    """Predict how the beat (the loop that fires timers) will process the due times of a schedule. If at least one due
    time is late, `late` is the number of all due times, including those that are on time. `will_run` is the number of
    due times that get a run. Both numbers are 0 if no due time is late, or if the schedule is paused or not running."""
    if schedule.state is not State.RUNNING or schedule.paused:
        return Lateness()
    decision = advance(schedule, live, now, lambda: "?", batch=BATCH + 1)  # above BATCH, the pace does not apply
    if not decision.late:
        return Lateness()
    passed = sum(one.added for one in decision.passed)
    runs = len(decision.start) + len(decision.hold)
    return Lateness(passed + runs, runs)


@dataclass(frozen=True, slots=True)
class Staleness:
    """How long ago a schedule last succeeded, and how overdue it is.

    - `since_success`: the seconds since the last success, or None if the schedule never succeeded
    - `overdue`: the seconds since the schedule should have fired; 0 if the schedule is not due yet, is paused, or has
      another state than `running`, for example `completed`
    """

    namespace: str
    schedule: str
    since_success: float | None
    overdue: float


def staleness(schedule: Schedule, now: Micros) -> Staleness:
    success = schedule.outcomes.success_at
    running = schedule.state is State.RUNNING and not schedule.paused
    overdue = max(0, now - schedule.next) if running and schedule.next is not None else 0
    since = None if success is None else (now - success) / SECOND
    return Staleness(schedule.namespace, schedule.name, since, overdue / SECOND)
