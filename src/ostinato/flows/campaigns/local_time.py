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
    """A part of the day, in the recipient's zone, in which nothing is sent. `begin` and `end` are minutes after
    midnight. If `begin` is greater than `end`, the quiet hours include midnight."""

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

    def as_json(self) -> dict[str, str]:
        return {"from": show_clock(self.begin), "to": show_clock(self.end)}


def next_clock(now: Micros, minute: int, zone: zones.Zone) -> Micros:
    """Return the first instant, `now` or later, when the time of day in the zone is `minute` minutes after midnight. If
    daylight saving skips that time of day, return the first instant after the gap."""
    second = -(-now // SECOND)
    wall = second + zone.offset(second)
    midnight = wall - wall % 86_400
    for day in range(3):
        instant = zone.first_at_or_past(midnight + day * 86_400 + minute * 60) * SECOND
        if instant >= now:
            return instant
    raise AssertionError("a day has every minute")


def read_quiet_hours(value: object, where: str) -> QuietHours:
    """Read the option `quiet_hours`. Raises OstinatoError if `value` is invalid."""
    if not isinstance(value, Mapping) or set(value) != {"from", "to"}:
        raise OstinatoError(f'{where} {short_repr(value)} is not {{"from": "22:00", "to": "08:00"}}')
    begin, end = read_clock(value["from"], f"{where}.from"), read_clock(value["to"], f"{where}.to")
    if begin == end:
        raise OstinatoError(f"{where}: from and to are both {value['to']!r}, so nothing could ever be sent")
    return QuietHours(begin, end)


def read_clock(value: object, where: str) -> int:
    """Return the minutes after midnight of a time of day such as `"22:00"`. Raises OstinatoError if `value` is not a
    time of day."""
    match = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise OstinatoError(f"{where} {short_repr(value)} is not a time of day such as '22:00'")
    return int(match["hour"]) * 60 + int(match["minute"])


def show_clock(minute: int) -> str:
    return f"{minute // 60:02}:{minute % 60:02}"
