"""Define the inputs of an instance, and the decision that follows from them.

The caller commits the instance and the events of a decision in one transaction. Then it performs the effects and calls
`advance` with their results. After a crash, another node repeats the effects under the same keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ostinato.journeys.expressions.contract import EvaluationOutcome
from ostinato.journeys.language import Expression
from ostinato.journeys.language.states import Task
from ostinato.journeys.machine.model import Instance, Termination
from ostinato.journeys.task_kind import TaskProblem, TaskResult
from ostinato.model import Json


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An effect: evaluate these expressions with the same bindings. The caller adds `platform` to the bindings."""

    frame: str
    visit: int
    expressions: tuple[Expression, ...]
    bindings: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class RunTask:
    """An effect: run a task. `key` is the same for every attempt."""

    frame: str
    visit: int
    state: str
    task: Task
    context: Mapping[str, Json]
    key: str


@dataclass(frozen=True, slots=True)
class Compensate:
    """An effect: start the compensation as a separate run, in the transaction of this decision."""

    context: Mapping[str, Json]
    outcome: Mapping[str, Json]


Effect: TypeAlias = Evaluate | RunTask | Compensate


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An input of an instance: an `Evaluate` effect has finished. `outcomes` has one outcome for each expression of the
    effect, in the same order."""

    frame: str
    visit: int
    outcomes: tuple[EvaluationOutcome, ...]


@dataclass(frozen=True, slots=True)
class TaskEnded:
    frame: str
    visit: int
    result: TaskResult | TaskProblem


@dataclass(frozen=True, slots=True)
class Submitted:
    """An input: validated data that a caller submitted to a step. `bound` has the headers and query parameters for the
    context. `call` identifies the caller's call, and is written to the event `journey:input_received`. So a caller that
    got no answer can find out whether its input was accepted."""

    step: str
    payload: Json
    bound: Mapping[str, Json] = field(default_factory=dict)
    call: str | None = None


@dataclass(frozen=True, slots=True)
class TimerDue:
    """An input: a timer of the instance is due."""

    purpose: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    reason: str = "Cancelled by user"


@dataclass(frozen=True, slots=True)
class Stopped:
    """An input that ends the instance for a reason outside its definition, such as a termination or a time limit. If
    `compensates` is False, no compensation follows."""

    kind: Termination
    code: str
    reason: str
    compensates: bool = True


Input: TypeAlias = Evaluated | TaskEnded | Submitted | TimerDue | Cancelled | Stopped


@dataclass(frozen=True, slots=True)
class JourneyEvent:
    """An event to write. It never contains values of the context."""

    name: str
    data: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Decision:
    """The changed instance, the effects that it needs now, the events to write, and the inputs that it refused."""

    instance: Instance
    effects: tuple[Effect, ...] = ()
    events: tuple[JourneyEvent, ...] = ()
    refused: tuple[Input, ...] = ()
