"""Evaluate the operators of the expression language `plain`, and convert values. The functions are pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, DivisionByZero, InvalidOperation
from operator import ge, gt, le, lt
from typing import Final, NoReturn, TypeAlias

from ostinato.journeys.expressions.codes import Code
from ostinato.model import Json

ORDER: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_TEXT_ORDER: Final[Mapping[str, Callable[[str, str], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
EQUAL = ("==", "!=")
DECIMAL = Context(prec=34)
COUNT: Final[Mapping[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "+": DECIMAL.add,
    "-": DECIMAL.subtract,
    "*": DECIMAL.multiply,
    "/": DECIMAL.divide,
}

_SURROGATE = re.compile("[\ud800-\udfff]")
_STEPS = 100_000
_LONGEST = 40  # digits of an integer; one with more becomes a float


class EvaluationFailed(Exception):
    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class NotJson(Exception):
    """Raised if JSON cannot represent a value: an integer of more than 64 bits, or invalid Unicode."""


class Run:
    """One evaluation of an expression: its bindings, and how many steps of work it may still take."""

    __slots__ = ("bindings", "left")

    def __init__(self, bindings: Mapping[str, Json]) -> None:
        self.bindings = bindings
        self.left = _STEPS

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise EvaluationFailed(Code.TOO_LARGE, f"it takes more than {_STEPS:,} steps")


Term: TypeAlias = Callable[[Run], Json]


def as_written(value: Json) -> Json:
    """Return a value as the DataWeave runtime writes it. For example, 1.0 becomes 1. Raise `NotJson` if JSON cannot
    represent the value."""
    match value:
        case None | bool():
            return value
        case str():
            if value.isascii() or not _SURROGATE.search(value):
                return value
        case int():
            if -(1 << 63) <= value < 1 << 64:
                return value
        case Decimal():
            return as_written(narrowed(value))
        case float():
            if value - value == 0:
                return int(value) if value.is_integer() and abs(value) < 1 << 63 else value
        case list():
            return [as_written(item) for item in value]
        case dict():
            if all(isinstance(key, str) and as_written(key) is not None for key in value):
                return {key: as_written(item) for key, item in value.items()}
    raise NotJson


def narrowed(number: Decimal) -> Json:
    whole = number.adjusted() < _LONGEST and number == number.to_integral_value()
    return int(number) if whole else float(number)


def decimal(value: Json) -> Decimal | None:
    """Return a number as a decimal, or None for any other value."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    return Decimal(repr(value)) if isinstance(value, float) and value - value == 0 else None


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
    return "an object"


def _fail(where: str, message: str) -> NoReturn:
    raise EvaluationFailed(Code.ERROR, f"{where}: {message}")


def boolean(value: Json, operator: str, where: str) -> bool:
    if not isinstance(value, bool):
        hint = "; `(a default false)` makes null false" if value is None else ""
        _fail(where, f"`{operator}` takes true or false, and not {_kind(value)}{hint}")
    return value


def default(left: Term, right: Term, run: Run) -> Json:
    first = left(run)
    return right(run) if first is None else first


def follow(run: Run, value: Json, steps: list[tuple[str | int, str]]) -> Json:
    """Return the value at the path `steps`, which consists of field names and indices. Each step selects from the value
    that the previous step returned:

    - If a field or an item does not exist, the value is null.
    - A field name after a list selects the values of this field in all objects of the list. If no object has the field,
      the value is null.
    - A field name or an index after a text, and an index after an object, raise `EvaluationFailed`.
    """
    for step, where in steps:
        if value is None:
            return None
        if isinstance(value, str):
            _fail(where, "a text has no fields and no items")
        if isinstance(step, int):
            if isinstance(value, dict):
                _fail(where, "an object has no items; its fields have names")
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list):
            run.spend(len(value))
            value = [item[step] for item in value if isinstance(item, dict) and step in item] or None
        else:
            return None
    return value


def compare(run: Run, left: Json, operator: str, right: Json, where: str) -> bool:
    if operator in EQUAL:
        return _equal(run, left, right) == (operator == "==")
    a, b = decimal(left), decimal(right)
    if a is not None and b is not None:
        return ORDER[operator](a, b)
    if isinstance(left, str) and isinstance(right, str):
        run.spend(min(len(left), len(right)) // 64)
        return _TEXT_ORDER[operator](left, right)
    return _fail(where, f"`{operator}` compares two numbers or two texts, and not {_kind(left)} with {_kind(right)}")


def _equal(run: Run, left: Json, right: Json) -> bool:
    run.spend(1)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_equal(run, a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(run, left[key], right[key]) for key in left)
    if isinstance(left, str) and isinstance(right, str):
        run.spend(min(len(left), len(right)) // 64)
        return left == right
    a, b = decimal(left), decimal(right)
    if a is not None or b is not None:
        return a == b
    return type(left) is type(right) and left == right


def count(left: Json, operator: str, right: Json, where: str) -> Json:
    a, b = decimal(left), decimal(right)
    if a is None or b is None:
        hint = "; texts are joined with ++" if operator == "+" and isinstance(left, str) else ""
        _fail(where, f"`{operator}` takes two numbers, and not {_kind(left)} and {_kind(right)}{hint}")
    try:
        return narrowed(COUNT[operator](a, b))
    except DivisionByZero:
        _fail(where, "a division by zero")
    except (InvalidOperation, OverflowError):
        _fail(where, "the result is not a number")


def join(run: Run, left: Json, right: Json, where: str) -> Json:
    """Join texts, numbers and booleans to a text, lists to a list, and objects to an object. Fields of the right object
    replace those of the left. Raise `EvaluationFailed` for other operands."""
    if isinstance(left, list) and isinstance(right, list):
        run.spend(len(left) + len(right))
        return left + right
    if isinstance(left, dict) and isinstance(right, dict):
        run.spend(len(left) + len(right))
        return left | right
    if None in (left, right) or isinstance(left, list | dict) or isinstance(right, list | dict):
        _fail(where, f"`++` joins two texts, two lists or two objects, and not {_kind(left)} and {_kind(right)}")
    first, second = _as_text(left), _as_text(right)
    run.spend((len(first) + len(second)) // 64)
    return first + second


def _as_text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    number = decimal(value)
    return str(value) if number is None else f"{number.normalize():f}"


def size_of(value: Json, where: str) -> Json:
    if value is None or isinstance(value, str | list | dict):
        return None if value is None else len(value)
    return _fail(where, f"sizeOf takes a text, a list or an object, and not {_kind(value)}")


def is_empty(value: Json, where: str) -> Json:
    if value is None or isinstance(value, str | list | dict):
        return not value
    return _fail(where, f"isEmpty takes a text, a list or an object, and not {_kind(value)}")


def longer(value: Json, most: int) -> bool:
    """Return whether the JSON of a value is longer than about `most` characters. The count is rough: for example, each
    number counts as one character. The count stops as soon as it exceeds `most`, so a huge value takes little time."""
    left = most
    waiting: list[Json] = [value]
    while waiting:
        part = waiting.pop()
        left -= 2 + len(part) if isinstance(part, str | list | dict) else 1
        if left < 0:
            return True
        if isinstance(part, dict):
            waiting += part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return False
