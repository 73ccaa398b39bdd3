"""Evaluate JSONata. The input of an expression is an object with all bindings. Each binding is also a variable. An
expression without a result has the value null."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

from jsonata import Jsonata, timebox
from jsonata.jexception import JException

from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.sandbox.runner import SandboxAnswer, SandboxRequest, one_by_one

_SYSTEM_TIME = timebox.Timebox.current_milli_time


@functools.lru_cache(maxsize=512)
def _compiled(expr: str) -> Any:
    return Jsonata(expr)


class JsonataRunner:
    def __init__(self) -> None:
        for expr in ("$now() & $fromMillis(0) & $uppercase('a')", "$match('a', /a/)"):
            Jsonata(expr).evaluate({})  # load lazy modules now: later no file can be opened

    def check(self, request: SandboxRequest) -> dict[str, Any] | None:
        try:
            _compiled(request.expr)
        except JException as problem:
            place = {"line": 1, "column": problem.location} if "\n" not in request.expr and problem.location > 0 else {}
            return {"message": str(problem), **place}
        except Exception as problem:
            return {"message": f"it cannot be read ({type(problem).__name__})"}
        return None

    def evaluate(self, requests: Sequence[SandboxRequest], most: int, answer: Callable[[SandboxAnswer], None]) -> None:
        one_by_one(requests, _evaluate, answer)


def _evaluate(request: SandboxRequest) -> SandboxAnswer:
    millis = None if request.now is None else request.now // 1000
    timebox.Timebox.current_milli_time = staticmethod(_SYSTEM_TIME if millis is None else lambda: millis)
    try:
        value = _compiled(request.expr).evaluate(request.bindings, request.bindings)
    except (MemoryError, RecursionError):
        raise
    except Exception as problem:
        return SandboxAnswer(request.at, code=Code.ERROR, message=_words(problem))
    return SandboxAnswer(request.at, value)


def _words(problem: Exception) -> str:
    """Return the error's text without values, which may be secrets."""
    if isinstance(problem, JException):
        if problem.error == "D3137":  # $error: the author's own message
            return str(problem)[:300]
        template = re.sub(r"\{+\w+\}+", "…", JException.error_codes.get(problem.error, "it failed"))
        return f"{template} ({problem.error})"
    return f"it failed ({type(problem).__name__})"
