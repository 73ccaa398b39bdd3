"""Convert the records of durable functions into objects for users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from ostinato.functions.model import FunctionRecord, StepKind, StepRecord
from ostinato.model import Run, StatusName
from ostinato.when.instants import optional_datetime, to_datetime


@dataclass(frozen=True, slots=True)
class FunctionInfo:
    """A run of a function.

    - `state`: the value of `ctx.set_state`
    - `version`, `code`: the version and the digest of the code with which the run began; None if it has not begun
    - `generation`: how often the run continued with an empty history
    """

    id: str
    name: str
    namespace: str
    key: str | None
    status: StatusName
    reason: str | None
    waits_for: str | None
    state: Any
    version: int | None
    code: str | None
    pinned: bool
    generation: int
    steps: int
    cancel_requested: datetime | None
    parent_id: str | None
    input: Any
    result: Any
    error: Any
    created: datetime
    finished: datetime | None

    @property
    def over(self) -> bool:
        return self.finished is not None


@dataclass(frozen=True, slots=True)
class StepInfo:
    """One recorded operation of a run. `seq` numbers outcomes in the order in which the code received them."""

    position: str
    kind: str
    name: str
    status: str
    seq: int | None
    attempts: int
    result: Any
    error: Any
    due: datetime | None
    child_id: str | None
    digest: str | None
    begun: datetime
    finished: datetime | None


@dataclass(frozen=True, slots=True)
class DeclaredInfo:
    """A version of a function. `code` is the digest of the version's code. `declared` is the time when a node that
    declares this version last started."""

    name: str
    version: int
    code: str
    declared: datetime


@dataclass(frozen=True, slots=True)
class DrainInfo:
    """How many unfinished runs began with one version of a function.

    - `code`: the digest of the code with which the runs began
    - `declared`: whether nodes declare this version with the digest `code`
    - `current`: whether `declared` is true and no newer version is declared
    - `runs`: the number of these runs
    - `by_status`: the number of these runs with each status
    """

    name: str
    version: int
    code: str
    pinned: bool
    current: bool
    declared: bool
    runs: int
    by_status: dict[str, int]
    oldest: datetime


def function_info(run: Run, function: FunctionRecord | None) -> FunctionInfo:
    input = run.input if function is None or not function.generation else function.input
    return FunctionInfo(
        id=run.root_id,
        name=run.name,
        namespace=run.namespace,
        key=run.key,
        status=run.status.value,
        reason=run.reason,
        waits_for=run.reason if run.status.value == "waiting" else None,
        state=None if function is None else _json(function.state),
        version=None if function is None else function.version,
        code=None if function is None else function.code,
        pinned=function is not None and function.pinned,
        generation=0 if function is None else function.generation,
        steps=0 if function is None else function.steps,
        cancel_requested=None if function is None else optional_datetime(function.cancel),
        parent_id=run.parent_id,
        input=_json(input),
        result=_json(run.result),
        error=_json(run.error),
        created=to_datetime(run.created),
        finished=optional_datetime(run.finished),
    )


def step_info(step: StepRecord) -> StepInfo:
    return StepInfo(
        position=step.position,
        kind=step.kind.value,
        name=step.name,
        status=step.status.value,
        seq=step.seq,
        attempts=step.attempts,
        result=_value(step),
        error=_json(step.error),
        due=optional_datetime(step.due),
        child_id=step.child_id,
        digest=step.digest,
        begun=to_datetime(step.begun),
        finished=optional_datetime(step.finished),
    )


def in_order(steps: Sequence[StepRecord]) -> list[StepRecord]:
    """Return steps in the order in which they began. Steps that began at the same time are in the order of the code."""
    return sorted(steps, key=lambda step: (step.begun, _numbers(step.position)))


def _numbers(position: str) -> tuple[int, ...]:
    return tuple(int(part) for part in position.split(".") if part.isdigit())


def _value(step: StepRecord) -> Any:
    value = _json(step.result)
    return to_datetime(value).isoformat() if step.kind is StepKind.NOW and isinstance(value, int) else value


def _json(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)
