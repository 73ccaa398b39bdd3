"""Turn errors into HTTP responses. `problem_details` builds the bodies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match

from ostinato.engine.log import log
from ostinato.errors import OstinatoError, short_repr
from ostinato.faces.http import problem_details
from ostinato.faces.http.bodies import SLASH
from ostinato.faces.http.framework import NotJsonResponse
from ostinato.faces.http.mistake_places import all_mistakes
from ostinato.faces.http.problem_details import MEDIA, HttpFault, fault, fault_of
from ostinato.faces.http.validation_errors import Mistaken

_METHODS = ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")


class Problem(BaseModel):
    """The body of an error response."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None
    value: Any = None
    current: str | None = None
    problems: list[dict[str, Any]] | None = None
    plan: dict[str, Any] | None = None


def problem(status: int, title: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    return _response(fault(status, title, detail, headers, **more))


def of_error(error: OstinatoError, app: FastAPI) -> JSONResponse:
    return _response(fault_of(error, app.state.door.app.ways, inside=app.state.inside))


def _response(fault: HttpFault) -> JSONResponse:
    return JSONResponse(fault.body, fault.status, fault.headers, MEDIA)


async def _invalid(request: Request, errors: Iterable[Mapping[str, Any]], sent: object) -> JSONResponse:
    route = request.scope.get("route")
    body = route.body_field if isinstance(route, APIRoute) else None
    model = getattr(getattr(body, "field_info", None), "annotation", None)
    return _response(problem_details.invalid(await all_mistakes(request.app.state.door.app, errors, model, sent)))


def _methods(request: Request) -> list[str]:
    """Return the HTTP methods that the path of the request supports. Each method of a path has its own route, so the
    function looks for a route once for each method."""
    scope = {"type": "http", "path": request.scope["path"], "root_path": "", "headers": []}

    def has_route(method: str) -> bool:
        return any(route.matches({**scope, "method": method})[0] is Match.FULL for route in request.app.routes)

    return [method for method in _METHODS if has_route(method)]


def install(app: FastAPI) -> None:
    @app.exception_handler(OstinatoError)
    async def ours(request: Request, error: OstinatoError) -> JSONResponse:
        return of_error(error, request.app)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return await _invalid(request, error.errors(), error.body)

    @app.exception_handler(Mistaken)
    async def mistaken(request: Request, error: Mistaken) -> JSONResponse:
        return await _invalid(request, error.errors, error.sent)

    @app.exception_handler(405)
    async def wrong_method(request: Request, _: Exception) -> JSONResponse:
        methods = _methods(request)
        path = short_repr(request.scope["path"].replace(SLASH, "%2F"))
        words = f"the path {path} has no method {request.method}; use {' or '.join(methods)}"
        return problem(405, "method not allowed", words, {"Allow": ", ".join(methods)})

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        headers = dict(error.headers) if error.headers else None
        title = "not json" if isinstance(error, NotJsonResponse) else HTTPStatus(error.status_code).phrase.lower()
        return problem(error.status_code, title, str(error.detail), headers)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        log.exception("a request failed", action="request_failed", method=request.method, path=request.url.path)
        words = "something went wrong here; the server's log has the details"
        return problem(500, "internal error", words, {"Connection": "close"})  # the server will close the connection
