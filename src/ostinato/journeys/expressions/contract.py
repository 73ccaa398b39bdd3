"""The interface of an expression language. To add a language, implement these methods."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from ostinato.model import Json

# The names that an expression may use; which are bound depends on its place.
BINDINGS = frozenset({"context", "payload", "platform", "error", "branches", "outcomes", "outcome", "output"})


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One expression with its bindings and a time limit.

    `now` is the time that the expression sees, in microseconds since 1970; None means the system's clock."""

    expr: str
    bindings: Mapping[str, Json]
    deadline_s: float
    now: int | None = None


@dataclass(frozen=True, slots=True)
class Value:
    value: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """The failure of an evaluation. `code` is stable; `message` is for people and quotes no values."""

    code: str
    message: str


PendingEvaluation: TypeAlias = tuple[Evaluation, asyncio.Future[Value | Failure]]


class Language(Protocol):
    @property
    def name(self) -> str: ...

    def check(self, expr: str) -> str | None:
        """Return None if the expression is valid, otherwise a message: what is wrong, where, and what to write instead.
        Blocks."""

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        """Return one answer per request, in order. An expression that fails does not raise."""

    def close(self) -> None:
        """End the worker processes. They are started again on the next use."""


@runtime_checkable
class AnswersSeparately(Protocol):
    """An optional method of a language: answer each request as soon as it is done, instead of a whole batch at once."""

    @property
    def name(self) -> str: ...

    def submit(self, asked: Sequence[PendingEvaluation]) -> None:
        """Set the result of each future when it is known, on the running event loop. Skip futures that are done."""
