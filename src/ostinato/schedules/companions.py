"""Define companions, by which another part of Ostinato stores additional rows for schedules and their runs.

`Schedule.companion` names the companion of a schedule. Most schedules have no companion, and cause no extra work. Every
node knows all companions, because any node may fire any schedule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from ostinato.engine.kinds import Forget
from ostinato.model import Run
from ostinato.schedules.model import Occurrence, Schedule
from ostinato.store.contract import Operation


class InsertedRun(NamedTuple):
    """A new run, its occurrence, and its schedule as it is after the decision that created the run."""

    run: Run
    schedule: Schedule
    occurrence: Occurrence


@dataclass(frozen=True, slots=True)
class Companion:
    """Hooks that store additional rows for schedules and their runs.

    - `runs_inserted`: gets the new runs of schedules that name this companion
    - `forget_schedules`: gets the ids of all schedules that are being deleted, even those without additional rows
    - `forget_runs`: gets the ids of all runs that are being deleted, even those without additional rows
    - `changed_with`: the calls that change a schedule with this companion, or None, if ordinary calls can

    Each function is called in the transaction that changes the schedule or the run. If `changed_with` is set, ordinary
    calls cannot change the definition of such a schedule.
    """

    runs_inserted: Callable[[Sequence[InsertedRun]], Operation[None]]
    forget_schedules: Callable[[Sequence[str]], Operation[None]]
    forget_runs: Forget
    changed_with: str | None = None


Companions: TypeAlias = Mapping[str, Companion]
NO_COMPANIONS: Companions = {}
