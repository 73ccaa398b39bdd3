"""Let extensions (`Way`) add kinds of runs other than jobs. A run of such a kind keeps its id when it is claimed again.

If a process does not know the kind of a run, it leaves the run to other nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

import orjson

from ostinato.errors import OstinatoError
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row
from ostinato.when.instants import Micros

if TYPE_CHECKING:
    from ostinato.engine.invariants import Finding
    from ostinato.engine.runs import After, Ended

JOB = "job"

# Stop a locked run in any status. Returns the new status of the run, the events to write, and the chains that ended.
Stop: TypeAlias = Callable[
    [Run, Status, str | None, Micros, "Kinds"], Operation[tuple[Status, "list[Row]", "list[Ended]"]]
]
# Resume or end runs whose node is gone.
Recover: TypeAlias = Callable[[Sequence[Run], str, Micros, "Kinds"], Operation[None]]
# Delete the rows that the kind has stored about runs, when these runs are deleted. The argument is their ids.
Forget: TypeAlias = Callable[[Sequence[str]], Operation[None]]
# Look for broken invariants of runs of this kind. The boolean says whether to repair what is safe.
Scan: TypeAlias = Callable[[Micros, bool, "Kinds"], Operation["list[Finding]"]]
# Act on ended child runs, in the transaction that ends them. The parents, of this kind, are locked.
ChildEnded: TypeAlias = Callable[[Sequence[Run], Sequence["Ended"], Micros, "Kinds"], Operation["After"]]
# Act on ended runs of schedules, in the transaction that ends them. The schedules are locked.
ScheduleEnded: TypeAlias = Callable[[Sequence[Row], Sequence["Ended"], Micros, "Kinds"], Operation["After"]]


@dataclass(frozen=True, slots=True)
class RunKind:
    stop: Stop
    recover: Recover
    forget: Forget
    scan: Scan | None = None
    child_ended: ChildEnded | None = None


class Kinds:
    """The kinds of runs that a process knows in addition to jobs.

    - `schedule_ended`: called when a run of a schedule ends
    - `forget`: functions that are called when runs are deleted; each deletes what one module has stored about the runs
    - `scans`: functions that look for broken invariants; each looks at the rows of one extension (`Way`)
    """

    __slots__ = ("forget", "names", "parents", "runs", "scans", "schedule_ended")

    def __init__(
        self,
        runs: Mapping[str, RunKind] | None = None,
        schedule_ended: ScheduleEnded | None = None,
        forget: Sequence[Forget] = (),
        scans: Sequence[Scan] = (),
    ) -> None:
        if runs and JOB in runs:
            raise OstinatoError(f"a kind of run cannot be called {JOB!r}; choose another name")
        self.runs: Mapping[str, RunKind] = runs or {}
        self.schedule_ended = schedule_ended
        self.forget = forget
        self.scans = scans
        self.names = _json([JOB, *self.runs])  # all kinds as JSON, for statements
        parents = [name for name, kind in self.runs.items() if kind.child_ended is not None]
        self.parents = _json(parents) if parents else ""  # JSON of the kinds that act on the end of a child; "" if none

    def knows(self, kind: str) -> bool:
        return kind == JOB or kind in self.runs


def _json(names: Sequence[str]) -> str:
    return orjson.dumps(names).decode()


class Body(Protocol):
    async def __call__(self, run: Run) -> None:
        """Execute a claimed run until it waits or ends, and write its new status. The write must have an effect only if
        the node still holds the claim on the run. If the task is cancelled, write nothing more. The run later continues
        from the last state that was written."""
        ...
