"""What people write for a moment or a day, brought to the one instant they meant."""

from __future__ import annotations

from datetime import date, datetime

from ostinato.errors import SpecError, shown
from ostinato.when.instants import (
    SECOND,
    Micros,
    format_instant,
    from_datetime,
    read_datetime,
    read_instant,
    wall_micros,
)
from ostinato.when.zones import Zone


def read_moment(value: object, zone: Zone | None, field: str) -> Micros:
    """The one instant that was meant. A time without an offset is read on the wall of `zone`; without a zone,
    or where that reading does not exist or exists twice, it is refused."""
    moment = read_datetime(value, field)
    if moment.tzinfo is not None:
        return from_datetime(moment)
    if zone is None:
        return read_instant(moment, field)
    second, fraction = divmod(wall_micros(moment), SECOND)
    found = zone.instants(second)
    if len(found) == 1:
        return found[0] * SECOND + fraction
    if not found:
        after = zone.first_at_or_past(second)
        raise SpecError(
            f"{field} {moment.isoformat()} does not exist in {zone.name}: the clock is put forward over it",
            field=field,
            value=moment.isoformat(),
            hint=f"the first moment after the gap is {format_instant(after * SECOND)}",
        )
    either = " or ".join(repr(format_instant(t * SECOND + fraction)) for t in found)
    raise SpecError(
        f"{field} {moment.isoformat()} happens twice in {zone.name}: the clock is put back over it",
        field=field,
        value=moment.isoformat(),
        hint=f"say which: {either}",
    )


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
        hint += ", or give a stretch of time as a pair (first, end)"
    raise SpecError(f"{field} {shown(value)} is not a day", field=field, value=value, hint=hint)
