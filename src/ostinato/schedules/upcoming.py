"""List the next times of all schedules, soonest first. A time is late if it is due, but not processed yet. All late
times of a schedule together are one entry. The functions are pure."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.decisions.due_times import each_upcoming
from ostinato.schedules.lateness import Lateness, lateness
from ostinato.schedules.model import Schedule, target_words
from ostinato.schedules.views import Coming
from ostinato.when.instants import Micros, to_datetime

Head: TypeAlias = tuple[tuple[Micros, Coming] | None, int, Iterator[tuple[Micros, Coming]]]


def coming_of(schedule: Schedule, live: Sequence[Live], now: Micros) -> Iterator[tuple[Micros, Coming]]:
    """Yield (due time, `Coming`) for the coming times of a schedule, soonest first. All late times are one entry."""
    late = lateness(schedule, live, now)
    job, starts = schedule.action.job, target_words(schedule.action)
    if late.late and schedule.next is not None:
        moment = to_datetime(schedule.next)
        yield schedule.next, Coming(moment, moment, schedule.name, job, late, starts)
    for occurrence in each_upcoming(schedule, now):
        at, nominal = to_datetime(occurrence.actual), to_datetime(occurrence.nominal)
        yield occurrence.actual, Coming(at, nominal, schedule.name, job, Lateness(), starts)


def soonest_first(heads: Sequence[Head]) -> Iterator[Coming]:
    """Merge the next times of several schedules, and yield them soonest first. `heads` has a tuple of three for each
    schedule:

    - the first pair (due time, `Coming`) from `coming_of`, or None if the schedule has no next time
    - the index of the schedule, which decides the order of equal due times
    - an iterator over the further pairs from `coming_of`

    An iterator advances only when its next pair is needed.
    """
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
