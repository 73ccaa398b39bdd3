"""Define what is stored about a durable function's run: a `FunctionRecord`, the `StepRecord`s and the messages."""

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
    """The status of an operation. An unfinished operation is `pending`, with one exception: an `at_most_once` step is
    `begun` while it runs."""

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
    """The row of one operation in a function's run.

    - `position`: identifies the operation in the code
    - `digest`: identifies the arguments of a step
    - `seq`: the number of the outcome, in the order in which the code received outcomes
    - `due`: when the operation wakes up, times out or is tried again, in microseconds since 1970
    - `child_id`: the id of the child run that the operation started or waits for

    Position `3` is the fourth operation of the function. `3.1.0` is the first operation in the second branch of the
    gather at position 3. `seq` is None until there is an outcome. It stays None for values that the code does not
    await, such as `ctx.now()`.
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
    """The record of a durable function's run, without the steps.

    - `version`, `code`: the version and the digest of the code with which the run began
    - `pinned`: whether only this version may continue the run
    - `generation`: how often `ctx.continue_as` was called
    - `depth`: the number of ancestors of this run: its parent function, the parent's parent, and so on
    - `input`: the input from the last call of `ctx.continue_as`, as JSON
    - `state`: the value of `ctx.set_state`, as JSON
    - `cancel`: when a cancellation was requested, in microseconds since 1970
    - `cancelled`: when the code got `Cancelled`, in microseconds since 1970
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
    """A message to a run. `position` is the position of the `ctx.receive` that got the message. It is None until the
    message is received."""

    run_id: str
    id: str
    name: str
    payload: str | None
    sent: Micros
    actor: str | None = None
    position: str | None = None
