"""One set of worker processes for all of these tests; none of them is left when they are over."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from ostinato.journeys.expressions.contract import Evaluation, Failure, Value
from ostinato.journeys.expressions.languages import SandboxedLanguage
from ostinato.journeys.expressions.settings import ExpressionSettings


@dataclass(frozen=True)
class Spoken:
    """The languages as tests use them: the runtimes themselves, nothing answered in this process."""

    languages: dict[str, SandboxedLanguage]

    def __getitem__(self, name: str) -> SandboxedLanguage:
        return self.languages[name]

    def all(self, name: str, *requests: tuple[str, Any], deadline: float = 5.0) -> list[Any]:
        """The values of a batch over contexts, failures by their codes."""
        asked = [Evaluation(expr, {"context": context, "payload": None}, deadline) for expr, context in requests]
        answers = asyncio.run(self.languages[name].evaluate(asked))
        return [answer.value if isinstance(answer, Value) else answer.code for answer in answers]

    def one(self, name: str, expr: str, context: Any = None, deadline: float = 5.0) -> Any:
        return self.all(name, (expr, context), deadline=deadline)[0]

    def failure(self, name: str, expr: str, context: Any = None, deadline: float = 5.0) -> Failure:
        asked = [Evaluation(expr, {"context": context, "payload": None}, deadline)]
        (answer,) = asyncio.run(self.languages[name].evaluate(asked))
        assert isinstance(answer, Failure), answer
        return answer


@pytest.fixture(scope="session")
def spoken() -> Iterator[Spoken]:
    if sys.platform != "linux":
        pytest.skip("DataWeave has a wheel, and the sandbox its door, on Linux alone")
    settings = ExpressionSettings(workers=2, patience_s=0.5, memory_bytes=160 << 20)
    languages = {name: SandboxedLanguage(name, name, settings=settings) for name in ("dataweave", "jq", "jsonata")}
    yield Spoken(languages)
    for language in languages.values():
        pids = language.pool.pids()
        language.close()
        assert not [pid for pid in pids if _there(pid)]


def _there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
