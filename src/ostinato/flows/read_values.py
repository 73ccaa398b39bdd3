"""Check values that callers pass: whole numbers, truth values, choices and objects.

In every function, `where` names the checked value in the message of an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ostinato.engine.context import to_json
from ostinato.errors import OstinatoError, short_repr


def read_whole(value: object, where: str, least: int, most: int) -> int:
    """Return `value` if it is an int from `least` to `most`. Otherwise raise OstinatoError."""
    if type(value) is not int or not least <= value <= most:
        raise OstinatoError(f"{where} {short_repr(value)} is not a whole number from {least:,} to {most:,}")
    return value


def read_truth(value: object, where: str) -> bool:
    """Return `value` if it is a bool. Otherwise raise OstinatoError."""
    if not isinstance(value, bool):
        raise OstinatoError(f"{where} {short_repr(value)} is neither True nor False")
    return value


def read_choice(value: object, where: str, choices: Iterable[str]) -> str:
    """Return `value` if it is one of the choices. Otherwise raise OstinatoError."""
    if value not in (names := tuple(choices)):
        raise OstinatoError(f"{where} {short_repr(value)} is none of {', '.join(names)}")
    return str(value)


def read_object(value: object, where: str) -> Mapping[str, Any]:
    """Return `value` if it is a mapping that JSON can represent. Otherwise raise OstinatoError."""
    if not isinstance(value, Mapping):
        raise OstinatoError(f"{where} {short_repr(value)} is not an object")
    to_json(dict(value), where)
    return value
