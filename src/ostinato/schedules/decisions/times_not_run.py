"""Make the rows for due times that get no run. A row has one or more times: see the rules of `add_rows`. The functions
are pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ostinato.schedules.model import ROWS, Occurrence, Overlap, Reason, Schedule, Stretch
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class Fresh:
    """A new occurrence, with the id of its run. The id is empty if the occurrence gets no run. The data window of the
    run begins at `previous` and ends at the nominal time of the occurrence."""

    id: str
    occurrence: Occurrence
    previous: Micros | None


@dataclass(frozen=True, slots=True)
class Passed:
    """A row for one or more due times that get no run. The row is new, or exists already and gets further times.

    - `nominal`, `last`: the first and the last time in the row
    - `count`: the number of times in the row, those of an existing row included
    - `new`: true to insert the row, false to extend an existing row
    - `added`: how many times this decision adds to the row; for a new row, the same as `count`
    - `since`: the first of the added times
    - `blocked_by`: the id of the run that blocked the times, or None if no run did
    - `overlap`: the occurrence's own overlap policy, or None if the schedule's policy applies
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
    """Add entries to `rows` for the due times in `group`, which get no run because of `reason`. Return the `stretch`
    for the next call.

    - `group`: consecutive times, each as (occurrence, id of the run that blocks it); the id is None if no run blocks it
    - `stretch`: the times directly before `group` that got no run, or None; ignored if their reason is another one

    Each time of a trigger, of a backfill or of an earlier spec gets a separate row. For the other times in `group`, the
    first of these rules that applies is used:

    - If `stretch` has a shared row, the times are added to that row.
    - If `reason` is CATCHUP_WINDOW and the schedule's action has `facts`, which are data of an extension, the times
      share a new row.
    - If there are more than `ROWS` times, including those of `stretch`, the times in `group` share a new row.
    - Otherwise each time gets a separate row.
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
