"""What the journeys of these tests are made of: a language that is Python, and tasks that the tests look into."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ostinato.journeys.expressions.contract import Evaluation, Failure, Value
from ostinato.journeys.language import Definition
from ostinato.journeys.plugins import Fault, Plugins, Problem, Result, TaskCall
from ostinato.journeys.scheduling import ScheduleTask
from tests.unit.journeys.examples import text as example


class Python:
    """`{lang: py, expr: context['a'] + 1}`; also in place of a language that a rule asks for."""

    def __init__(self, name: str = "py") -> None:
        self.name = name
        self.batches: list[int] = []

    def check(self, expr: str) -> str | None:
        return None

    async def evaluate(self, requests: Sequence[Evaluation]) -> list[Value | Failure]:
        self.batches.append(len(requests))
        return [self._one(one) for one in requests]

    def _one(self, asked: Evaluation) -> Value | Failure:
        try:
            return Value(eval(asked.expr, {}, dict(asked.bindings)))
        except Exception as wrong:
            return Failure("PY_ERROR", type(wrong).__name__)

    def close(self) -> None: ...


@dataclass
class Work:
    """`work:v1`: takes `seconds`, then writes `answer` at `resultVar`, or fails with `fail`."""

    name: str = "work"
    major: int = 1
    calls: list[TaskCall] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)

    def check(self, settings: Mapping[str, Any], definition: Definition) -> Iterable[Fault]:
        return ()

    async def run(self, call: TaskCall) -> Result | Problem:
        self.calls.append(call)
        try:
            await asyncio.sleep(call.settings.get("seconds", 0))
        except asyncio.CancelledError:
            self.stopped.append(call.state)
            raise
        if "raise" in call.settings:
            raise RuntimeError(call.settings["raise"])
        if "internal" in call.settings:
            return Problem(call.settings["internal"], "it cannot be done here", call.settings["detail"], internal=True)
        if "fail" in call.settings:
            return Problem(call.settings["fail"], "it cannot be done")
        return Result({**call.context, call.settings.get("resultVar", "worked"): call.settings.get("answer", True)})

    @property
    def keys(self) -> list[str]:
        return [one.key for one in self.calls]


def plugins(work: Work, *more: Any) -> Plugins:
    return Plugins([work, ScheduleTask(), *more], [Python(), Python("dataweave")])


def text(states: str, *, name: str = "example", version: str = "0.1.0", **given: Any) -> str:
    made = example(states, **given)
    return made.replace("name: example", f"name: {name}").replace("version: 0.1.0", f"version: {version}")
