"""Find the days that match a calendar. The days of a year are the bits of a mask, which is computed once and cached."""

from __future__ import annotations

from bisect import bisect_right
from calendar import isleap
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from ostinato.when.calendars import Calendar
from ostinato.when.fields import DayRule, mask
from ostinato.when.zones import FIRST_YEAR, LAST_YEAR

NO_DAY = 1 << 40  # means that there is no such day; so large that its seconds exceed every limit
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# One more year at both ends, because in local time the first and the last hours may be in another year.
_FIRST = FIRST_YEAR - 1
# Epoch day of 1 January for each year, and of the year after the last.
_NEW_YEARS = [date(y, 1, 1).toordinal() - _EPOCH_ORDINAL for y in range(_FIRST, LAST_YEAR + 3)]


def epoch_day(day: date) -> int:
    return day.toordinal() - _EPOCH_ORDINAL


@dataclass(frozen=True, slots=True)
class DayPattern:
    """The day fields of a calendar as bit masks. If `either` is true, a day matches if its day of month OR its day of
    week matches. Otherwise both must match."""

    days: int
    months: int
    weekdays: int
    years: int  # bit n is the year 1899 + n; 0 is every year
    month_rules: tuple[DayRule, ...]
    week_rules: tuple[DayRule, ...]
    either: bool

    @property
    def daily(self) -> bool:
        if self.months != 0x1FFE or self.years:
            return False
        all_days, all_weekdays = self.days == 0xFFFFFFFE, self.weekdays == 0x7F
        return (all_days or all_weekdays) if self.either else (all_days and all_weekdays)


def day_pattern(calendar: Calendar, either: bool) -> DayPattern:
    return DayPattern(
        days=mask(calendar.day_of_month),
        months=mask(calendar.month),
        weekdays=mask(calendar.day_of_week),
        years=mask(calendar.year, _FIRST),
        month_rules=tuple(i for i in calendar.day_of_month if isinstance(i, DayRule)),
        week_rules=tuple(i for i in calendar.day_of_week if isinstance(i, DayRule)),
        either=either,
    )


class Days:
    """Finds the days that match one pattern. A day is a number of days since 1970-01-01."""

    __slots__ = ("_current", "_pattern", "_years")

    def __init__(self, pattern: DayPattern) -> None:
        self._pattern = pattern
        self._years: dict[int, int] = {}
        self._current = (0, 0, 0)  # the year used last: its first day, the day after its end, its mask

    def at_or_after(self, day: int) -> int:
        low, high, bits = self._current
        if not low <= day < high:
            if day < _NEW_YEARS[0]:
                day = _NEW_YEARS[0]
            elif day >= _NEW_YEARS[-1]:
                return NO_DAY
            low, high, bits = self._load(bisect_right(_NEW_YEARS, day) - 1)
        bits >>= day - low
        while not bits:
            if high >= _NEW_YEARS[-1]:
                return NO_DAY
            day = high
            low, high, bits = self._load(bisect_right(_NEW_YEARS, high) - 1)
        return day + (bits & -bits).bit_length() - 1

    def at_or_before(self, day: int) -> int:
        low, high, bits = self._current
        if not low <= day < high:
            if day < _NEW_YEARS[0]:
                return -NO_DAY
            day = min(day, _NEW_YEARS[-1] - 1)
            low, high, bits = self._load(bisect_right(_NEW_YEARS, day) - 1)
        bits &= (2 << (day - low)) - 1
        while not bits:
            if low <= _NEW_YEARS[0]:
                return -NO_DAY
            low, high, bits = self._load(bisect_right(_NEW_YEARS, low - 1) - 1)
        return low + bits.bit_length() - 1

    def _load(self, index: int) -> tuple[int, int, int]:
        bits = self._years.get(index)
        if bits is None:
            bits = self._years[index] = days_of_year(self._pattern, index)
        self._current = current = (_NEW_YEARS[index], _NEW_YEARS[index + 1], bits)
        return current


@lru_cache(maxsize=4096)
def days_for(pattern: DayPattern) -> Days:
    return Days(pattern)


def days_of_year(pattern: DayPattern, index: int) -> int:
    """Return the matching days of the year 1899 + index as a bit mask. Bit 0 is 1 January."""
    if pattern.years and not pattern.years >> index & 1:
        return 0
    leap = isleap(_FIRST + index)
    weekday = (_NEW_YEARS[index] + 4) % 7  # 1 January 1970 was a Thursday
    bits = shift = 0
    for month in range(1, 13):
        length = _LENGTHS[month - 1] + (leap and month == 2)
        if pattern.months >> month & 1:
            bits |= days_of_month(pattern, weekday, length) << shift
        shift += length
        weekday = (weekday + length) % 7
    return bits


def days_of_month(pattern: DayPattern, weekday: int, length: int) -> int:
    """Return the matching days of a month as a bit mask. Bit 0 is the first day of the month. `weekday` is the weekday
    of that day (0 is Sunday), and `length` is the number of days in the month."""
    by_date = pattern.days >> 1
    for rule in pattern.month_rules:
        by_date |= 1 << _by_month_rule(rule, weekday, length)
    # Rotate the mask of the week so that bit 0 is the month's first day. Five copies of the mask cover the month.
    turned = (pattern.weekdays >> weekday | pattern.weekdays << (7 - weekday)) & 0x7F
    by_weekday = turned * 0x10204081
    for rule in pattern.week_rules:
        first = (rule.number - weekday) % 7
        day = first + 7 * (rule.nth - 1) if rule.kind == "nth_weekday" else first + 7 * ((length - 1 - first) // 7)
        by_weekday |= 1 << day
    both = by_date | by_weekday if pattern.either else by_date & by_weekday
    return both & ((1 << length) - 1)


def _by_month_rule(rule: DayRule, weekday: int, length: int) -> int:
    """Return the day that a rule such as `L`, `LW` or `15W` means in a month, counted from 0, or 31 if there is no such
    day. `weekday` is the first day's weekday (0 is Sunday). `length` is the number of days in the month."""
    if rule.kind == "last_day":
        return length - 1
    day = length - 1 if rule.kind == "last_workday" else rule.number - 1
    if day >= length:
        return 31
    falls_on = (weekday + day) % 7
    if falls_on == 6:  # Saturday: the Friday before, but never out of the month
        return day - 1 if day > 0 else day + 2
    if falls_on == 0:  # Sunday: the Monday after, but never out of the month
        return day + 1 if day < length - 1 else day - 2
    return day
