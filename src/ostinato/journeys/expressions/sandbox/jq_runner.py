"""Evaluate jq. The input of a program is an object with all bindings. Each binding is also a variable. A program must
produce exactly one result."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import jq
import orjson

from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.sandbox.runner import SandboxAnswer, SandboxRequest, discreet, one_by_one, too_large

_DENIED = "ostinato: denied"
_SHUT = "".join(f"def {name}: error({json.dumps(_DENIED)}); " for name in ("env", "input", "inputs"))


@functools.lru_cache(maxsize=512)
def _program(expr: str, names: tuple[str, ...], timed: bool = False) -> Any:
    """Compile an expression to a jq program with the variables `names`. The input of the program is an object with the
    bindings. If `timed` is true, the input is `{"now": …, "bindings": …}` instead. The program returns a list of the
    expression's first two results, so that the caller can see whether there is exactly one."""
    clock = ".now as $ostinato_now | def now: $ostinato_now; .bindings | " if timed else ""
    variables = f". as {{{', '.join('$' + name for name in names)}}} | " if names else ""
    return jq.compile(f"{_SHUT}{clock}{variables}[limit(2;\n{expr}\n)]")


class JqRunner:
    def check(self, request: SandboxRequest) -> dict[str, Any] | None:
        if re.match(r"\s*(?:import|include)\b", request.expr):
            return {"message": "modules cannot be imported or included", "line": 1, "column": 1}
        try:
            jq.compile(request.expr, args=request.bindings)  # alone, so that lines and columns are the author's
            _program(request.expr, tuple(request.bindings))  # inside our program: no imports, no early end
        except ValueError as problem:
            text = str(problem)
            place = re.search(r"line (\d+), column (\d+)", text)
            message = re.sub(r" at <top-level>.*", "", text.split("\n", 1)[0]).removeprefix("jq: error: ")
            where = {"line": int(place[1]), "column": int(place[2])} if place else {}
            return {"message": message, **where}
        return None

    def evaluate(self, requests: Sequence[SandboxRequest], most: int, answer: Callable[[SandboxAnswer], None]) -> None:
        one_by_one(requests, functools.partial(_evaluate, most=most), answer)


def _evaluate(request: SandboxRequest, most: int) -> SandboxAnswer:
    bindings, now = request.bindings, request.now
    input = bindings if now is None else {"now": now / 1_000_000, "bindings": bindings}
    try:
        program = _program(request.expr, tuple(bindings), now is not None)
        text = program.input_text(json.dumps(input)).text()
    except ValueError as problem:
        if str(problem) == _DENIED:
            return SandboxAnswer(request.at, code=Code.DENIED, message="it may not read the environment or other input")
        return SandboxAnswer(request.at, code=Code.ERROR, message=discreet(str(problem)))
    if len(text) > 2 * most:
        return too_large(request.at, most)
    results = orjson.loads(text) if text else []
    if len(results) != 1:
        count = "no result" if not results else "more than one result"
        return SandboxAnswer(request.at, code=Code.RESULT_INVALID, message=f"it gave {count}; it must give one")
    return SandboxAnswer(request.at, results[0])
