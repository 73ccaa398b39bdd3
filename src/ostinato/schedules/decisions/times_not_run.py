"""Make the rows for due times that get no run. The functions are pure.

Up to `ROWS` consecutive times with the same reason get one row each. Further times share one more row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ostinato.schedules.model import ROWS, Occurrence, Overlap, Reason, Schedule, Stretch
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class Fresh:
    """A new occurrence and the id of its run. `previous` is the nominal time at which the run's data window begins; the
    window ends at the nominal time of the occurrence."""

    id: str
    occurrence: Occurrence
    previous: Micros | None


@dataclass(frozen=True, slots=True)
class Passed:
    """A row for one or more due times that get no run.

    - `nominal`: the first of the times
    - `last`: the last of the times
    - `count`: the number of times
    - `new`: true to insert the row, false to extend an existing row
    - `added`: how many of the times are added now
    - `since`: the first time that is added now
    - `blocked_by`: the id of the run that blocked the times, or None
    - `overlap`: the overlap policy set for this one time, or None; always None if the row has several times
    """

    id: str
    nominal: Micros
    actual: Micros
    origin: str
    reason: Reason
    blocked_by: str | None = None
    count: int = 1
    last: Micros = 0
    new: bool = True
    added: int = 1
    since: Micros = 0
    overlap: Overlap | None = None


def add_rows(
    rows: list[Passed],
    schedule: Schedule,
    group: Sequence[tuple[Fresh, str | None]],
    reason: Reason,
    stretch: Stretch | None,
    new_id: Callable[[], str],
) -> Stretch | None:
    """Add rows to `rows` for consecutive due times that get no run, all for the same `reason`.

    - `group`: the times, each with the id of the run that blocks the time, or None
    - `stretch`: the times directly before `group` that did not run, or None

    If `stretch` and `group` together have more than `ROWS` times, the times of `group` share a row. Otherwise each time
    of `group` gets its own row. Return the stretch for the next call.
    """
    apart = [(fresh, blocker) for fresh, blocker in group if fresh.occurrence.manual or fresh.occurrence.apart]
    auto = [(fresh, blocker) for fresh, blocker in group if not (fresh.occurrence.manual or fresh.occurrence.apart)]
    rows += [row_of(fresh, reason, blocker, new_id) for fresh, blocker in apart]
    if not auto:
        return stretch
    if stretch is not None and stretch.reason is not reason:
        stretch = None
    first, blocker = auto[0]
    last = auto[-1][0].occurrence.nominal
    if stretch is not None and stretch.run is not None:
        count = stretch.count + len(auto)
        since, begin = first.occurrence.nominal, stretch.first
        more = Passed(stretch.run, begin, begin, "auto", reason, blocker, count, last, False, len(auto), since)
        rows.append(more)
        return replace(stretch, count=count)
    in_a_row = (stretch.rows if stretch is not None else 0) + len(auto)
    together = bool(schedule.action.facts) and reason is Reason.CATCHUP_WINDOW
    if in_a_row <= ROWS and not together:
        rows += [row_of(fresh, reason, blocker, new_id) for fresh, blocker in auto]
        return Stretch(reason, 0, None, 0, in_a_row)
    whole = first.occurrence
    id = new_id()
    count, begin = len(auto), whole.nominal
    rows.append(Passed(id, begin, whole.actual, "auto", reason, blocker, count, last, True, count, begin))
    return Stretch(reason, count, id, begin, in_a_row)


def row_of(fresh: Fresh, reason: Reason, blocker: str | None, new_id: Callable[[], str]) -> Passed:
    due = fresh.occurrence
    id, at = fresh.id or new_id(), due.nominal
    return Passed(id, at, due.actual, due.origin, reason, blocker, 1, at, since=at, overlap=due.overlap)
