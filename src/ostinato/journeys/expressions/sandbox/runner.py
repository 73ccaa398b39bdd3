"""Define `Runner`, the interface of an expression language in its worker process, with its requests and answers."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from ostinato.journeys.expressions.codes import Code

GRACE = 0.25  # seconds after the deadline until the alarm, if the language enforces the deadline itself and reports it


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    at: int
    expr: str
    bindings: dict[str, Any]
    deadline: float
    now: int | None = None  # microseconds since 1970; None means the system's time


@dataclass(frozen=True, slots=True)
class SandboxAnswer:
    at: int
    value: Any = None
    code: Code | None = None
    message: str = ""

    def encoded(self, most: int) -> bytes:
        """Return the answer as a message for the pipe. If the value is not JSON, or is longer than `most` bytes, the
        message is a failure."""
        if self.code is not None:
            message = self.message.encode(errors="replace").decode()
            return orjson.dumps({"at": self.at, "code": self.code, "message": message})
        try:
            # First json, because orjson crashes when memory runs out; then orjson, because only it is strict.
            if len(json.dumps(self.value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))) > most:
                return too_large(self.at, most).encoded(most)
            value = orjson.dumps(self.value)
        except (TypeError, ValueError, RecursionError) as problem:
            return SandboxAnswer(
                self.at, code=Code.RESULT_INVALID, message=f"its result is not JSON: {problem}"
            ).encoded(most)
        if len(value) > most:
            return too_large(self.at, most).encoded(most)
        return b'{"at":%d,"value":%s}' % (self.at, value)


class Runner(Protocol):
    def check(self, request: SandboxRequest) -> dict[str, Any] | None:
        """Return None if the expression is valid, else a dict with `message`, and perhaps `line` and `column`."""

    def evaluate(
        self, requests: Sequence[SandboxRequest], most: int, answer: Callable[[SandboxAnswer], None]
    ) -> None: ...


def one_by_one(
    requests: Sequence[SandboxRequest],
    evaluate: Callable[[SandboxRequest], SandboxAnswer],
    answer: Callable[[SandboxAnswer], None],
) -> None:
    """Evaluate each request with its own time limit, and pass each result to `answer`. If a request runs out of memory
    and the process survives, only that request fails."""
    for request in requests:
        alarm(request.deadline)
        try:
            result = evaluate(request)
        except MemoryError:
            result = SandboxAnswer(request.at, code=Code.MEMORY, message="it exceeded its memory limit")
        except RecursionError:
            result = SandboxAnswer(request.at, code=Code.ERROR, message="it calls itself too deeply")
        answer(result)


def alarm(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def too_large(at: int, most: int) -> SandboxAnswer:
    return SandboxAnswer(at, code=Code.TOO_LARGE, message=f"its result exceeds {most} bytes of JSON")


def discreet(message: str) -> str:
    """Return an error message of a language's runtime without the values that it quotes, which may be secrets. Each of
    these parts is replaced by `…`:

    - from the first `(` to the last `)`
    - from the first double quote to the last
    - from the first single quote to the last; a single quote directly after the word `function` does not begin such a
      part

    If the end of a part is missing, the part reaches to the end of the message. The message is also cut at its first
    empty line, and to 300 characters.
    """
    short = message.split("\n\n", 1)[0]
    for begin, end in (("(", ")"), ('"', '"'), (r"(?<!function )(?<!function '.)'", "'")):
        begin = begin if begin.startswith("(?") else re.escape(begin)
        short = re.sub(rf"{begin}(?:.*{re.escape(end)}|.*)", "…", short, count=1, flags=re.DOTALL)
    return " ".join(short.split())[:300]
