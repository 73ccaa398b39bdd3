"""Read compiled zone files (TZif, RFC 8536), and list when the offset may change.

A file is checked completely before Python's own reader gets it. Python's reader does no such checks. It loops without
end if the last newline is missing, and may crash on other errors.
"""

from __future__ import annotations

import re
import struct
from calendar import isleap, monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

DAY_SECONDS = 86_400
_HEADER = struct.Struct(">4s c 15x 6I")
_NAME = r"(?:[A-Za-z]{3,}|<[A-Za-z0-9+-]{3,}>)"
_OFFSET = r"[+-]?(?:[01]?[0-9]|2[0-3])(?::[0-5][0-9]){0,2}"
_TIME = r"[+-]?(?:[0-9]{1,2}|1[0-5][0-9]|16[0-7])(?::[0-5][0-9]){0,2}"  # up to a week from midnight
_DAY = r"M(?:[1-9]|1[0-2])\.[1-5]\.[0-6]|J?(?:[1-9][0-9]?|[12][0-9]{2}|3[0-5][0-9]|36[0-5])|0"
_FOOTER = re.compile(
    rf"{_NAME}(?P<standard>{_OFFSET})(?:{_NAME}(?P<summer>{_OFFSET})?"
    rf",(?P<begin>{_DAY})(?:/(?P<begin_time>{_TIME}))?,(?P<end>{_DAY})(?:/(?P<end_time>{_TIME}))?)?"
)


@dataclass(frozen=True, slots=True)
class ZoneFile:
    """The contents of a zone file. `changes` are the epoch seconds at which the offset may change. `rule` is the POSIX
    rule for the time after the last change. It is empty if the file has no such rule."""

    changes: tuple[int, ...]
    rule: str


def read_zone_file(data: bytes) -> ZoneFile:
    """Read the bytes of a zone file. Raises `ValueError` with the reason if the file is incomplete or wrong."""
    changes, at = _block(data, 0, 4, "i")
    if data[4:5] < b"2":
        return ZoneFile(changes, "")
    changes, at = _block(data, at, 8, "q")
    end = data.find(b"\n", at + 1)
    if data[at : at + 1] != b"\n" or end < 0:
        raise ValueError("its closing rule does not end")
    rule = data[at + 1 : end].decode("ascii")
    if rule and not _FOOTER.fullmatch(rule):
        raise ValueError(f"its closing rule {rule!r} cannot be read")
    return ZoneFile(changes, rule)


def _block(data: bytes, at: int, width: int, code: str) -> tuple[tuple[int, ...], int]:
    """Read the block that begins at the index `at`. Return (changes of the offset, index of the block's end). In this
    block, a time has `width` bytes and the `struct` format `code`. Raises `ValueError` if the block is wrong."""
    if len(data) < at + _HEADER.size:
        raise ValueError("it is cut short")
    magic, _, utc, std, leaps, times, types, chars = _HEADER.unpack_from(data, at)
    begin = at + _HEADER.size
    end = begin + times * (width + 1) + types * 6 + chars + leaps * (width + 4) + std + utc
    if magic != b"TZif" or not types or not chars or utc not in (0, types) or std not in (0, types):
        raise ValueError("its header makes no sense")
    if len(data) < end:
        raise ValueError("it is cut short")
    changes = struct.unpack_from(f">{times}{code}", data, begin)
    kinds_at = begin + times * (width + 1)
    kinds = list(struct.iter_unpack(">iBB", data[kinds_at : kinds_at + types * 6]))
    names_end = kinds_at + types * 6 + chars
    if (
        any(earlier >= later for earlier, later in pairwise(changes))
        or any(kind >= types for kind in data[begin + times * width : kinds_at])
        or any(abs(offset) >= DAY_SECONDS or summer > 1 or name >= chars for offset, summer, name in kinds)
        or data[names_end - 1] != 0
        or not data[names_end - chars : names_end].isascii()
    ):
        raise ValueError("its table makes no sense")
    return changes, end


def changes_by_rule(rule: str, first_year: int, last_year: int) -> Iterator[int]:
    """Yield the epoch seconds at which summer time may begin or end from `first_year` through `last_year`, in no
    particular order. `rule` is a POSIX rule, such as `CET-1CEST,M3.5.0,M10.5.0/3`. If the rule has no summer time, as
    in `UTC0`, or cannot be read, yield nothing."""
    match = _FOOTER.fullmatch(rule)
    if match is None or match["begin"] is None:
        return
    standard = -_seconds(match["standard"])
    summer = -_seconds(match["summer"]) if match["summer"] else standard + 3600
    for year in range(first_year, last_year + 1):
        for side, offset in (("begin", standard), ("end", summer)):
            time = _seconds(match[f"{side}_time"] or "2") - offset
            yield from (day * DAY_SECONDS + time for day in _epoch_days(match[side], year))


def _epoch_days(day: str, year: int) -> Iterator[int]:
    """Yield the days on which `day` may fall in `year`, as days since 1970-01-01. `day` is a day in a POSIX rule:

    - `M10.5.0` is the last Sunday of October. One day is yielded.
    - `J60` is the first of March, and `59` is the 60th day of the year. Python versions may read these two forms as
      different days, one day apart. So the day before and the day after are yielded, too.
    """
    if not day.startswith("M"):
        number = int(day.removeprefix("J"))
        here = _epoch_day(year, 1, 1) + (number - 1 + (isleap(year) and number > 59) if day.startswith("J") else number)
        yield from (here - 1, here, here + 1)
        return
    month, week, weekday = map(int, day[1:].split("."))
    first = _epoch_day(year, month, 1)
    day_number = first + (weekday - (first + 4)) % 7 + 7 * (week - 1)  # 1 January 1970 was a Thursday
    yield day_number if day_number < first + monthrange(year, month)[1] else day_number - 7


def _epoch_day(year: int, month: int, day: int) -> int:
    return (date(year, month, day) - date(1970, 1, 1)).days


def _seconds(text: str) -> int:
    hours, *rest = text.lstrip("+-").split(":")
    minutes, seconds = (*map(int, rest), 0, 0)[:2]
    length = int(hours) * 3600 + minutes * 60 + seconds
    return -length if text.startswith("-") else length
