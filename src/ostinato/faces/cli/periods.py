"""What people type for a moment, for the beginning of a period and for its end. A day alone is the whole of it."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

from ostinato.when import format_instant
from ostinato.when.instants import SECOND, Micros, wall_micros
from ostinato.when.moments import read_moment
from ostinato.when.zones import Zone
from ostinato.when.zones import zone as load_zone

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
UTC = load_zone("UTC")


def read_time(text: str, option: str, zone: Zone = UTC) -> str:
    """A moment; without an offset it is wall-clock time in the zone. A day alone is its beginning."""
    return format_instant(first_of(text, option, zone))


def read_end(text: str, option: str, zone: Zone = UTC) -> str:
    """The same for the end of a period: a day alone is the whole of it."""
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
        return None  # no such day; who reads it as a moment says so


def _begin(day: date, zone: Zone) -> Micros:
    """The first moment of a day; where the clock is put forward over midnight, the first after the gap."""
    wall = wall_micros(datetime.combine(day, time())) // SECOND
    return (zone.instants(wall) or [zone.first_at_or_past(wall)])[0] * SECOND
