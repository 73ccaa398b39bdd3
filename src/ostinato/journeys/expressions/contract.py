"""Define the interface of an expression language. To add a language, implement the methods of `Language`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from ostinato.model import Json

# The names that an expression may use. Which of them are bound depends on where the expression is in the definition.
BINDINGS = frozenset({"context", "payload", "platform", "error", "branches", "outcomes", "outcome", "output"})


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A request to evaluate one expression within `deadline_s` seconds. `now` is the time that the expression sees, in
    microseconds since 1970; None means the system's clock."""

    expr: str
    bindings: Mapping[str, Json]
    deadline_s: float
    now: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    value: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of an evaluation. `code` is stable. `message` contains no values of the bindings."""

    code: str
    message: str


EvaluationOutcome: TypeAlias = Value | Failure
PendingEvaluation: TypeAlias = tuple[Evaluation, asyncio.Future[EvaluationOutcome]]


class Language(Protocol):
    @property
    def name(self) -> str: ...

    def check(self, expr: str) -> str | None:
        """Return None if the expression is valid. Otherwise return a text that says what is wrong, where, and what to
        write instead. The call blocks its thread."""

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[EvaluationOutcome]:
        """Return one outcome per request, in order. For an expression that fails, the outcome is a `Failure`."""

    def close(self) -> None:
        """End the worker processes. The next use starts them again."""


@runtime_checkable
class AnswersSeparately(Protocol):
    """The optional interface of a language that delivers each answer of a batch as soon as it is known."""

    @property
    def name(self) -> str: ...

    def submit(self, asked: Sequence[PendingEvaluation]) -> None:
        """Evaluate requests. Set the result of each request's future as soon as it is known. Skip requests whose future
        is already done."""
