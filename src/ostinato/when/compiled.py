"""A spec made ready to answer. Pure and quick: integers in, integers out, microseconds both ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ostinato.errors import SpecError, TooManyExclusions
from ostinato.when.calendars import Calendar
from ostinato.when.crontab import parse_cron
from ostinato.when.exclusions import ANY_READING, Readings, stretches
from ostinato.when.fields import HOUR_FIELD, MINUTE_FIELD, SECOND_FIELD, Range
from ostinato.when.instants import SECOND, Micros, format_instant
from ostinato.when.jitter import jitter_delay
from ostinato.when.sources import (
    Source,
    fixed_wall_source,
    interval_source,
    recurrence_source,
    times_source,
    union,
    wall_source,
)
from ostinato.when.walls import Wall
from ostinato.when.zones import FAR, FIRST_YEAR, LAST_YEAR, Zone, epoch_second, zone, zone_from_data

if TYPE_CHECKING:
    from ostinato.when.spec import Spec

# Looks at exclusions on the way to one time: some 50 ms. Each passes over all that the exclusion covers, up to a day.
GIVE_UP = 40_000
_LEAST_STEPS = 1_000
_TEMPORAL_LAST_YEAR = 2100
_PER_SOURCE = 30


class Compiled:
    """Answers for one spec. `next` and `previous` are strict and about nominal times, before jitter."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.warnings: list[str] = []
        self._impossible = 0
        self.size = 1  # how many entries it keeps in memory, roughly
        self.zone = zone_of(spec)
        last_year = _TEMPORAL_LAST_YEAR if spec.dialect == "temporal" else LAST_YEAR
        self.last: Micros = epoch_second(last_year + 1) * SECOND - 1
        self._first_of_all = epoch_second(FIRST_YEAR) * SECOND
        start = spec.start if spec.start is not None else -FAR
        if spec.dialect == "temporal":  # whose server takes a second off the start and then whole seconds
            start = _whole_seconds(start)
        self._floor = max(self._first_of_all, start) - 1
        self._ceiling = min(self.last, spec.end if spec.end is not None else FAR)
        sources, readings = self._sources(spec)
        self.hopeless = self._impossible == len(sources)  # no source can match; each has a warning of its own
        source = union(sources)
        self._next, self._previous = source.next, source.previous
        self._excluded = stretches(spec.exclude, self.zone, readings, by_day=spec.dialect == "temporal")
        self._give_up = max(_LEAST_STEPS, GIVE_UP // max(1, len(self._excluded)))

    def next(self, after: Micros) -> Micros | None:
        """The first nominal time later than `after`."""
        found = self._next(after if after > self._floor else self._floor)
        if self._excluded:
            return self._pass_over(found, self._give_up)[0]
        return found if found <= self._ceiling else None

    def search(self, after: Micros, give_up: int | None = None) -> tuple[Micros | None, int]:
        """The next nominal time, and how many steps were taken over excluded ones on the way to it."""
        return self._pass_over(self._next(max(after, self._floor)), self._give_up if give_up is None else give_up)

    def _pass_over(self, first: Micros, give_up: int) -> tuple[Micros | None, int]:
        found, steps = first, 0
        while found <= self._ceiling:
            stretch = self._stretch(found)
            if stretch is None:
                return found, steps
            if steps == give_up:
                raise self._too_many(give_up, first, found)
            steps += 1
            if stretch[1] >= self._ceiling:  # nothing is left before the end
                return None, steps
            found = self._next(stretch[1])
        return None, steps

    def previous(self, before: Micros) -> Micros | None:
        """The last nominal time earlier than `before`."""
        found = first = self._previous(min(before, self._ceiling + 1))
        for _ in range(self._give_up):
            if found <= self._floor:
                return None
            stretch = self._stretch(found)
            if stretch is None:
                return found
            if stretch[0] <= self._floor:
                return None
            found = self._previous(stretch[0])
        raise self._too_many(self._give_up, found, first)

    def matches(self, instant: Micros) -> bool:
        return (
            self._floor < instant <= self._ceiling
            and self._next(instant - 1) == instant
            and self._stretch(instant) is None
        )

    def times(self, after: Micros) -> Iterator[Micros]:
        """Every nominal time later than `after`, in order."""
        found = self.next(after)
        while found is not None:
            yield found
            found = self.next(found)

    def between(self, first: Micros, last: Micros) -> Iterator[Micros]:
        """Every nominal time from `first` to `last`, both included."""
        for found in self.times(first - 1):
            if found > last:
                return
            yield found

    def count(self, first: Micros, last: Micros) -> int:
        """How many nominal times there are from one to another, both included. A plain interval is divided, not
        walked."""
        spec = self.spec
        alone = len(spec.intervals) == 1 and not (spec.crons or spec.calendars or spec.recurrences or spec.times)
        if alone and not self._excluded:
            every = spec.intervals[0].every
            begin, end = self.next(first - 1), self.previous(last + 1)
            return 0 if begin is None or end is None or end < begin else (end - begin) // every + 1
        return sum(1 for _ in self.between(first, last))

    def jittered(self, nominal: Micros, seed: str) -> Micros:
        """When the occurrence of that nominal time really runs: later by less than the jitter, and always
        before the spec's following time (exclusions and the end apart)."""
        longest = self.spec.jitter
        if not longest:
            return nominal
        following = self._next(nominal)
        if following <= self.last:
            longest = min(longest, following - nominal)
        return nominal + jitter_delay(nominal, seed, longest)

    def _stretch(self, found: Micros) -> tuple[Micros, Micros] | None:
        for stretch in self._excluded:
            excluded = stretch(found)
            if excluded is not None:
                return excluded
        return None

    def _too_many(self, steps: int, first: Micros, last: Micros) -> TooManyExclusions:
        return TooManyExclusions(
            f"the search gave up: {steps:,} steps over excluded times, "
            f"from {format_instant(first)} to {format_instant(last)}, and none was left",
            field="exclude",
            value=steps,
            hint="the exclusions leave nothing, or next to nothing: narrow them",
        )

    def _sources(self, spec: Spec) -> tuple[list[Source], Readings]:
        """Where the times come from, and what they can read on the wall."""
        temporal = spec.dialect == "temporal"
        literal = spec.rule == "wall"
        found: list[Source] = []
        readings = Readings()
        for text in spec.crons:
            cron = parse_cron(text, spec.dialect)
            if cron.warning:
                self.warnings.append(cron.warning)
            if cron.calendar is None:
                found.append(interval_source(_whole_seconds(cron.every), _whole_seconds(cron.phase)))
                readings = ANY_READING
            else:
                wall = Wall(cron.calendar, cron.either)
                self._check_possible(wall, f"cron string {text!r}")
                self.size += _PER_SOURCE + wall.size
                # The temporal dialect has no wildcards of its own; its fields decide, as a calendar's do.
                fixed = _is_fixed(cron.calendar) if temporal else cron.fixed
                found.append(self._on_the_wall(wall, literal or not fixed))
                readings |= wall
        for calendar in spec.calendars:
            wall = Wall(calendar)
            self._check_possible(wall, f"calendar {calendar.to_json()}")
            self.size += _PER_SOURCE + wall.size
            found.append(self._on_the_wall(wall, literal or not _is_fixed(calendar)))
            readings |= wall
        on_the_wall = len(found)
        for interval in spec.intervals:
            every, phase = interval.every, interval.phase
            if temporal:
                every, phase = _whole_seconds(every), _whole_seconds(phase)
            found.append(interval_source(every, phase))
        for recurrence in spec.recurrences:
            found.append(recurrence_source(recurrence.anchor, recurrence.period, self.zone, literal))
        self.size += len(spec.times) + sum(map(len, (spec.exclude.calendars, spec.exclude.dates, spec.exclude.spans)))
        if spec.times or not found:
            found.append(times_source(spec.times))
        return found, readings if len(found) == on_the_wall else ANY_READING

    def _on_the_wall(self, wall: Wall, literal: bool) -> Source:
        return wall_source(wall, self.zone) if literal else fixed_wall_source(wall, self.zone)

    def _check_possible(self, wall: Wall, what: str) -> None:
        if wall.next(self._first_of_all // SECOND) <= self.last // SECOND:
            return
        message = f"{what} can never match"
        if self.spec.dialect == "temporal":
            self.warnings.append(message)
            self._impossible += 1
            return
        raise SpecError(
            message, field="spec", value=what, hint="no such day exists: check the day against the month and the year"
        )


def named_zone(spec: Spec) -> Zone | None:
    """The zone that a time without an offset is read in: the one that the spec names, if it does."""
    named = spec.tz or spec.tz_data or any(parse_cron(text, spec.dialect).zone for text in spec.crons)
    return zone_of(spec) if named else None


def zone_of(spec: Spec) -> Zone:
    """One zone for the whole spec, be it named by the spec or by its cron strings."""
    named = [parse_cron(text, spec.dialect).zone for text in spec.crons]
    if len(set(named)) > 1:
        raise SpecError(
            f"conflicting timezone names {', '.join(repr(z) for z in sorted(set(named)))} in the cron strings",
            field="tz",
            value=named,
            hint="a spec has one zone: make two specs, or name the same zone everywhere",
        )
    by_cron = named[0] if named else ""
    if spec.tz_data:
        if by_cron:
            raise SpecError(
                f"the cron string names the zone {by_cron!r}, and tz_data is given too", field="tz", value=by_cron
            )
        return zone_from_data(spec.tz_data)
    if by_cron and spec.tz and by_cron != spec.tz:
        raise SpecError(
            f"the cron string names the zone {by_cron!r}, the spec {spec.tz!r}",
            field="tz",
            value=by_cron,
            hint="name it once",
        )
    return zone(by_cron or spec.tz)


def _whole_seconds(micros: Micros) -> Micros:
    return micros // SECOND * SECOND


def _is_fixed(calendar: Calendar) -> bool:
    """Neither second, minute nor hour runs through its whole range: a fixed time in cron's sense."""
    for field in (SECOND_FIELD, MINUTE_FIELD, HOUR_FIELD):
        for item in calendar.items(field):
            if isinstance(item, Range) and (item.start, item.end) == (field.low, field.high):
                return False
    return True
