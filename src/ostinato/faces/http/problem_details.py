"""Describe errors as problem details (RFC 9457).

A problem says what is wrong, in which field, with which value, and what would be right. This module loads no web
framework.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ostinato.engine.computing import Busy, TooMuch
from ostinato.engine.log import log
from ostinato.engine.ways import Ways
from ostinato.errors import (
    Conflict,
    NotFound,
    OstinatoError,
    SpecError,
    StoreError,
    StoreRefused,
    StoreUnavailable,
    may_be_secret,
)
from ostinato.faces.auth import Refused
from ostinato.faces.http.bodies import UnreadableBody
from ostinato.faces.http.validation_errors import BodyError, Mistake, as_json
from ostinato.schedules.declared.plan import DeclaredElsewhere
from ostinato.schedules.declared.problems import FileError
from ostinato.schedules.operations.edit import AlreadyExists, TokenMismatch

MEDIA = "application/problem+json"
_SAY_AGAIN = 10.0  # seconds between two lines in the log about the same trouble


@dataclass(frozen=True, slots=True)
class HttpFault:
    status: int
    body: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


def fault(status: int, title: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> HttpFault:
    body = {"type": f"urn:ostinato:{title.replace(' ', '-')}", "title": title, "status": status, "detail": detail}
    fields = {**body, **{name: value for name, value in more.items() if value is not None}}
    return HttpFault(status, fields, headers or {})


def not_json(error: UnreadableBody) -> HttpFault:
    return fault(400, "not json", str(error))


def invalid(mistakes: Sequence[Mistake], title: str = "invalid", detail: str | None = None) -> HttpFault:
    """Return the error response for an invalid request, with all its mistakes."""
    return fault(
        422,
        title,
        "; ".join(map(str, mistakes)) if detail is None else detail,
        field=mistakes[0].field,
        value=mistakes[0].value,
        problems=[one.as_dict() for one in mistakes],
    )


def fault_of(error: OstinatoError, ways: Ways, *, inside: bool = False) -> HttpFault:
    """Return the error response for an error. The text of a store error contains the store's address. Only a caller in
    this process (`inside`) gets this text."""
    problem = ways.problem_of(error)
    if problem is not None:
        return fault(problem.status, problem.title, str(error), **_members(error))
    match error:
        case Refused():
            return fault(error.status, error.title, str(error), error.headers)
        case Busy():
            return fault(503, "busy", str(error), {"Retry-After": "2"})
        case TooMuch():
            return fault(422, "too much", str(error))
        case NotFound():
            return fault(404, "not found", str(error))
        case TokenMismatch():
            return fault(412, "conflict token mismatch", str(error), current=f'"{error.current}"')
        case DeclaredElsewhere():
            return fault(409, "declared elsewhere", str(error), plan=error.plan.as_dict())
        case AlreadyExists():
            return fault(409, "already exists", str(error), field="name", value=error.name)
        case Conflict():
            return fault(409, "conflict", str(error))
        case StoreRefused():
            return fault(422, "invalid", str(error) if inside else "the store will not take a value of this call")
        case StoreError():
            words = str(error) if inside else _store_trouble(error)
            return fault(503, "store unavailable", words, {"Retry-After": "1"})
        case BodyError():
            return invalid(error.mistakes, error.title, str(error))
        case FileError():
            return fault(422, "invalid file", str(error), problems=[one.as_dict() for one in error.problems])
        case SpecError():
            return fault(422, "invalid spec", str(error), field=error.field or None, value=as_json(error.value))
        case _:
            return fault(422, "invalid", str(error))


def _members(error: OstinatoError) -> dict[str, Any]:
    """Return the fields that an extension's error adds to the response. The field `problems`, if there is one, is a
    list of mistakes. In this list, long values are shortened, and values that may be secrets are left out."""
    members: dict[str, Any] = getattr(error, "problem_members", dict)()
    if "problems" not in members:
        return members
    return {**members, "problems": [_shortened(one) for one in members["problems"]]}


def _shortened(problem: Mapping[str, Any]) -> dict[str, Any]:
    if "value" not in problem:
        return dict(problem)
    if may_be_secret(str(problem.get("field")).split("/"), problem["value"]):
        return {name: part for name, part in problem.items() if name != "value"}
    return {**problem, "value": as_json(problem["value"])}


_last_said = -float("inf")


def _store_trouble(error: StoreError) -> str:
    """Return the text that callers get for a store error. Log the error, at most once in `_SAY_AGAIN` seconds."""
    global _last_said
    now = time.monotonic()
    if now - _last_said > _SAY_AGAIN:
        _last_said = now
        log.warning("requests fail: the store is in trouble", action="store_trouble", problem=str(error))
    again = "try again" if isinstance(error, StoreUnavailable) else "the server's log says why"
    return f"the store does not answer; {again}"
