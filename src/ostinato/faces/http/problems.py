"""Errors as RFC 9457 problems: what went wrong, where, with which value, and what would be right."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from ostinato.engine.computing import Busy, TooMuch
from ostinato.engine.log import log
from ostinato.errors import Conflict, NotFound, OstinatoError, SpecError, StoreError, StoreRefused, StoreUnavailable
from ostinato.faces.door import Refused
from ostinato.faces.http.bodies import NotJson
from ostinato.faces.http.mistakes import as_json, mistakes
from ostinato.journeys.library import Invalid
from ostinato.journeys.schemas import NotValid
from ostinato.schedules.declared import DeclaredElsewhere
from ostinato.schedules.marked import FileError
from ostinato.schedules.scheduler import AlreadyExists, TokenMismatch

MEDIA = "application/problem+json"
_SAY_AGAIN = 10.0  # seconds between two lines in the log about the same trouble


class Problem(BaseModel):
    """What is sent instead of an answer."""

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
    body = {"type": f"urn:ostinato:{title.replace(' ', '-')}", "title": title, "status": status, "detail": detail}
    found = {**body, **{name: value for name, value in more.items() if value is not None}}
    return JSONResponse(found, status, headers, MEDIA)


def of_error(error: OstinatoError, *, inside: bool = False) -> JSONResponse:
    """An error of ours as a problem. What is wrong with the store is told to its own user only, `inside` the process:
    it names the place where the store is."""
    match error:
        case Refused():
            return problem(error.status, error.title, str(error), error.headers)
        case Busy():
            return problem(503, "busy", str(error), {"Retry-After": "2"})
        case TooMuch():
            return problem(422, "too much", str(error))
        case NotFound():
            return problem(404, "not found", str(error))
        case TokenMismatch():
            return problem(412, "conflict token mismatch", str(error), current=f'"{error.current}"')
        case DeclaredElsewhere():
            return problem(409, "declared elsewhere", str(error), plan=error.plan.as_dict())
        case AlreadyExists():
            return problem(409, "already exists", str(error), field="name", value=error.name)
        case Conflict():
            return problem(409, "conflict", str(error))
        case StoreRefused():
            return problem(422, "invalid", str(error) if inside else "the store will not take a value of this call")
        case StoreError():
            words = str(error) if inside else _store_trouble(error)
            return problem(503, "store unavailable", words, {"Retry-After": "1"})
        case NotValid():
            faults = [_fault(error.value, place, words) for place, words in error.faults]
            return problem(400, "invalid input", str(error), field=error.place or None, problems=faults)
        case Invalid():
            return problem(422, "invalid definition", str(error), problems=[one.as_dict() for one in error.problems])
        case FileError():
            return problem(422, "invalid file", str(error), problems=[one.as_dict() for one in error.problems])
        case SpecError():
            return problem(422, "invalid spec", str(error), field=error.field or None, value=as_json(error.value))
        case _:
            return problem(422, "invalid", str(error))


def _fault(value: Any, place: str, words: str) -> dict[str, Any]:
    """What is wrong at a place of a value, with what is there."""
    found = {"field": place, "message": words}
    try:
        for step in place.split("/")[1:]:
            value = value[int(step)] if isinstance(value, list) else value[step]
    except (KeyError, ValueError, IndexError, TypeError):  # a name that has a slash in it
        return found
    return found if value is None else {**found, "value": as_json(value)}


_last_said = -float("inf")


def _store_trouble(error: StoreError) -> str:
    """What strangers are told. The log has the rest, now and then: anyone may ask."""
    global _last_said
    now = time.monotonic()
    if now - _last_said > _SAY_AGAIN:
        _last_said = now
        log.warning("requests fail: the store is in trouble", action="store_trouble", problem=str(error))
    again = "try again" if isinstance(error, StoreUnavailable) else "the server's log says why"
    return f"the store does not answer; {again}"


def install(app: FastAPI) -> None:
    @app.exception_handler(OstinatoError)
    async def ours(request: Request, error: OstinatoError) -> JSONResponse:
        return of_error(error, inside=request.app.state.inside)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        found = mistakes(request, error)
        return problem(
            422,
            "invalid",
            "; ".join(map(str, found)),
            field=found[0].field,
            value=found[0].value,
            problems=[one.as_dict() for one in found],
        )

    @app.exception_handler(HTTPException)
    async def http(_: Request, error: HTTPException) -> JSONResponse:
        headers = dict(error.headers) if error.headers else None
        title = "not json" if isinstance(error, NotJson) else HTTPStatus(error.status_code).phrase.lower()
        return problem(error.status_code, title, str(error.detail), headers)

    @app.exception_handler(Exception)
    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        log.exception("a request failed", action="request_failed", method=request.method, path=request.url.path)
        words = "something went wrong here; the server's log has the details"
        return problem(500, "internal error", words, {"Connection": "close"})  # as the server will do
