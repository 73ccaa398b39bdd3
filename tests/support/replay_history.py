"""Run the code of a golden history against its record, with nothing but the driver."""

from __future__ import annotations

import asyncio
from types import ModuleType
from typing import Any

import orjson

from ostinato.clock import SystemClock
from ostinato.functions.context import FunctionContext
from ostinato.functions.model import FunctionRecord, StepKind, StepRecord, StepStatus
from ostinato.functions.replay import ContinueAs, Driver
from ostinato.model import Run


class _Child:
    def __init__(self, name: str) -> None:
        self.name = name


def _read_child(target: Any, kind: str, input: Any, options: Any) -> Any:
    return _Child(target)


def replay_history(code: ModuleType, history: dict[str, Any]) -> dict[str, Any]:
    """What the code makes of the record: what it returned or raised, or the operations that it waits for. Raises
    `Changed`."""
    run = Run(**history["run"])
    function = FunctionRecord(**history["function"])
    records = {
        step["position"]: StepRecord(**{**step, "kind": StepKind(step["kind"]), "status": StepStatus(step["status"])})
        for step in history["steps"]
    }
    driver = Driver(run.id, records)
    ctx = FunctionContext(run, function, driver, SystemClock(), _read_child, 10_000)
    text = function.input if function.generation else run.input
    driver.begin(getattr(code, run.name)(ctx, **orjson.loads(text or "{}")))

    async def advance() -> None:  # on a loop, as in a node
        driver.advance()

    try:
        asyncio.run(advance())
        if not driver.over:
            return {"waits": [[position, str(operation)] for position, operation in driver.pending.items()]}
        problem = driver.problem
        if isinstance(problem, ContinueAs):
            return {"continues": problem.input}
        return {"result": driver.result} if problem is None else {"raises": [type(problem).__name__, str(problem)]}
    finally:
        driver.close()
