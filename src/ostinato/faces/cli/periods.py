"""Read times, and the beginning and end of periods. A date without a time means the whole day."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from ostinato.when import format_instant
from ostinato.when.instants import SECOND, Micros, wall_micros
from ostinato.when.local_times import read_moment
from ostinato.when.zones import Zone
from ostinato.when.zones import zone as load_zone

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
UTC = load_zone("UTC")


def read_time(text: str, option: str, zone: Zone = UTC) -> str:
    """Return the time in `text`, in the API's format. A time without an offset is a local time in `zone`. A date
    without a time is the beginning of that day in `zone`. `option` names the option in errors."""
    return format_instant(first_of(text, option, zone))


def read_end(text: str, option: str, zone: Zone = UTC) -> str:
    """Return the end of a period, in the API's format. `text` is the end. A time without an offset is a local time in
    `zone`. A date without a time is the last microsecond of that day in `zone`. `option` names the option in errors."""
    return format_instant(last_of(text, option, zone))


def first_of(text: str, option: str, zone: Zone) -> Micros:
    day = _day(text)
    return read_moment(text, zone, option) if day is None else _begin(day, zone)


def last_of(text: str, option: str, zone: Zone) -> Micros:
    day = _day(text)
    return read_moment(text, zone, option) if day is None else _begin(day + timedelta(days=1), zone) - 1


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()) if _DAY.fullmatch(text.strip()) else None
    except ValueError:
        return None  # there is no such day; `read_moment` raises the error


def _begin(day: date, zone: Zone) -> Micros:
    """Return the first instant of a day. If the clocks skip midnight, it is the first instant after the gap."""
    wall = wall_micros(datetime.combine(day, time())) // SECOND
    return (zone.instants(wall) or [zone.first_at_or_past(wall)])[0] * SECOND
