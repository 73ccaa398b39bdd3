"""What is left out of a spec: calendars that match, whole local days, stretches of time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from ostinato.when.calendars import Calendar
from ostinato.when.days import epoch_day
from ostinato.when.instants import DAY_SECONDS, SECOND, Micros
from ostinato.when.walls import Wall
from ostinato.when.zones import FAR, Zone

# The stretch around an instant that is wholly excluded, first and last microsecond, or None.
Stretch = Callable[[Micros], tuple[Micros, Micros] | None]
_SIXTY = (1 << 60) - 1
_DAY = (1 << 24) - 1


@dataclass(frozen=True, slots=True)
class Exclusions:
    """`dates` are whole days in the spec's zone; `spans` hold their first instant, not their last."""

    calendars: tuple[Calendar, ...] = ()
    dates: tuple[date, ...] = ()
    spans: tuple[tuple[Micros, Micros], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.calendars or self.dates or self.spans)

    def __or__(self, other: Exclusions) -> Exclusions:
        return Exclusions(
            self.calendars + tuple(c for c in other.calendars if c not in self.calendars),
            tuple(sorted({*self.dates, *other.dates})),
            tuple(sorted({*self.spans, *other.spans})),
        )


def stretches(exclusions: Exclusions, zone: Zone) -> list[Stretch]:
    found = [_calendar_stretch(Wall(calendar), zone) for calendar in exclusions.calendars]
    if exclusions.dates:
        days = frozenset(map(epoch_day, exclusions.dates))
        found.append(_wall_stretch(lambda wall: wall // DAY_SECONDS in days, DAY_SECONDS, zone))
    if exclusions.spans:
        found.append(_span_stretch(exclusions.spans))
    return found


def _calendar_stretch(wall: Wall, zone: Zone) -> Stretch:
    length = 1
    if wall.seconds == _SIXTY:
        length = 60
        if wall.minutes == _SIXTY:
            length = DAY_SECONDS if wall.hours == _DAY else 3600
    return _wall_stretch(wall.matches, length, zone)


def _wall_stretch(matches: Callable[[int], bool], length: int, zone: Zone) -> Stretch:
    """`length` wall seconds match or fail together; a change of offset ends a stretch early."""

    def stretch(instant: Micros) -> tuple[Micros, Micros] | None:
        second = instant // SECOND
        i = zone.segment(second)
        offset = zone.offsets[i]
        wall = second + offset
        if not matches(wall):
            return None
        begin = wall - wall % length
        end = zone.starts[i + 1] if i + 1 < len(zone.starts) else FAR
        first = max(begin - offset, zone.starts[i])
        last = min(begin + length - offset, end)
        return first * SECOND, last * SECOND - 1

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
