"""Match a calendar against the wall clock, without regard to time zones.

A wall second is a number that represents a wall-clock time: the seconds since 1970-01-01T00:00 on the same wall clock.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from functools import lru_cache

from ostinato.when.calendars import Calendar
from ostinato.when.days import DayPattern, Days, day_pattern, days_for
from ostinato.when.fields import mask, values
from ostinato.when.instants import DAY_SECONDS


class WallClock:
    """The wall-clock seconds that match one calendar. `next(after)` returns the first match later than `after`, and
    `previous(before)` returns the last match earlier than `before`. The matches are found with tables. `size` is the
    number of entries in these tables."""

    __slots__ = ("_days", "_seconds", "_starts", "days", "hours", "minutes", "next", "seconds", "size")

    def __init__(self, calendar: Calendar, either: bool = False) -> None:
        self.seconds = mask(calendar.second)
        self.minutes = mask(calendar.minute)
        self.hours = mask(calendar.hour)
        self.days = day_pattern(calendar, either)
        self._days = days_for(self.days)
        self._starts = starts = _minute_starts(self.hours, self.minutes)
        self._seconds = seconds = values(self.seconds)
        self.size = len(starts) if len(seconds) == 1 and seconds[0] else len(seconds)
        self.next: Step
        if not starts or not seconds:
            self.next = _never
        elif len(seconds) == 1:
            # most calendars share one table
            times = starts if seconds[0] == 0 else tuple(s + seconds[0] for s in starts)
            self.next = _step_by_time_of_day(self.days, times)
        else:
            self.next = _step_by_minute_and_second(self.days, starts, seconds)

    def previous(self, before: int) -> int:
        starts, seconds = self._starts, self._seconds
        if not starts or not seconds:
            return -_NEVER
        days = self._days
        day, time = divmod(before, DAY_SECONDS)
        if days.at_or_before(day) == day:
            at = bisect_left(starts, time)
            if at:
                within = bisect_left(seconds, time - starts[at - 1])
                if within:
                    return day * DAY_SECONDS + starts[at - 1] + seconds[within - 1]
                if at > 1:
                    return day * DAY_SECONDS + starts[at - 2] + seconds[-1]
        return days.at_or_before(day - 1) * DAY_SECONDS + starts[-1] + seconds[-1]

    def matches(self, wall: int) -> bool:
        day, second = divmod(wall, DAY_SECONDS)
        return bool(
            self.seconds >> second % 60 & 1
            and self.minutes >> second // 60 % 60 & 1
            and self.hours >> second // 3600 & 1
            and (self.days.daily or days_for(self.days).at_or_after(day) == day)
        )


@lru_cache(maxsize=2048)
def _minute_starts(hours: int, minutes: int) -> tuple[int, ...]:
    """Return the starts of a day's matching minutes, in seconds since midnight. Both parameters are bit masks."""
    return tuple(h * 3600 + m * 60 for h in values(hours) for m in values(minutes))


Step = Callable[[int], int]
_NEVER = 1 << 60

# A node keeps thousands of these functions, and the garbage collector walks over each object that one consists of. A
# variable of an enclosing function would be one object for each function, so the tables are defaults instead, which are
# one tuple in all. Each default that a call leaves out costs time in Python 3.13, so there are few of them.


def _never(_: int) -> int:
    return _NEVER


def _step_by_time_of_day(pattern: DayPattern, times: tuple[int, ...]) -> Step:
    if pattern.daily:

        def daily(after: int, times: tuple[int, ...] = times) -> int:
            midnight = after - after % DAY_SECONDS
            at = bisect_right(times, after - midnight)
            return midnight + times[at] if at < len(times) else midnight + DAY_SECONDS + times[0]

        return daily
    days = days_for(pattern)

    def following(after: int, times: tuple[int, ...] = times, days: Days = days) -> int:
        day = after // DAY_SECONDS
        matching_day = days.at_or_after(day)
        if matching_day == day:
            midnight = day * DAY_SECONDS
            at = bisect_right(times, after - midnight)
            if at < len(times):
                return midnight + times[at]
            matching_day = days.at_or_after(day + 1)
        return matching_day * DAY_SECONDS + times[0]

    return following


def _step_by_minute_and_second(pattern: DayPattern, starts: tuple[int, ...], seconds: tuple[int, ...]) -> Step:
    days = days_for(pattern)

    def following(
        after: int,
        starts: tuple[int, ...] = starts,
        seconds: tuple[int, ...] = seconds,
        days: Days = days,
    ) -> int:
        day, time = divmod(after, DAY_SECONDS)
        if days.at_or_after(day) == day:
            at = bisect_right(starts, time)
            if at:
                within = bisect_right(seconds, time - starts[at - 1])
                if within < len(seconds):
                    return day * DAY_SECONDS + starts[at - 1] + seconds[within]
            if at < len(starts):
                return day * DAY_SECONDS + starts[at] + seconds[0]
        return days.at_or_after(day + 1) * DAY_SECONDS + starts[0] + seconds[0]

    return following
