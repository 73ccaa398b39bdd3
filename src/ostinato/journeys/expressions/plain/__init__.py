"""The small language that every installation has, `plain`: paths, literals, comparisons and a few operators.

What it says is DataWeave, and means the same there. So it has two users:

- `lang: plain` evaluates everything that parses, and says what is wrong with the rest (`Plain.evaluate`).
- `lang: dataweave` is answered here, without the runtime, where the result is certain to be the runtime's own
  (`plain`). Wherever DataWeave has ways of its own (an escape, an order among texts, a long fraction), this says
  `NOT_PLAIN`, and the runtime is asked. `test_plain_is_what_the_runtime_says` holds the two against each other.

An expression has no loops and no variables. How much it does is counted all the same: it runs on the event loop.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.plain.certain import Unsure
from ostinato.journeys.expressions.plain.parser import Parser
from ostinato.journeys.expressions.plain.tokens import Wrong, position
from ostinato.journeys.expressions.plain.values import Failed, NotJson, Run, Term, as_written, longer
from ostinato.model import Json

__all__ = ["NOT_PLAIN", "Failed", "Plain", "Wrong", "plain", "position", "read"]
NOT_PLAIN: Final = object()


def plain(expr: str, bindings: Mapping[str, Json]) -> Json:
    """The result of a DataWeave expression, or `NOT_PLAIN`."""
    term = _read_strictly(expr)
    if term is None:
        return NOT_PLAIN
    try:
        return as_written(term(Run(bindings)))
    except (Unsure, NotJson, Failed, RecursionError):
        return NOT_PLAIN


class Plain:
    """A plain expression that was read."""

    def __init__(self, expr: str) -> None:
        """Raises `Wrong`."""
        self._term = Parser(expr, strict=False).whole()

    def evaluate(self, bindings: Mapping[str, Json], most: int) -> Json:
        """The result, of at most `most` characters as JSON. Raises `Failed`."""
        try:
            value = as_written(self._term(Run(bindings)))
        except RecursionError:
            raise Failed(Code.ERROR, "its bindings nest too deeply") from None
        except NotJson:
            message = "its result is not JSON: a number has more than 64 bits, or a text is no Unicode"
            raise Failed(Code.RESULT_INVALID, message) from None
        if longer(value, most):
            raise Failed(Code.TOO_LARGE, f"its result is larger than a result may be ({most} bytes of JSON)")
        return value


@functools.lru_cache(maxsize=4096)
def read(expr: str) -> Plain | Wrong:
    try:
        return Plain(expr)
    except Wrong as wrong:
        return wrong


@functools.lru_cache(maxsize=4096)
def _read_strictly(expr: str) -> Term | None:
    try:
        return Parser(expr, strict=True).whole()
    except (Wrong, Unsure):
        return None
