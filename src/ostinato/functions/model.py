"""The record of a durable function: its steps in order, its messages, and what is visible from outside."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ostinato.when.instants import SECOND, Micros

KIND = "function"
WAKE, GRACE, CHILDREN = "wake", "grace", "children"  # purposes of timers
NO_CODE = "no node with function "  # what a run waits for whose code no node has; its name follows
CANCEL_GRACE: Micros = 30 * SECOND  # how long a cancelled function may clean up
MOST_STEPS = 10_000
MOST_MESSAGES = 1_000  # that a run has not received
DEEPEST = 50  # children of children


class StepKind(StrEnum):
    """The kind of a recorded operation of `ctx`."""

    STEP = "step"
    SLEEP = "sleep"
    RECEIVE = "receive"
    START = "start"
    CHILD = "child"
    NOW = "now"
    RANDOM = "random"
    UUID = "uuid"
    VERSION = "version"


class StepStatus(StrEnum):
    """The status of a recorded operation. `pending`: it waits, possibly for its next attempt. `begun`: a step with
    `at_most_once` has begun."""

    PENDING = "pending"
    BEGUN = "begun"
    DONE = "done"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        return self not in (StepStatus.PENDING, StepStatus.BEGUN)


@dataclass(slots=True)
class StepRecord:
    """The row of one operation of a function.

    `position` identifies the operation in the code: its number in the function, or in its branch of a gather (`3.1.0`).
    `seq` is its place in the order in which outcomes were delivered; None if it has no outcome yet, and for values that
    the code does not wait for. `due` is when it wakes up, times out or is tried again. `child_id` is the run that it
    started.
    """

    run_id: str
    position: str
    kind: StepKind
    name: str
    digest: str | None = None
    status: StepStatus = StepStatus.PENDING
    seq: int | None = None
    result: str | None = None
    error: str | None = None
    attempts: int = 0
    due: Micros | None = None
    child_id: str | None = None
    begun: Micros = 0
    finished: Micros | None = None


@dataclass(slots=True)
class FunctionRecord:
    """The record of a run without its steps.

    `version` and `code` are the version and the digest of the code that the run began with; with `pinned`, no other
    version may continue it. `generation` counts how often it continued with an empty history; `input` is then the new
    input. `state` is the value of `ctx.set_state`. `cancel` is when its cancellation was requested, `cancelled` when
    its code got `Cancelled`.
    """

    run_id: str
    namespace: str
    name: str
    version: int
    code: str
    pinned: bool
    generation: int = 0
    depth: int = 0
    input: str | None = None
    state: str | None = None
    steps: int = 0
    lines: int = 0
    cancel: Micros | None = None
    cancelled: Micros | None = None
    reason: str | None = None
    created: Micros = 0
    updated: Micros = 0


@dataclass(frozen=True, slots=True)
class Message:
    """A message to a run. `position` is that of the `receive` that has received it, if any."""

    run_id: str
    id: str
    name: str
    payload: str | None
    sent: Micros
    actor: str | None = None
    position: str | None = None
