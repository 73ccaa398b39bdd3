"""Times of day in the zone of a recipient, for the options `quiet_hours` and `local_time`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ostinato.errors import OstinatoError, short_repr
from ostinato.when import zones
from ostinato.when.instants import SECOND, Micros

_CLOCK = re.compile(r"(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)")


@dataclass(frozen=True, slots=True)
class QuietHours:
    """A part of the day in which nothing is sent.

    `begin` and `end` are minutes after midnight in the recipient's zone. If `begin` is greater than `end`, the quiet
    hours include midnight.
    """

    begin: int
    end: int

    def until(self, now: Micros, zone: zones.Zone) -> Micros | None:
        """Return when the quiet hours end, or None if `now` is not within them."""
        second = now // SECOND
        wall = second + zone.offset(second)
        minute = wall % 86_400 // 60
        inside = self.begin <= minute < self.end if self.begin < self.end else minute >= self.begin or minute < self.end
        if not inside:
            return None
        return next_clock(now, self.end, zone)


def next_clock(now: Micros, minute: int, zone: zones.Zone) -> Micros:
    """Return the first instant, `now` or later, when it is `minute` minutes after midnight in the zone.

    If daylight saving skips that time of day, return the first instant after the gap.
    """
    second = -(-now // SECOND)
    wall = second + zone.offset(second)
    midnight = wall - wall % 86_400
    for day in range(3):
        instant = zone.first_at_or_past(midnight + day * 86_400 + minute * 60) * SECOND
        if instant >= now:
            return instant
    raise AssertionError("a day has every minute")


def read_quiet_hours(value: object, where: str) -> QuietHours:
    if not isinstance(value, Mapping) or set(value) != {"from", "to"}:
        raise OstinatoError(f'{where} {short_repr(value)} is not {{"from": "22:00", "to": "08:00"}}')
    begin, end = read_clock(value["from"], f"{where}.from"), read_clock(value["to"], f"{where}.to")
    if begin == end:
        raise OstinatoError(f"{where}: from and to are both {value['to']!r}, so nothing could ever be sent")
    return QuietHours(begin, end)


def read_clock(value: object, where: str) -> int:
    """Return a time of day such as `"22:00"` as minutes after midnight. Raises OstinatoError for any other value."""
    match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise OstinatoError(f"{where} {short_repr(value)} is not a time of day such as '22:00'")
    return int(match["hour"]) * 60 + int(match["minute"])
