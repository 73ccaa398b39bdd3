"""A spec in plain words: "At 09:00 on weekdays, Europe/Berlin"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ostinato.when.calendars import Calendar
from ostinato.when.crontab import parse_cron
from ostinato.when.durations import DAY, Duration
from ostinato.when.exclusions import Exclusions
from ostinato.when.fields import (
    DAY_OF_MONTH,
    DAY_OF_WEEK,
    HOUR_FIELD,
    MINUTE_FIELD,
    MONTH,
    MONTHS,
    SECOND_FIELD,
    WEEKDAYS,
    YEAR,
    DayRule,
    Field,
    Range,
)
from ostinato.when.instants import SECOND, Micros, to_datetime

if TYPE_CHECKING:
    from ostinato.when.spec import Recurrence, Spec

_MANY_TIMES = 6
_MANY_DATES = 4
_NTH = ("", "first", "second", "third", "fourth", "fifth")


def describe(spec: Spec) -> str:
    """One sentence per source, then what holds for all of them."""
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
    zone = spec.compiled.zone.name
    uses_zone = spec.crons or spec.calendars or spec.recurrences or spec.times or spec.exclude
    return f"{words}, {zone}" if uses_zone else words


def describe_calendar(calendar: Calendar, either: bool = False) -> str:
    if not all(calendar.items(f) for f in (SECOND_FIELD, MINUTE_FIELD, HOUR_FIELD, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)):
        return "Never, a field being empty"
    days = _days(calendar, either)
    months = "" if _all(calendar, MONTH) else f" in {_join([_month(v) for v in _runs(calendar, MONTH)])}"
    years = f" in {_join([_run(v) for v in _runs(calendar, YEAR)])}" if calendar.year else ""
    return _time(calendar) + days + months + years


# The time of day


def _time(calendar: Calendar) -> str:
    seconds, minutes, hours = (_values(calendar, f) for f in (SECOND_FIELD, MINUTE_FIELD, HOUR_FIELD))
    if len(seconds) * len(minutes) * len(hours) <= _MANY_TIMES:
        return "At " + _join([_clock(h, m, s) for h in hours for m in minutes for s in seconds])
    during = _hours(calendar)
    if len(seconds) > 1:
        words = _every(calendar, SECOND_FIELD, "of the minute")
        if len(minutes) < 60:
            words += f" during {_numbers(calendar, MINUTE_FIELD)}"
        return words + during
    if seconds == (0,):
        if len(minutes) == 1 and minutes != (0,):
            past = f"At {minutes[0]} minute{'s' if minutes[0] != 1 else ''} past "
            return past + ("every hour" if len(hours) == 24 else _hour_words(calendar))
        if minutes == (0,):
            return _every(calendar, HOUR_FIELD, "of the day") if len(hours) > 1 else f"At {_clock(hours[0], 0, 0)}"
        return _every(calendar, MINUTE_FIELD, "of the hour") + during
    return f"At second {seconds[0]} of {_every(calendar, MINUTE_FIELD, 'of the hour').lower()}{during}"


def _every(calendar: Calendar, field: Field, of: str) -> str:
    """`Every 5 minutes`, `Every 15 minutes from 5 through 50`, `At minutes 1, 2 and 7 of the hour`."""
    found = _values(calendar, field)
    step = _step(found)
    size = field.high - field.low + 1
    if step == 0:
        return f"At {_numbers(calendar, field)} {of}"
    often = f"Every {field.name}" if step == 1 else f"Every {step} {field.name}s"
    whole = found[0] == field.low and found[-1] + step > field.high and (step == 1 or size % step == 0)
    if whole:
        return often
    if field is HOUR_FIELD:
        return f"{often} from {found[0]:02d}:00 through {found[-1]:02d}:00"
    return f"{often} from {field.name} {found[0]} through {found[-1]} {of}"


def _hours(calendar: Calendar) -> str:
    hours = _values(calendar, HOUR_FIELD)
    if len(hours) == 24:
        return ""
    step = _step(hours)
    if step == 1 and len(hours) > 1:
        return f" from {hours[0]:02d}:00 through {hours[-1]:02d}:59"
    return f" during {_hour_words(calendar)}"


def _hour_words(calendar: Calendar) -> str:
    hours = _values(calendar, HOUR_FIELD)
    step = _step(hours)
    if step > 1 and len(hours) > 3:
        return f"every {step} hours from {hours[0]:02d}:00 through {hours[-1]:02d}:00"
    return f"hour{'s' if len(hours) > 1 else ''} {_join([_run(r) for r in _runs(calendar, HOUR_FIELD)])}"


def _clock(hour: int, minute: int, second: int) -> str:
    return f"{hour:02d}:{minute:02d}" + (f":{second:02d}" if second else "")


# The day


def _days(calendar: Calendar, either: bool) -> str:
    by_date = "" if _all(calendar, DAY_OF_MONTH) else _dates(calendar)
    by_weekday = "" if _all(calendar, DAY_OF_WEEK) else _weekdays(calendar)
    if by_date and by_weekday:
        return f" on {by_date} or on {by_weekday}" if either else f" on {by_date} if it is {_singular(by_weekday)}"
    if either:
        return ""
    return f" on {by_date or by_weekday}" if by_date or by_weekday else ""


def _dates(calendar: Calendar) -> str:
    rules = [_rule(i) for i in calendar.day_of_month if isinstance(i, DayRule)]
    found = _values(calendar, DAY_OF_MONTH)
    step = _step(found)
    days: list[str] = []
    if step > 1 and len(found) > 3:
        days = [f"every {_ordinal(step)} day from the {_ordinal(found[0])} through the {_ordinal(found[-1])}"]
    elif found:
        days = ["the " + _join([_ordinal_run(r) for r in _runs(calendar, DAY_OF_MONTH)])]
    tail = " of the month" if _all(calendar, MONTH) else ""
    return _join(days + rules) + tail


def _weekdays(calendar: Calendar) -> str:
    found = _values(calendar, DAY_OF_WEEK)
    rules = [_rule(i) for i in calendar.day_of_week if isinstance(i, DayRule)]
    days: list[str] = []
    if found == (1, 2, 3, 4, 5):
        days = ["weekdays"]
    elif found == (0, 6):
        days = ["weekends"]
    else:
        for first, last in _runs(calendar, DAY_OF_WEEK):
            names = [WEEKDAYS[n].title() for n in (first, last)]
            days.append(names[0] if first == last else " through ".join(names))
    return _join(days + rules)


def _singular(weekdays: str) -> str:
    return {"weekdays": "a weekday", "weekends": "a weekend day"}.get(
        weekdays, "a " + weekdays.replace(" and ", " or ")
    )


def _rule(rule: DayRule) -> str:
    match rule.kind:
        case "last_day":
            return "the last day"
        case "last_workday":
            return "the last weekday"
        case "nearest_workday":
            return f"the weekday nearest the {_ordinal(rule.number)}"
        case "nth_weekday":
            return f"the {_NTH[rule.nth]} {WEEKDAYS[rule.number].title()} of the month"
        case _:
            return f"the last {WEEKDAYS[rule.number].title()} of the month"


# Everything but calendars


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
        return "At " + _join([_moment(t, spec) for t in ordered])
    return f"At {len(ordered)} single times from {_moment(ordered[0], spec)} through {_moment(ordered[-1], spec)}"


def _exclusions(exclude: Exclusions, spec: Spec) -> str:
    parts = [_excluded_calendar(c) for c in exclude.calendars]
    if len(exclude.dates) > _MANY_DATES:
        parts.append(f"{len(exclude.dates)} days from {exclude.dates[0]} through {exclude.dates[-1]}")
    else:
        parts += [day.isoformat() for day in exclude.dates]
    if len(exclude.spans) > _MANY_DATES:
        parts.append(f"{len(exclude.spans)} stretches of time")
    else:
        parts += [f"from {_moment(a, spec)} to {_moment(b, spec)}" for a, b in exclude.spans]
    return _join(parts)


def _excluded_calendar(calendar: Calendar) -> str:
    """What a calendar covers, when it is a whole minute, hour or day, else when it matches."""
    whole_minutes = _all(calendar, SECOND_FIELD)
    if whole_minutes and _all(calendar, MINUTE_FIELD):
        words = describe_calendar(calendar).partition(" on ")
        hours = _hours(calendar).strip()
        rest = _days(calendar, False)
        if not _all(calendar, MONTH):
            rest += f" in {_join([_month(v) for v in _runs(calendar, MONTH)])}"
        if calendar.year:
            rest += f" in {_join([_run(v) for v in _runs(calendar, YEAR)])}"
        return (hours + rest).strip() or words[0].lower()
    words_of = describe_calendar(calendar)
    return words_of[0].lower() + words_of[1:]


def _length(length: Duration, article: bool = True) -> str:
    years, months = divmod(length.months, 12)
    days, rest = divmod(length.exact, DAY)
    hours, rest = divmod(rest, 3600 * SECOND)
    minutes, rest = divmod(rest, 60 * SECOND)
    parts = [(years, "year"), (months, "month"), (days, "day"), (hours, "hour"), (minutes, "minute")]
    words = [f"{n} {unit}{'s' if n != 1 else ''}" for n, unit in parts if n]
    if rest:
        seconds = f"{rest / SECOND:.6f}".rstrip("0").rstrip(".")
        words.append(f"{seconds} second{'s' if seconds != '1' else ''}")
    if not article and len(words) == 1 and words[0].startswith("1 "):
        return words[0][2:]
    return _join(words) or "no time"


def _moment(instant: Micros, spec: Spec) -> str:
    shown = to_datetime(instant).astimezone(spec.tzinfo).replace(tzinfo=None).isoformat(sep=" ")
    return shown.removesuffix(":00")


# Numbers and lists


def _values(calendar: Calendar, field: Field) -> tuple[int, ...]:
    return tuple(sorted({v for i in calendar.items(field) if isinstance(i, Range) for v in i.values()}))


def _all(calendar: Calendar, field: Field) -> bool:
    return len(_values(calendar, field)) == field.high - field.low + 1


def _step(found: Sequence[int]) -> int:
    """The one distance between neighbours, or 0; a single value or a pair is not a rhythm."""
    steps = {b - a for a, b in pairwise(found)}
    return steps.pop() if len(steps) == 1 and len(found) > 2 else 0


def _runs(calendar: Calendar, field: Field) -> list[tuple[int, int]]:
    """Stretches of neighbouring values; two neighbours stay apart, since a range of two reads worse."""
    runs: list[list[int]] = []
    for value in _values(calendar, field):
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    found: list[tuple[int, int]] = []
    for run in runs:
        found += [(v, v) for v in run] if len(run) == 2 else [(run[0], run[-1])]
    return found


def _numbers(calendar: Calendar, field: Field) -> str:
    found = _runs(calendar, field)
    many = "s" if len(_values(calendar, field)) > 1 else ""
    return f"{field.name}{many} {_join([_run(r) for r in found])}"


def _run(run: tuple[int, int]) -> str:
    return str(run[0]) if run[0] == run[1] else f"{run[0]}–{run[1]}"


def _month(run: tuple[int, int]) -> str:
    first, last = (MONTHS[n - 1].title() for n in run)
    return first if first == last else f"{first} through {last}"


def _ordinal(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _ordinal_run(run: tuple[int, int]) -> str:
    return _ordinal(run[0]) if run[0] == run[1] else f"{_ordinal(run[0])} through {_ordinal(run[1])}"


def _join(words: Sequence[str]) -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
