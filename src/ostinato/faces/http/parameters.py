"""Refuse unknown query parameters, and suggest the parameters that were probably meant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from ostinato.errors import did_you_mean, list_choices
from ostinato.faces.http.validation_errors import ANY_QUERY, Mistaken

_EVERYWHERE = ("namespace",)  # query parameters that `authentication` reads
_ELSEWHERE = {("/api/v1/events", "pattern"): "/api/v1/events/stream"}  # parameters of another call


async def refuse_unknown_parameters(request: Request) -> None:
    """Raise `Mistaken` for unknown query parameters. A call that ignored a misspelt filter would return everything."""
    if not request.scope.get("query_string"):
        return
    route: APIRoute = request.scope["route"]
    if (route.openapi_extra or {}).get(ANY_QUERY):
        return
    names = sorted({*_query_names(route.dependant), *_EVERYWHERE})
    errors = [
        {
            "type": "unknown_parameter",
            "loc": ("query", name),
            "msg": _no_such(name, names, _ELSEWHERE.get((request.scope["path"], name), "")),
            "input": value,
        }
        for name, value in request.query_params.items()
        if name not in names
    ]
    if errors:
        raise Mistaken(errors)


def _query_names(dependant: Dependant) -> Iterator[str]:
    yield from (one.alias for one in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _query_names(inner)


def _no_such(name: str, names: Sequence[str], elsewhere: str) -> str:
    if elsewhere:
        return f"there is no such parameter here; {elsewhere} has it"
    return f"there is no such parameter here; {did_you_mean(name, names) or list_choices(names)}"
