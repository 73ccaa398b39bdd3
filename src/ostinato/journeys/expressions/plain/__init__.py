"""Evaluate the small language `plain`: paths, literals, comparisons and a few operators.

`plain` is a subset of DataWeave with the same meaning. It has two uses:

- `Plain.evaluate` evaluates expressions with `lang: plain`.
- `evaluate_certain` evaluates expressions with `lang: dataweave`, but only if the DataWeave runtime would certainly
  return the same result. For any other expression, such as `<` between texts, it returns `NOT_PLAIN`. The test
  `test_plain_is_what_the_runtime_says` compares the results of `evaluate_certain` with those of the runtime.

Expressions are evaluated on the event loop, so the work of each expression is limited. Expressions have no loops and no
variables.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.plain.certain import Unsure
from ostinato.journeys.expressions.plain.parser import Parser
from ostinato.journeys.expressions.plain.tokens import PlainSyntaxError, position
from ostinato.journeys.expressions.plain.values import EvaluationFailed, NotJson, Run, Term, as_written, longer
from ostinato.model import Json

__all__ = ["NOT_PLAIN", "EvaluationFailed", "Plain", "PlainSyntaxError", "evaluate_certain", "position", "read"]
NOT_PLAIN: Final = object()


def evaluate_certain(expr: str, bindings: Mapping[str, Json]) -> Json:
    """Return the result of a DataWeave expression, or `NOT_PLAIN` if the DataWeave runtime must evaluate the
    expression."""
    term = _read_strictly(expr)
    if term is None:
        return NOT_PLAIN
    try:
        return as_written(term(Run(bindings)))
    except (Unsure, NotJson, EvaluationFailed, RecursionError):
        return NOT_PLAIN


class Plain:
    def __init__(self, expr: str) -> None:
        """Parse an expression. Raise `PlainSyntaxError` if it is invalid."""
        self._term = Parser(expr, strict=False).whole()

    def evaluate(self, bindings: Mapping[str, Json], most: int) -> Json:
        """Return the result. Raise `EvaluationFailed` if the evaluation fails, or if the result has more than `most`
        characters of JSON."""
        try:
            value = as_written(self._term(Run(bindings)))
        except RecursionError:
            raise EvaluationFailed(Code.ERROR, "its bindings are nested too deeply") from None
        except NotJson:
            message = "its result is not JSON: a number has more than 64 bits, or a text is no Unicode"
            raise EvaluationFailed(Code.RESULT_INVALID, message) from None
        if longer(value, most):
            raise EvaluationFailed(Code.TOO_LARGE, f"its result exceeds {most} bytes of JSON")
        return value


@functools.lru_cache(maxsize=4096)
def read(expr: str) -> Plain | PlainSyntaxError:
    try:
        return Plain(expr)
    except PlainSyntaxError as wrong:
        return wrong


@functools.lru_cache(maxsize=4096)
def _read_strictly(expr: str) -> Term | None:
    try:
        return Parser(expr, strict=True).whole()
    except (PlainSyntaxError, Unsure):
        return None
