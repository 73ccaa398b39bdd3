"""Collect all mistakes in a request. A `Mistake` names a field, its value, and what would be right."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel

from ostinato.errors import OstinatoError, did_you_mean, limit_rule, list_choices, may_be_secret, short_json, short_repr
from ostinato.faces.http.shapes.common import NO_NUL, RUN_CURSOR

ANY_QUERY = "x-any-query"  # marks a route that passes the query to a journey, which may read any parameter
LARGEST_LIMIT = 1000  # items of a page
_LONGEST_VALUE = 200  # characters of a value that an error repeats
_BLANK_OFFSET = re.compile(r" \d\d:?\d\d$")  # the offset of a time whose `+` was read as a blank
_ENUMERATED = re.compile(r"'([^']*)'")


@dataclass(frozen=True, slots=True)
class Mistake:
    field: str
    message: str
    value: Any = None
    has_value: bool = False

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def is_in(self, place: str) -> bool:
        """Return whether the field is `place` or lies within it."""
        return self.field == place or self.field.startswith((f"{place}.", f"{place}["))

    def as_dict(self) -> dict[str, Any]:
        fields = {"field": self.field, "message": self.message}
        return {**fields, "value": self.value} if self.has_value else fields


class Mistaken(Exception):
    """Raised for a request with mistakes. `errors` has the form of pydantic's errors, and `sent` is the body."""

    def __init__(self, errors: Sequence[Mapping[str, Any]], sent: Any = None) -> None:
        super().__init__(f"{len(errors)} mistakes")
        self.errors = errors
        self.sent = sent


class BodyError(OstinatoError):
    """Raised for a body that has the right form but wrong content. Each mistake names its place in the body."""

    def __init__(self, title: str, message: str, mistakes: Sequence[Mistake]) -> None:
        super().__init__(message)
        self.title = title
        self.mistakes = mistakes


def place_in_body(path: Sequence[str | int]) -> str:
    """Return a path in the body as text, such as `body.spec.cron[2]`."""
    return _write_place(("body", *path))


def _write_place(path: Sequence[str | int]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def mistake_in_body(body: Any, path: Sequence[str | int], message: str, *, secret: bool = False) -> Mistake:
    """Return a `Mistake` with `message` about the place `path` in `body`.

    - If `path` leads into a string, the rest of `path` is dropped: `spec.cron` in `{"spec": "x"}` becomes `spec`.
    - If `body` has a value at `path`, the mistake has this value, too, unless `secret` is true.
    """
    value = body
    for number, step in enumerate(path):
        if isinstance(value, str):
            path = path[:number]
            break
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return Mistake(place_in_body(path), message)
    if secret or may_be_secret(path, value):
        return Mistake(place_in_body(path), message)
    return Mistake(place_in_body(path), message, as_json(value), has_value=True)


def mistakes(errors: Iterable[Mapping[str, Any]], body: Any) -> list[Mistake]:
    """Return a mistake for each field that has an error. `errors` are pydantic's errors. If a field has several errors,
    only the first one is used. `body` is the model of the request body."""
    first: dict[str, Mistake] = {}  # pydantic reports an error for each type that a field allows
    for error in errors:
        mistake = _mistake(error, body)
        first.setdefault(mistake.field, mistake)
    return list(first.values())


def _mistake(error: Mapping[str, Any], body: Any) -> Mistake:
    place, kind, value = _named_place(error["loc"], body), error.get("type"), error.get("input")
    field = _write_place(place)
    match kind:
        case "missing":
            return Mistake(field, "it is missing")
        case "extra_forbidden":
            names = _fields(body, place[1:-1])
            hint = did_you_mean(str(place[-1]), names) or (list_choices(names) if names else "leave it out")
            message = f"there is no such field; {hint}"
        case "string_pattern_mismatch" if error.get("ctx", {}).get("pattern") == NO_NUL:
            message = "no text may have a NUL in it"
        case "string_pattern_mismatch" if error.get("ctx", {}).get("pattern") == RUN_CURSOR:
            message = "this is not `next` of a page"
        case "timezone_aware":
            message = f"a time without an offset; write '{value}Z' for UTC, or '{value}+01:00'"
        case "datetime_from_date_parsing" | "datetime_parsing" if place[0] == "query" and _BLANK_OFFSET.search(
            str(value)
        ):
            message = "not a time; a `+` means a blank in a query: write the offset as %2B01:00, or use Z"
        case "enum" | "literal_error":
            choices = _ENUMERATED.findall(str(error.get("ctx", {}).get("expected")))
            message = _unknown_choice(place, value, choices) if choices else str(error["msg"])
        case _ if place == ("query", "limit"):
            message = limit_rule(LARGEST_LIMIT)
        case _:
            message = str(error["msg"]).removeprefix("Value error, ")
    if may_be_secret(place, value):
        return Mistake(field, message)
    return Mistake(field, message, as_json(value), has_value=True)


def _unknown_choice(place: Sequence[Any], value: Any, choices: Sequence[str]) -> str:
    """Return the message for a value that is none of `choices`. It reads like the errors of the Python API. The name of
    a field inside another one is left out, because it says too little without its place."""
    names = [part for part in place[1:] if isinstance(part, str)]
    words = names if len(names) == 1 else []
    words += [] if may_be_secret(place, value) else [short_json(value)]
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    return f"{' '.join(words) or 'it'} is unknown; {hint or list_choices(choices)}"


def _named_place(place: Sequence[Any], body: Any) -> tuple[Any, ...]:
    """Return the place of an error without the type that pydantic adds if a field allows several types. For example,
    `body.retry.int` becomes `body.retry`."""
    if len(place) > 2 and _is_model(body) and (field := body.model_fields.get(place[1])) is not None:
        kinds = [kind for kind in get_args(field.annotation) if kind is not type(None)]
        if len(kinds) > 1 and isinstance(place[2], str):
            return (*place[:2], *place[3:])
    return tuple(place)


def _fields(model: Any, place: Sequence[Any]) -> list[str]:
    """Return the names of the fields that `model` allows at the path `place`, or [] if no model describes the place."""
    for part in place:
        if not _is_model(model) or part not in model.model_fields:
            return []
        model = model.model_fields[part].annotation
        if not _is_model(model):
            model = next(filter(_is_model, getattr(model, "__args__", ())), None)
    return list(model.model_fields) if _is_model(model) else []


def _is_model(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, BaseModel)


def as_json(value: Any) -> Any:
    """Return `value` itself if it is short and JSON. Otherwise return a shortened text of it."""
    if isinstance(value, str | list | dict) and len(value) > _LONGEST_VALUE:
        return short_repr(value)
    try:
        short = len(json.dumps(value, allow_nan=False)) <= _LONGEST_VALUE
    except (TypeError, ValueError, RecursionError):
        short = False
    return value if short else short_repr(value)
