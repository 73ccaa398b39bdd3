"""What comes to an instance, and what follows from it.

`advance(definition, instance, inputs, now) -> Decision` is all there is: the caller commits the instance, the timers
and the events of a decision in one transaction, then does its effects and comes back with their results as inputs.
Effects are a function of the instance (`pending`), so whoever finds it after a crash knows what is to be done again,
under the same key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from ostinato.journeys.language import Expression
from ostinato.journeys.language.states import Task
from ostinato.journeys.machine.model import Instance, Termination
from ostinato.journeys.plugins import Outcome, Problem, Result
from ostinato.model import Json
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Evaluate these, all with the same names bound; `platform` is the caller's to add."""

    frame: str
    visit: int
    expressions: tuple[Expression, ...]
    bindings: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class RunTask:
    """Run this task. `key` is the same however often it is asked for."""

    frame: str
    visit: int
    state: str
    task: Task
    context: Mapping[str, Json]
    key: str


@dataclass(frozen=True, slots=True)
class Compensate:
    """Begin the compensation, as a run of its own: in the transaction of this decision."""

    context: Mapping[str, Json]
    outcome: Mapping[str, Json]


Effect: TypeAlias = Evaluate | RunTask | Compensate


@dataclass(frozen=True, slots=True)
class Evaluated:
    """The outcomes of an `Evaluate`, in its order."""

    frame: str
    visit: int
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class TaskEnded:
    frame: str
    visit: int
    result: Result | Problem


@dataclass(frozen=True, slots=True)
class Submitted:
    """A step's input, already found to match its schema. `bound` are values from headers and query. `call` is the id of
    the call that brings it: the event of its taking names it, so that a call whose answer was lost can find out whether
    it took effect."""

    step: str
    payload: Json
    bound: Mapping[str, Json] = field(default_factory=dict)
    call: str | None = None


@dataclass(frozen=True, slots=True)
class Fired:
    """A timer of the instance is due."""

    purpose: str


@dataclass(frozen=True, slots=True)
class Cancelled:
    reason: str = "Cancelled by user"


@dataclass(frozen=True, slots=True)
class Stopped:
    """It ends here, for a reason that lies outside of it: terminated by somebody, or its node died of it again and
    again."""

    kind: Termination
    code: str
    reason: str
    compensates: bool = True


Input: TypeAlias = Evaluated | TaskEnded | Submitted | Fired | Cancelled | Stopped


@dataclass(frozen=True, slots=True)
class Fact:
    """An event to be; it never holds a value of the context."""

    name: str
    data: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Decision:
    """`refused` are the inputs that found nobody: a step that is not active, a stale timer, an answer to a question
    that is no longer asked."""

    instance: Instance
    effects: tuple[Effect, ...] = ()
    set_timers: Mapping[str, Micros] = field(default_factory=dict)
    clear_timers: frozenset[str] = frozenset()
    events: tuple[Fact, ...] = ()
    refused: tuple[Input, ...] = ()
