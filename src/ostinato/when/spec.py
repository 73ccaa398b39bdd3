"""A spec: when things happen, as a value. Frozen, comparable, and the same after a trip through JSON.

Whatever is wrong with one is said by `check()`; everything that comes in through a door goes through it.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, tzinfo
from typing import Literal, TypeAlias

from ostinato.errors import SpecError, TooManyExclusions, shown
from ostinato.when.calendars import Calendar
from ostinato.when.compiled import Compiled, named_zone
from ostinato.when.crontab import parse_cron
from ostinato.when.durations import Duration
from ostinato.when.exclusions import Exclusions, merged
from ostinato.when.grammar import Dialect
from ostinato.when.instants import (
    FIRST_MOMENT,
    LAST_MOMENT,
    SECOND,
    Micros,
    format_instant,
    read_instant,
    to_datetime,
)
from ostinato.when.lazily import lazily
from ostinato.when.moments import read_date, read_moment
from ostinato.when.zones import FAR, Zone, rules_from_data

_NOTHING = Exclusions()
Dst: TypeAlias = Literal["cron", "wall"]
Exclusion: TypeAlias = Calendar | Exclusions | date | str | tuple[datetime | str, datetime | str]


@dataclass(frozen=True, slots=True)
class Interval:
    """Every so often, counted from 1970 and moved by `phase`."""

    every: Micros
    phase: Micros = 0


@dataclass(frozen=True, slots=True)
class Recurrence:
    """`anchor`, and every `period` after it."""

    anchor: Micros
    period: Duration


@dataclass(frozen=True)
class Spec:
    """The union of its sources, less its exclusions, from `start` to `end`, both included.

    No source at all is valid: such a schedule runs only when asked to. `dst` empty means the dialect's
    own daylight-saving rule: `cron` for cron, `wall` for temporal.
    """

    crons: tuple[str, ...] = ()
    calendars: tuple[Calendar, ...] = ()
    intervals: tuple[Interval, ...] = ()
    recurrences: tuple[Recurrence, ...] = ()
    times: tuple[Micros, ...] = ()
    exclude: Exclusions = _NOTHING
    start: Micros | None = None
    end: Micros | None = None
    tz: str = ""
    tz_data: bytes = b""
    jitter: Micros = 0
    dialect: Dialect = "cron"
    dst: Dst | Literal[""] = ""

    @property
    def rule(self) -> Dst:
        """The daylight-saving rule in force."""
        return self.dst or ("wall" if self.dialect == "temporal" else "cron")

    @property
    def manual(self) -> bool:
        """It has no times of its own."""
        return not (self.crons or self.calendars or self.intervals or self.recurrences or self.times)

    @property
    def wall_sources(self) -> Spec:
        """The same with only those sources that read the clock on the wall; intervals and single times do not."""
        return replace(
            self,
            crons=tuple(text for text in self.crons if parse_cron(text, self.dialect).calendar is not None),
            intervals=(),
            recurrences=tuple(r for r in self.recurrences if r.period.months or r.period.days),
            times=(),
        )

    @lazily
    def compiled(self) -> Compiled:
        return Compiled(self)

    @lazily
    def tzinfo(self) -> tzinfo:
        if self.tz_data:
            return rules_from_data(self.tz_data)
        return zoneinfo.ZoneInfo(self.compiled.zone.name)

    def __getstate__(self) -> dict[str, object]:
        """The value itself. What was worked out from it holds functions, which cannot be pickled."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    # Times, as people handle them

    def next(self, after: datetime) -> datetime | None:
        """The first time later than `after`, on the clock of the spec's zone."""
        return self._shown(self.compiled.next(read_instant(after, "after")))

    def previous(self, before: datetime) -> datetime | None:
        return self._shown(self.compiled.previous(read_instant(before, "before")))

    def between(self, first: datetime, last: datetime) -> Iterator[datetime]:
        """Every time from `first` to `last`, both included."""
        found = self.compiled.between(read_instant(first, "first"), read_instant(last, "last"))
        return (to_datetime(instant).astimezone(self.tzinfo) for instant in found)

    def matches(self, moment: datetime) -> bool:
        return self.compiled.matches(read_instant(moment, "moment"))

    def describe(self) -> str:
        """The spec in plain words."""
        return self._words

    @lazily
    def _words(self) -> str:
        from ostinato.when.words import describe

        return describe(self)

    def _shown(self, found: Micros | None) -> datetime | None:
        return None if found is None else to_datetime(found).astimezone(self.tzinfo)

    # Putting specs together

    def __or__(self, other: Spec) -> Spec:
        """Every time of one or the other, and no other time. So what holds for the whole must be the same on
        both sides; only the zone and the daylight-saving rule may be left open, by a side that does not read the wall.
        """
        if not isinstance(other, Spec):
            return NotImplemented
        if self.manual or other.manual:
            return other if self.manual else self
        for (name, mine), theirs in zip(self._for_the_whole().items(), other._for_the_whole().values(), strict=True):
            if mine != theirs and not (name in ("tz", "dst") and (mine == "" or theirs == "")):
                together = "put the exclusions on the joined spec: (a | b).without(…)"
                raise SpecError(
                    f"two specs with different {name} cannot be joined: what is said for one would hold for both",
                    field=name,
                    value=theirs,
                    hint=together if name == "exclude" else f"give both the same {name}",
                )
        return _checked(
            replace(
                self,
                crons=self.crons + other.crons,
                calendars=self.calendars + other.calendars,
                intervals=self.intervals + other.intervals,
                recurrences=self.recurrences + other.recurrences,
                times=self.times + other.times,
                tz=self.tz or other.tz,
                tz_data=self.tz_data or other.tz_data,
                dst=self.dst or other.dst,
            )
        )

    def _for_the_whole(self) -> dict[str, object]:
        """What two specs must agree on to be joined; an empty zone or rule is one that does not matter."""
        reads_wall = not self.wall_sources.manual or bool(self.exclude.calendars or self.exclude.dates)
        zone = named_zone(self) or (self.compiled.zone if reads_wall else None)
        return {
            "exclude": self.exclude,
            "start": self.start,
            "end": self.end,
            "jitter": self.jitter,
            "dialect": self.dialect,
            "tz": "" if zone is None else self.tz_data or zone.name,
            "dst": self.rule if reads_wall else self.dst,
        }

    def without(self, *what: Exclusion) -> Spec:
        """The same, less what is given: a calendar, a day, a stretch (first, end), or holidays."""
        return _checked(replace(self, exclude=merged([self.exclude, *read_exclusions(what, named_zone(self))])))

    # At the door

    def check(self) -> tuple[str, ...]:
        """Refuse what cannot be meant; return the warnings for what is merely odd."""
        return self._warnings

    @lazily
    def _warnings(self) -> tuple[str, ...]:
        self.check_choices()
        for field, moment in self._moments():
            if not FIRST_MOMENT <= moment <= LAST_MOMENT:
                raise SpecError(
                    f"{field} lies outside the years 2 to 9998",
                    field=field,
                    value=moment,
                    hint="times run from 1900 to 2199; leave start or end out where there is none",
                )
        for interval in self.intervals:
            _check_interval(interval)
        for recurrence in self.recurrences:
            if recurrence.period.months * 31 * 86_400 * SECOND + recurrence.period.exact < SECOND:
                raise _too_short(str(recurrence.period))
        if self.jitter < 0:
            raise SpecError("jitter is negative", field="jitter", value=self.jitter, hint="a delay is zero or more")
        if self.start is not None and self.end is not None and self.end < self.start:
            raise SpecError(
                f"end {format_instant(self.end)} is before start {format_instant(self.start)}",
                field="end",
                value=format_instant(self.end),
                hint="exchange them",
            )
        for first, end in self.exclude.spans:
            if end <= first:
                raise SpecError(
                    f"the excluded stretch from {format_instant(first)} ends at {format_instant(end)}",
                    field="exclude.spans",
                    value=format_instant(end),
                    hint="the end comes after the start",
                )
        warnings = list(self.compiled.warnings)
        if not self.manual and not self.compiled.hopeless:
            try:
                self._check_something_is_left()
            except SpecError as problem:
                if self.dialect != "temporal":
                    raise
                warnings.append(problem.message)
        return tuple(warnings)

    def check_choices(self) -> None:
        """The part of the check that comes before a cron string can be read."""
        for field, value, choices in (
            ("dialect", self.dialect, ("cron", "temporal")),
            ("dst", self.dst, ("", "cron", "wall")),
        ):
            if value not in choices:
                either = " or ".join(repr(c) for c in choices if c)
                raise SpecError(f"{field} {shown(value)} is unknown", field=field, value=value, hint=f"use {either}")

    def _moments(self) -> Iterator[tuple[str, Micros]]:
        yield from (("start", t) for t in (self.start,) if t is not None)
        yield from (("end", t) for t in (self.end,) if t is not None)
        yield from (("times", t) for t in self.times)
        yield from (("anchor", r.anchor) for r in self.recurrences)
        yield from (("exclude.spans", t) for span in self.exclude.spans for t in span)

    def _check_something_is_left(self) -> None:
        try:
            found, _ = self.compiled.search(-FAR)
        except TooManyExclusions as problem:
            raise SpecError(
                f"no first time of this spec was found: {problem.message}",
                field="exclude",
                value=problem.value,
                hint=problem.hint,
            ) from None
        if found is None:
            raise SpecError(
                "this spec can never match: no time of it is left between its start and its end",
                field="spec",
                value=self.describe(),
                hint="check start, end and the exclusions",
            )

    def to_json(self) -> dict[str, object]:
        """What is not at its default, in a form that `read_spec` reads back to an equal spec."""
        from ostinato.when.documents import spec_json

        return spec_json(self)


def _checked(spec: Spec) -> Spec:
    spec.check()
    return spec


def _check_interval(interval: Interval) -> None:
    if interval.every < SECOND:
        raise _too_short(str(Duration(micros=interval.every)) if interval.every > 0 else interval.every)
    if interval.phase < 0:
        raise SpecError("phase is negative", field="phase", value=interval.phase, hint="a phase is zero or more")
    if interval.phase >= interval.every:
        raise SpecError(
            f"phase {Duration(micros=interval.phase)} is not shorter than the interval "
            f"{Duration(micros=interval.every)}",
            field="phase",
            value=interval.phase,
            hint="a phase is less than the interval",
        )


def _too_short(value: object) -> SpecError:
    return SpecError(f"interval {value!r} is too short", field="interval", value=value, hint="one second is the least")


def read_exclusions(what: Iterable[object], zone: Zone | None) -> Iterator[Exclusions]:
    """What each thing to leave out means; a stretch without offsets is wall-clock time in the zone."""
    for one in what:
        if isinstance(one, Exclusions):
            yield one
        elif isinstance(one, Calendar):
            yield Exclusions(calendars=(one.without_comment(),))
        elif isinstance(one, tuple | list) and len(one) == 2:
            first, end = (read_moment(moment, zone, "exclude") for moment in one)
            yield Exclusions(spans=((first, end),))
        elif isinstance(one, Spec):
            raise SpecError(
                "exclude takes days, stretches of time and during(…), not a spec",
                field="exclude",
                value=one,
                hint="during(hour=9) is the whole of that hour, where calendar(hour=9) is its first second",
            )
        else:
            yield Exclusions(dates=(read_date(one, "exclude"),))
