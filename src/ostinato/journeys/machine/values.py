"""Compute the values that states write to the context and the attributes. No function changes a value in place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ostinato.journeys.language.states import Target
from ostinato.model import Json

_ABSENT: Any = object()
MOST_ATTRIBUTES = 16
LONGEST_NAME = 32
LONGEST_VALUE = 256


class UnusableValue(Exception):
    """Raised if a state cannot use the value of an expression. The message says why."""


def merge_changes(base: Mapping[str, Json], versions: Sequence[Mapping[str, Json]]) -> dict[str, Json]:
    """Return `base` with the changes of all `versions`. Each version is a changed copy of `base`. Objects are merged
    field by field, at any depth. If several versions changed the same field, and the values are not all objects, the
    last of these versions wins. So a list is replaced as a whole."""
    result = dict(base)
    for version in versions:
        for name in {**base, **version}:
            before, after = base.get(name, _ABSENT), version.get(name, _ABSENT)
            if _same(before, after):
                continue
            now = result.get(name, _ABSENT)
            if after is _ABSENT:
                result.pop(name, None)
            elif isinstance(after, Mapping) and isinstance(now, Mapping):
                result[name] = merge_changes(before if isinstance(before, Mapping) else {}, [now, after])
            else:
                result[name] = after
    return result


def _same(value: Json, other: Json) -> bool:
    """Return whether two values are equal as JSON. Unlike in Python, `true`, 1 and 1.0 are not equal."""
    if value is other:
        return True
    if isinstance(value, Mapping) and isinstance(other, Mapping):
        return value.keys() == other.keys() and all(_same(part, other[name]) for name, part in value.items())
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(_same, value, other))
    return type(value) is type(other) and value == other


def with_result(context: Mapping[str, Json], target: Target, result_var: str | None, value: Json) -> Mapping[str, Json]:
    """Return the context with `value` written to `target`: the variable `result_var`, the whole context, or a path in
    the context. Raise `UnusableValue` if the target is not a variable and the value is not an object."""
    if target.kind == "var":
        return {**context, str(result_var): value}
    if not isinstance(value, Mapping):
        raise UnusableValue(f"the result is {_kind(value)}, and only an object can be written to the context")
    return value if not target.path else _set_path(context, target.path.split("."), value)


def _set_path(context: Mapping[str, Json], steps: Sequence[str], value: Json) -> Mapping[str, Json]:
    first, *rest = steps
    if not rest:
        return {**context, first: value}
    below = context.get(first)
    return {**context, first: _set_path(below if isinstance(below, Mapping) else {}, rest, value)}


def add_attributes(attributes: Mapping[str, str], value: Json) -> dict[str, str]:
    """Return `attributes` with the fields of the object `value` added as texts. Raise `UnusableValue` in these cases:

    - `value` is not an object.
    - An attribute in `value` exists already.
    - There would be too many attributes.
    - The name or value of an attribute is too long or invalid. For example, a name with `=` is invalid.
    """
    if not isinstance(value, Mapping):
        raise UnusableValue(f"attributes are an object, not {_kind(value)}")
    for name in value:
        if name in attributes:
            raise UnusableValue(f"the attribute {name!r} exists already; an attribute is written once")
    all_attributes = {**attributes, **{name: _text(one) for name, one in value.items()}}
    if len(all_attributes) > MOST_ATTRIBUTES or any(not _fits(name, one) for name, one in all_attributes.items()):
        raise UnusableValue(
            f"at most {MOST_ATTRIBUTES} attributes, with names of 1 to {LONGEST_NAME} characters and values of at most "
            f"{LONGEST_VALUE}, are kept"
        )
    return all_attributes


def _fits(name: str, value: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and len(value) <= LONGEST_VALUE and "=" not in name and "\x00" not in value


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


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
