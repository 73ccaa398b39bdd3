"""Lengths of time: ISO 8601 (`P1Y2M3DT4H`) and the short form (`1h30m`, `5d`).

Months stay months, because a month has no fixed length; everything else is microseconds and days.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import NoReturn

from ostinato.errors import SpecError
from ostinato.when.instants import DAY_SECONDS, SECOND, Micros

DAY: Micros = DAY_SECONDS * SECOND
_LONGEST = 10_000 * 366 * DAY  # a period longer than the calendar itself is a slip of the pen

_ISO = re.compile(
    r"P(?=.)(?:(?P<years>\d+)Y)?(?:(?P<months>\d+)M)?(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?=.)(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+(?:[.,]\d{1,6})?)S)?)?"
)
_SHORT_PART = re.compile(r"(?P<number>\d+(?:\.\d*)?|\.\d+)(?P<unit>ns|us|µs|μs|ms|s|m|h|d)")
_SHORT_UNITS = {
    "ns": Decimal(1) / 1000,
    "us": Decimal(1),
    "µs": Decimal(1),
    "μs": Decimal(1),
    "ms": Decimal(1000),
    "s": Decimal(SECOND),
    "m": Decimal(60 * SECOND),
    "h": Decimal(3600 * SECOND),
    "d": Decimal(DAY),
}


@dataclass(frozen=True, slots=True)
class Duration:
    """`months` and `days` are counted on the calendar, `micros` on a stopwatch."""

    months: int = 0
    days: int = 0
    micros: Micros = 0

    @property
    def exact(self) -> Micros:
        """The length on a stopwatch, a day being 24 hours; meaningless where there are months."""
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


def parse_iso(text: str, field: str = "duration") -> Duration:
    found = _ISO.fullmatch(text)
    if found is None:
        _refuse(text, field)
    part = {name: value or "0" for name, value in found.groupdict().items()}
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


def parse_short(text: str, field: str = "duration") -> Duration:
    """`90s`, `1h30m`, `5d`: Go's grammar with days, the one Temporal's `@every` takes."""
    total, at = Decimal(0), 0
    for part in _SHORT_PART.finditer(text):
        if part.start() != at:
            break
        total += Decimal(part["number"]) * _SHORT_UNITS[part["unit"]]
        at = part.end()
    if not text or at != len(text):
        _refuse(text, field)
    return _bounded(Duration(micros=int(total)), text, field)


def parse_duration(value: str | timedelta, field: str = "duration") -> Duration:
    if isinstance(value, timedelta):
        return _bounded(Duration(micros=value // timedelta(microseconds=1)), str(value), field)
    if not isinstance(value, str):
        _refuse(value, field)
    text = value.strip()
    return parse_iso(text, field) if text.startswith("P") else parse_short(text, field)


def _bounded(duration: Duration, text: str, field: str) -> Duration:
    if duration.months * 31 * DAY + duration.exact > _LONGEST:
        raise SpecError(f"{field} {text!r} is longer than 10,000 years", field=field, value=text, hint="check the unit")
    return duration


def _refuse(text: object, field: str) -> NoReturn:
    hint = "write 'PT15M', 'P1D', 'P1M' or the short form '90s', '15m', '1h30m', '5d'"
    word = text.strip() if isinstance(text, str) else ""
    if word.isdigit():
        hint = f"it has no unit: '{word}s' is seconds, '{word}m' minutes, '{word}h' hours"
    elif re.fullmatch(r"\d+M", word):
        hint = f"'{word.lower()}' is minutes, 'P{word}' is months"
    elif re.fullmatch(r"P\d+[HS]", word):
        hint = f"hours, minutes and seconds come after a T: 'PT{word[1:]}'"
    raise SpecError(f"{field} {text!r} is not a duration", field=field, value=text, hint=hint)
