"""What is left out of a spec: calendars that match, whole local days, stretches of time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date

from ostinato.when.calendars import Calendar
from ostinato.when.days import epoch_day
from ostinato.when.fields import FIELDS, YEAR, Items
from ostinato.when.instants import DAY_SECONDS, SECOND, Micros
from ostinato.when.walls import Wall
from ostinato.when.zones import FAR, Zone

# The stretch around an instant in which every time of the spec is excluded, first and last microsecond, or None.
Stretch = Callable[[Micros], tuple[Micros, Micros] | None]


@dataclass(frozen=True, slots=True)
class Exclusions:
    """`dates` are whole days in the spec's zone; `spans` hold their first instant, not their last."""

    calendars: tuple[Calendar, ...] = ()
    dates: tuple[date, ...] = ()
    spans: tuple[tuple[Micros, Micros], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.calendars or self.dates or self.spans)

    def __or__(self, other: Exclusions) -> Exclusions:
        return merged((self, other))


def merged(parts: Iterable[Exclusions]) -> Exclusions:
    """All of them as one, each thing once."""
    found = list(parts)
    return Exclusions(
        tuple(dict.fromkeys(c for e in found for c in e.calendars)),
        tuple(sorted({d for e in found for d in e.dates})),
        tuple(sorted({s for e in found for s in e.spans})),
    )


@dataclass(frozen=True, slots=True)
class Readings:
    """The seconds, minutes and hours that the times of a spec can read on the wall, as masks."""

    seconds: int = 0
    minutes: int = 0
    hours: int = 0

    def __or__(self, other: Readings | Wall) -> Readings:
        return Readings(self.seconds | other.seconds, self.minutes | other.minutes, self.hours | other.hours)


ANY_READING = Readings((1 << 60) - 1, (1 << 60) - 1, (1 << 24) - 1)


def stretches(exclusions: Exclusions, zone: Zone, readings: Readings, *, by_day: bool = False) -> list[Stretch]:
    """What is passed over around a time that is excluded, for each exclusion. `by_day`: never more than a day, so that
    a search through nothing but exclusions gives up as Temporal's does, where it could know that nothing is left."""
    walls = map(Wall, _joined(exclusions.calendars))
    found = [_calendar_stretch(wall, zone, readings, by_day=by_day) for wall in walls]
    if exclusions.dates:
        days = frozenset(map(epoch_day, exclusions.dates))
        found.append(_wall_stretch(lambda wall: wall // DAY_SECONDS in days, DAY_SECONDS, DAY_SECONDS, [(0, 1)], zone))
    if exclusions.spans:
        found.append(_span_stretch(exclusions.spans))
    return found


def _joined(calendars: Iterable[Calendar]) -> list[Calendar]:
    """Calendars that differ in one field only, as one, so that what they cover together is passed over together."""
    found = [calendar.without_comment() for calendar in calendars]
    for field in FIELDS:
        if field is YEAR:  # an empty year is every year
            continue
        items: dict[Calendar, Items] = {}
        for calendar in found:
            rest = calendar.with_items(field, ())
            items[rest] = items.get(rest, ()) + calendar.items(field)
        found = [rest.with_items(field, each) for rest, each in items.items()]
    return found


def _calendar_stretch(wall: Wall, zone: Zone, readings: Readings, *, by_day: bool) -> Stretch:
    """What a calendar excludes around a time: as much as holds no reading of the spec that the calendar leaves.

    If it leaves some of the seconds that the spec can read, that is a part of a minute; else if it leaves
    some of the minutes, a part of an hour; else a part of a day, or the whole of it; and where it leaves nothing on any
    day, all until the offset changes, unless `by_day`.
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
    """Everything from one change of offset to the next, but for a time that was moved out of a gap to its start."""
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
    """For each value, the run around it that has no bit of `left`: its first value and the one after its last."""
    found = []
    for value in range(size):
        above = left >> value
        end = value + (above & -above).bit_length() - 1 if above else size
        found.append(((left & (1 << value) - 1).bit_length(), end))
    return found


def _wall_stretch(
    matches: Callable[[int], bool], unit: int, cycle: int, runs: list[tuple[int, int]], zone: Zone
) -> Stretch:
    """The run of a matching reading, within its cycle; a change of offset ends it early."""
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
        # A time moved out of a gap stands at the very start of a segment and may read anything: it is asked
        # for by itself, never passed over with the readings of the spec.
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
