"""What a language does inside a worker, and the forms that requests and answers have there."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from ostinato.journeys.expressions.codes import Code

GRACE = 0.25  # for a language that ends an evaluation by itself: it is heard before the alarm ends the process


@dataclass(frozen=True, slots=True)
class Request:
    at: int
    expr: str
    bindings: dict[str, Any]
    deadline: float
    now: int | None = None  # microseconds since 1970, if it is not the system's time


@dataclass(frozen=True, slots=True)
class Answer:
    at: int
    value: Any = None
    code: Code | None = None
    message: str = ""

    def encoded(self, most: int) -> bytes:
        """As it goes over the pipe; a value that is too large or no JSON is a failure."""
        if self.code is not None:
            message = self.message.encode(errors="replace").decode()
            return orjson.dumps({"at": self.at, "code": self.code, "message": message})
        try:
            # First by the slower one: orjson does not say so when memory ends, it crashes; but only it is strict.
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
        """None, or what is wrong: `message`, and `line` and `column` where known."""

    def evaluate(self, requests: Sequence[Request], most: int, answer: Callable[[Answer], None]) -> None: ...


def one_by_one(
    requests: Sequence[Request], evaluate: Callable[[Request], Answer], answer: Callable[[Answer], None]
) -> None:
    """Each under its own alarm. Memory that ran out is its own affair as long as the process lives."""
    for request in requests:
        alarm(request.deadline)
        try:
            found = evaluate(request)
        except MemoryError:
            found = Answer(request.at, code=Code.MEMORY, message="it wanted more memory than it may have")
        except RecursionError:
            found = Answer(request.at, code=Code.ERROR, message="it calls itself too deeply")
        answer(found)


def alarm(seconds: float) -> None:
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def too_large(at: int, most: int) -> Answer:
    return Answer(at, code=Code.TOO_LARGE, message=f"its result is larger than a result may be ({most} bytes of JSON)")


def discreet(message: str) -> str:
    """A runtime's words without the values that it quotes: they may be secrets, and errors are kept and shown.

    From the first bracket or quote to the last one of its kind, for a value may have brackets and quotes of its own.
    """
    short = message.split("\n\n", 1)[0]
    for begin, end in (("(", ")"), ('"', '"'), (r"(?<!function )(?<!function '.)'", "'")):
        begin = begin if begin.startswith("(?") else re.escape(begin)
        short = re.sub(rf"{begin}(?:.*{re.escape(end)}|.*)", "…", short, count=1, flags=re.DOTALL)
    return " ".join(short.split())[:300]
