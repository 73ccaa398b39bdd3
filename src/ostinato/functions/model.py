"""The record of a durable function: its steps in order, its messages, and what is visible from outside."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ostinato.when.instants import SECOND, Micros

KIND = "function"
WAKE, GRACE, CHILDREN = "wake", "grace", "children"  # purposes of timers
NO_CODE = "no node with function "  # begins the reason of a run that waits for its code; the function's name follows
CANCEL_GRACE: Micros = 30 * SECOND  # how long a cancelled function may clean up
MOST_STEPS = 10_000
MOST_MESSAGES = 1_000  # of one run that it has not received yet
DEEPEST = 50  # levels of functions, each a child of the one above


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
    """The status of a recorded operation. `pending` means that it waits, possibly for its next attempt. `begun` means
    that a step with `at_most_once` has begun."""

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

    `position` identifies the operation in the code: `3` is the fourth operation of the function, and `3.1.0` is the
    first operation in the second branch of the gather at position 3. `digest` identifies the arguments of a step. `seq`
    is the operation's place in the order in which outcomes were delivered. It is None if there is no outcome yet, and
    for values that the code does not wait for. `due` is when the operation wakes up, times out or is tried again.
    `child_id` is the child run that it started or waits for.
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
    version may continue it. `generation` counts how often the run continued with an empty history (`ctx.continue_as`);
    `input` is then the new input. `depth` counts the functions above this one, if it is a child. `state` is the value
    of `ctx.set_state`. `cancel` is when the cancellation was requested. `cancelled` is when the code got `Cancelled`.
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
    """A message to a run. `position` is the position of the `receive` that has received the message, or None."""

    run_id: str
    id: str
    name: str
    payload: str | None
    sent: Micros
    actor: str | None = None
    position: str | None = None
