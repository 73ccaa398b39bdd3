"""Evaluate the operators of DataWeave in Python. Raise `Unsure` if the DataWeave runtime might return another result.
The functions are pure."""

from __future__ import annotations

from decimal import Decimal

from ostinato.journeys.expressions.plain.values import COUNT, ORDER, Run, Term, decimal, narrowed
from ostinato.model import Json

DIGITS = 15  # most digits of a number; with more, a float and a decimal may differ


class Unsure(Exception):
    """Raised if the result in Python might differ from the result of the DataWeave runtime."""


def boolean(value: Json) -> bool:
    if not isinstance(value, bool):
        raise Unsure
    return value


def default(left: Term, right: Term, run: Run) -> Json:
    first, second = left(run), right(run)
    return second if first is None else first


def follow(run: Run, value: Json, steps: list[str | int]) -> Json:
    for step in steps:
        if value is None:
            return None
        if isinstance(step, int):
            if not isinstance(value, list):
                raise Unsure
            value = value[step] if step < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list):
            run.spend(len(value))
            value = [item[step] for item in value if isinstance(item, dict) and step in item] or None
        else:
            raise Unsure
    return value


def compare(left: Json, operator: str, right: Json) -> Json:
    """Compare two values as DataWeave does. For `==` and `!=`, raise `Unsure` if both values are lists or objects. For
    all other operators, raise `Unsure` unless both values are numbers."""
    a, b = _comparable(left), _comparable(right)
    if operator in ORDER:
        if not isinstance(a, Decimal) or not isinstance(b, Decimal):
            raise Unsure
        return ORDER[operator](a, b)
    if isinstance(a, list | dict) and isinstance(b, list | dict):
        raise Unsure
    return (type(a) is type(b) and a == b) == (operator == "==")


def _comparable(value: Json) -> Json:
    if isinstance(value, bool) or value is None or isinstance(value, str | list | dict):
        return value
    number = decimal(value)
    if number is None:
        raise Unsure
    return number


def count(left: Json, operator: str, right: Json) -> Json:
    a, b = _few_digits(decimal(left)), _few_digits(decimal(right))
    return narrowed(_few_digits(COUNT[operator](a, b)))


def _few_digits(number: Decimal | None) -> Decimal:
    if number is None:
        raise Unsure
    _, digits, exponent = number.as_tuple()
    if len(digits) > DIGITS or not isinstance(exponent, int) or not -DIGITS <= exponent <= 0:
        raise Unsure
    return number


def join(run: Run, left: Json, right: Json) -> Json:
    if not isinstance(left, str) or not isinstance(right, str):
        raise Unsure
    run.spend((len(left) + len(right)) // 64)
    return left + right
