"""Compute the times of a spec: the next, the previous, all times in a period. Times are integer microseconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ostinato.errors import SpecError, TooManyExclusions
from ostinato.when.calendars import Calendar
from ostinato.when.cron_strings import parse_cron
from ostinato.when.daylight_saving import fixed_wall_source, wall_source
from ostinato.when.exclusions import ANY_READING, Readings, stretches
from ostinato.when.fields import HOUR_FIELD, MINUTE_FIELD, SECOND_FIELD, Range
from ostinato.when.instants import SECOND, Micros, format_instant
from ostinato.when.jitter import add_jitter
from ostinato.when.recurrences import recurrence_source
from ostinato.when.sources import Source, interval_source, times_source, union
from ostinato.when.wall_clock import WallClock
from ostinato.when.zones import FAR, FIRST_YEAR, LAST_YEAR, Zone, epoch_second, zone, zone_from_data

if TYPE_CHECKING:
    from ostinato.when.spec import Spec

# How many excluded stretches the search for one time skips before it gives up: this takes about 50 ms.
GIVE_UP = 40_000
_LEAST_STEPS = 1_000
_TEMPORAL_LAST_YEAR = 2100
_PER_SOURCE = 30


class Compiled:
    """Computes the nominal times of one spec, without jitter.

    A spec refers to its `Compiled`, but a `Compiled` does not refer to its spec. Otherwise the two would form a cycle,
    and stay in memory until the garbage collector runs, which pauses the process.
    """

    def __init__(self, spec: Spec) -> None:
        self._jitter = spec.jitter
        self._temporal = spec.dialect == "temporal"
        others = spec.crons or spec.calendars or spec.recurrences or spec.times
        self._every = spec.intervals[0].every if len(spec.intervals) == 1 and not others else None
        self.warnings: list[str] = []
        self._impossible = 0
        self.size = 1  # approximate number of entries in memory
        self.zone = zone_of(spec)
        last_year = _TEMPORAL_LAST_YEAR if spec.dialect == "temporal" else LAST_YEAR
        self.last: Micros = epoch_second(last_year + 1) * SECOND - 1
        self._first_of_all = epoch_second(FIRST_YEAR) * SECOND
        start = spec.start if spec.start is not None else -FAR
        if spec.dialect == "temporal":  # Temporal's server truncates the start to whole seconds
            start = _whole_seconds(start)
        self._floor = max(self._first_of_all, start) - 1
        self._ceiling = min(self.last, spec.end if spec.end is not None else FAR)
        sources, readings = self._sources(spec)
        self.hopeless = self._impossible == len(sources)  # no source can match; `warnings` has an entry for each
        source = union(sources)
        self._next, self._previous = source.next, source.previous
        self._excluded = stretches(spec.exclude, self.zone, readings, by_day=spec.dialect == "temporal")
        self._give_up = max(_LEAST_STEPS, GIVE_UP // max(1, len(self._excluded)))

    def next(self, after: Micros) -> Micros | None:
        """Return the first nominal time after `after`, or None. Raises `TooManyExclusions` if the search gives up."""
        time = self._next(after if after > self._floor else self._floor)
        if self._excluded:
            return self._skip_excluded(time, self._give_up)[0]
        return time if time <= self._ceiling else None

    def search(self, after: Micros, give_up: int | None = None) -> tuple[Micros | None, int]:
        """Search for the first nominal time after `after`. Return (time or None, number of excluded stretches that were
        skipped). Raises `TooManyExclusions` if no time is found after `give_up` skips."""
        return self._skip_excluded(self._next(max(after, self._floor)), self._give_up if give_up is None else give_up)

    def _skip_excluded(self, first: Micros, give_up: int) -> tuple[Micros | None, int]:
        time, steps = first, 0
        while time <= self._ceiling:
            stretch = self._stretch(time)
            if stretch is None:
                return time, steps
            if steps == give_up:
                raise self._too_many(give_up, first, time)
            steps += 1
            if stretch[1] >= self._ceiling:  # everything up to the end is excluded
                return None, steps
            time = self._next(stretch[1])
        return None, steps

    def previous(self, before: Micros) -> Micros | None:
        """Return the last nominal time before `before`, or None. Raises `TooManyExclusions` if the search gives up."""
        time = first = self._previous(min(before, self._ceiling + 1))
        for _ in range(self._give_up):
            if time <= self._floor:
                return None
            stretch = self._stretch(time)
            if stretch is None:
                return time
            if stretch[0] <= self._floor:
                return None
            time = self._previous(stretch[0])
        raise self._too_many(self._give_up, time, first)

    def matches(self, instant: Micros) -> bool:
        return (
            self._floor < instant <= self._ceiling
            and self._next(instant - 1) == instant
            and self._stretch(instant) is None
        )

    def times(self, after: Micros) -> Iterator[Micros]:
        """Yield every nominal time later than `after`, in order."""
        time = self.next(after)
        while time is not None:
            yield time
            time = self.next(time)

    def between(self, first: Micros, last: Micros) -> Iterator[Micros]:
        """Yield every nominal time from `first` to `last`, both included."""
        for time in self.times(first - 1):
            if time > last:
                return
            yield time

    def count(self, first: Micros, last: Micros) -> int:
        """Return the number of nominal times from `first` to `last`, both included."""
        if self._every is not None and not self._excluded:
            begin, end = self.next(first - 1), self.previous(last + 1)
            return 0 if begin is None or end is None or end < begin else (end - begin) // self._every + 1
        return sum(1 for _ in self.between(first, last))

    def jittered(self, nominal: Micros, seed: str) -> Micros:
        """Return the due time: the nominal time plus jitter, always before the spec's next time."""
        if not self._jitter:
            return nominal
        following = self._next(nominal)
        return add_jitter(nominal, seed, self._jitter, following if following <= self.last else None)

    def _stretch(self, time: Micros) -> tuple[Micros, Micros] | None:
        for stretch in self._excluded:
            excluded = stretch(time)
            if excluded is not None:
                return excluded
        return None

    def _too_many(self, steps: int, first: Micros, last: Micros) -> TooManyExclusions:
        return TooManyExclusions(
            f"the search gave up after {steps:,} excluded times from {format_instant(first)} to {format_instant(last)}",
            field="exclude",
            value=steps,
            hint="the exclusions leave nothing or almost nothing; exclude less",
        )

    def _sources(self, spec: Spec) -> tuple[list[Source], Readings]:
        """Return the sources of the spec's times, and the seconds, minutes and hours that can occur in these times."""
        temporal = spec.dialect == "temporal"
        literal = spec.rule == "wall"
        sources: list[Source] = []
        readings = Readings()
        for text in spec.crons:
            cron = parse_cron(text, spec.dialect)
            if cron.warning:
                self.warnings.append(cron.warning)
            if cron.calendar is None:
                sources.append(interval_source(_whole_seconds(cron.every), _whole_seconds(cron.phase)))
                readings = ANY_READING
            else:
                wall = WallClock(cron.calendar, cron.either)
                self._check_possible(wall, f"cron string {text!r}")
                self.size += _PER_SOURCE + wall.size
                # The temporal dialect has no rule for wildcards; decide by the fields, as for a calendar.
                fixed = _is_fixed(cron.calendar) if temporal else cron.fixed
                sources.append(self._on_the_wall(wall, literal or not fixed))
                readings |= wall
        for calendar in spec.calendars:
            wall = WallClock(calendar)
            self._check_possible(wall, f"calendar {calendar.to_json()}")
            self.size += _PER_SOURCE + wall.size
            sources.append(self._on_the_wall(wall, literal or not _is_fixed(calendar)))
            readings |= wall
        on_the_wall = len(sources)
        for interval in spec.intervals:
            every, phase = interval.every, interval.phase
            if temporal:
                every, phase = _whole_seconds(every), _whole_seconds(phase)
            sources.append(interval_source(every, phase))
        for recurrence in spec.recurrences:
            sources.append(recurrence_source(recurrence.anchor, recurrence.period, self.zone, literal))
        # Dates and spans have no further objects inside, which the garbage collector would walk over.
        bare = len(spec.exclude.dates) + len(spec.exclude.spans)
        self.size += len(spec.times) + len(spec.exclude.calendars) + bare // 4
        if spec.times or not sources:
            sources.append(times_source(spec.times))
        return sources, readings if len(sources) == on_the_wall else ANY_READING

    def _on_the_wall(self, wall: WallClock, literal: bool) -> Source:
        return wall_source(wall, self.zone) if literal else fixed_wall_source(wall, self.zone)

    def _check_possible(self, wall: WallClock, what: str) -> None:
        if wall.next(self._first_of_all // SECOND) <= self.last // SECOND:
            return
        message = f"{what} can never match"
        if self._temporal:
            self.warnings.append(message)
            self._impossible += 1
            return
        raise SpecError(
            message, field="spec", value=what, hint="no such day exists: check the day against the month and the year"
        )


def named_zone(spec: Spec) -> Zone | None:
    """Return the zone that the spec or its cron strings name, or None if they name no zone. A time without an offset is
    local time in this zone."""
    named = spec.tz or spec.tz_data or any(parse_cron(text, spec.dialect).zone for text in spec.crons)
    return zone_of(spec) if named else None


def zone_of(spec: Spec) -> Zone:
    """Return the zone that the spec or its cron strings name, or UTC. Raises `SpecError` if they name several zones."""
    named = [parse_cron(text, spec.dialect).zone for text in spec.crons]
    if len(set(named)) > 1:
        raise SpecError(
            f"conflicting timezone names {', '.join(repr(z) for z in sorted(set(named)))} in the cron strings",
            field="tz",
            value=named,
            hint="a spec has one zone: write two specs, or name the same zone everywhere",
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
    """Return whether a calendar has a fixed time of day: second, minute and hour have no `*`, not even with a step."""
    for field in (SECOND_FIELD, MINUTE_FIELD, HOUR_FIELD):
        for item in calendar.items(field):
            if isinstance(item, Range) and (item.start, item.end) == (field.low, field.high):
                return False
    return True
