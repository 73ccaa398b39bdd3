"""A spec describes the times of a schedule. Specs are immutable and comparable. A spec that is written as JSON and read
again is equal to the original.

`check()` raises `SpecError` if a spec is wrong. Every spec that comes from outside is checked.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ostinato.errors import SpecError, TooManyExclusions, missing_attribute, short_repr
from ostinato.when.cached_property import cached_property
from ostinato.when.calendars import Calendar
from ostinato.when.cron_strings import parse_cron
from ostinato.when.durations import Duration
from ostinato.when.exclusions import Exclusions, merged
from ostinato.when.field_grammar import Dialect
from ostinato.when.instants import (
    FIRST_MOMENT,
    LAST_MOMENT,
    SECOND,
    Micros,
    format_instant,
    read_instant,
    to_datetime,
)
from ostinato.when.local_times import read_date, read_moment
from ostinato.when.times import Compiled, named_zone
from ostinato.when.zones import FAR, Zone, rules_from_data

_NOTHING = Exclusions()
Dst: TypeAlias = Literal["cron", "wall"]
Exclusion: TypeAlias = Calendar | Exclusions | date | str | tuple[datetime | str, datetime | str]


@dataclass(frozen=True, slots=True)
class Interval:
    """The multiples of `every` since 1970, plus `phase`."""

    every: Micros
    phase: Micros = 0


@dataclass(frozen=True, slots=True)
class Recurrence:
    """The times `anchor`, `anchor` + `period`, `anchor` + 2 × `period` and so on."""

    anchor: Micros
    period: Duration


@dataclass(frozen=True)
class Spec:
    """A description of times: the times of all sources, without the excluded times.

    The sources are `crons`, `calendars`, `intervals`, `recurrences` and `times`. Without sources, a schedule runs only
    when a user triggers it. Times are in microseconds since 1970, in UTC.

    - `start`, `end`: the earliest and the latest possible time, both included; None means that there is no such limit
    - `dst`: the daylight-saving rule; if empty, `cron` in the dialect cron, and `wall` in the dialect temporal
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

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, "a spec", name)

    @property
    def rule(self) -> Dst:
        return self.dst or ("wall" if self.dialect == "temporal" else "cron")

    @property
    def manual(self) -> bool:
        """Whether the spec has no sources, and so has no times."""
        return not (self.crons or self.calendars or self.intervals or self.recurrences or self.times)

    @property
    def wall_sources(self) -> Spec:
        """A copy with only the sources that depend on the wall clock. Intervals and single times are left out."""
        return replace(
            self,
            crons=tuple(text for text in self.crons if parse_cron(text, self.dialect).calendar is not None),
            intervals=(),
            recurrences=tuple(r for r in self.recurrences if r.period.months or r.period.days),
            times=(),
        )

    @cached_property
    def compiled(self) -> Compiled:
        return Compiled(self)

    @cached_property
    def tzinfo(self) -> tzinfo:
        if self.tz_data:
            return rules_from_data(self.tz_data)
        return zoneinfo.ZoneInfo(self.compiled.zone.name)

    def __getstate__(self) -> dict[str, object]:
        """Return the fields only. Cached properties hold functions, which cannot be pickled."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    # Times as datetimes

    def next(self, after: datetime | None = None) -> datetime | None:
        """Return the first time later than `after`, in the spec's zone. Return None if the spec has no later time. A
        call without `after` raises `TypeError`, because a spec knows no clock."""
        if after is None:
            raise TypeError("next() needs the moment after which the time lies; write spec.next(datetime.now(UTC))")
        return self._local(self.compiled.next(read_instant(after, "after")))

    def previous(self, before: datetime | None = None) -> datetime | None:
        """Return the last time earlier than `before`, as `next` returns the first later one."""
        if before is None:
            raise TypeError(
                "previous() needs the moment before which the time lies; write spec.previous(datetime.now(UTC))"
            )
        return self._local(self.compiled.previous(read_instant(before, "before")))

    def between(self, first: datetime, last: datetime) -> Iterator[datetime]:
        """Yield every time from `first` to `last`, both included."""
        instants = self.compiled.between(read_instant(first, "first"), read_instant(last, "last"))
        return (to_datetime(instant).astimezone(self.tzinfo) for instant in instants)

    def matches(self, moment: datetime) -> bool:
        return self.compiled.matches(read_instant(moment, "moment"))

    def describe(self) -> str:
        """Return the spec in words."""
        return self._words

    @cached_property
    def _words(self) -> str:
        from ostinato.when.describe import describe

        return describe(self)

    def _local(self, instant: Micros | None) -> datetime | None:
        return None if instant is None else to_datetime(instant).astimezone(self.tzinfo)

    # Combining specs

    def __or__(self, other: Spec) -> Spec:
        """Return a spec with the times of both specs. If one of them has no sources, return the other.

        Raises `SpecError` if the exclusions, bounds, jitter, dialect, zone or daylight-saving rule of the two specs
        differ. A spec that does not depend on the wall clock may have no zone or no rule. In this case, the new spec
        has the zone or rule of the other spec.
        """
        if not isinstance(other, Spec):
            return NotImplemented
        if self.manual or other.manual:
            return other if self.manual else self
        for (name, mine), theirs in zip(self._for_the_whole().items(), other._for_the_whole().values(), strict=True):
            if mine != theirs and not (name in ("tz", "dst") and (mine == "" or theirs == "")):
                together = "put the exclusions on the joined spec: (a | b).without(…)"
                raise SpecError(
                    f"two specs with different {name} cannot be joined: it would apply to both",
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
        """Return the fields that apply to all sources of the spec, as a dict. Two specs can be joined with `|` if these
        fields are equal. For the time zone (`tz`) and the daylight-saving rule (`dst`), the first of these cases
        decides:

        - If the spec names a value, the dict has this value.
        - If the spec's times or exclusions depend on the wall clock, the dict has the default value.
        - Otherwise the dict has "". The other spec may then have any value.
        """
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
        """Return the spec with more exclusions: calendars, days, spans (first, end), or results of `holidays`."""
        return _checked(replace(self, exclude=merged([self.exclude, *read_exclusions(what, named_zone(self))])))

    # Checks

    def check(self) -> tuple[str, ...]:
        """Raise `SpecError` if the spec is wrong. Otherwise return warnings about probable mistakes."""
        return self._warnings

    @cached_property
    def _warnings(self) -> tuple[str, ...]:
        self.check_choices()
        for field, moment in self._moments():
            if not FIRST_MOMENT <= moment <= LAST_MOMENT:
                raise SpecError(
                    f"{field} lies outside the years 2 to 9998",
                    field=field,
                    value=moment,
                    hint="times lie between 1900 and 2199; leave out start or end if there is none",
                )
        for interval in self.intervals:
            _check_interval(interval)
        for recurrence in self.recurrences:
            if recurrence.period.months * 31 * 86_400 * SECOND + recurrence.period.exact < SECOND:
                raise _too_short(str(recurrence.period))
        if self.jitter < 0:
            raise SpecError(
                "jitter is negative", field="jitter", value=self.jitter, hint="a delay must be zero or more"
            )
        if self.start is not None and self.end is not None and self.end < self.start:
            raise SpecError(
                f"end {format_instant(self.end)} is before start {format_instant(self.start)}",
                field="end",
                value=format_instant(self.end),
                hint="swap them",
            )
        for first, end in self.exclude.spans:
            if end <= first:
                raise SpecError(
                    f"the excluded span from {format_instant(first)} ends at {format_instant(end)}",
                    field="exclude.spans",
                    value=format_instant(end),
                    hint="the end must be after the start",
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
        """Raise `SpecError` if `dialect` or `dst` is wrong. Cron strings can be parsed only after this check."""
        for field, value, choices in (
            ("dialect", self.dialect, ("cron", "temporal")),
            ("dst", self.dst, ("", "cron", "wall")),
        ):
            if value not in choices:
                either = " or ".join(repr(c) for c in choices if c)
                raise SpecError(
                    f"{field} {short_repr(value)} is unknown", field=field, value=value, hint=f"use {either}"
                )

    def _moments(self) -> Iterator[tuple[str, Micros]]:
        yield from (("start", t) for t in (self.start,) if t is not None)
        yield from (("end", t) for t in (self.end,) if t is not None)
        yield from (("times", t) for t in self.times)
        yield from (("anchor", r.anchor) for r in self.recurrences)
        yield from (("exclude.spans", t) for span in self.exclude.spans for t in span)

    def _check_something_is_left(self) -> None:
        try:
            first, _ = self.compiled.search(-FAR)
        except TooManyExclusions as problem:
            raise SpecError(
                f"no first time of this spec was found: {problem.message}",
                field="exclude",
                value=problem.value,
                hint=problem.hint,
            ) from None
        if first is None:
            raise SpecError(
                "this spec can never match: it has no time between its start and its end",
                field="spec",
                value=self.describe(),
                hint="check start, end and the exclusions",
            )

    def to_json(self) -> dict[str, object]:
        """Return a JSON document of the fields that differ from their default. `read_spec` reads it."""
        from ostinato.when.documents import spec_json

        return spec_json(self)


def _checked(spec: Spec) -> Spec:
    spec.check()
    return spec


def _check_interval(interval: Interval) -> None:
    if interval.every < SECOND:
        raise _too_short(str(Duration(micros=interval.every)) if interval.every > 0 else interval.every)
    if interval.phase < 0:
        raise SpecError("phase is negative", field="phase", value=interval.phase, hint="a phase must be zero or more")
    if interval.phase >= interval.every:
        raise SpecError(
            f"phase {Duration(micros=interval.phase)} is not shorter than the interval "
            f"{Duration(micros=interval.every)}",
            field="phase",
            value=interval.phase,
            hint="a phase must be less than the interval",
        )


def _too_short(value: object) -> SpecError:
    return SpecError(
        f"interval {value!r} is too short", field="interval", value=value, hint="the minimum is one second"
    )


def read_exclusions(what: Iterable[object], zone: Zone | None) -> Iterator[Exclusions]:
    """Yield an `Exclusions` for each value in `what`. If the times of a span have no offset, they are wall-clock time
    in `zone`. Raises `SpecError` if a value is not an exclusion."""
    for exclusion in what:
        if isinstance(exclusion, Exclusions):
            yield exclusion
        elif isinstance(exclusion, Calendar):
            yield Exclusions(calendars=(exclusion.without_comment(),))
        elif isinstance(exclusion, tuple | list) and len(exclusion) == 2:
            first, end = (read_moment(moment, zone, "exclude") for moment in exclusion)
            yield Exclusions(spans=((first, end),))
        elif isinstance(exclusion, Spec):
            raise SpecError(
                "exclude takes days, spans of time and during(…), not a spec",
                field="exclude",
                value=exclusion,
                hint="during(hour=9) covers the whole hour; calendar(hour=9) is only its first second",
            )
        else:
            yield Exclusions(dates=(read_date(exclusion, "exclude"),))
