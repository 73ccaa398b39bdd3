"""The seven wall-clock fields, and what may stand in one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ostinato.errors import SpecError, shown

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
    """`start` to `end`, both included, by `step`, which is 1 where it leads nowhere."""

    start: int
    end: int
    step: int = 1

    def __post_init__(self) -> None:
        if self.start == self.end and self.step > 1:  # else `59/2` and `59` would differ and read the same
            object.__setattr__(self, "step", 1)

    def __str__(self) -> str:
        if self.start == self.end:
            return str(self.start)
        return f"{self.start}-{self.end}" + (f"/{self.step}" if self.step > 1 else "")

    def values(self) -> range:
        return range(self.start, self.end + 1, self.step)


@dataclass(frozen=True, slots=True)
class DayRule:
    """A day that only the month itself can tell: `L`, `LW`, `15W`, `5#2`, `5L`.

    `kind` is one of last_day, last_workday, nearest_workday, nth_weekday, last_weekday.
    """

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
    """The number that a text spells, or None: ASCII digits, and no more of them than anyone means."""
    return int(text) if len(text) <= 9 and text.isascii() and text.isdigit() else None


def mask(items: Sequence[Item], offset: int = 0) -> int:
    """One bit for each value, the bit's number being the value less `offset`."""
    bits = 0
    for item in items:
        if isinstance(item, Range):
            for value in item.values():
                bits |= 1 << (value - offset)
    return bits


def values(bits: int, offset: int = 0) -> tuple[int, ...]:
    """The values of a mask, in order."""
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1 + offset)
        bits ^= low
    return tuple(found)


def check_range(field: Field, item: Range, where: str) -> None:
    for number in (item.start, item.end):
        if not field.low <= number <= field.high:
            raise out_of_range(field, number, where)
    if item.end < item.start:
        raise SpecError(
            f"{field.words} {item} ends before it starts{where}",
            field=field.name,
            value=str(item),
            hint=f"write it as two ranges, '{item.start}-{field.high},{field.low}-{item.end}'",
        )
    if item.step < 1:
        raise SpecError(
            f"{field.words} step {shown(item.step)} is not a step{where}",
            field=field.name,
            value=item.step,
            hint="use 1 or more",
        )


def out_of_range(field: Field, number: int, where: str, *, high: int | None = None) -> SpecError:
    top = field.high if high is None else high
    hint = f"did you mean {field.low}?" if number in (top + 1, field.low - 1) and field is not YEAR else ""
    if field is DAY_OF_WEEK:
        hint = "weekdays are 0 to 6 from Sunday, or names such as 'mon'; 7 is Sunday too in a cron string"
    elif field is DAY_OF_MONTH and number > top:
        hint = "'L' is the last day of the month in the cron dialect"
    return SpecError(
        f"{field.words} {shown(number)} is out of range {field.low}–{top}{where}",
        field=field.name,
        value=number,
        hint=hint,
    )
