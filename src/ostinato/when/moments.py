"""What people write for a moment or a day, brought to the one instant they meant."""

from __future__ import annotations

from datetime import date, datetime

from ostinato.errors import SpecError
from ostinato.when.instants import SECOND, Micros, format_instant, from_datetime, read_instant, wall_micros
from ostinato.when.zones import zone


def resolve(moment: datetime, zone_name: str, field: str) -> Micros:
    """The one instant that was meant; a wall-clock reading that does not exist, or exists twice, is refused."""
    if moment.tzinfo is not None:
        return from_datetime(moment)
    if not zone_name:
        return read_instant(moment, field)
    wall = wall_micros(moment)
    second, fraction = divmod(wall, SECOND)
    table = zone(zone_name)
    found = table.instants(second)
    if len(found) == 1:
        return found[0] * SECOND + fraction
    if not found:
        after = table.first_at_or_past(second)
        raise SpecError(
            f"{field} {moment.isoformat()} does not exist in {zone_name}: the clock is put forward over it",
            field=field,
            value=moment.isoformat(),
            hint=f"the first moment after the gap is {format_instant(after * SECOND)}",
        )
    either = " or ".join(repr(format_instant(t * SECOND + fraction)) for t in found)
    raise SpecError(
        f"{field} {moment.isoformat()} happens twice in {zone_name}: the clock is put back over it",
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
    raise SpecError(f"{field} {value!r} is not a day", field=field, value=value, hint="write it as '2026-12-25'")
