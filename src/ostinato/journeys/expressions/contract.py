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
    """A request to evaluate one expression with its bindings, within `deadline_s` seconds.

    `now` is the time that the expression sees, in microseconds since 1970. None means the system's clock.
    """

    expr: str
    bindings: Mapping[str, Json]
    deadline_s: float
    now: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    value: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of an evaluation. `code` is stable. `message` is for people, and contains no values of the
    bindings."""

    code: str
    message: str


PendingEvaluation: TypeAlias = tuple[Evaluation, asyncio.Future[Value | Failure]]


class Language(Protocol):
    @property
    def name(self) -> str: ...

    def check(self, expr: str) -> str | None:
        """Return None if the expression is valid. Otherwise return a message: what is wrong, where, and what to write
        instead. This call blocks."""

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        """Return one outcome per request, in order. If an expression fails, its outcome is a `Failure`, and this call
        raises nothing."""

    def close(self) -> None:
        """End the worker processes. They are started again on the next use."""


@runtime_checkable
class AnswersSeparately(Protocol):
    """An optional interface of a language that answers each request as soon as its result is known, instead of a whole
    batch at once."""

    @property
    def name(self) -> str: ...

    def submit(self, asked: Sequence[PendingEvaluation]) -> None:
        """Evaluate each request, and give its future the result as soon as the result is known. Skip requests whose
        future is already done. There must be a running event loop."""
