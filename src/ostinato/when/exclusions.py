"""Define the exclusions of a spec: calendars, whole local days and spans. A search uses `stretches` to skip them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from ostinato.when.calendars import Calendar
from ostinato.when.days import epoch_day
from ostinato.when.fields import FIELDS, YEAR, Items
from ostinato.when.instants import DAY_SECONDS, SECOND, Micros
from ostinato.when.wall_clock import WallClock
from ostinato.when.zones import FAR, Zone

# Called with an instant. If the instant is excluded, it returns the first and the last microsecond of a stretch around
# it in which the spec has no time. Otherwise it returns None.
Stretch = Callable[[Micros], tuple[Micros, Micros] | None]


@dataclass(frozen=True, slots=True)
class Exclusions:
    """The exclusions of a spec.

    - `calendars`: calendars whose matching times are excluded
    - `dates`: whole days in the spec's zone
    - `spans`: pairs (start, end); the times from `start` up to but not including `end` are excluded
    """

    calendars: tuple[Calendar, ...] = ()
    dates: tuple[date, ...] = ()
    spans: tuple[tuple[Micros, Micros], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.calendars or self.dates or self.spans)

    def __or__(self, other: Exclusions) -> Exclusions:
        return merged((self, other))


def merged(parts: Iterable[Exclusions]) -> Exclusions:
    """Merge several exclusions into one, without duplicates."""
    exclusions = list(parts)
    return Exclusions(
        tuple(dict.fromkeys(c for e in exclusions for c in e.calendars)),
        tuple(sorted({d for e in exclusions for d in e.dates})),
        tuple(sorted({s for e in exclusions for s in e.spans})),
    )


@dataclass(frozen=True, slots=True)
class Readings:
    """Which seconds, minutes and hours can occur in a spec's wall-clock times, as bit masks."""

    seconds: int = 0
    minutes: int = 0
    hours: int = 0

    def __or__(self, other: Readings | WallClock) -> Readings:
        return Readings(self.seconds | other.seconds, self.minutes | other.minutes, self.hours | other.hours)


ANY_READING = Readings((1 << 60) - 1, (1 << 60) - 1, (1 << 24) - 1)


def stretches(exclusions: Exclusions, zone: Zone, readings: Readings, *, by_day: bool = False) -> list[Stretch]:
    """Return the `Stretch` functions of these exclusions. Each function takes an instant. If the instant is excluded,
    the function returns a stretch of time around the instant, which a search can skip. Otherwise it returns None.

    `readings` are the seconds, minutes and hours that can occur in the spec's times. If `by_day` is true, the stretch
    of an excluded calendar is at most one day long.
    """
    walls = map(WallClock, _joined(exclusions.calendars))
    stretch_functions = [_calendar_stretch(wall, zone, readings, by_day=by_day) for wall in walls]
    if exclusions.dates:
        days = frozenset(map(epoch_day, exclusions.dates))
        stretch_functions.append(
            _wall_stretch(lambda wall: wall // DAY_SECONDS in days, DAY_SECONDS, DAY_SECONDS, [(0, 1)], zone)
        )
    if exclusions.spans:
        stretch_functions.append(_span_stretch(exclusions.spans))
    return stretch_functions


def _joined(calendars: Iterable[Calendar]) -> list[Calendar]:
    """Join calendars that differ in only one field into one calendar, so that a search can skip longer stretches.
    Calendars that differ in the year are not joined."""
    joined = [calendar.without_comment() for calendar in calendars]
    for field in FIELDS:
        if field is YEAR:  # an empty year is every year
            continue
        items: dict[Calendar, Items] = {}
        for calendar in joined:
            rest = calendar.with_items(field, ())
            items[rest] = items.get(rest, ()) + calendar.items(field)
        joined = [rest.with_items(field, each) for rest, each in items.items()]
    return joined


def _calendar_stretch(wall: WallClock, zone: Zone, readings: Readings, *, by_day: bool) -> Stretch:
    """Return a function that says which period a search can skip because of an excluded calendar. The function takes an
    instant. If the calendar excludes the instant, the function returns the first and the last microsecond of a period
    around the instant. The spec has no time in this period. Otherwise the function returns None.

    - `wall`: the excluded calendar
    - `readings`: the seconds, minutes and hours that can occur in the spec's times
    - `by_day`: whether a period must be at most one day long
    """
    levels = (
        (readings.seconds & ~wall.seconds, 1, 60),
        (readings.minutes & ~wall.minutes, 60, 3600),
        (readings.hours & ~wall.hours, 3600, DAY_SECONDS),
    )
    left, unit, cycle = next((level for level in levels if level[0]), levels[-1])
    if not left and wall.days.daily and not by_day:
        return _segment_stretch(wall.matches, zone)
    return _wall_stretch(wall.matches, unit, cycle, _runs(left, cycle // unit), zone)


def _segment_stretch(matches: Callable[[int], bool], zone: Zone) -> Stretch:
    """Return a function like that of `_calendar_stretch`, for a calendar that excludes all times of the spec on every
    day. The function takes an instant, and calls `matches` with the instant's wall-clock time. If `matches` returns
    false, the function returns None.

    Otherwise it returns the first and the last microsecond of a period around the instant. The period lies between two
    changes of the zone's offset. It leaves out the first second after the earlier change, unless the instant is in that
    second. It ends directly before the later change.
    """
    starts, offsets = zone.starts, zone.offsets
    ends = [*starts[1:], FAR]

    def stretch(instant: Micros) -> tuple[Micros, Micros] | None:
        second = instant // SECOND
        i = bisect_right(starts, second) - 1
        if not matches(second + offsets[i]):
            return None
        # A time that was moved out of a gap may lie in the first second after a change; see `_wall_stretch`.
        return min(second, starts[i] + 1) * SECOND, ends[i] * SECOND - 1

    return stretch


def _runs(left: int, size: int) -> list[tuple[int, int]]:
    """Return a pair (first, end) for each value from 0 to `size` - 1. A search that is at this value can skip the
    values from `first` to `end` - 1.

    `left` is a bit mask of the values that cannot be skipped, because the spec may have times there that are not
    excluded. A search skips no value of `left`: `first` is the value after the next lower value in `left`, or 0 if
    there is no lower one. `end` is the next higher value in `left`, or `size` if there is no higher one. The pairs of
    the values in `left` itself are not used.
    """
    runs = []
    for value in range(size):
        above = left >> value
        end = value + (above & -above).bit_length() - 1 if above else size
        runs.append(((left & (1 << value) - 1).bit_length(), end))
    return runs


def _wall_stretch(
    matches: Callable[[int], bool], unit: int, cycle: int, runs: list[tuple[int, int]], zone: Zone
) -> Stretch:
    """Return a function that takes an instant, and calls `matches` with the instant's wall-clock time. If `matches`
    returns false, the function returns None. Otherwise it returns the first and the last microsecond of a period around
    the instant, which a search can skip. The period never crosses a change of the zone's offset.

    - `unit`: the number of seconds in a unit, such as 60 for a minute
    - `cycle`: the number of seconds after which the units repeat, such as 3600 for the minutes of an hour
    - `runs`: for each unit of a cycle, which units the period covers. If the instant is in unit `n`, and `runs[n]` is
      (3, 7), the period covers the units 3 to 6.
    """
    starts, offsets = zone.starts, zone.offsets
    ends = [*starts[1:], FAR]

    def stretch(instant: Micros) -> tuple[Micros, Micros] | None:
        second = instant // SECOND
        i = bisect_right(starts, second) - 1
        wall = second + offsets[i]
        if not matches(wall):
            return None
        within = wall % cycle
        low, high = runs[within // unit]
        begin = second - within
        # A time that was moved out of a gap lies in the first second after a change of offset, and its wall-clock time
        # may be any. So the stretch does not include that second, unless it is the time itself.
        first = min(second, max(begin + low * unit, starts[i] + 1))
        return first * SECOND, min(begin + high * unit, ends[i]) * SECOND - 1

    return stretch


def _span_stretch(spans: tuple[tuple[Micros, Micros], ...]) -> Stretch:
    merged: list[tuple[Micros, Micros]] = []
    for first, end in sorted(spans):
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((first, end))
    begins = [first for first, _ in merged]

    def stretch(instant: Micros) -> tuple[Micros, Micros] | None:
        at = bisect_right(begins, instant) - 1
        if at >= 0 and instant < merged[at][1]:
            return merged[at][0], merged[at][1] - 1
        return None

    return stretch
