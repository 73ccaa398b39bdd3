"""Define the exclusions of a spec. Calendars, whole local days and spans of time can be excluded. `stretches` tells a
search which times it can skip."""

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
    """The exclusions of a spec. `dates` are whole days in the spec's zone. Each span in `spans` includes its first
    instant, but not its end."""

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
    """Return functions that tell a search which times it can skip.

    Each function takes an instant.

    - If the instant is excluded, the function returns a stretch around the instant. All times of the spec in the
      stretch are excluded.
    - Otherwise the function returns None.

    `readings` are the wall-clock times that the spec can have. With `by_day`, a calendar's stretch is at most one day.
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
    """Join calendars that differ only in one field, so that a search can skip the times of several calendars at
    once."""
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
    """Return a function that maps an instant to a stretch of time to skip, or None.

    - If the calendar excludes the instant, the result is a stretch around the instant. All times of the spec in the
      stretch are excluded.
    - Otherwise the result is None.

    With `by_day`, a stretch is at most one day long.
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
    """Return a function that maps an instant to a stretch of time to skip, or None.

    - If `matches` rejects the instant's wall-clock time, the function returns None.
    - Otherwise the stretch begins one second after the zone's last change of offset, and ends at the next change.
    - If the instant lies within one second after the last change, the stretch begins at that change.
    """
    starts, offsets = zone.starts, zone.offsets
    ends = [*starts[1:], FAR]

    def stretch(instant: Micros) -> tuple[Micros, Micros] | None:
        second = instant // SECOND
        i = bisect_right(starts, second) - 1
        if not matches(second + offsets[i]):
            return None
        return min(second, starts[i] + 1) * SECOND, ends[i] * SECOND - 1

    return stretch


def _runs(left: int, size: int) -> list[tuple[int, int]]:
    """Return a list of `size` ranges. Entry i is the range of zero bits in `left` around bit i, as (first bit, last bit
    + 1)."""
    runs = []
    for value in range(size):
        above = left >> value
        end = value + (above & -above).bit_length() - 1 if above else size
        runs.append(((left & (1 << value) - 1).bit_length(), end))
    return runs


def _wall_stretch(
    matches: Callable[[int], bool], unit: int, cycle: int, runs: list[tuple[int, int]], zone: Zone
) -> Stretch:
    """Return a function that maps an instant to a stretch of time to skip, or None.

    - `matches`: returns whether a wall-clock time is excluded; if it is not, the function returns None
    - `unit`: the seconds of a unit, such as a minute
    - `cycle`: the seconds of a cycle of units, such as an hour
    - `runs`: for each unit of a cycle, the units to skip around that unit, as (first unit, last unit + 1)

    A stretch never crosses a change of the zone's offset.
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
