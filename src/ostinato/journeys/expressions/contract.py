"""What an expression language is to the rest of the journeys. Another language is another object with these methods."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

from ostinato.model import Json

# The names that an expression may see; which of them are there depends on where it stands.
BINDINGS = frozenset({"context", "payload", "platform", "error", "branches", "outcomes", "outcome", "output"})


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One expression over its bindings, to be done within a time.

    `now`: what time it is for it, in microseconds since 1970; without it, the system's clock tells.
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
    """`code` is stable; `message` is for people and quotes no values."""

    code: str
    message: str


Asked: TypeAlias = tuple[Evaluation, asyncio.Future[Value | Failure]]


class Language(Protocol):
    @property
    def name(self) -> str: ...

    def check(self, expr: str) -> str | None:
        """None if it can be evaluated; otherwise what is wrong, where, and what would be right. It blocks."""

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        """One answer for each, in order. It does not raise for what an expression does."""

    def close(self) -> None:
        """End its processes. It starts new ones when it is used again."""


@runtime_checkable
class AnswersEach(Protocol):
    """A language may have this method, too: then nobody waits for the slowest of those that were asked together."""

    @property
    def name(self) -> str: ...

    def submit(self, asked: Sequence[Asked]) -> None:
        """Set each future's result as soon as it is there, on the running event loop. Leave those that are done."""
