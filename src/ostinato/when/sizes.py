"""How large a spec may be. A node reads a spec when it fires the schedule, so each must be quick to read and to answer:
one at these bounds takes some 20 ms to read and 0.1 ms for a time.

Checked at the door, before a document is read. What is on record already is read however large it is.
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
LONGEST_SOURCE = 2_000  # letters, and members of lists, of one cron string or calendar
LARGEST_ZONE = 16 << 10  # bytes of tz_data
_SOURCES = ("cron", "calendars", "intervals", "recurrences")
_TEMPORAL_SOURCES = ("structured_calendar", "calendar", "cron_string", "interval")
_TEMPORAL_EXCLUDED = ("exclude_structured_calendar", "exclude_calendar")


def check_document_size(given: Mapping[str, object]) -> None:
    """Refuse a spec as JSON that is too large to be read."""
    exclude = given.get("exclude")
    excluded: Mapping[str, object] = exclude if isinstance(exclude, Mapping) else {}
    _check_counts(
        sum(_count(given.get(name)) for name in _SOURCES),
        _count(given.get("times")),
        _count(excluded.get("calendars")),
        _count(excluded.get("dates")),
        _count(excluded.get("spans")),
    )
    _check_sources([*(given.get(name) for name in _SOURCES), excluded.get("calendars"), given.get("times")])
    _check_zone(len(str(given.get("tz_data") or "")) * 3 // 4)


def check_temporal_size(given: Mapping[str, object]) -> None:
    """The same for a spec in Temporal's form."""
    sources = [given.get(name) for name in _TEMPORAL_SOURCES]
    excluded = [given.get(name) for name in _TEMPORAL_EXCLUDED]
    _check_counts(sum(map(_count, sources)), 0, sum(map(_count, excluded)), 0, 0)
    _check_sources([*sources, *excluded])
    _check_zone(len(str(given.get("timezone_data") or "")) * 3 // 4, "timezone_data")


def check_spec_size(spec: Spec) -> None:
    """The same for a spec that was made in Python."""
    _check_counts(
        len(spec.crons) + len(spec.calendars) + len(spec.intervals) + len(spec.recurrences),
        len(spec.times),
        len(spec.exclude.calendars),
        len(spec.exclude.dates),
        len(spec.exclude.spans),
    )
    _check_zone(len(spec.tz_data))


def _check_counts(sources: int, times: int, calendars: int, dates: int, spans: int) -> None:
    for found, most, field, words in (
        (sources, MOST_SOURCES, "spec", "cron strings, calendars, intervals and recurrences"),
        (times, MOST_TIMES, "times", "times"),
        (calendars, MOST_EXCLUDED_CALENDARS, "exclude.calendars", "excluded calendars"),
        (dates, MOST_EXCLUDED_DATES, "exclude.dates", "excluded dates"),
        (spans, MOST_EXCLUDED_SPANS, "exclude.spans", "excluded stretches"),
    ):
        if found > most:
            raise SpecError(
                f"a spec has at most {most:,} {words}; this has {found:,}",
                field=field,
                value=found,
                hint="make several schedules of it",
            )


def _check_sources(lists: Iterable[object]) -> None:
    for several in lists:
        for one in several if isinstance(several, list | tuple) else [several]:
            if _letters(one, LONGEST_SOURCE) < 0:
                raise SpecError(
                    f"a cron string, a calendar or a time has at most {LONGEST_SOURCE:,} letters",
                    field="spec",
                    value=one,
                    hint="write a range or a step: 0-59, */5",
                )


def _check_zone(size: int, field: str = "tz_data") -> None:
    if size > LARGEST_ZONE:
        raise SpecError(f"{field} has at most {LARGEST_ZONE:,} bytes; this has {size:,}", field=field)


def _count(value: object) -> int:
    return len(value) if isinstance(value, list | tuple) else int(value is not None)


def _letters(value: object, left: int) -> int:
    """How many letters are left of so many after a value; negative as soon as there are none."""
    if isinstance(value, str):
        return left - len(value)
    if isinstance(value, Mapping):
        value = [part for pair in value.items() for part in pair] if len(value) <= left else range(left + 1)
    if isinstance(value, list | tuple | range):
        left -= len(value)
        for one in value if left >= 0 else ():
            left = _letters(one, left)
            if left < 0:
                break
    return left
