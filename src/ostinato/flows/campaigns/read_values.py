"""Read values of options: whole numbers, truth values and objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ostinato.engine.context import to_json
from ostinato.errors import OstinatoError, short_repr


def read_whole(value: object, where: str, least: int, most: int) -> int:
    """Return `value` if it is an int in the range. Otherwise raise OstinatoError."""
    if type(value) is not int or not least <= value <= most:
        raise OstinatoError(f"{where} {short_repr(value)} is not a whole number from {least:,} to {most:,}")
    return value


def read_truth(value: object, where: str) -> bool:
    """Return `value` if it is a bool. Otherwise raise OstinatoError."""
    if not isinstance(value, bool):
        raise OstinatoError(f"{where} {short_repr(value)} is neither True nor False")
    return value


def read_object(value: object, where: str) -> Mapping[str, Any]:
    """Return `value` if it is a mapping that JSON can represent. Otherwise raise OstinatoError."""
    if not isinstance(value, Mapping):
        raise OstinatoError(f"{where} {short_repr(value)} is not an object")
    to_json(dict(value), where)
    return value
