"""Where times come from: calendars on the wall of a zone, intervals, anchored recurrences, single times.

Every source answers `next(after)` and `previous(before)`, both strict, in microseconds; FAR and -FAR mean none.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta
from typing import Protocol

from ostinato.when.days import epoch_day
from ostinato.when.durations import Duration
from ostinato.when.instants import DAY_SECONDS, SECOND, Micros
from ostinato.when.walls import Wall
from ostinato.when.zones import FAR, LAST_YEAR, Zone, epoch_second

Step = Callable[[Micros], Micros]


class Source(Protocol):
    @property
    def next(self) -> Step: ...
    @property
    def previous(self) -> Step: ...


class _Steps:
    """A source made of two functions that hold what they need."""

    __slots__ = ("next", "previous")

    def __init__(self, next: Step, previous: Step) -> None:
        self.next = next
        self.previous = previous


def wall_source(wall: Wall, zone: Zone) -> Source:
    """Literal wall clock: a reading in a gap never comes, a repeated one comes twice."""
    if len(zone.starts) == 1:
        return _unchanging_wall_source(wall, zone.offsets[0])
    starts, offsets = zone.starts, zone.offsets
    starts_wall, ends_wall = zone.starts_wall, zone.ends_wall
    next_wall, previous_wall = wall.next, wall.previous

    def following(after: Micros) -> Micros:
        second = after // SECOND
        i = bisect_right(starts, second) - 1
        offset = offsets[i]
        origin = second + offset
        found = next_wall(origin)
        while found >= ends_wall[i]:
            i += 1
            begin = starts_wall[i]
            if begin <= origin or begin > found:  # a repeated hour, or `found` fell into the gap
                found = next_wall(begin - 1)
            offset = offsets[i]
        return (found - offset) * SECOND

    def preceding(before: Micros) -> Micros:
        second = -(-before // SECOND)
        i = bisect_left(starts, second) - 1
        found = previous_wall(second + offsets[i])
        while found < starts_wall[i]:
            i -= 1
            found = previous_wall(ends_wall[i])
        return (found - offsets[i]) * SECOND

    return _Steps(following, preceding)


def _unchanging_wall_source(wall: Wall, offset: int) -> Source:
    """A zone with one offset for ever, UTC above all: both rules are the same, and nothing is to look up."""
    next_wall, previous_wall = wall.next, wall.previous
    return _Steps(
        lambda after: (next_wall(after // SECOND + offset) - offset) * SECOND,
        lambda before: (previous_wall(-(-before // SECOND) + offset) - offset) * SECOND,
    )


def fixed_wall_source(wall: Wall, zone: Zone) -> Source:
    """Cron's rule for fixed times: each reading comes once, the first moment the clock shows it or later."""
    if len(zone.starts) == 1:
        return _unchanging_wall_source(wall, zone.offsets[0])
    starts, offsets, ends_wall, reach = zone.starts, zone.offsets, zone.ends_wall, zone.reach
    next_wall, previous_wall = wall.next, wall.previous

    def following(after: Micros) -> Micros:
        second = after // SECOND
        i = bisect_right(starts, second) - 1
        shown = second + offsets[i]
        if shown < reach[i]:
            shown = reach[i] - 1
        found = next_wall(shown)
        while found >= ends_wall[i]:
            i += 1
        found -= offsets[i]
        return (found if found > starts[i] else starts[i]) * SECOND

    def preceding(before: Micros) -> Micros:
        second = -(-before // SECOND) - 1
        i = bisect_right(starts, second) - 1
        found = previous_wall(max(reach[i], second + offsets[i] + 1))
        while found < reach[i]:
            i -= 1
        return max(starts[i], found - offsets[i]) * SECOND

    return _Steps(following, preceding)


def interval_source(every: Micros, phase: Micros) -> Source:
    """Multiples of `every` since 1970, moved by `phase`. Zones do not matter."""

    def following(after: Micros) -> Micros:
        return ((after - phase) // every + 1) * every + phase

    def preceding(before: Micros) -> Micros:
        return (-(-(before - phase) // every) - 1) * every + phase

    return _Steps(following, preceding)


def times_source(times: tuple[Micros, ...]) -> Source:
    ordered = sorted(set(times))

    def following(after: Micros) -> Micros:
        at = bisect_right(ordered, after)
        return ordered[at] if at < len(ordered) else FAR

    def preceding(before: Micros) -> Micros:
        at = bisect_left(ordered, before)
        return ordered[at - 1] if at else -FAR

    return _Steps(following, preceding)


_MONTH: Micros = 2_629_746 * SECOND  # the mean month of the Gregorian calendar
_END: Micros = epoch_second(LAST_YEAR + 1) * SECOND


def recurrence_source(anchor: Micros, period: Duration, zone: Zone, literal: bool) -> Source:
    """anchor, anchor + period, anchor + 2 × period, …: each counted from the anchor, so nothing drifts.

    Months and days are counted on the wall of the zone, a month's missing days being clamped to its last;
    hours, minutes and seconds on a stopwatch. `literal` is the wall daylight-saving rule, else cron's.
    """
    if not period.months and not period.days:
        return _anchored_interval(anchor, period.micros)
    mean = period.months * _MONTH + period.exact
    # No k-th time is further than this from anchor + k mean periods: by months of unlike length and leap
    # years, and by what the zone's offset has changed since.
    slack = (8 if period.months else 2) * DAY_SECONDS * SECOND
    start, fraction = divmod(anchor, SECOND)
    first_day, time = divmod(start + zone.offset(start), DAY_SECONDS)
    first = date(1970, 1, 1) + timedelta(days=first_day)

    def instants(number: int) -> list[Micros]:
        """The k-th time: one instant; under the wall rule none in a gap and two in a repeated hour."""
        if number <= 0:
            return [anchor] if number == 0 else []
        year, month = divmod(first.year * 12 + first.month - 1 + number * period.months, 12)
        if year > 9998:
            return []
        length = monthrange(year, month + 1)[1]
        day = epoch_day(date(year, month + 1, min(first.day, length))) + number * period.days
        wall = day * DAY_SECONDS + time
        seconds = zone.instants(wall) if literal else [zone.first_at_or_past(wall)]
        return [second * SECOND + fraction + number * period.micros for second in seconds]

    def following(after: Micros) -> Micros:
        number = max(0, (after - anchor - slack) // mean)
        while True:
            # A repeated day may put the k-th time after the one that follows, so look at two.
            found = [t for k in (number, number + 1) for t in instants(k) if t > after]
            if found:
                return min(found)
            if anchor + number * mean > _END + slack:
                return FAR
            number += 1

    def preceding(before: Micros) -> Micros:
        number = (min(before, _END) - anchor + slack) // mean + 1
        while number >= 0:
            found = [t for k in (number, number - 1) for t in instants(k) if t < before]
            if found:
                return max(found)
            number -= 1
        return -FAR

    return _Steps(following, preceding)


def _anchored_interval(anchor: Micros, every: Micros) -> Source:
    steps = interval_source(every, anchor % every)
    return _Steps(
        lambda after: max(anchor, steps.next(after)),
        lambda before: steps.previous(before) if before > anchor else -FAR,
    )


def union(sources: list[Source]) -> Source:
    """All of them together. A source's answer holds until it is reached, so it is asked only then."""
    if len(sources) == 1:
        return sources[0]

    def following_from(which: list[Step]) -> Step:
        known: list[tuple[Micros, Micros]] = [(FAR, -FAR)] * len(which)  # asked from, answered

        def following(after: Micros) -> Micros:
            nearest = FAR
            for i, (asked, answer) in enumerate(known):
                if not asked <= after < answer:
                    answer = which[i](after)
                    known[i] = (after, answer)
                if answer < nearest:
                    nearest = answer
            return nearest

        return following

    previous = [s.previous for s in sources]
    return _Steps(
        following_from([s.next for s in sources]),
        lambda before: max((step(before) for step in previous), default=-FAR),
    )
