"""Define companions, by which other parts of Ostinato store additional rows for schedules and their runs, and word the
events of these schedules. A companion's name is in `Schedule.companion`. Every node has all companions, because any
node may fire any schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from ostinato.engine.kinds import Forget
from ostinato.engine.runs import Ended
from ostinato.model import Run
from ostinato.schedules.model import Occurrence, Reason, Schedule
from ostinato.store.contract import Operation


class InsertedRun(NamedTuple):
    """A new run, its occurrence, and its schedule after the decision that created the run."""

    run: Run
    schedule: Schedule
    occurrence: Occurrence


class RunVerdict(NamedTuple):
    """How an ended run counts for its schedule, if a companion says so, and not the run's status.

    - `event`: the verb of the event about the end, such as `run_completed`
    - `succeeded`: true for a success, false for a failure, None for neither
    - `data`: data for the event; after a success, also the schedule's last result
    """

    event: str
    succeeded: bool | None
    data: Mapping[str, Any]


class PassedEvent(NamedTuple):
    """The event about due times that get no run: its verb, such as `skipped`, and its data, which has the `reason`. The
    times and what blocked them are added to the data."""

    event: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Companion:
    """Functions that store and delete additional rows, the text `changed_with`, and functions that word events. Those
    that store and delete are called in the transaction that changes the schedule or the run; the others are pure.

    - `runs_inserted`: gets the new runs of schedules that name this companion
    - `forget_schedules`: gets the ids of all schedules that are being deleted, even those without additional rows
    - `forget_runs`: gets the ids of all runs that are being deleted, even those without additional rows
    - `changed_with`: names the calls that may change the definition of a schedule with this companion; other calls are
      refused, with an error message that contains this text; None if every call may change the definition
    - `read_verdict`: gets an ended run of a schedule that names this companion, if the run has `facts` (see
      `Action.facts`), and returns the `RunVerdict`, or None if the status of the run counts
    - `word_passed`: gets the reason for which due times of such a schedule get no run, and returns the event about them
    """

    runs_inserted: Callable[[Sequence[InsertedRun]], Operation[None]]
    forget_schedules: Callable[[Sequence[str]], Operation[None]]
    forget_runs: Forget
    changed_with: str | None = None
    read_verdict: Callable[[Ended], RunVerdict | None] | None = None
    word_passed: Callable[[Reason], PassedEvent] | None = None


Companions: TypeAlias = Mapping[str, Companion]
NO_COMPANIONS: Companions = {}
