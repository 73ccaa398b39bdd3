"""Bodies of requests, read strictly: what JSON does not know, or no store could keep as it is, is refused with its line
and column. Python's own reader takes NaN, numbers of any size and halves of characters without a word."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from ostinato.engine.context import DEEPEST, deeper_than

SLASH = "\udc2f"  # a slash within a name, on its way through the router; no request can send this character itself

LEAST, MOST = -(1 << 63), (1 << 64) - 1  # of a whole number
_AROUND = 5  # levels of a request that stand around an input
_DEEPEST = DEEPEST + _AROUND
_MOST_DIGITS = 20
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"|-?(?:\d[-+.\deE]*+|NaN|Infinity)|[\[{]|[\]}]', re.DOTALL)
_ESCAPES = re.compile(r"\\(?:u([\da-fA-F]{4})|.)", re.DOTALL)


class NotJson(HTTPException):
    """A body that cannot be read; it says where and why. One of HTTP's own errors: what asks for the body takes any
    other for one that it knows nothing about."""

    def __init__(self, words: str) -> None:
        super().__init__(400, words)


class _Odd(ValueError):
    """A number that is none of ours. Where it stands is looked for afterwards."""


def read_body(data: bytes) -> Any:
    """The value of a body. Raises `NotJson`."""
    try:
        text = data.decode()
    except UnicodeDecodeError as wrong:
        before = data[: wrong.start].decode()
        raise _at(before, len(before), f"the byte 0x{data[wrong.start]:02x} is not UTF-8") from None
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_float, parse_int=_whole)
    except json.JSONDecodeError as wrong:
        raise _at(text, wrong.pos, wrong.msg) from None
    except (_Odd, RecursionError) as wrong:
        raise (_found(text) or NotJson(f"the body is not JSON: {wrong}")) from None
    if ("\\ud" in text or "\\uD" in text or deeper_than(value, _DEEPEST)) and (problem := _found(text)) is not None:
        raise problem
    return value


def _at(text: str, position: int, why: str) -> NotJson:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return NotJson(f"the body is not JSON: line {line}, column {column}: {why}")


def _found(text: str) -> NotJson | None:
    """The first that cannot be taken, in a text that is JSON otherwise."""
    depth = 0
    for token in _TOKENS.finditer(text):
        word = token[0]
        if word in "[{":
            depth += 1
            if depth > _DEEPEST:
                return _at(text, token.start(), f"it is nested too deeply; an input has at most {DEEPEST} levels")
        elif word in "]}":
            depth -= 1
        elif word[0] == '"':
            if (half := _half(word)) is not None:
                return _at(text, token.start() + half, "half of a surrogate pair is no character")
        elif problem := _odd(word):
            return _at(text, token.start(), problem)
    return None


def _half(word: str) -> int | None:
    """Where half of a surrogate pair stands in a string without the other."""
    high: int | None = None
    for escape in _ESCAPES.finditer(word):
        code = int(escape[1] or "0", 16)
        if high is not None:
            if not (0xDC00 <= code <= 0xDFFF and escape.start() == high + 6):
                return high
            high = None
        elif 0xDC00 <= code <= 0xDFFF:
            return escape.start()
        elif 0xD800 <= code <= 0xDBFF:
            high = escape.start()
    return high


def _odd(word: str) -> str | None:
    try:
        json.loads(word, parse_constant=_no_number, parse_float=_float, parse_int=_whole)
    except _Odd as wrong:
        return str(wrong)
    return None


def _no_number(word: str) -> Any:
    raise _Odd(f"{word} is not a number of JSON")


def _float(word: str) -> float:
    value = float(word)
    if value in (float("inf"), -float("inf")):
        raise _Odd(f"the number {_short(word)} is too large; one has at most about 1.8e308")
    return value


def _whole(word: str) -> int:
    if len(word) <= _MOST_DIGITS and LEAST <= (value := int(word)) <= MOST:
        return value
    raise _Odd(f"the whole number {_short(word)} is not within 64 bits: {LEAST} to {MOST}")


def _short(word: str) -> str:
    return word if len(word) <= 40 else f"{word[:40]}…"


def named(segment: str) -> str:
    """A name as its caller wrote it."""
    return segment.replace(SLASH, "/")


class _Request(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            self._json = read_body(await self.body())
        return self._json


class Route(APIRoute):
    """A route that reads bodies by `read_body`, and names in the path as their callers wrote them."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def read(request: Request) -> Response:
            names = {key: named(one) if isinstance(one, str) else one for key, one in request.path_params.items()}
            return await handler(_Request({**request.scope, "path_params": names}, request.receive))

        return read
