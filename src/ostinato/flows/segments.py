"""Selectors of recipients. Campaigns bring the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ostinato.errors import OstinatoError, check_text, short_repr

_FIELDS = {"all": None, "active_since": "active_since_days", "tag": "tag", "custom_query": "query"}


def check_segment(selector: Mapping[str, Any]) -> None:
    """Raise what is wrong with a selector, naming the field."""
    if not isinstance(selector, Mapping) or selector.get("type") not in _FIELDS:
        raise OstinatoError(f"segment {short_repr(selector)} has no type; there is {', '.join(_FIELDS)}")
    field = _FIELDS[selector["type"]]
    allowed = {"type", *([field] if field else []), *(["params"] if field == "query" else [])}
    for name in selector:
        if name not in allowed:
            raise OstinatoError(f"a segment of type {selector['type']!r} has no {name!r}")
    if field is None:
        return
    value = selector.get(field)
    if field == "active_since_days":
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 3660:
            raise OstinatoError(f"segment.{field} {short_repr(value)} is not a whole number from 1 to 3,660")
    else:
        check_text(value, f"segment.{field}")
