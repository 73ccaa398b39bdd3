"""List the coming times of all schedules, soonest first. All late times of a schedule are one entry. This module is
pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.decisions.due_times import each_upcoming
from ostinato.schedules.lateness import Lateness, lateness
from ostinato.schedules.model import Schedule
from ostinato.schedules.views import (
    Coming,
)
from ostinato.when.instants import Micros, to_datetime

# Modules that only some calls need are imported by those calls, so that commands which only read start fast.
if TYPE_CHECKING:
    pass

Head: TypeAlias = tuple[tuple[Micros, Coming] | None, int, Iterator[tuple[Micros, Coming]]]


def coming_of(schedule: Schedule, live: Sequence[Live], now: Micros) -> Iterator[tuple[Micros, Coming]]:
    """Yield a (due time, `Coming`) pair for each coming time of one schedule, soonest first. If some times are late,
    the first pair represents all late times."""
    late = lateness(schedule, live, now)
    job = schedule.action.job
    if late.late and schedule.next is not None:
        moment = to_datetime(schedule.next)
        yield schedule.next, Coming(moment, moment, schedule.name, job, late)
    for occurrence in each_upcoming(schedule, now):
        yield (
            occurrence.actual,
            Coming(to_datetime(occurrence.actual), to_datetime(occurrence.nominal), schedule.name, job, Lateness()),
        )


def soonest_first(heads: Sequence[Head]) -> Iterator[Coming]:
    """Merge the coming times of all schedules, soonest first. `heads` has one entry for each schedule: (first coming
    time or None, index of the schedule, iterator over the later times). An iterator is advanced only when its next time
    is needed."""
    heap = [(first[0], number, first[1], rest) for first, number, rest in heads if first is not None]
    heapq.heapify(heap)
    while heap:
        _, number, coming, rest = heap[0]
        yield coming
        following = next(rest, None)
        if following is None:
            heapq.heappop(heap)
        else:
            heapq.heapreplace(heap, (following[0], number, following[1], rest))
