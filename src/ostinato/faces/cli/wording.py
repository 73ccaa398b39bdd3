"""Errors in the words of the command line: options in place of the fields of a request."""

from __future__ import annotations

from typing import Any

from ostinato.errors import OstinatoError

_ARGUMENTS = {"name": "NAME", "at": "AT", "to": "TO", "url": "URL", "id": "ID", "text": "FILE", "action": "JOB"}
_OPTIONS = {"tags": "tag", "patterns": "pattern", "subjectId": "subject", "journeyName": "name"}


def in_words(problem: OstinatoError) -> str:
    """What is wrong, as whoever typed the command would say it."""
    body = getattr(problem.__cause__, "body", None)
    found = body.get("problems") if isinstance(body, dict) else None
    if not found or not all("field" in one and "message" in one for one in found):
        return str(problem)
    return "; ".join(f"{option(one['field'])}{_value(one)}: {one['message']}" for one in found)


def option(field: str) -> str:
    """The option, or the argument, that a field of a request was given by."""
    place, _, rest = field.partition(".")
    if place not in ("body", "query", "path", "header") or not rest:
        return field
    name, _, inner = rest.partition(".")
    name = _OPTIONS.get(name, name)
    shown = _ARGUMENTS.get(name) or f"--{name.replace('_', '-')}"
    return f"{shown}, {inner}" if inner else shown


def _value(one: dict[str, Any]) -> str:
    value = one.get("value")
    return f" {value!r}" if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
