"""Declare the calls of the HTTP API without loading a web framework.

A declaration has a path, a function, and the source of each parameter. The module `framework` builds FastAPI routes
from the declarations. The module `in_process` calls the functions in this process, for commands on a store.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
RequestPart = Literal["path", "query", "header", "body"]


@dataclass(frozen=True, slots=True)
class ParameterSource:
    """The source of a parameter. `options` are keyword arguments of FastAPI's `Path`, `Query`, `Header` or `Body`."""

    source: RequestPart
    options: dict[str, Any]


def Path(**options: Any) -> ParameterSource:
    return ParameterSource("path", options)


def Query(**options: Any) -> ParameterSource:
    return ParameterSource("query", options)


def Header(**options: Any) -> ParameterSource:
    return ParameterSource("header", options)


def Body(**options: Any) -> ParameterSource:
    return ParameterSource("body", options)


@dataclass(slots=True)
class HttpAnswer:
    """An answer with an encoded body. `cookies` are the values of its `Set-Cookie` headers."""

    body: bytes
    status: int = 200
    media_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    cookies: list[str] = field(default_factory=list)


def json_answer(value: Any, status: int = 200, media_type: str = "application/json") -> HttpAnswer:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return HttpAnswer(text.encode(), status, media_type)


SVG: dict[str, Any] = {"response_class": "Response", "responses": {200: {"content": {"image/svg+xml": {}}}}}


def svg_answer(picture: str) -> HttpAnswer:
    return HttpAnswer(picture.encode(), media_type="image/svg+xml")


@dataclass(frozen=True, slots=True)
class DeclaredCall:
    """A declared call. `options` are the keyword arguments for a FastAPI route, except that `response_class` is the
    name of a class instead of the class itself."""

    method: str
    path: str
    function: Callable[..., Any]
    options: dict[str, Any]


class Router:
    """Collects the declarations of API calls: one `DeclaredCall` for each HTTP method and path.

    `tags` are the OpenAPI tags of all these calls. If `install` is given, each application that serves the calls is
    passed to `install`.
    """

    def __init__(self, *, tags: list[str] | None = None, install: Callable[[Any], None] | None = None) -> None:
        self.tags = tags
        self.install = install
        self.calls: list[DeclaredCall] = []

    def include(self, *routers: Router) -> None:
        for router in routers:
            self.calls += router.calls

    def _add(self, method: str, path: str, options: dict[str, Any]) -> Callable[[F], F]:
        def register(function: F) -> F:
            self.calls.append(DeclaredCall(method, path, function, options))
            return function

        return register

    def get(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("GET", path, options)

    def post(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("POST", path, options)

    def put(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("PUT", path, options)

    def patch(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("PATCH", path, options)

    def delete(self, path: str, **options: Any) -> Callable[[F], F]:
        return self._add("DELETE", path, options)
