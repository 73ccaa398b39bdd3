"""What the journeys of these tests are made of: a language that is Python, and tasks that the tests look into."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ostinato.journeys.expressions.contract import Evaluation, Failure, Value
from ostinato.journeys.language import Definition
from ostinato.journeys.task_kind import Fault, Plugins, TaskCall, TaskProblem, TaskResult
from ostinato.journeys.tasks.schedule import ScheduleTask
from tests.support.journey_documents import text as example


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

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        self.calls.append(call)
        try:
            await asyncio.sleep(call.settings.get("seconds", 0))
        except asyncio.CancelledError:
            self.stopped.append(call.state)
            raise
        if "raise" in call.settings:
            raise RuntimeError(call.settings["raise"])
        if "internal" in call.settings:
            return TaskProblem(
                call.settings["internal"], "it cannot be done here", call.settings["detail"], internal=True
            )
        if "fail" in call.settings:
            return TaskProblem(call.settings["fail"], "it cannot be done")
        return TaskResult({**call.context, call.settings.get("resultVar", "worked"): call.settings.get("answer", True)})

    @property
    def keys(self) -> list[str]:
        return [one.key for one in self.calls]


def plugins(work: Work, *more: Any) -> Plugins:
    return Plugins([work, ScheduleTask(), *more], [Python(), Python("dataweave")])


def text(states: str, *, name: str = "example", version: str = "0.1.0", **options: Any) -> str:
    document = example(states, **options)
    return document.replace("name: example", f"name: {name}").replace("version: 0.1.0", f"version: {version}")


AGAIN = text(
    "a: {type: task, task: {kind: 'schedule:v1', start: b, interval: P1D, maxRuns: 9}, next: b}\nb: {type: succeed}",
    name="again",
)  # makes a schedule for itself


def paying(
    *, interval: str = "PT1H", runs: int = 3, start_at: str = "", existing: str = "fail", seconds: float = 0
) -> str:
    """Each run adds one to `count` and takes the next token."""
    at = f"startAt: '{start_at}'," if start_at else ""
    return text(
        f"""
        a:
          type: task
          task:
            kind: 'schedule:v1'
            start: pay
            {at.rstrip(",")}
            interval: {interval}
            maxRuns: {runs}
            subjectId: {{mapper: {{lang: py, expr: "context['who']"}}}}
            context: {{mapper: {{lang: py, expr: "{{'token': context['token'], 'count': 0}}"}}}}
            onExisting: {existing}
          next: done
        done: {{type: succeed}}
        pay: {{type: task, task: {{kind: 'work:v1', seconds: {seconds}}}, next: count}}
        count:
          type: transform
          transform:
            mapper:
              lang: py
              expr: "{{**context, 'count': context['count'] + 1, 'token': context['token'] + '+'}}"
          next: judge
        judge:
          type: choice
          choices: [{{when: {{predicate: {{lang: py, expr: "context['count'] == 2"}}}}, next: bad}}]
          default: paid
        bad: {{type: fail, errorCode: DECLINED, reason: no money}}
        paid: {{type: succeed}}
        """,
        name="pay",
    )
