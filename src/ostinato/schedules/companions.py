"""Define companions, by which other parts of Ostinato store additional rows for schedules and their runs. A companion's
name is in `Schedule.companion`. Every node has all companions, because any node may fire any schedule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ostinato.engine.kinds import Forget
from ostinato.model import Run
from ostinato.schedules.model import Occurrence, Schedule
from ostinato.store.contract import Operation


class InsertedRun(NamedTuple):
    """A new run, its occurrence, and its schedule after the decision that created the run."""

    run: Run
    schedule: Schedule
    occurrence: Occurrence


@dataclass(frozen=True, slots=True)
class Companion:
    """Functions that store and delete additional rows, and the text `changed_with`. The functions are called in the
    transaction that changes the schedule or the run.

    - `runs_inserted`: gets the new runs of schedules that name this companion
    - `forget_schedules`: gets the ids of all schedules that are being deleted, even those without additional rows
    - `forget_runs`: gets the ids of all runs that are being deleted, even those without additional rows
    - `changed_with`: names the calls that may change the definition of a schedule with this companion; other calls are
      refused, with an error message that contains this text; None if every call may change the definition
    """

    runs_inserted: Callable[[Sequence[InsertedRun]], Operation[None]]
    forget_schedules: Callable[[Sequence[str]], Operation[None]]
    forget_runs: Forget
    changed_with: str | None = None


Companions: TypeAlias = Mapping[str, Companion]
NO_COMPANIONS: Companions = {}
