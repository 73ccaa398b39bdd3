"""What an expression language is to a journey. Languages are pure: they reach no file and no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ostinato.model import Json


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One expression to be evaluated, with what its names stand for."""

    expr: str
    bindings: Mapping[str, Json]
    deadline_s: float


@dataclass(frozen=True, slots=True)
class Value:
    """What came out."""

    value: Json


@dataclass(frozen=True, slots=True)
class Failure:
    """Why nothing came out. `code` is stable; `message` holds neither the source nor any value."""

    code: str
    message: str


Outcome: TypeAlias = Value | Failure


class Language(Protocol):
    name: str

    def check(self, expr: str) -> str | None:
        """None where the expression is fine, else what is wrong with it and what would be right."""
        ...

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Outcome]:
        """One outcome for each request, in their order. One that fails harms no other."""
        ...
