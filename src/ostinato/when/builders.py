"""Build and check specs with functions such as `cron(…)`, `every(…)` and `once(…)`. `during(…)` builds an exclusion."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo
from functools import wraps
from typing import Any, TypeVar

from ostinato.errors import SpecError, did_you_mean, list_choices, short_repr
from ostinato.when.calendars import Calendar, read_calendar
from ostinato.when.durations import Length, fixed_length, parse_duration
from ostinato.when.exclusions import Exclusions, merged
from ostinato.when.field_grammar import Dialect
from ostinato.when.fields import DayRule, Range
from ostinato.when.local_times import read_moment
from ostinato.when.spec import Dst, Exclusion, Interval, Recurrence, Spec, read_exclusions
from ostinato.when.times import named_zone
from ostinato.when.zones import Zone, zone, zone_name

FieldValue = int | str | Range | DayRule | Iterable[int | str]
Moment = datetime | str
Tz = str | tzinfo
F = TypeVar("F", bound=Callable[..., Spec])


def _refuse_unknown(function: F) -> F:
    """Wrap a builder so that an unknown keyword raises `SpecError` with a suggestion."""
    parameters = inspect.signature(function).parameters
    names = [name for name, parameter in parameters.items() if parameter.kind is not parameter.VAR_POSITIONAL]

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        for name in options:
            if name not in parameters:
                hint = did_you_mean(name, names) or list_choices(names)
                raise SpecError(f"{function.__name__}() has no {name!r}", field=name, value=options[name], hint=hint)
        return function(*args, **options)

    return call  # type: ignore[return-value]


@_refuse_unknown
def cron(
    *expressions: str,
    tz: Tz = "",
    dialect: Dialect = "cron",
    dst: Dst | None = None,
    start: Moment | None = None,
    end: Moment | None = None,
    jitter: Length = "PT0S",
    exclude: Exclusion | Iterable[Exclusion] = (),
) -> Spec:
    """Build a spec from one or more cron strings: `cron("0 9 * * 1-5", tz="Europe/Berlin")`."""
    if not expressions:
        raise SpecError("cron() needs a cron string", field="cron", hint="write cron('0 9 * * 1-5')")
    for text in expressions:
        if not isinstance(text, str):
            raise SpecError(
                f"cron {short_repr(text)} is not text",
                field="cron",
                value=text,
                hint="write cron('0 9 * * 1-5'), and several as cron('0 9 * * *', '0 17 * * *')",
            )
    return _spec(tz, start, end, jitter, exclude, crons=expressions, dialect=dialect, dst=dst or "")


@_refuse_unknown
def every(
    period: Length | None = None,
    *,
    weeks: float = 0,
    days: float = 0,
    hours: float = 0,
    minutes: float = 0,
    seconds: float = 0,
    phase: Length = "PT0S",
    anchor: Moment | None = None,
    tz: Tz = "",
    dst: Dst | None = None,
    start: Moment | None = None,
    end: Moment | None = None,
    jitter: Length = "PT0S",
    exclude: Exclusion | Iterable[Exclusion] = (),
) -> Spec:
    """Build a spec with an interval: `every("15m")`, `every(minutes=15)`.

    Without an anchor, the times are multiples of the interval since 1970: the times of `every("15m")` are :00, :15, :30
    and :45. With an anchor, the first time is the anchor, and months and days are counted on the calendar:
    `every("P1M", anchor="2026-01-31T09:00Z")`.
    """
    parts = _read_parts(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
    if (period is None) == (not parts):
        hint = "write every('15m') or every(minutes=15)"
        raise SpecError("every() takes a length, as one text or by its parts", field="every", value=period, hint=hint)
    period = parts if period is None else period
    moved = fixed_length(phase, "phase")
    if anchor is None:
        interval = Interval(fixed_length(period, "every"), moved)
        return _spec(tz, start, end, jitter, exclude, intervals=(interval,), dst=dst or "")
    if moved:
        raise SpecError("every() takes a phase or an anchor, not both", field="phase", value=phase)
    recurrence = Recurrence(read_moment(anchor, _zone(tz), "anchor"), parse_duration(period, "every"))
    return _spec(tz, start, end, jitter, exclude, recurrences=(recurrence,), dst=dst or "")


def _read_parts(**parts: float) -> timedelta:
    for name, value in parts.items():
        if not isinstance(value, int | float):
            hint = f"write every({name}=15), or every('15m')"
            raise SpecError(f"{name} {short_repr(value)} is not a number", field=name, value=value, hint=hint)
    try:
        return timedelta(**parts)
    except (OverflowError, ValueError):  # too large, or not a number (NaN)
        arguments = ", ".join(f"{name}={short_repr(value)}" for name, value in parts.items() if value)
        raise SpecError(f"every({arguments}) is not a length of time", field="every") from None


@_refuse_unknown
def calendar(
    *,
    second: FieldValue = 0,
    minute: FieldValue = 0,
    hour: FieldValue = 0,
    day_of_month: FieldValue = "*",
    month: FieldValue = "*",
    year: FieldValue = "*",
    day_of_week: FieldValue = "*",
    comment: str = "",
    tz: Tz = "",
    dst: Dst | None = None,
    start: Moment | None = None,
    end: Moment | None = None,
    jitter: Length = "PT0S",
    exclude: Exclusion | Iterable[Exclusion] = (),
) -> Spec:
    """Build a spec from the fields of a calendar. A time must match all fields: `calendar(hour=9,
    day_of_week="mon-fri", tz="Europe/Berlin")`."""
    document = {
        "second": second,
        "minute": minute,
        "hour": hour,
        "day_of_month": day_of_month,
        "month": month,
        "year": year,
        "day_of_week": day_of_week,
        "comment": comment,
    }
    return _spec(tz, start, end, jitter, exclude, calendars=(read_calendar(document),), dst=dst or "")


def during(**fields: FieldValue) -> Calendar:
    """Build a calendar for an exclusion: `during(hour="12-13")` covers the whole hours 12 and 13, every day."""
    return read_calendar(fields, rest="*")


@_refuse_unknown
def once(
    *moments: Moment,
    tz: Tz = "",
    jitter: Length = "PT0S",
    exclude: Exclusion | Iterable[Exclusion] = (),
) -> Spec:
    """Build a spec from one or more single times: `once("2026-03-01T09:00Z")`."""
    if not moments:
        raise SpecError("once() needs a time", field="times", hint="write once('2026-03-01T09:00Z')")
    at = _zone(tz)
    return _spec(tz, None, None, jitter, exclude, times=tuple(read_moment(m, at, "time") for m in moments))


def manual() -> Spec:
    """Build a spec without times. Its schedule runs only when it is triggered or backfilled."""
    return Spec()


def _zone(tz: Tz) -> Zone | None:
    name = zone_name(tz)
    return zone(name) if name else None


def _spec(
    tz: Tz,
    start: Moment | None,
    end: Moment | None,
    jitter: Length,
    exclude: Exclusion | Iterable[Exclusion],
    **rest: Any,
) -> Spec:
    draft = Spec(tz=zone_name(tz), jitter=fixed_length(jitter, "jitter"), **rest)
    draft.check_choices()
    at = named_zone(draft)
    if isinstance(exclude, str | date | Calendar | Exclusions | Spec):
        exclude = [exclude]  # `read_exclusions` refuses a spec, with a hint
    if not isinstance(exclude, Iterable):
        raise SpecError(
            f"exclude {short_repr(exclude)} is not a list of exclusions",
            field="exclude",
            value=exclude,
            hint="write exclude=['2026-12-25', during(hour='12-13')], or leave it out",
        )
    spec = replace(
        draft,
        start=None if start is None else read_moment(start, at, "start"),
        end=None if end is None else read_moment(end, at, "end"),
        exclude=merged(read_exclusions(exclude, at)),
    )
    spec.check()
    return spec
