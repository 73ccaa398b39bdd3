"""Convert points in time between microseconds since 1970 in UTC, datetimes, and RFC 3339 text, which users see."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TypeAlias

from ostinato.errors import SpecError, short_repr

Micros: TypeAlias = int
SECOND: Micros = 1_000_000
DAY_SECONDS = 86_400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NAIVE_EPOCH = EPOCH.replace(tzinfo=None)
_MICROSECOND = timedelta(microseconds=1)
# The range for times in a spec. One year is left free at both ends, so that every zone can display these times.
FIRST_MOMENT: Micros = (datetime(2, 1, 1, tzinfo=UTC) - EPOCH) // _MICROSECOND
LAST_MOMENT: Micros = (datetime(9999, 1, 1, tzinfo=UTC) - EPOCH) // _MICROSECOND - 1
_EARLIEST: Micros = (datetime.min.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND
_LEAP = re.compile(r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d):60(?:\.\d+)?([Zz]|[+-]\d\d:?\d\d)")
_LATEST: Micros = (datetime.max.replace(tzinfo=UTC) - EPOCH) // _MICROSECOND


def from_datetime(moment: datetime) -> Micros:
    """Return an aware datetime as microseconds since 1970 in UTC."""
    return (moment - EPOCH) // _MICROSECOND


def to_datetime(instant: Micros) -> datetime:
    return EPOCH + timedelta(microseconds=instant)


def optional_datetime(instant: Micros | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)


def wall_micros(naive: datetime) -> Micros:
    """Return a wall-clock time as microseconds since 1970-01-01T00:00 on the same wall clock."""
    return (naive - NAIVE_EPOCH) // _MICROSECOND


def format_instant(instant: Micros) -> str:
    text, _, fraction = to_datetime(instant).replace(tzinfo=None).isoformat().partition(".")
    fraction = fraction.rstrip("0")
    return f"{text}.{fraction}Z" if fraction else f"{text}Z"


def on_clock(instant: Micros, zone: tzinfo) -> str:
    """Return an instant as text: local time in a zone, with the offset. `read_instant` can read the text."""
    moment = to_datetime(instant).astimezone(zone)
    text = moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")
    return text.replace("+00:00", "Z")


def _leap_second(text: str) -> datetime | None:
    """Return the second after a leap second such as `2016-12-31T23:59:60Z`, because Unix time has no leap seconds.
    Return None if `text` is not a leap second at the end of a day in UTC. RFC 3339 allows no others."""
    match = _LEAP.fullmatch(text)
    if match is None:
        return None
    try:
        before = datetime.fromisoformat(f"{match[1]}:59{match[2]}")
        whole = before.astimezone(UTC)
        return before + timedelta(seconds=1) if (whole.hour, whole.minute) == (23, 59) else None
    except (ValueError, OverflowError):
        return None


def read_datetime(value: object, field: str) -> datetime:
    """Read an ISO 8601 text or a datetime, naive or aware. Raises `SpecError` for any other value."""
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
        f"{field} {short_repr(value)} is not a time",
        field=field,
        value=value,
        hint="write it as '2026-03-01T09:00:00Z' or '2026-03-01T09:00:00+01:00'",
    )


class OutOfCalendar(SpecError):
    """Raised if a valid time is outside the years 1 to 9999."""


def read_instant(value: object, field: str) -> Micros:
    """Read an aware datetime or a text with an offset. Raises `SpecError` for any other value, and `OutOfCalendar` for
    a time outside the years 1 to 9999 in UTC."""
    moment = read_datetime(value, field)
    if moment.tzinfo is None:
        raise SpecError(
            f"{field} {moment.isoformat()} has no offset, so it is ambiguous",
            field=field,
            value=value,
            hint=f"write '{moment.isoformat()}Z' for UTC, or give a zone",
        )
    instant = from_datetime(moment)
    if not _EARLIEST <= instant <= _LATEST:  # with its offset, the time is in another year
        raise OutOfCalendar(
            f"{field} {moment.isoformat()} is not within the years 1 to 9999 in UTC",
            field=field,
            value=value,
            hint="check the year",
        )
    return instant
