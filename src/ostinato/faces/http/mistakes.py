"""What is wrong with a request, all of it at once: each mistake with its place, its value as JSON, and what would be
right there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel

from ostinato.errors import did_you_mean, shown, there_are
from ostinato.faces.http.shapes.common import NO_NUL, RUN_CURSOR

ANY_QUERY = "x-any-query"  # on a route that hands the query to a journey, which may read any name of it
_LONGEST_VALUE = 200  # characters of a value that an error repeats
_EVERYWHERE = ("namespace",)  # query parameters that `who` reads by hand
_ELSEWHERE = {("/api/v1/events", "pattern"): "/api/v1/events/stream"}  # what another call has
_BLANK_OFFSET = re.compile(r" \d\d:?\d\d$")  # of a time whose `+` was read as a blank
_ENUMERATED = re.compile(r"'([^']*)'")


@dataclass(frozen=True, slots=True)
class Mistake:
    field: str
    message: str
    value: Any = None
    has_value: bool = False

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"

    def as_dict(self) -> dict[str, Any]:
        found = {"field": self.field, "message": self.message}
        return {**found, "value": self.value} if self.has_value else found


async def refuse_unknown_parameters(request: Request) -> None:
    """A dependency of every route: a query parameter that the route does not have is a mistake. A misspelt filter that
    is passed over answers with everything."""
    if not request.scope.get("query_string"):
        return
    route: APIRoute = request.scope["route"]
    if (route.openapi_extra or {}).get(ANY_QUERY):
        return
    known = _parameters(route)
    errors = [
        {
            "type": "unknown_parameter",
            "loc": ("query", name),
            "msg": _no_such(name, known, _ELSEWHERE.get((request.scope["path"], name), "")),
            "input": value,
        }
        for name, value in request.query_params.items()
        if name not in known
    ]
    if errors:
        raise RequestValidationError(errors)


def _parameters(route: APIRoute) -> list[str]:
    return sorted({*_query_names(route.dependant), *_EVERYWHERE})


def _query_names(dependant: Dependant) -> Iterator[str]:
    yield from (one.alias for one in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_names(inner)


def _no_such(name: str, known: Sequence[str], elsewhere: str) -> str:
    if elsewhere:
        return f"there is no such parameter here; {elsewhere} has it"
    return f"there is no such parameter here; {did_you_mean(name, known) or there_are(known)}"


def mistakes(request: Request, error: RequestValidationError) -> list[Mistake]:
    route = request.scope.get("route")
    body = route.body_field if isinstance(route, APIRoute) else None
    model = getattr(getattr(body, "field_info", None), "annotation", None)
    return list(_without_repetition(_mistake(one, model) for one in error.errors()))


def _without_repetition(found: Iterable[Mistake]) -> Iterator[Mistake]:
    """A value that fits none of several types is one mistake, not one for each type."""
    seen: set[str] = set()
    for one in found:
        if one.field not in seen:
            seen.add(one.field)
            yield one


def _mistake(error: Mapping[str, Any], body: Any) -> Mistake:
    place, kind, given = tuple(error["loc"]), error.get("type"), error.get("input")
    field = ".".join(str(part) for part in place)
    match kind:
        case "missing":
            return Mistake(field, "it is missing")
        case "extra_forbidden":
            names = _fields(body, place[1:-1])
            hint = did_you_mean(str(place[-1]), names) or (there_are(names) if names else "leave it out")
            message = f"there is no such field; {hint}"
        case "string_pattern_mismatch" if error.get("ctx", {}).get("pattern") == NO_NUL:
            message = "no text may have a NUL in it"
        case "string_pattern_mismatch" if error.get("ctx", {}).get("pattern") == RUN_CURSOR:
            message = "this is not `next` of a page"
        case "timezone_aware":
            message = f"a time without an offset; write '{given}Z' for UTC, or '{given}+01:00'"
        case "datetime_from_date_parsing" | "datetime_parsing" if place[0] == "query" and _BLANK_OFFSET.search(
            str(given)
        ):
            message = "not a time; a `+` means a blank in a query: write the offset as %2B01:00, or use Z"
        case "enum" | "literal_error":
            words = _ENUMERATED.findall(str(error.get("ctx", {}).get("expected")))
            hint = did_you_mean(given, words) if isinstance(given, str) else ""
            message = f"{error['msg']}; {hint}" if hint else str(error["msg"])
        case _:
            message = str(error["msg"]).removeprefix("Value error, ")
    return Mistake(field, message, as_json(given), has_value=True)


def _fields(model: Any, place: Sequence[Any]) -> list[str]:
    """The fields of the object at a place of the body, as far as a model says them."""
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
    """A value as an error repeats it: as it was given, or in short where it is long or not JSON."""
    try:
        short = len(json.dumps(value, allow_nan=False)) <= _LONGEST_VALUE
    except (TypeError, ValueError, RecursionError):
        short = False
    return value if short else shown(value)
