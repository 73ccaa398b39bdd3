"""Describe a spec in words: "At 09:00 on weekdays, Europe/Berlin"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ostinato.when.cron_strings import parse_cron
from ostinato.when.describe_calendar import count, describe_calendar, describe_excluded, join
from ostinato.when.durations import DAY, Duration
from ostinato.when.exclusions import Exclusions
from ostinato.when.instants import SECOND, Micros, to_datetime

if TYPE_CHECKING:
    from ostinato.when.spec import Recurrence, Spec

_MANY_DATES = 4


def describe(spec: Spec) -> str:
    """Return a description of the spec: its sources, such as cron strings, then exclusions, bounds, jitter and zone."""
    sources: list[str] = []
    for text in spec.crons:
        cron = parse_cron(text, spec.dialect)
        if cron.calendar is None:
            sources.append(_interval(cron.every, cron.phase))
        else:
            sources.append(describe_calendar(cron.calendar, cron.either))
    sources += [describe_calendar(c) for c in spec.calendars]
    sources += [_interval(i.every, i.phase) for i in spec.intervals]
    sources += [_recurrence(r, spec) for r in spec.recurrences]
    if spec.times:
        sources.append(_times(spec))
    if not sources:
        return "Only when asked to"
    words = "; ".join([sources[0], *(s[0].lower() + s[1:] for s in sources[1:])])
    if spec.exclude:
        words += f", except {_exclusions(spec.exclude, spec)}"
    if spec.start is not None:
        words += f", from {_moment(spec.start, spec)}"
    if spec.end is not None:
        words += f", until {_moment(spec.end, spec)}"
    if spec.jitter:
        words += f", each up to {_length(Duration(micros=spec.jitter))} late"
    only_intervals = not (spec.crons or spec.calendars or spec.recurrences or spec.times)
    if only_intervals and not spec.exclude and spec.start is None and spec.end is None:
        return words  # such a spec does not depend on the zone
    return f"{words}, {spec.compiled.zone.name}"


def _interval(every: Micros, phase: Micros) -> str:
    words = f"Every {_length(Duration(micros=every), article=False)}"
    if phase:
        words += f", {_length(Duration(micros=phase))} past"
    return words


def _recurrence(recurrence: Recurrence, spec: Spec) -> str:
    return f"Every {_length(recurrence.period, article=False)} from {_moment(recurrence.anchor, spec)}"


def _times(spec: Spec) -> str:
    ordered = sorted(set(spec.times))
    if len(ordered) <= _MANY_DATES:
        return "At " + join([_moment(t, spec) for t in ordered])
    return f"At {len(ordered)} single times from {_moment(ordered[0], spec)} through {_moment(ordered[-1], spec)}"


def _exclusions(exclude: Exclusions, spec: Spec) -> str:
    parts = list(dict.fromkeys(describe_excluded(c) for c in exclude.calendars))
    dates, spans = sorted(set(exclude.dates)), sorted(set(exclude.spans))
    if len(dates) > _MANY_DATES:
        parts.append(f"{len(dates)} days from {dates[0]} through {dates[-1]}")
    else:
        parts += [day.isoformat() for day in dates]
    if len(spans) > _MANY_DATES:
        parts.append(f"{len(spans)} spans of time")
    else:
        parts += [f"from {_moment(a, spec)} to {_moment(b, spec)}" for a, b in spans]
    return join(parts)


def _length(length: Duration, article: bool = True) -> str:
    years, months = divmod(length.months, 12)
    days, rest = divmod(length.exact, DAY)
    hours, rest = divmod(rest, 3600 * SECOND)
    minutes, rest = divmod(rest, 60 * SECOND)
    parts = [(years, "year"), (months, "month"), (days, "day"), (hours, "hour"), (minutes, "minute")]
    words = [count(n, unit) for n, unit in parts if n]
    if rest:
        seconds = f"{rest / SECOND:.6f}".rstrip("0").rstrip(".")
        words.append(f"{seconds} second{'s' if seconds != '1' else ''}")
    if not article and len(words) == 1 and words[0].startswith("1 "):
        return words[0][2:]
    return join(words) or "no time"


def _moment(instant: Micros, spec: Spec) -> str:
    """Return an instant as wall-clock time. The UTC offset is added if the clock shows this time twice."""
    local = to_datetime(instant).astimezone(spec.tzinfo)
    reading = local.replace(tzinfo=None).isoformat(sep=" ")
    offset = local.isoformat(sep=" ").removeprefix(reading)
    words = reading.rstrip("0") if local.microsecond else reading.removesuffix(":00")
    zone, second = spec.compiled.zone, instant // SECOND
    return words + offset if len(zone.instants(second + zone.offset(second))) > 1 else words
