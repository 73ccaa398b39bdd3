"""Compute when a timer state fires: after an ISO 8601 duration, or at an RFC 3339 time."""

from __future__ import annotations

from calendar import monthrange
from datetime import timedelta

from ostinato.errors import SpecError
from ostinato.journeys.language.states import Timer
from ostinato.journeys.machine.values import UnusableValue
from ostinato.model import Json
from ostinato.when.durations import TooLong, parse_duration
from ostinato.when.instants import LAST_MOMENT, Micros, from_datetime, read_instant, to_datetime


def timer_due(state: Timer, value: Json, now: Micros) -> Micros:
    """Return when a timer state fires. `value` is its duration or its time. A time in the past is returned as it is.
    Raise `UnusableValue` if the value is invalid."""
    return _read_time(value) if state.timer.duration is None else _add_duration(value, now)


def _add_duration(duration: Json, now: Micros) -> Micros:
    """Return `now` plus an ISO 8601 duration. One calendar month after January 31 is the last day of February."""
    if not isinstance(duration, str) or not duration.startswith("P"):
        raise UnusableValue("the duration is not an ISO 8601 duration such as PT5M")
    try:
        length = parse_duration(duration)
        at = to_datetime(now)
        year, month = divmod(at.year * 12 + at.month - 1 + length.months, 12)
        day = min(at.day, monthrange(year, month + 1)[1])
        at = at.replace(year=year, month=month + 1, day=day) + timedelta(microseconds=length.exact)
    except (TooLong, OverflowError):
        raise UnusableValue("the duration ends after the year 9999") from None
    except (SpecError, ValueError):
        raise UnusableValue("the duration is not an ISO 8601 duration such as PT5M") from None
    return min(from_datetime(at), LAST_MOMENT)


def _read_time(until: Json) -> Micros:
    try:
        return read_instant(until, "until")
    except SpecError:
        raise UnusableValue("the time is not an RFC 3339 time such as 2026-12-31T23:59:00Z") from None
