"""Build FastAPI routes from the calls that `routing` declares."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import fastapi
from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import StreamingResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from ostinato.faces.http.authentication import Needs, authorize
from ostinato.faces.http.bodies import SLASH, UnreadableBody, read_body
from ostinato.faces.http.mistake_places import naming_argument_places
from ostinato.faces.http.routing import DeclaredCall, HttpAnswer, ParameterSource, Router

_PLACES = {"path": fastapi.Path, "query": fastapi.Query, "header": fastapi.Header, "body": fastapi.Body}
# Names in signatures whose modules the declarations do not load.
_NAMES = {"Request": Request, "Response": Response, "StreamingResponse": StreamingResponse}


class NotJsonResponse(HTTPException):
    """Raised if the body of a request is not JSON. The server answers this request with the message of the exception.
    It is an `HTTPException`, because FastAPI would replace the message of any other exception."""


class _Request(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            try:
                self._json = read_body(await self.body())
            except UnreadableBody as problem:
                raise NotJsonResponse(400, str(problem)) from None
        return self._json


class Route(APIRoute):
    """A route that reads request bodies with `read_body`. It also turns each placeholder `SLASH` in a path parameter
    into a slash again; `request_guard` has put the placeholder in place of an escaped slash."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def read(request: Request) -> Response:
            names = {
                key: name.replace(SLASH, "/") if isinstance(name, str) else name
                for key, name in request.path_params.items()
            }
            return await handler(_Request({**request.scope, "path_params": names}, request.receive))

        return read


def fastapi_router(router: Router) -> APIRouter:
    api_router = APIRouter(route_class=Route, tags=list(router.tags) if router.tags else None)
    for call in router.calls:
        options = dict(call.options)
        if isinstance(options.get("response_class"), str):
            options["response_class"] = _NAMES[options["response_class"]]
        api_router.add_api_route(call.path, _endpoint(call), methods=[call.method], **options)
    return api_router


def _endpoint(call: DeclaredCall) -> Callable[..., Any]:
    """Return the function of `call` in a form that FastAPI can use: with FastAPI's own annotations, and with a FastAPI
    response instead of an `HttpAnswer`. If the function raises an error about a part of the body, the error names the
    place."""
    function = call.function
    hints = get_type_hints(function, localns=_NAMES, include_extras=True)

    @wraps(function)
    async def endpoint(*args: Any, **kwargs: Any) -> Any:
        with naming_argument_places(kwargs.get("body")):
            answer = await function(*args, **kwargs)
        return _response(answer) if isinstance(answer, HttpAnswer) else answer

    signature = inspect.signature(function)
    parameters = [one.replace(annotation=_parameter_type(hints[name])) for name, one in signature.parameters.items()]
    returned = _return_type(hints.get("return"))
    del endpoint.__wrapped__
    endpoint.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=returned
    )
    return endpoint


def _return_type(hint: Any) -> Any:
    """Return the type that FastAPI sees: `Response` if `hint` contains `HttpAnswer`, else `hint`."""
    parts = get_args(hint) or (hint,)
    if HttpAnswer in parts:
        return Response
    return None if hint is type(None) else hint


def _parameter_type(annotation: Any) -> Any:
    if get_origin(annotation) is not Annotated:
        return annotation
    kind, *notes = get_args(annotation)
    return Annotated[kind, *(_note(one) for one in notes)]


def _note(note: Any) -> Any:
    match note:
        case ParameterSource():
            return _PLACES[note.source](**note.options)
        case Needs():

            async def who(request: Request) -> Any:
                return await authorize(request, note)

            return Depends(who)
        case _:
            return note


def _response(answer: HttpAnswer) -> Response:
    response = Response(answer.body, answer.status, answer.headers, answer.media_type)
    for line in answer.cookies:
        response.headers.append("set-cookie", line)
    return response
