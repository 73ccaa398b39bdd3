"""What is too simple to send to a runtime: DataWeave's plain paths, literals and comparisons, answered here.

The result is the runtime's own, or none: wherever DataWeave does something of its own (a selector on a string, an
escape, an order among texts) this says `NOT_PLAIN`, and the runtime is asked. `test_plain_is_what_the_runtime_says`
holds the two against each other.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from operator import ge, gt, le, lt
from typing import Final

from ostinato.model import Json

NOT_PLAIN: Final = object()

_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_PATH = rf"{_NAME}(?:\.{_NAME}|\[\d{{1,6}}\])*"
_LITERAL = r"""null|true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?|"[^"\\$\n]*"|'[^'\\$\n]*'"""
_PLAIN = re.compile(rf"\s*({_LITERAL}|\[\]|\{{\}}|{_PATH})\s*")
_COMPARED = re.compile(rf"\s*({_LITERAL}|{_PATH}) +(==|!=|<=|>=|<|>) +({_LITERAL}|{_PATH})\s*")
_STEP = re.compile(rf"\.({_NAME})|\[(\d+)\]")
_RESERVED = frozenset(
    "if else unless using as is null true false default case fun input output ns type import var and or throw do for"
    " yield enum private async not match update at with matches".split()
)
_WORDS: Final[Mapping[str, Json]] = {"null": None, "true": True, "false": False}
_ORDER: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS = 15  # of a number; with more, a float and a decimal may part ways

_Term = Callable[[Mapping[str, Json]], Json]


def plain(expr: str, bindings: Mapping[str, Json]) -> Json:
    """The result of the expression, or `NOT_PLAIN`."""
    term = _read(expr)
    try:
        return NOT_PLAIN if term is None else term(bindings)
    except RecursionError:
        return NOT_PLAIN


@functools.lru_cache(maxsize=4096)
def _read(expr: str) -> _Term | None:
    if found := _PLAIN.fullmatch(expr):
        term = _term(found[1])
        return term and (lambda bindings: _as_written(term(bindings)))
    if found := _COMPARED.fullmatch(expr):
        left, right, operator = _term(found[1]), _term(found[3]), found[2]
        if left and right:
            return lambda bindings: _compare(left(bindings), operator, right(bindings))
    return None


def _term(text: str) -> _Term | None:
    if text in _WORDS:
        return lambda _: _WORDS[text]
    if text in ("[]", "{}"):
        return lambda _: [] if text == "[]" else {}
    if text[0] in "\"'":
        return lambda _: text[1:-1]
    if text[0] in "-0123456789":
        if sum(char.isdigit() for char in text) > _DIGITS:
            return None
        number = float(text) if "." in text else int(text)
        return lambda _: number
    root = re.match(_NAME, text)
    assert root is not None
    steps = [name or int(index) for name, index in _STEP.findall(text, root.end())]
    if not _RESERVED.isdisjoint([root[0], *(step for step in steps if isinstance(step, str))]):
        return None
    return lambda bindings: _follow(bindings, root[0], steps)


def _follow(bindings: Mapping[str, Json], root: str, steps: list[str | int]) -> Json:
    if root not in bindings:
        return NOT_PLAIN
    value = bindings[root]
    for step in steps:
        if value is None:
            return None
        if isinstance(step, int):
            if not isinstance(value, list):
                return NOT_PLAIN
            value = value[step] if step < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list):
            value = [item[step] for item in value if isinstance(item, dict) and step in item] or None
        else:
            return NOT_PLAIN
    return value


def _as_written(value: Json) -> Json:
    """As the runtime writes it: 1.0 is 1, and what is not JSON is left to it."""
    match value:
        case None | bool():
            return value
        case str():
            return value if value.isascii() or not _SURROGATE.search(value) else NOT_PLAIN
        case int():
            return value if -(1 << 63) <= value < 1 << 64 else NOT_PLAIN
        case float():
            if value != value or value in (float("inf"), float("-inf")):
                return NOT_PLAIN
            return int(value) if value.is_integer() and abs(value) < 1 << 63 else value
        case list():
            items = [_as_written(item) for item in value]
            return NOT_PLAIN if any(item is NOT_PLAIN for item in items) else items
        case dict():
            fields = {key: _as_written(item) for key, item in value.items()}
            strange = any(item is NOT_PLAIN for item in fields.values())
            return NOT_PLAIN if strange or not all(_a_key(key) for key in fields) else fields
    return NOT_PLAIN


def _a_key(key: object) -> bool:
    return isinstance(key, str) and _as_written(key) is not NOT_PLAIN


def _compare(left: Json, operator: str, right: Json) -> Json:
    """Equality among null, booleans, texts and numbers, and anything against null; order among numbers."""
    if left is NOT_PLAIN or right is NOT_PLAIN:
        return NOT_PLAIN
    a, b = _number(left), _number(right)
    if a is NOT_PLAIN or b is NOT_PLAIN:
        return NOT_PLAIN
    if operator in _ORDER:
        return _ORDER[operator](a, b) if isinstance(a, Decimal) and isinstance(b, Decimal) else NOT_PLAIN
    if isinstance(a, list | dict) and isinstance(b, list | dict):
        return NOT_PLAIN
    return (type(a) is type(b) and a == b) == (operator == "==")


def _number(value: Json) -> Json:
    if isinstance(value, bool) or value is None or isinstance(value, str | list | dict):
        return value
    if isinstance(value, int):
        return Decimal(value)
    return Decimal(repr(value)) if isinstance(value, float) and value - value == 0 else NOT_PLAIN
