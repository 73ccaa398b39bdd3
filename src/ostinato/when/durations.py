"""Read lengths of time, in ISO 8601 (`P1Y2M3DT4H`) or in the short form (`1h30m`, `5d`).

A length counts months, days and microseconds separately. A month has no fixed length, and a day in a zone may have 23
or 25 hours. Units shorter than a day are converted to microseconds.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import NoReturn, TypeAlias

from ostinato.errors import SpecError, short_repr
from ostinato.when.instants import DAY_SECONDS, SECOND, Micros

DAY: Micros = DAY_SECONDS * SECOND
_LONGEST = 10_000 * 366 * DAY  # a longer period is a typing error
_LONGEST_TEXT = 64

_ISO = re.compile(
    r"P(?=.)(?:(?P<years>[0-9]+)Y)?(?:(?P<months>[0-9]+)M)?(?:(?P<weeks>[0-9]+)W)?(?:(?P<days>[0-9]+)D)?"
    r"(?:T(?=.)(?:(?P<hours>[0-9]+)H)?(?:(?P<minutes>[0-9]+)M)?(?:(?P<seconds>[0-9]+(?:[.,][0-9]{1,6})?)S)?)?"
)
_SHORT_PART = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?P<unit>ns|us|µs|μs|ms|s|m|h|d)")
_SHORT_UNITS = {
    "ns": Decimal(1) / 1000,
    "us": Decimal(1),
    "µs": Decimal(1),
    "μs": Decimal(1),
    "ms": Decimal(1000),
    "s": Decimal(SECOND),
    "m": Decimal(60 * SECOND),
    "h": Decimal(3600 * SECOND),
}


Length: TypeAlias = str | int | float | timedelta
"""A length of time as users write it: a text (`"5s"`, `"PT5M"`), a number of seconds, or a timedelta."""


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time: the sum of calendar months, calendar days and elapsed microseconds."""

    months: int = 0
    days: int = 0
    micros: Micros = 0

    @property
    def exact(self) -> Micros:
        """The length as elapsed time, with days of 24 hours. Months are ignored."""
        return self.days * DAY + self.micros

    def __str__(self) -> str:
        years, months = divmod(self.months, 12)
        hours, rest = divmod(self.micros, 3600 * SECOND)
        minutes, rest = divmod(rest, 60 * SECOND)
        date = "".join(f"{n}{unit}" for n, unit in ((years, "Y"), (months, "M"), (self.days, "D")) if n)
        clock = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
        if rest:
            whole, fraction = divmod(rest, SECOND)
            clock += f"{whole}.{fraction:06d}".rstrip("0").rstrip(".") + "S"
        return f"P{date}T{clock}" if clock else f"P{date or 'T0S'}"


def parse_duration(value: Length, field: str = "duration") -> Duration:
    """Read a length of time. A number is seconds. The whole days of a timedelta count as calendar days. Raises
    `SpecError` if `value` is not a length, is negative, or is too long."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 0 <= value <= _LONGEST // SECOND:  # not a number (NaN) is refused here, too
            hint = f"a number is seconds, from 0 to {_LONGEST // SECOND}"
            raise SpecError(f"{field} {short_repr(value)} is not a length of time", field=field, value=value, hint=hint)
        return Duration(micros=int(value * SECOND))
    if isinstance(value, timedelta):
        if value < timedelta():
            raise SpecError(
                f"{field} {value} is negative", field=field, value=value, hint="a length must be zero or more"
            )
        below = timedelta(seconds=value.seconds, microseconds=value.microseconds) // timedelta(microseconds=1)
        return _bounded(Duration(days=value.days, micros=below), str(value), field)
    if not isinstance(value, str):
        _refuse(value, field)
    text = value.strip()
    return _parse_iso(text, field) if text.startswith("P") else parse_short(text, field)


def fixed_length(value: Length, field: str) -> Micros:
    """Return a length in microseconds, with days of 24 hours. Raises `SpecError` if it counts months."""
    length = parse_duration(value, field)
    if length.months:
        raise SpecError(
            f"{field} {short_repr(value)} counts months, which have no fixed length",
            field=field,
            value=value,
            hint="write days or hours; counting months needs an anchor: every('P1M', anchor='2026-01-31T09:00Z')",
        )
    return length.exact


def parse_short(text: str, field: str = "duration") -> Duration:
    """Parse `90s`, `1h30m` or `5d`: Go's grammar plus days, as in Temporal's `@every`. `1.5d` is 1 day and 12 hours."""
    days, micros, at = Decimal(0), Decimal(0), 0
    while at < len(text) <= _LONGEST_TEXT:
        part = _SHORT_PART.match(text, at)
        if part is None:
            break
        number = Decimal(part["number"])
        if part["unit"] == "d":
            days += number
        else:
            micros += number * _SHORT_UNITS[part["unit"]]
        at = part.end()
    if not text or at != len(text):
        _refuse(text, field)
    return _bounded(Duration(days=int(days), micros=int(days % 1 * DAY + micros)), text, field)


def _parse_iso(text: str, field: str) -> Duration:
    match = _ISO.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if match is None:
        _refuse(text, field)
    part = {name: value or "0" for name, value in match.groupdict().items()}
    seconds = Decimal(part["seconds"].replace(",", "."))
    return _bounded(
        Duration(
            months=int(part["years"]) * 12 + int(part["months"]),
            days=int(part["weeks"]) * 7 + int(part["days"]),
            micros=int(part["hours"]) * 3600 * SECOND + int(part["minutes"]) * 60 * SECOND + int(seconds * SECOND),
        ),
        text,
        field,
    )


def _bounded(duration: Duration, text: str, field: str) -> Duration:
    if duration.months * 31 * DAY + duration.exact > _LONGEST:
        counted = ", a month counted as 31 days" if duration.months else ""
        message = f"{field} {text!r} is longer than 10,000 years{counted}"
        raise TooLong(message, field=field, value=text, hint="check the unit")
    return duration


class TooLong(SpecError):
    """Raised if a valid length exceeds the maximum."""


def _refuse(text: object, field: str) -> NoReturn:
    hint = "write 'PT15M', 'P1D', 'P1M' or the short form '90s', '15m', '1h30m', '5d'"
    word = text.strip() if isinstance(text, str) and len(text) <= _LONGEST_TEXT else ""
    if word.isdigit():
        hint = f"it has no unit: '{word}s' is seconds, '{word}m' minutes, '{word}h' hours"
    elif re.fullmatch(r"-\S+", word):
        hint = "a length must be zero or more"
    elif re.fullmatch(r"[0-9]+M", word):
        hint = f"'{word.lower()}' is minutes, 'P{word}' is months"
    elif words := re.fullmatch(r"([0-9.]+) *(second|sec|minute|min|hour|day)s?", word):
        hint = f"write '{words[1]}{words[2][0]}'"
    elif re.fullmatch(r"P[0-9]+[HS]", word):
        hint = f"hours, minutes and seconds come after a T: 'PT{word[1:]}'"
    raise SpecError(f"{field} {short_repr(text)} is not a duration", field=field, value=text, hint=hint)
