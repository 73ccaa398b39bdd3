"""What an expression language is to the rest of the journeys. Another language is another object with these methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ostinato.model import Json


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One expression over its bindings, to be done within a time."""

    expr: str
    bindings: Mapping[str, Json]
    deadline_s: float


@dataclass(frozen=True, slots=True)
class Value:
    value: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """`code` is stable; `message` is for people and quotes no values."""

    code: str
    message: str


class Language(Protocol):
    @property
    def name(self) -> str: ...

    def check(self, expr: str) -> str | None:
        """None if it can be evaluated; otherwise what is wrong, where, and what would be right. It blocks."""

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        """One answer for each, in order. It does not raise for what an expression does."""

    def close(self) -> None:
        """End its processes. It starts new ones when it is used again."""
