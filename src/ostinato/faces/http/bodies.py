"""Read request bodies strictly.

A body that is not JSON, or that cannot be stored, is refused; the error names line and column. Python's own `json`
would accept NaN, which is not JSON. It would also accept numbers of any size and halves of surrogate pairs, which
cannot be stored.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ostinato.engine.context import DEEPEST, deeper_than

LARGEST = 2 << 20  # bytes of a request
LARGEST_FILE = 4 << 20  # bytes of a request with a file of schedules
LARGEST_SIGNED = 512 << 10  # bytes of a signed request, which needs no token: the longest message, escaped
_FILES = ("/schedules:apply", "/schedules:plan")
_SIGNED = re.compile(r"/agents/[^/]+/inbound")
SLASH = "\udc2f"  # replaces a slash within a name while the router matches; no request can contain it

LEAST, MOST = -(1 << 63), (1 << 64) - 1  # the bounds of a whole number
_AROUND = 5  # levels of a request body outside of its input
_DEEPEST = DEEPEST + _AROUND
_MOST_DIGITS = 20
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*+"|-?(?:\d[-+.\deE]*+|NaN|Infinity)|[\[{]|[\]}]', re.DOTALL)
_ESCAPES = re.compile(r"\\(?:u([\da-fA-F]{4})|.)", re.DOTALL)


class UnreadableBody(Exception):
    """Raised if a body cannot be read. The message says where and why."""


def most_of(path: str) -> int:
    """Return the maximum size, in bytes, of a body that is sent to `path`. `path` is relative to the API."""
    if is_signed(path):
        return LARGEST_SIGNED
    return LARGEST_FILE if path in _FILES else LARGEST


def is_signed(path: str) -> bool:
    """Return whether the call at `path`, relative to the API, has a signed body. Such a call needs no token."""
    return _SIGNED.fullmatch(path) is not None


def too_large(most: int) -> str:
    return f"a request has at most {most:,} bytes"


class _Odd(ValueError):
    """Raised while a body is parsed, if a number is not JSON or is out of range. The parser does not say where the
    number is, so `_find_error` must find the line and the column."""


def read_body(data: bytes) -> Any:
    """Parse the JSON body of a request strictly. Raises `UnreadableBody` if the body is refused."""
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
        raise (_find_error(text) or UnreadableBody(f"the body is not JSON: {wrong}")) from None
    deep = text.count("[") + text.count("{") > _DEEPEST and deeper_than(value, _DEEPEST)
    if (deep or "\\ud" in text or "\\uD" in text) and (problem := _find_error(text)) is not None:
        raise problem
    return value


def _at(text: str, position: int, why: str) -> UnreadableBody:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return UnreadableBody(f"the body is not JSON: line {line}, column {column}: {why}")


def _find_error(text: str) -> UnreadableBody | None:
    """Return the error for the first invalid number, unpaired surrogate or too deeply nested value in `text`. Returns
    None if there is none."""
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
    """Return the position of the first unpaired surrogate in a JSON string, or None if there is none."""
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
