"""Limit the size of specs. A node reads a spec each time its schedule fires, so a large spec would slow the node down.

A spec at these limits takes about 20 ms to read. Each of its times takes 0.1 ms to compute. The limits apply to specs
that users give, but not to stored specs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ostinato.errors import SpecError

if TYPE_CHECKING:
    from ostinato.when.spec import Spec

MOST_SOURCES = 100  # cron strings, calendars, intervals and recurrences together
MOST_TIMES = 1_000
MOST_EXCLUDED_CALENDARS = 50
MOST_EXCLUDED_DATES = 4_000
MOST_EXCLUDED_SPANS = 500
LONGEST_SOURCE = 2_000  # characters plus list members of one cron string or calendar
LARGEST_ZONE = 16 << 10  # bytes of tz_data
_SOURCES = ("cron", "calendars", "intervals", "recurrences")
_TEMPORAL_SOURCES = ("structured_calendar", "calendar", "cron_string", "interval")
_TEMPORAL_EXCLUDED = ("exclude_structured_calendar", "exclude_calendar")
_FEW = 20  # up to this many parts are read in no noticeable time


def check_document_size(document: Mapping[str, object]) -> None:
    """Raise `SpecError` if a JSON spec exceeds a limit."""
    exclude = document.get("exclude")
    excluded: Mapping[str, object] = exclude if isinstance(exclude, Mapping) else {}
    _check_counts(
        sum(_count(document.get(name)) for name in _SOURCES),
        _count(document.get("times")),
        _count(excluded.get("calendars")),
        _count(excluded.get("dates")),
        _count(excluded.get("spans")),
    )
    _check_sources([*(document.get(name) for name in _SOURCES), excluded.get("calendars"), document.get("times")])
    _check_zone(len(str(document.get("tz_data") or "")) * 3 // 4)


def takes_long(document: Mapping[str, object]) -> bool:
    """Return whether a JSON spec may take long to read and check. This is so if the spec has more than `_FEW` sources
    and times together, or if it has any exclusion."""
    parts = sum(_count(document.get(name)) for name in (*_SOURCES, "times"))
    return parts > _FEW or bool(document.get("exclude"))


def check_temporal_size(document: Mapping[str, object]) -> None:
    """Raise `SpecError` if a spec in Temporal's form exceeds a limit."""
    sources = [document.get(name) for name in _TEMPORAL_SOURCES]
    excluded = [document.get(name) for name in _TEMPORAL_EXCLUDED]
    _check_counts(sum(map(_count, sources)), 0, sum(map(_count, excluded)), 0, 0)
    _check_sources([*sources, *excluded])
    _check_zone(len(str(document.get("timezone_data") or "")) * 3 // 4, "timezone_data")


def check_spec_size(spec: Spec) -> None:
    """Raise `SpecError` if a spec built in Python exceeds a limit."""
    _check_counts(
        len(spec.crons) + len(spec.calendars) + len(spec.intervals) + len(spec.recurrences),
        len(spec.times),
        len(spec.exclude.calendars),
        len(spec.exclude.dates),
        len(spec.exclude.spans),
    )
    _check_zone(len(spec.tz_data))


def _check_counts(sources: int, times: int, calendars: int, dates: int, spans: int) -> None:
    for count, most, field, words in (
        (sources, MOST_SOURCES, "spec", "cron strings, calendars, intervals and recurrences"),
        (times, MOST_TIMES, "times", "times"),
        (calendars, MOST_EXCLUDED_CALENDARS, "exclude.calendars", "excluded calendars"),
        (dates, MOST_EXCLUDED_DATES, "exclude.dates", "excluded dates"),
        (spans, MOST_EXCLUDED_SPANS, "exclude.spans", "excluded spans"),
    ):
        if count > most:
            raise SpecError(
                f"a spec has at most {most:,} {words}; this has {count:,}",
                field=field,
                value=count,
                hint="split it into several schedules",
            )


def _check_sources(lists: Iterable[object]) -> None:
    for several in lists:
        for source in several if isinstance(several, list | tuple) else [several]:
            if _letters(source, LONGEST_SOURCE) < 0:
                raise SpecError(
                    f"a cron string, a calendar or a time has at most {LONGEST_SOURCE:,} characters",
                    field="spec",
                    value=source,
                    hint="write a range or a step: 0-59, */5",
                )


def _check_zone(size: int, field: str = "tz_data") -> None:
    if size > LARGEST_ZONE:
        raise SpecError(f"{field} has at most {LARGEST_ZONE:,} bytes; this has {size:,}", field=field)


def _count(value: object) -> int:
    return len(value) if isinstance(value, list | tuple) else int(value is not None)


def _letters(value: object, left: int) -> int:
    """Return `left` minus the size of a value. The size of a text is its length. The size of a list or a dict is the
    number of its members, plus their sizes. The counting stops when the result is negative."""
    if isinstance(value, str):
        return left - len(value)
    if isinstance(value, Mapping):
        value = [part for pair in value.items() for part in pair] if len(value) <= left else range(left + 1)
    if isinstance(value, list | tuple | range):
        left -= len(value)
        for member in value if left >= 0 else ():
            left = _letters(member, left)
            if left < 0:
                break
    return left
