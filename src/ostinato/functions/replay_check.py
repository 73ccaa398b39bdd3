"""Check whether the present code still fits the record of a run. The check replays the record without any effect."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace as copy
from types import SimpleNamespace
from typing import Any

from ostinato.clock import Clock
from ostinato.errors import OstinatoError
from ostinato.functions.context import FunctionContext
from ostinato.functions.definition import FunctionCode, as_function
from ostinato.functions.errors import Changed
from ostinato.functions.model import FunctionRecord, StepKind, StepRecord
from ostinato.functions.replay import Driver
from ostinato.functions.views import StepInfo, step_info
from ostinato.model import MOST, Run


def definition_place(function: Callable[..., Any]) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def replay(
    code: FunctionCode,
    run: Run,
    function: FunctionRecord | None,
    steps: Sequence[StepRecord],
    clock: Clock,
    name_child: Callable[[Callable[..., Any]], str],
) -> Sequence[StepInfo]:
    """Replay the record of a run. Return the operations that the code waits for at the end of the record. Raises
    `Changed` if the code does not fit the record, or does not accept the run's input."""

    def read_child(target: Any, kind: str, input: Any, options: Any) -> Any:
        return SimpleNamespace(name=target if isinstance(target, str) else name_child(target))

    now = clock.now()
    function = function or FunctionRecord(run.id, run.namespace, run.name, code.version, code.digest, code.pinned)
    driver = Driver(run.id, {step.position: step for step in steps})
    ctx = FunctionContext(run, copy(function), driver, clock, read_child, MOST)
    try:
        arguments = code.handler.arguments(function.input if function.generation else run.input)
    except OstinatoError as problem:
        place = definition_place(code.handler.function)
        words = f"{place}: the function does not take the input that the run was started with: {as_function(problem)}"
        raise Changed(words, position="", expected="its input", actual=str(problem), place=place) from None
    arguments[code.handler.context or "ctx"] = ctx
    driver.begin(code.handler.function(**arguments))
    try:
        driver.advance()
        return [
            step_info(
                operation.record
                or StepRecord(run.id, operation.position, StepKind(operation.kind), operation.name, begun=now)
            )
            for operation in driver.pending.values()
        ]
    finally:
        driver.close()
