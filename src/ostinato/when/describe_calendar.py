"""Describe a calendar in words: "At 09:00 on weekdays", or as an exclusion: "during hours 12 and 13"."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ostinato.when.calendars import Calendar
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

_MANY_TIMES = 6
_NTH = ("", "first", "second", "third", "fourth", "fifth")


def describe_calendar(calendar: Calendar, either: bool = False) -> str:
    if not all(calendar.items(f) for f in (SECOND_FIELD, MINUTE_FIELD, HOUR_FIELD, DAY_OF_MONTH, MONTH, DAY_OF_WEEK)):
        return "Never, a field being empty"
    return _time(calendar) + _date(calendar, either)


def describe_excluded(calendar: Calendar) -> str:
    """Describe what an excluded calendar covers: whole days, hours or minutes, such as `during hours 12 and 13`. If it
    covers only single seconds, describe its times."""
    if _all(calendar, SECOND_FIELD) and _all(calendar, MINUTE_FIELD):
        return (_hours(calendar) + _date(calendar, False)).strip() or "always"
    if _all(calendar, SECOND_FIELD):
        return f"during {_minutes(calendar)}{_date(calendar, False)}"
    words = describe_calendar(calendar)
    return words[0].lower() + words[1:]


# The time of day


def _time(calendar: Calendar) -> str:
    seconds, minutes, hours = (_values(calendar, f) for f in (SECOND_FIELD, MINUTE_FIELD, HOUR_FIELD))
    if len(seconds) * len(minutes) * len(hours) <= _MANY_TIMES:
        return "At " + join([_clock(h, m, s) for h in hours for m in minutes for s in seconds])
    if len(seconds) > 1:
        words = _every(calendar, SECOND_FIELD, "of the minute")
        return words + (_hours(calendar) if len(minutes) == 60 else f" during {_minutes(calendar)}")
    (second,) = seconds
    if minutes == (0,) and not second:
        return _every(calendar, HOUR_FIELD, "of the day")
    if len(minutes) == 1:
        past = [count(n, unit) for n, unit in ((minutes[0], "minute"), (second, "second")) if n]
        return f"At {join(past)} past {'every hour' if len(hours) == 24 else _hour_words(calendar)}"
    if not second:
        return _every(calendar, MINUTE_FIELD, "of the hour") + _hours(calendar)
    if len(minutes) == 60:
        return f"At second {second} of every minute{_hours(calendar)}"
    if _repeat_step(calendar, MINUTE_FIELD):
        return f"{_every(calendar, MINUTE_FIELD, 'of the hour')} at second {second}{_hours(calendar)}"
    return f"At second {second} of {_minutes(calendar)}"


def _every(calendar: Calendar, field: Field, of: str) -> str:
    """Describe the values of a field: `Every 5 minutes`, `Every 15 minutes from minute 5 through 50`."""
    values = _values(calendar, field)
    step = _repeat_step(calendar, field)
    if step == 0:
        return f"At {_numbers(calendar, field)} {of}"
    often = f"Every {field.name}" if step == 1 else f"Every {step} {field.name}s"
    if _wraps_around(values, field):
        return often
    if field is HOUR_FIELD:
        return f"{often} from {values[0]:02d}:00 through {values[-1]:02d}:00"
    return f"{often} from {field.name} {values[0]} through {values[-1]} {of}"


def _minutes(calendar: Calendar) -> str:
    """Describe minutes and hours: `minute 30 of the hour`, `minutes 0–29 of hours 9 and 17`."""
    hours = _hours(calendar)
    of = hours.removeprefix(" during") if hours.startswith(" during") else f" the hour{hours}"
    return f"{_numbers(calendar, MINUTE_FIELD)} of{of}"


def _hours(calendar: Calendar) -> str:
    hours = _values(calendar, HOUR_FIELD)
    if len(hours) == 24:
        return ""
    if _step(hours) == 1:
        return f" from {hours[0]:02d}:00 through {hours[-1]:02d}:59"
    return f" during {_hour_words(calendar)}"


def _hour_words(calendar: Calendar) -> str:
    hours = _values(calendar, HOUR_FIELD)
    step = _step(hours)
    if step > 1 and len(hours) > 3:
        return f"every {_ordinal(step)} hour from {hours[0]:02d}:00 through {hours[-1]:02d}:00"
    return f"hour{'s' if len(hours) > 1 else ''} {join([_run(r) for r in _runs(calendar, HOUR_FIELD)])}"


def _clock(hour: int, minute: int, second: int) -> str:
    return f"{hour:02d}:{minute:02d}" + (f":{second:02d}" if second else "")


# The day


def _date(calendar: Calendar, either: bool) -> str:
    months = "" if _all(calendar, MONTH) else f" in {join([_month(v) for v in _runs(calendar, MONTH)])}"
    years = f" in {join([_run(v) for v in _runs(calendar, YEAR)])}" if calendar.year else ""
    return _days(calendar, either) + months + years


def _days(calendar: Calendar, either: bool) -> str:
    by_date = "" if _all(calendar, DAY_OF_MONTH) else _dates(calendar)
    by_weekday = "" if _all(calendar, DAY_OF_WEEK) else _weekdays(calendar)
    if by_date and by_weekday:
        return f" on {by_date} or on {by_weekday}" if either else f" on {by_date} if it is {_one_weekday(calendar)}"
    if either:
        return ""
    return f" on {by_date or by_weekday}" if by_date or by_weekday else ""


def _dates(calendar: Calendar) -> str:
    rules = [_rule(i) for i in calendar.day_of_month if isinstance(i, DayRule)]
    values = _values(calendar, DAY_OF_MONTH)
    step = _step(values)
    days: list[str] = []
    if step > 1 and len(values) > 3:
        days = [f"every {_ordinal(step)} day from the {_ordinal(values[0])} through the {_ordinal(values[-1])}"]
    elif values:
        days = ["the " + join([_ordinal_run(r) for r in _runs(calendar, DAY_OF_MONTH)])]
    tail = " of the month" if _all(calendar, MONTH) else ""
    return join(days + rules) + tail


def _weekdays(calendar: Calendar) -> str:
    values = _values(calendar, DAY_OF_WEEK)
    rules = [_rule(i) for i in calendar.day_of_week if isinstance(i, DayRule)]
    days: list[str] = []
    if values == (1, 2, 3, 4, 5):
        days = ["weekdays"]
    elif values == (0, 6):
        days = ["weekends"]
    else:
        for first, last in _runs(calendar, DAY_OF_WEEK):
            names = [WEEKDAYS[n].title() for n in (first, last)]
            days.append(names[0] if first == last else " through ".join(names))
    return join(days + rules)


def _one_weekday(calendar: Calendar) -> str:
    """Describe weekdays in the singular: `a weekday`, `a Monday or Friday`, `the second Friday of the month`."""
    values = _values(calendar, DAY_OF_WEEK)
    rules = [_rule(i) for i in calendar.day_of_week if isinstance(i, DayRule)]
    names = [WEEKDAYS[n].title() for n in values]
    days = {(1, 2, 3, 4, 5): ["weekday"], (0, 6): ["weekend day"]}.get(values, names)
    return join([*(f"a {d}" for d in days[:1]), *days[1:], *rules], "or")


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


# Numbers and lists


def _values(calendar: Calendar, field: Field) -> tuple[int, ...]:
    return tuple(sorted({v for i in calendar.items(field) if isinstance(i, Range) for v in i.values()}))


def _all(calendar: Calendar, field: Field) -> bool:
    return len(_values(calendar, field)) == field.high - field.low + 1


def _step(values: Sequence[int]) -> int:
    """Return the difference between neighbouring values, or 0 if it varies or there are fewer than three values."""
    steps = {b - a for a, b in pairwise(values)}
    return steps.pop() if len(steps) == 1 and len(values) > 2 else 0


def _repeat_step(calendar: Calendar, field: Field) -> int:
    """Return the constant difference between neighbouring values of a field, or 0:

    - If the field has three or more values, and all differences are equal, return the difference.
    - If the field has two values that divide its range evenly, as the minutes 0 and 30 do, return their difference.
    - In all other cases, return 0.
    """
    values = _values(calendar, field)
    if len(values) == 2 and _wraps_around(values, field):
        return values[1] - values[0]
    return _step(values)


def _wraps_around(values: Sequence[int], field: Field) -> bool:
    """Return whether equally spaced values begin at the field's minimum and divide its range evenly. The minutes 0, 20,
    40 do. The minutes 0, 25, 50 and 5, 25, 45 do not."""
    size = field.high - field.low + 1
    return values[0] == field.low and values[1] - values[0] == field.low + size - values[-1]


def _runs(calendar: Calendar, field: Field) -> list[tuple[int, int]]:
    """Return the values of a field as ranges (first, last). A range of only two values, for example 1 and 2, is split
    into (1, 1) and (2, 2), because "1 and 2" reads better than "1–2"."""
    runs: list[list[int]] = []
    for value in _values(calendar, field):
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    pieces: list[tuple[int, int]] = []
    for run in runs:
        pieces += [(v, v) for v in run] if len(run) == 2 else [(run[0], run[-1])]
    return pieces


def _numbers(calendar: Calendar, field: Field) -> str:
    runs = _runs(calendar, field)
    many = "s" if len(_values(calendar, field)) > 1 else ""
    return f"{field.name}{many} {join([_run(r) for r in runs])}"


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


def count(number: int, unit: str) -> str:
    return f"{number} {unit}{'s' if number != 1 else ''}"


def join(words: Sequence[str], last: str = "and") -> str:
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
