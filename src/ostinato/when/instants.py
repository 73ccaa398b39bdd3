"""Points in time: integer microseconds since 1970 in UTC inside, RFC 3339 outside."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeAlias

from ostinato.errors import SpecError, shown

Micros: TypeAlias = int
SECOND: Micros = 1_000_000
DAY_SECONDS = 86_400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAIVE_EPOCH = EPOCH.replace(tzinfo=None)
_MICROSECOND = timedelta(microseconds=1)
# What a spec may hold. A year is kept at both ends, so that every zone can show it.
FIRST_MOMENT: Micros = (datetime(2, 1, 1, tzinfo=UTC) - EPOCH) // _MICROSECOND
LAST_MOMENT: Micros = (datetime(9999, 1, 1, tzinfo=UTC) - EPOCH) // _MICROSECOND - 1
_EARLIEST: Micros = (datetime.min.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND
_LEAP = re.compile(r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d):60(?:\.\d+)?([Zz]|[+-]\d\d:?\d\d)")
_LATEST: Micros = (datetime.max.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND


def from_datetime(moment: datetime) -> Micros:
    """The instant of an aware datetime."""
    return (moment - EPOCH) // _MICROSECOND


def to_datetime(instant: Micros) -> datetime:
    return EPOCH + timedelta(microseconds=instant)


def wall_micros(naive: datetime) -> Micros:
    """A wall-clock reading as microseconds since 1970-01-01T00:00 on that same wall."""
    return (naive - NAIVE_EPOCH) // _MICROSECOND


def format_instant(instant: Micros) -> str:
    text, _, fraction = to_datetime(instant).replace(tzinfo=None).isoformat().partition(".")
    fraction = fraction.rstrip("0")
    return f"{text}.{fraction}Z" if fraction else f"{text}Z"


def on_clock(instant: Micros, zone: tzinfo) -> str:
    """A moment on the clock of a zone, with its offset: in a form that can be given back."""
    moment = to_datetime(instant).astimezone(zone)
    shown = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return shown.replace("+00:00", "Z")


def _leap_second(text: str) -> datetime | None:
    """`2016-12-31T23:59:60Z`, which RFC 3339 allows at the end of a day in UTC: the moment after it, since clocks that
    count seconds have none of their own for it."""
    found = _LEAP.fullmatch(text)
    if found is None:
        return None
    try:
        before = datetime.fromisoformat(f"{found[1]}:59{found[2]}")
        whole = before.astimezone(UTC)
        return before + timedelta(seconds=1) if (whole.hour, whole.minute) == (23, 59) else None
    except (ValueError, OverflowError):
        return None


def read_datetime(value: object, field: str) -> datetime:
    """An ISO 8601 text or a datetime, naive or aware, as a datetime."""
    if isinstance(value, datetime):
        return value
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip())
        except ValueError:
            leap = _leap_second(value.strip())
            if leap is not None:
                return leap
    raise SpecError(
        f"{field} {shown(value)} is not a time",
        field=field,
        value=value,
        hint="write it as '2026-03-01T09:00:00Z' or '2026-03-01T09:00:00+01:00'",
    )


class OutOfCalendar(SpecError):
    """A time that can be read, and lies outside the years that there are."""


def read_instant(value: object, field: str) -> Micros:
    """An instant from an aware datetime or a text with an offset; a time without one is ambiguous."""
    moment = read_datetime(value, field)
    if moment.tzinfo is None:
        raise SpecError(
            f"{field} {moment.isoformat()} has no offset, so it could be any of two dozen instants",
            field=field,
            value=value,
            hint=f"write '{moment.isoformat()}Z' for UTC, or give a zone",
        )
    found = from_datetime(moment)
    if not _EARLIEST <= found <= _LATEST:  # its offset has taken it out of the calendar
        raise OutOfCalendar(
            f"{field} {moment.isoformat()} is not within the years 1 to 9999 in UTC",
            field=field,
            value=value,
            hint="write a time of this era",
        )
    return found
