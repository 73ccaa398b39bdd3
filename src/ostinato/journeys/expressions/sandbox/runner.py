"""The interface of a language inside a worker, with its requests and answers."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from ostinato.journeys.expressions.codes import Code

GRACE = 0.25  # for a language that enforces the deadline itself: its message arrives before the alarm ends the process


@dataclass(frozen=True, slots=True)
class Request:
    at: int
    expr: str
    bindings: dict[str, Any]
    deadline: float
    now: int | None = None  # microseconds since 1970; None means the system's time


@dataclass(frozen=True, slots=True)
class Answer:
    at: int
    value: Any = None
    code: Code | None = None
    message: str = ""

    def encoded(self, most: int) -> bytes:
        """Return the message for the pipe. A value that is too large or not JSON becomes a failure."""
        if self.code is not None:
            message = self.message.encode(errors="replace").decode()
            return orjson.dumps({"at": self.at, "code": self.code, "message": message})
        try:
            # First json, because orjson crashes when memory runs out; then orjson, because only it is strict.
            if len(json.dumps(self.value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))) > most:
                return too_large(self.at, most).encoded(most)
            value = orjson.dumps(self.value)
        except (TypeError, ValueError, RecursionError) as problem:
            return Answer(self.at, code=Code.RESULT_INVALID, message=f"its result is not JSON: {problem}").encoded(most)
        if len(value) > most:
            return too_large(self.at, most).encoded(most)
        return b'{"at":%d,"value":%s}' % (self.at, value)


class Runner(Protocol):
    def check(self, request: Request) -> dict[str, Any] | None:
        """Return None if the expression is valid, else its mistake: `message`, and `line` and `column` if known."""

    def evaluate(self, requests: Sequence[Request], most: int, answer: Callable[[Answer], None]) -> None: ...


def one_by_one(
    requests: Sequence[Request], evaluate: Callable[[Request], Answer], answer: Callable[[Answer], None]
) -> None:
    """Evaluate each request under its own alarm. Running out of memory fails only that request, if the process
    survives."""
    for request in requests:
        alarm(request.deadline)
        try:
            result = evaluate(request)
        except MemoryError:
            result = Answer(request.at, code=Code.MEMORY, message="it exceeded its memory limit")
        except RecursionError:
            result = Answer(request.at, code=Code.ERROR, message="it calls itself too deeply")
        answer(result)


def alarm(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def too_large(at: int, most: int) -> Answer:
    return Answer(at, code=Code.TOO_LARGE, message=f"its result exceeds {most} bytes of JSON")


def discreet(message: str) -> str:
    """Return a runtime's message without the values that it quotes. They may be secrets, and errors are stored and
    shown.

    Removes everything from the first bracket or quote to the last one of the same kind, because a value may contain
    brackets and quotes, too.
    """
    short = message.split("\n\n", 1)[0]
    for begin, end in (("(", ")"), ('"', '"'), (r"(?<!function )(?<!function '.)'", "'")):
        begin = begin if begin.startswith("(?") else re.escape(begin)
        short = re.sub(rf"{begin}(?:.*{re.escape(end)}|.*)", "…", short, count=1, flags=re.DOTALL)
    return " ".join(short.split())[:300]
