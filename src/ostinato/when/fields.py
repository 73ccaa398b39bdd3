"""Define the seven wall-clock fields of a calendar, and the values that a field can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

MONTHS = tuple("january february march april may june july august september october november december".split())
WEEKDAYS = tuple("sunday monday tuesday wednesday thursday friday saturday".split())


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return self.name.replace("_", " ")

    @property
    def title(self) -> str:
        """The name as Temporal writes it in its errors."""
        return self.name.title().replace("_", "")


SECOND_FIELD = Field("second", 0, 59)
MINUTE_FIELD = Field("minute", 0, 59)
HOUR_FIELD = Field("hour", 0, 23)
DAY_OF_MONTH = Field("day_of_month", 1, 31)
MONTH = Field("month", 1, 12, MONTHS)
YEAR = Field("year", 2000, 2100)
DAY_OF_WEEK = Field("day_of_week", 0, 6, WEEKDAYS)
FIELDS = (SECOND_FIELD, MINUTE_FIELD, HOUR_FIELD, DAY_OF_MONTH, MONTH, YEAR, DAY_OF_WEEK)


@dataclass(frozen=True, slots=True)
class Range:
    """The whole numbers from `start` to `end`, both included, by `step`. The step of a single number is 1."""

    start: int
    end: int
    step: int = 1

    def __post_init__(self) -> None:
        if self.start == self.end and self.step > 1:  # otherwise `59/2` and `59` would not be equal
            object.__setattr__(self, "step", 1)

    def __str__(self) -> str:
        if self.start == self.end:
            return str(self.start)
        return f"{self.start}-{self.end}" + (f"/{self.step}" if self.step > 1 else "")

    def values(self) -> range:
        return range(self.start, self.end + 1, self.step)


@dataclass(frozen=True, slots=True)
class DayRule:
    """A day that depends on the month: `L`, `LW`, `15W`, `5#2`, `5L`. `kind` is one of last_day, last_workday,
    nearest_workday, nth_weekday, last_weekday."""

    kind: str
    number: int = 0
    nth: int = 0

    def __str__(self) -> str:
        match self.kind:
            case "last_day":
                return "L"
            case "last_workday":
                return "LW"
            case "nearest_workday":
                return f"{self.number}W"
            case "nth_weekday":
                return f"{self.number}#{self.nth}"
            case _:
                return f"{self.number}L"


Item: TypeAlias = Range | DayRule
Items: TypeAlias = tuple[Item, ...]


def digits(text: str) -> int | None:
    """Return the number that a text of up to nine ASCII digits means, or None for any other text."""
    return int(text) if len(text) <= 9 and text.isascii() and text.isdigit() else None


def mask(items: Sequence[Item], offset: int = 0) -> int:
    """Return a bit mask of the values: bit n represents the value n + `offset`."""
    bits = 0
    for item in items:
        if isinstance(item, Range):
            for value in item.values():
                bits |= 1 << (value - offset)
    return bits


def values(bits: int, offset: int = 0) -> tuple[int, ...]:
    """Return the values of a bit mask, in order."""
    numbers = []
    while bits:
        low = bits & -bits
        numbers.append(low.bit_length() - 1 + offset)
        bits ^= low
    return tuple(numbers)
