"""What states do to values: merging, writing at a path, reading a time. Nothing is changed in place."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from ostinato.errors import SpecError
from ostinato.journeys.language.states import Target
from ostinato.model import Json
from ostinato.when.durations import TooLong, parse_duration
from ostinato.when.instants import LAST_MOMENT, Micros, from_datetime, read_instant, to_datetime

_ABSENT: Any = object()
MOST_ATTRIBUTES = 16
LONGEST_NAME = 32
LONGEST_VALUE = 256


class NotPossible(Exception):
    """A value that cannot be what the state needs."""


def merged(base: Mapping[str, Json], changed: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """What several made of one object, together: objects are merged field by field, however deep; whatever one of them
    changed or removed is so, and of two that changed the same the later has the say. Lists are whole values."""
    result = dict(base)
    for one in changed:
        for name in {**base, **one}:
            before, after = base.get(name, _ABSENT), one.get(name, _ABSENT)
            if _same(before, after):
                continue
            now = result.get(name, _ABSENT)
            if after is _ABSENT:
                result.pop(name, None)
            elif isinstance(after, Mapping) and isinstance(now, Mapping):
                result[name] = merged(before if isinstance(before, Mapping) else {}, [now, after])
            else:
                result[name] = after
    return result


def _same(one: Json, other: Json) -> bool:
    """Equal as JSON has it: `true` is not 1, to Python it is."""
    return one is other or (one == other and (isinstance(one, Mapping) or repr(one) == repr(other)))


def written(context: Mapping[str, Json], target: Target, result_var: str | None, value: Json) -> Mapping[str, Json]:
    """The context with a transform's result where its target says."""
    if target.kind == "var":
        return {**context, str(result_var): value}
    if not isinstance(value, Mapping):
        raise NotPossible(f"the result is {_kind(value)}, and only an object can be written to the context")
    return value if not target.path else _at(context, target.path.split("."), value)


def _at(context: Mapping[str, Json], steps: Sequence[str], value: Json) -> Mapping[str, Json]:
    first, *rest = steps
    if not rest:
        return {**context, first: value}
    below = context.get(first)
    return {**context, first: _at(below if isinstance(below, Mapping) else {}, rest, value)}


def attributes_with(attributes: Mapping[str, str], value: Json) -> dict[str, str]:
    """Attributes are texts, and each is written once."""
    if not isinstance(value, Mapping):
        raise NotPossible(f"attributes are an object, not {_kind(value)}")
    for name in value:
        if name in attributes:
            raise NotPossible(f"the attribute {name!r} is there already, and is written once")
    found = {**attributes, **{name: one if isinstance(one, str) else _text(one) for name, one in value.items()}}
    if len(found) > MOST_ATTRIBUTES or any(not _fits(name, one) for name, one in found.items()):
        raise NotPossible(
            f"at most {MOST_ATTRIBUTES} attributes, with names of 1 to {LONGEST_NAME} characters and values of at most "
            f"{LONGEST_VALUE}, are kept"
        )
    return found


def _fits(name: str, value: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and len(value) <= LONGEST_VALUE and "=" not in name and "\x00" not in value


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def time_after(duration: Json, now: Micros) -> Micros:
    """Now and an ISO 8601 duration; months are those of the calendar, clamped to a month's last day."""
    if not isinstance(duration, str) or not duration.startswith("P"):
        raise NotPossible("the duration is not an ISO 8601 duration such as PT5M")
    try:
        length = parse_duration(duration)
        at = to_datetime(now)
        year, month = divmod(at.year * 12 + at.month - 1 + length.months, 12)
        day = min(at.day, monthrange(year, month + 1)[1])
        at = at.replace(year=year, month=month + 1, day=day) + timedelta(microseconds=length.exact)
    except (TooLong, OverflowError):
        raise NotPossible("the duration leads beyond the year 9999") from None
    except (SpecError, ValueError):
        raise NotPossible("the duration is not an ISO 8601 duration such as PT5M") from None
    return min(from_datetime(at), LAST_MOMENT)


def time_at(until: Json) -> Micros:
    try:
        return read_instant(until, "until")
    except SpecError:
        raise NotPossible("the time is not one of RFC 3339, such as 2026-12-31T23:59:00Z") from None


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case Mapping():
            return "an object"
        case _:
            return "a list"
