"""Serve the APIs of the journey language over HTTP.

A caller names an API by its name, or by the path in the API's definition. Calls of an API are not stored, so a
repeated call runs the API again.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

from ostinato.engine.access import Role
from ostinato.errors import NotFound
from ostinato.faces.auth import Who
from ostinato.faces.http.authentication import JourneyOperator, requires
from ostinato.faces.http.bodies import SLASH
from ostinato.faces.http.journey_request import give_cookies, inbound
from ostinato.faces.http.journeys import Version
from ostinato.faces.http.problem_details import MEDIA
from ostinato.faces.http.routing import Body, HttpAnswer, Path, Router, json_answer
from ostinato.faces.http.shapes.common import NO_NUL

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import FastAPI, Request
    from starlette.types import Receive, Scope, Send

WRITE = requires(Role.OPERATOR, any_query=True)
Api = Annotated[str, Path(min_length=1, max_length=300, pattern=NO_NUL, description="The API's name.")]
_PREFIX = "/api/v1"
_KNOWN = 1000  # paths whose API is cached


def install(app: FastAPI) -> None:
    """Add a default route to the app, for requests to paths that no other route has. The definition of an API in the
    journey language may name a path, such as `/prices`. A POST to `/api/v1/prices` then calls this API. The default
    route passes the request on to the route `/apis/{name}`, which checks permissions."""
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


router = Router(tags=["journeys"], install=install)


@router.post("/apis/{name}", responses={200: {"description": "Its output"}}, response_model=None, **WRITE)
async def call_api(
    request: Request,
    who: JourneyOperator,
    name: Api,
    body: Annotated[Any, Body(description="The input: an object.")] = None,
    version: Version = None,
) -> HttpAnswer:
    """Call an API of the journey language. The answer is its output or its error. Its definition chooses the status."""
    journeys = who.app.journeys
    name = await _named(request.app, who, name)
    seen = inbound(request, who)
    outcome = await journeys.call(name, {} if body is None else body, version=version, request=seen)
    media_type = MEDIA if outcome.problem else "application/json"
    return give_cookies(json_answer(outcome.body, outcome.status, media_type), seen)


async def _named(app: FastAPI, who: Who, name: str) -> str:
    """Return the name of an API. `name` is the API's name, its path such as `/apis/prices`, or the part of its path
    after `/apis/`.

    If there is no such API and `name` begins with a slash, raise `NotFound`. If there is no such API and `name` does
    not begin with a slash, return `name` unchanged. The call of the API then raises `NotFound`, with a suggestion.
    """
    if name.startswith("/"):
        return await _at(app, who, name)
    with suppress(NotFound):
        if (await who.app.journeys.read_definition(name)).is_api:
            return name
    with suppress(NotFound):
        return await _at(app, who, f"/apis/{name}")
    return name  # the call itself then raises NotFound, with a suggestion


async def _at(app: FastAPI, who: Who, path: str) -> str:
    """Return the name of the API whose definition names `path`. Raises `NotFound` if there is no such API."""
    remembered: dict[tuple[str, str], str] = getattr(app.state, "apis", {})  # only a server caches them
    place = who.namespace, path
    if place in remembered and await _asks_for(who, remembered[place], path):
        return remembered[place]
    after = ("", "")
    while some := await who.app.journeys.definitions(after=after, limit=1000):
        for name in {one.name for one in some if one.kind == "Api"}:
            if await _asks_for(who, name, path):
                if len(remembered) >= _KNOWN:
                    remembered.clear()
                remembered[place] = name
                return name
        after = some[-1].name, some[-1].version
    raise NotFound(f"there is nothing at {path}")


async def _asks_for(who: Who, name: str, path: str) -> bool:
    definition = await who.app.journeys.read_definition(name)
    route = definition.spec.bindings.http.route
    return definition.is_api and route is not None and route.path == path
