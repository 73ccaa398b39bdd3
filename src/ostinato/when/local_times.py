"""Read times and dates that users write. A time without an offset is local time in a zone."""

from __future__ import annotations

from datetime import date, datetime

from ostinato.errors import SpecError, short_repr
from ostinato.when.daylight_saving import instant_of_wall
from ostinato.when.instants import Micros, from_datetime, read_datetime, read_instant
from ostinato.when.zones import Zone


def read_moment(value: object, zone: Zone | None, field: str) -> Micros:
    """Return the instant of a text or a datetime. A time without an offset is wall-clock time in `zone`. Raises
    `SpecError` if there is neither offset nor zone, or if a change to or from daylight-saving time skips or repeats the
    time."""
    moment = read_datetime(value, field)
    if moment.tzinfo is not None:
        return from_datetime(moment)
    if zone is None:
        return read_instant(moment, field)
    return instant_of_wall(moment, zone, field)


def read_date(value: object, field: str) -> date:
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    try:
        if isinstance(value, str):
            return date.fromisoformat(value)
    except ValueError:
        pass
    hint = "write it as '2026-12-25'"
    if isinstance(value, datetime):
        hint += ", or give a span of time as a pair (first, end)"
    raise SpecError(f"{field} {short_repr(value)} is not a day", field=field, value=value, hint=hint)
