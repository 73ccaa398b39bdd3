"""Find the times of calendars across daylight-saving changes. `instant_of_wall` finds the instant of a single
wall-clock time.

When the clock is put forward, there is a gap: some wall-clock times do not exist. When the clock is put back, there is
a fold: some wall-clock times exist twice. Under the wall rule (`wall_source`), a calendar matches whenever the clock
shows a matching time. Under the cron rule (`fixed_wall_source`), each matching wall-clock time occurs exactly once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import datetime

from ostinato.errors import SpecError
from ostinato.when.instants import SECOND, Micros, format_instant, wall_micros
from ostinato.when.sources import Source, Step
from ostinato.when.wall_clock import WallClock
from ostinato.when.zones import Zone


class _WallSource:
    """A calendar's times under the wall rule: a time in a gap is left out, and a time in a fold occurs twice."""

    __slots__ = ("_wall", "_zone", "next")

    def __init__(self, wall: WallClock, zone: Zone) -> None:
        self._wall = wall
        self._zone = zone

        def following(  # for the defaults, see `wall_clock`
            after: Micros,
            next_wall: Step = wall.next,
            starts: Sequence[int] = zone.starts,
            offsets: Sequence[int] = zone.offsets,
            starts_wall: Sequence[int] = zone.starts_wall,
            ends_wall: Sequence[int] = zone.ends_wall,
        ) -> Micros:
            second = after // SECOND
            i = bisect_right(starts, second) - 1
            offset = offsets[i]
            origin = second + offset
            matching_wall = next_wall(origin)
            while matching_wall >= ends_wall[i]:
                i += 1
                begin = starts_wall[i]
                if begin <= origin or begin > matching_wall:  # a fold, or `matching_wall` lies in the gap
                    matching_wall = next_wall(begin - 1)
                offset = offsets[i]
            return (matching_wall - offset) * SECOND

        self.next: Step = following

    def previous(self, before: Micros) -> Micros:
        zone = self._zone
        second = -(-before // SECOND)
        i = bisect_left(zone.starts, second) - 1
        matching_wall = self._wall.previous(second + zone.offsets[i])
        while matching_wall < zone.starts_wall[i]:
            i -= 1
            matching_wall = self._wall.previous(zone.ends_wall[i])
        return (matching_wall - zone.offsets[i]) * SECOND


class _FixedWallSource:
    """A calendar's times under the cron rule: a time in a gap moves to the gap's end, a time in a fold occurs once."""

    __slots__ = ("_wall", "_zone", "next")

    def __init__(self, wall: WallClock, zone: Zone) -> None:
        self._wall = wall
        self._zone = zone

        def following(  # for the defaults, see `wall_clock`
            after: Micros,
            next_wall: Step = wall.next,
            starts: Sequence[int] = zone.starts,
            offsets: Sequence[int] = zone.offsets,
            ends_wall: Sequence[int] = zone.ends_wall,
            reach: Sequence[int] = zone.reach,
        ) -> Micros:
            second = after // SECOND
            i = bisect_right(starts, second) - 1
            wall_now = second + offsets[i]
            if wall_now < reach[i]:
                wall_now = reach[i] - 1
            matching_wall = next_wall(wall_now)
            while matching_wall >= ends_wall[i]:
                i += 1
            matching_second = matching_wall - offsets[i]
            return (matching_second if matching_second > starts[i] else starts[i]) * SECOND

        self.next: Step = following

    def previous(self, before: Micros) -> Micros:
        starts, offsets, reach = self._zone.starts, self._zone.offsets, self._zone.reach
        second = -(-before // SECOND) - 1
        i = bisect_right(starts, second) - 1
        matching_wall = self._wall.previous(max(reach[i], second + offsets[i] + 1))
        while matching_wall < reach[i]:
            i -= 1
        return max(starts[i], matching_wall - offsets[i]) * SECOND


class _UnchangingWallSource:
    """A calendar's times in a zone whose offset never changes, such as UTC. In such a zone, the wall rule and the cron
    rule for daylight saving give the same times."""

    __slots__ = ("_offset", "_wall", "next")

    def __init__(self, wall: WallClock, zone: Zone) -> None:
        self._wall = wall
        self._offset = zone.offsets[0]

        if self._offset:

            def following(after: Micros, next_wall: Step = wall.next, offset: int = self._offset) -> Micros:
                return (next_wall(after // SECOND + offset) - offset) * SECOND

            self.next: Step = following
        else:

            def following_utc(after: Micros, next_wall: Step = wall.next) -> Micros:
                return next_wall(after // SECOND) * SECOND

            self.next = following_utc

    def previous(self, before: Micros) -> Micros:
        return (self._wall.previous(-(-before // SECOND) + self._offset) - self._offset) * SECOND


def wall_source(wall: WallClock, zone: Zone) -> Source:
    """Return the times under the wall rule: a time in a gap is left out, and a time in a fold occurs twice."""
    return _WallSource(wall, zone) if len(zone.starts) > 1 else _UnchangingWallSource(wall, zone)


def fixed_wall_source(wall: WallClock, zone: Zone) -> Source:
    """Return the times under the cron rule: a time in a gap moves to the gap's end, a time in a fold occurs once."""
    return _FixedWallSource(wall, zone) if len(zone.starts) > 1 else _UnchangingWallSource(wall, zone)


def instant_of_wall(moment: datetime, zone: Zone, field: str) -> Micros:
    """Return the instant at which the clock shows `moment`, a naive datetime. If the clock never shows `moment`, or
    shows it twice, raise `SpecError` with a hint what to write instead."""
    second, fraction = divmod(wall_micros(moment), SECOND)
    seconds = zone.instants(second)
    if len(seconds) == 1:
        return seconds[0] * SECOND + fraction
    if not seconds:
        after = zone.first_at_or_past(second)
        raise SpecError(
            f"{field} {moment.isoformat()} does not exist in {zone.name}: the clock is put forward over it",
            field=field,
            value=moment.isoformat(),
            hint=f"the first moment after the gap is {format_instant(after * SECOND)}",
        )
    either = " or ".join(repr(format_instant(t * SECOND + fraction)) for t in seconds)
    raise SpecError(
        f"{field} {moment.isoformat()} happens twice in {zone.name}: the clock is put back over it",
        field=field,
        value=moment.isoformat(),
        hint=f"say which: {either}",
    )
