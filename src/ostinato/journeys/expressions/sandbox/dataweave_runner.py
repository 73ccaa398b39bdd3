"""Evaluate DataWeave on MuleSoft's runtime, each expression in the runtime's own sandbox.

The runtime executes a script of Ostinato. The script gets the expressions as data, and evaluates them without
privileges and with a time limit. Compiling takes milliseconds, so one script evaluates many requests, and an expression
that many requests share is compiled once.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from dataweave import DataWeave, DataWeaveError, modules_from_map

from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.sandbox.runner import (
    GRACE,
    SandboxAnswer,
    SandboxRequest,
    alarm,
    discreet,
    too_large,
)

CHUNK = 16  # requests per script: if the worker dies, this many are repeated
ALIKE = 3  # requests with the same expression that justify their own script
KNOWN = 10_000  # valid expressions that a worker remembers

# A module is compiled once, a script at every run.
_MODULE = """%dw 2.0
import eval, try from dw::Runtime
fun each(jobs) = jobs map ((job) -> do {
    var done = eval("main.dwl", {"main.dwl": job.script}, {}, job.bindings,
        {timeOut: job.timeOut, securityManager: (grant, args) -> false})
    ---
    if (done.success) do {
        var text = try(() -> write(done.result.value, "application/json", {indent: false}) as String)
        ---
        if (not text.success) {unwritable: text.error.message}
        else if (sizeOf(text.result) > job.most) {large: true}
        else {text: text.result}
    } else {
        kind: done.error.kind, message: done.error.message,
        line: done.error.location.start.line, column: done.error.location.start.column,
        mine: done.error.location.sourceIdentifier == "main"
    }
})
"""
_SCRIPT = """%dw 2.0
output application/json indent=false
import each from ostinato::sandbox
---
each(jobs)
"""
# One expression over many rows. The names cannot clash: an expression that uses them was refused in its own script.
_ALIKE = """%dw 2.0
---
ostinatoRows map ((ostinatoRow) -> dw::Runtime::try(() -> do {{
{variables}
---
(
{expr}
)
}}))
"""
_OUTPUT = re.compile(r"(?:(?!---).)*?^\s*output\s+(\S+)(?=.*^---)", re.DOTALL | re.MULTILINE)
_NOW = "ostinatoNow"
_HEADER = re.compile(r"^\s*---", re.MULTILINE)
_VERSION = re.compile(r"\s*%dw [\d.]+[^\n]*\n")
_DENIED = {"SecurityPrivilegeViolation", "SecurityPropertyPrivilegeViolation"}


class OutOfMemory(Exception):
    """Raised if the runtime ran out of memory. It cannot be used after that."""


class Overflowed(Exception):
    """Raised if the result exceeds the runtime's buffer and its overflow file could not be opened."""


class DataWeaveRunner:
    def __init__(self) -> None:
        self._engine = DataWeave(resolve_module=modules_from_map({"ostinato/sandbox.dwl": _MODULE}))
        self._engine.initialize()
        self._known: set[str] = set()  # expressions that compiled in their own script
        # Warm up: the first run is slow, and random() opens a file, which is impossible later.
        self._run([SandboxRequest(0, "[now() as String, uuid(), random()]", {"context": {}}, 5.0)], 1 << 10)

    def check(self, request: SandboxRequest) -> dict[str, Any] | None:
        """Return None if the expression compiles, else the mistake. The expression is evaluated with null bindings.
        Errors at run time are ignored, because the nulls may cause them."""
        output = _OUTPUT.match(request.expr)
        if output and output[1] not in ("application/json", "json"):
            return {"message": f"its result is JSON, not {output[1]}: leave `output` out, or say application/json"}
        (result,) = self._run([request], 1 << 20)
        if "kind" not in result:
            return None
        if result["message"].startswith("org.parboiled2"):
            return {"message": "it is nested too deeply"}
        if result["kind"] != "CompilationException":
            return None
        message = " ".join(result["message"].split("\n\n", 1)[0].split())
        message = re.sub(r" \(line \d+, column \d+\):$| List of reserved words:.*async\.", "", message)
        return {"message": message, "line": result["line"], "column": result["column"]}

    def evaluate(self, requests: Sequence[SandboxRequest], most: int, answer: Callable[[SandboxAnswer], None]) -> None:
        if len(requests) == 1:
            self._apart(requests, most, answer)
            return
        alike: dict[tuple[str, ...], list[SandboxRequest]] = defaultdict(list)
        single = [request for request in requests if request.now is not None]
        for request in requests:
            if request.now is None:
                alike[request.expr, *request.bindings].append(request)
        groups: list[list[SandboxRequest]] = []
        for group in alike.values():
            if len(group) < ALIKE:
                single += group
            elif group[0].expr in self._known:
                groups.append(group)
            else:  # The first runs alone: an invalid expression must not become part of our script.
                single.append(group[0])
                groups.append(group[1:])
        self._several(single, most, answer)
        rest: list[SandboxRequest] = []
        for group in groups:
            rest += self._together(group, most, answer) if group[0].expr in self._known else group
        self._several(rest, most, answer)

    def _apart(self, requests: Sequence[SandboxRequest], most: int, answer: Callable[[SandboxAnswer], None]) -> None:
        """Run each request in its own script, with its own time limit."""
        for request in requests:
            alarm(request.deadline + GRACE)
            try:
                answer(_answer(request, self._run([request], most)[0], most))
            except Overflowed:
                answer(too_large(request.at, most))
            except OutOfMemory:
                answer(_out_of_memory(request.at))

    def _several(self, requests: Sequence[SandboxRequest], most: int, answer: Callable[[SandboxAnswer], None]) -> None:
        """Evaluate requests, up to `CHUNK` of them in one script. The script evaluates each of them separately. If the
        results of a script are too long, run each of its requests in its own script."""
        for begin in range(0, len(requests), CHUNK):
            chunk = requests[begin : begin + CHUNK]
            alarm(2 * max(request.deadline for request in chunk) + GRACE)
            try:
                outcome = self._run(chunk, most)
            except Overflowed:
                self._apart(chunk, most, answer)
                continue
            for request, result in zip(chunk, outcome, strict=True):
                self._note(request, result)
                answer(_answer(request, result, most))

    def _note(self, request: SandboxRequest, result: dict[str, Any]) -> None:
        if result.get("kind") == "CompilationException" or request.expr in self._known:
            return
        if len(self._known) >= KNOWN:
            self._known.clear()
        self._known.add(request.expr)

    def _together(
        self, group: Sequence[SandboxRequest], most: int, answer: Callable[[SandboxAnswer], None]
    ) -> list[SandboxRequest]:
        """Evaluate many requests with the same expression in one script, and answer the requests that succeed. Return
        the other requests, which are not answered yet."""
        deadline = min(request.deadline for request in group)
        variables = "\n".join(f"var {name} = ostinatoRow.{name}" for name in group[0].bindings)
        script = _ALIKE.format(variables=variables, expr=group[0].expr)
        rows = [request.bindings for request in group]
        alarm(2 * deadline + GRACE)
        try:
            (result,) = self._run(
                [SandboxRequest(0, script, {"ostinatoRows": rows}, deadline)], len(group) * (most + 1024)
            )
        except Overflowed:
            return list(group)
        try:
            rows = json.loads(result["text"], parse_float=_number)
        except (KeyError, ValueError, RecursionError):
            return list(group)
        again = []
        for request, row in zip(group, rows, strict=True):
            if row["success"]:
                answer(SandboxAnswer(request.at, row["result"]))
            else:
                again.append(request)
        return again

    def _run(self, requests: Sequence[SandboxRequest], most: int) -> list[dict[str, Any]]:
        jobs = [
            {
                "script": _timed(request.expr) if request.now is not None else request.expr,
                "bindings": request.bindings | ({} if request.now is None else {_NOW: _instant(request.now)}),
                "timeOut": max(1, math.ceil(request.deadline * 1000)),
                "most": most,
            }
            for request in requests
        ]
        inputs = {"jobs": {"content": orjson.dumps(jobs), "mimeType": "application/json"}}
        try:
            done = self._engine.run(_SCRIPT, inputs)
        except DataWeaveError as problem:  # the script could not even start
            raise OutOfMemory(str(problem)) from None
        if not done.success:
            # Most errors of an expression are results. Only a lack of memory or of buffer space makes our script fail.
            raise Overflowed if "dw-buffer-output" in (done.error or "") else OutOfMemory(done.error)
        result: list[dict[str, Any]] = orjson.loads(done.get_bytes())
        return result


def _timed(expr: str) -> str:
    """Return the expression with a function `now` in its header. The function returns the time of the request."""
    begin, clock = _clock(expr)
    return f"{expr[:begin]}{clock}{expr[begin:]}"


def _clock(expr: str) -> tuple[int, str]:
    """Return (position, text): where to insert the function `now`, and the text to insert. The text has no line break,
    so that line numbers do not change."""
    clock = f"fun now() = {_NOW} as DateTime "
    if not _HEADER.search(expr):
        return 0, f"{clock}--- "
    version = _VERSION.match(expr)
    return (version.end() if version else 0), clock


def _position(request: SandboxRequest, line: int, column: int) -> str:
    """Return the place of an error in the user's expression, such as "line 1, column 5". `line` and `column` are the
    place in the evaluated text, which may contain an inserted function."""
    if request.now is not None:
        begin, clock = _clock(request.expr)
        if line == 1 + request.expr.count("\n", 0, begin):
            column = max(1, column - len(clock))
    return f"line {line}, column {column}"


def _instant(now: int) -> str:
    moment = datetime.fromtimestamp(now // 1_000_000, UTC).replace(microsecond=now % 1_000_000)
    return moment.isoformat().replace("+00:00", "Z")


def _answer(request: SandboxRequest, result: dict[str, Any], most: int) -> SandboxAnswer:
    at = request.at
    if "text" in result:
        try:
            return SandboxAnswer(at, json.loads(result["text"], parse_float=_number))
        except (ValueError, RecursionError) as problem:
            return SandboxAnswer(
                at, code=Code.RESULT_INVALID, message=f"its result is not JSON: {type(problem).__name__}"
            )
    if "large" in result:
        return too_large(at, most)
    if "unwritable" in result:
        if "dw-buffer-output" in result["unwritable"]:  # the runtime's overflow file
            return too_large(at, most)
        message = f"its result is not JSON: {discreet(result['unwritable'])}"
        return SandboxAnswer(at, code=Code.RESULT_INVALID, message=message)
    kind, message = result["kind"], result["message"] or ""
    if kind == "ExecutionTimeOutException":
        return SandboxAnswer(at, code=Code.TIMEOUT, message="it exceeded its deadline")
    if "OutOfMemoryError" in message:
        return _out_of_memory(at)
    if kind == "UserException":  # fail(…): the author's own message
        return SandboxAnswer(at, code=Code.ERROR, message=message.split("\n\n", 1)[0][:300])
    code = Code.DENIED if kind in _DENIED else Code.ERROR
    where = f"{_position(request, result['line'], result['column'])}: " if result["mine"] else ""
    return SandboxAnswer(at, code=code, message=where + discreet(message))


def _out_of_memory(at: int) -> SandboxAnswer:
    return SandboxAnswer(at, code=Code.MEMORY, message="it exceeded its memory limit")


def _number(text: str) -> int | float:
    """Read a number as an int if it is whole, else as a float. Raise `ValueError` if it is too large for a float."""
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return int(value) if value.is_integer() and abs(value) < 1 << 63 else value
