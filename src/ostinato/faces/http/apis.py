"""Calls of APIs over HTTP: by name, or at the path that the definition asks for. An API keeps no record, so there is
nothing to answer a repeated call from."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, Body, FastAPI, Path, Request, Response
from fastapi.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from ostinato.engine.access import Role
from ostinato.errors import NotFound
from ostinato.faces.door import Who
from ostinato.faces.http.bodies import SLASH, Route
from ostinato.faces.http.inbound import give_cookies, inbound
from ostinato.faces.http.journeys import Version
from ostinato.faces.http.problems import MEDIA
from ostinato.faces.http.shapes.common import NO_NUL
from ostinato.faces.http.who import JourneyOperator, declared

router = APIRouter(route_class=Route, tags=["journeys"])
WRITE = declared(Role.OPERATOR, any_query=True)
Api = Annotated[
    str,
    Path(min_length=1, max_length=300, pattern=NO_NUL, description="The API's name."),
]
_PREFIX = "/api/v1"
_KNOWN = 1000  # paths whose API is remembered


@router.post("/apis/{name}", responses={200: {"description": "Its output"}}, response_model=None, **WRITE)
async def call_api(
    request: Request,
    who: JourneyOperator,
    name: Api,
    body: Annotated[Any, Body(description="The input: an object.")] = None,
    version: Version = None,
) -> Response:
    """Call an API: the answer is its output, or its error, with the status that its own rules give it."""
    journeys = who.app.journeys
    name = await _named(request.app, who, name)
    seen = inbound(request, journeys.settings)
    found = await journeys.call(name, {} if body is None else body, version=version, request=seen)
    return give_cookies(JSONResponse(found.body, found.status, media_type=MEDIA if found.problem else None), seen)


def install(app: FastAPI) -> None:
    """What is posted to a path that nothing else has is for an API that asks for that path. It goes the way of every
    call of an API, so that who may call is decided in one place."""
    app.state.apis = {}
    otherwise = app.router.default

    async def default(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if scope["type"] != "http" or scope["method"] != "POST" or not path.startswith(f"{_PREFIX}/"):
            await otherwise(scope, receive, send)
            return
        at = f"{_PREFIX}/apis/{path.removeprefix(_PREFIX).replace('/', SLASH)}"
        await app.router({**scope, "path": at}, receive, send)

    app.router.default = default


async def _named(app: FastAPI, who: Who, name: str) -> str:
    """The API of this name. Where there is none, the one whose own path this call was made to."""
    if name.startswith("/"):
        return await _at(app, who, name)
    with suppress(NotFound):
        if (await who.app.journeys.read_definition(name)).is_api:
            return name
    with suppress(NotFound):
        return await _at(app, who, f"/apis/{name}")
    return name  # which says what there is instead


async def _at(app: FastAPI, who: Who, path: str) -> str:
    """The API that asks for a path."""
    known: dict[tuple[str, str], str] = app.state.apis
    place = who.namespace, path
    if place in known and await _asks_for(who, known[place], path):
        return known[place]
    after = ("", "")
    while some := await who.app.journeys.definitions(after=after, limit=1000):
        for name in {one.name for one in some if one.kind == "Api"}:
            if await _asks_for(who, name, path):
                if len(known) >= _KNOWN:
                    known.clear()
                known[place] = name
                return name
        after = some[-1].name, some[-1].version
    raise NotFound(f"there is nothing at {path}")


async def _asks_for(who: Who, name: str, path: str) -> bool:
    definition = await who.app.journeys.read_definition(name)
    route = definition.spec.bindings.http.route
    return definition.is_api and route is not None and route.path == path
