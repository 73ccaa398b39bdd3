"""Kinds of runs other than jobs. A run of such a kind keeps its id from its beginning to its end: it waits, is claimed
again, and goes on from what its kind has kept of it. Its kind says what else is different, in two places: `Rule` is
what happens to its runs in transactions, wherever they are written; `Body` is what a node does with one it has claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row
from ostinato.when.instants import Micros

if TYPE_CHECKING:
    from ostinato.engine.runs import Ended
    from ostinato.engine.scanner import Finding

# Somebody, or a deadline, ends a run, which is locked, wherever it stands: where it stands then, events to write, and
# whether it is over.
Stopping: TypeAlias = Callable[[Run, Status, str | None, Micros], Operation[tuple[Status, "list[Row]", "list[Ended]"]]]
# Runs whose node is gone: they go on, or end.
Recovering: TypeAlias = Callable[[Sequence[Run], str, Micros], Operation[None]]
# Runs that are removed, being old: what the kind has kept of them goes with them.
Forgetting: TypeAlias = Callable[[Sequence[str]], Operation[None]]

# Look for what must never be of runs of this kind; with the second, repair what is safe.
Scanning: TypeAlias = Callable[[Micros, bool], Operation["list[Finding]"]]


@dataclass(frozen=True, slots=True)
class Rule:
    stop: Stopping
    recover: Recovering
    forget: Forgetting
    scan: Scanning


RULES: dict[str, Rule] = {}


class Body(Protocol):
    async def __call__(self, run: Run) -> None:
        """Work on a claimed run until it waits or is over, and put that on record, under the claim. Cancelled, it
        stops where it is and writes nothing: the run goes on from what was written last."""
        ...
