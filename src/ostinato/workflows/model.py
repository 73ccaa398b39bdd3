"""Define the phases, statuses and records of workflows, and the policy with its limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, TypeVar

from ostinato.errors import OstinatoError, did_you_mean, short_repr
from ostinato.model import MOST, Json, read_length
from ostinato.when.instants import SECOND, Micros

T = TypeVar("T")
KIND = "workflow"
MINUTE: Micros = 60 * SECOND


def from_document(cls: type[T], document: Mapping[str, Any]) -> T:
    """Create an instance of the dataclass `cls` from stored JSON. Ignore keys that a newer version has added."""
    names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
    return cls(**{name: value for name, value in document.items() if name in names})


class HandlerType(StrEnum):
    PRODUCER = "producer"
    CONSUMER = "consumer"
    FIXER = "fixer"


class Phase(StrEnum):
    """The last phase that a run has reached. Runs of producers and fixers have only `EXECUTING` and `COMMITTED`."""

    EXECUTING = "executing"
    PREPARING = "preparing"
    PREPARED = "prepared"
    MUTATING = "mutating"
    MUTATED = "mutated"
    EMITTING = "emitting"
    COMMITTED = "committed"

    @property
    def mutation_settled(self) -> bool:
        """Whether the outcome of the run's mutation is final. If so, a retry must not repeat the effect."""
        return self in (Phase.MUTATED, Phase.EMITTING, Phase.COMMITTED)


class RunStatus(StrEnum):
    """The status of a run. The phase of a failed run says how far the run got."""

    ACTIVE = "active"
    PAUSED_TRANSIENT = "paused:transient"
    PAUSED_APPROVAL = "paused:approval"
    PAUSED_RECONCILIATION = "paused:reconciliation"
    FAILED_LOGIC = "failed:logic"
    FAILED_INTERNAL = "failed:internal"
    COMMITTED = "committed"
    CRASHED = "crashed"
    CANCELLED = "cancelled"


class EventStatus(StrEnum):
    PENDING = "pending"
    RESERVED = "reserved"
    CONSUMED = "consumed"
    SKIPPED = "skipped"


class MutationStatus(StrEnum):
    """What is known about an effect on another system. `INDETERMINATE` means that a person must find out whether the
    effect took place."""

    IN_FLIGHT = "in_flight"
    APPLIED = "applied"
    FAILED = "failed"
    NEEDS_RECONCILE = "needs_reconcile"
    INDETERMINATE = "indeterminate"


class ResolutionChoice(StrEnum):
    """How a person resolves the problem that blocks a workflow.

    - `REAUTHENTICATE`, `APPROVE`, `RESUME`: the cause is removed, so continue
    - `TRY_AGAIN`: ask the mutator again whether its effect took place
    - `DID_NOT_HAPPEN`: the effect did not take place, so do it again
    - `SKIP`: skip the events that the run has reserved
    """

    REAUTHENTICATE = "reauthenticate"
    APPROVE = "approve"
    RESUME = "resume"
    TRY_AGAIN = "try_again"
    DID_NOT_HAPPEN = "did_not_happen"
    SKIP = "skip"


class FailureClass(StrEnum):
    TRANSIENT = "transient"
    LOGIC = "logic"
    AUTH = "auth"
    PERMISSION = "permission"
    PRECONDITION = "precondition"
    RECONCILIATION = "reconciliation"
    INTERNAL = "internal"
    CRASH = "crash"

    @property
    def status(self) -> RunStatus:
        return _STATUSES[self]

    @property
    def resumes_in_place(self) -> bool:
        """Whether the same run continues after the failure is resolved. Otherwise a new run follows."""
        return self.status in (RunStatus.PAUSED_APPROVAL, RunStatus.PAUSED_RECONCILIATION)

    @property
    def put_right(self) -> ResolutionChoice:
        """The choice with which a person says: "I have removed the cause of the failure, so continue." It is
        `REAUTHENTICATE` for `AUTH`, `APPROVE` for `PERMISSION`, and `RESUME` for the other classes. For
        `RECONCILIATION`, do not offer this choice: `resolve` raises `Conflict` for it."""
        return _PUT_RIGHT.get(self, ResolutionChoice.RESUME)


_STATUSES = {
    FailureClass.TRANSIENT: RunStatus.PAUSED_TRANSIENT,
    FailureClass.LOGIC: RunStatus.FAILED_LOGIC,
    FailureClass.AUTH: RunStatus.PAUSED_APPROVAL,
    FailureClass.PERMISSION: RunStatus.PAUSED_APPROVAL,
    FailureClass.PRECONDITION: RunStatus.PAUSED_APPROVAL,
    FailureClass.RECONCILIATION: RunStatus.PAUSED_RECONCILIATION,
    FailureClass.INTERNAL: RunStatus.FAILED_INTERNAL,
    FailureClass.CRASH: RunStatus.CRASHED,
}
_PUT_RIGHT = {FailureClass.AUTH: ResolutionChoice.REAUTHENTICATE, FailureClass.PERMISSION: ResolutionChoice.APPROVE}


class Delivered(StrEnum):
    """Whether the effect of a mutator took place although the mutator raised an error."""

    NO = "no"
    MAYBE = "maybe"
    YES = "yes"


class OutcomeStatus(StrEnum):
    APPLIED = "applied"
    NONE = "none"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run's mutation, for the handler's `next`. `result` is the value that the mutator returned."""

    status: OutcomeStatus = OutcomeStatus.NONE
    result: Json = None


class WorkflowState(StrEnum):
    """The state that a person has chosen. Failures do not change the state; see `Blocked`."""

    ACTIVE = "active"
    PAUSED = "paused"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Blocked:
    """Why a workflow starts no new runs: the run `run_id` has failed, and the failure is not resolved.

    - `retry_at`: when the run is retried; None if no retry is planned
    - `checking_at`: when the mutator is asked whether its effect took place; None if it is not asked
    - `fixing`: whether the fixer is at work on a new version

    Times are in microseconds since 1970, in UTC.
    """

    failure: FailureClass
    reason: str
    run_id: str
    retry_at: Micros | None = None
    checking_at: Micros | None = None
    fixing: bool = False
    since: Micros = 0

    @property
    def needs_person(self) -> bool:
        return self.retry_at is None and self.checking_at is None and not self.fixing

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(row: dict[str, Any]) -> Blocked:
        return from_document(Blocked, {**row, "failure": FailureClass(row["failure"])})


@dataclass(frozen=True, slots=True)
class Policy:
    """The limits of a workflow, in microseconds, bytes and counts."""

    wake_min: Micros = 30 * SECOND
    wake_max: Micros = 24 * 60 * MINUTE
    min_interval: Micros = 30 * SECOND
    empty_gap: Micros = 30 * SECOND  # how long a consumer pauses that reserved nothing and published to itself
    transient_retries: int = 5
    backoff_first: Micros = 10 * SECOND
    backoff_longest: Micros = 10 * MINUTE
    fix_attempts: int = 3  # after this many logic failures in a row, a person must act
    reconcile_attempts: int = 5
    crash_attempts: int = 3  # after this many crashes in a row, a person must act
    phase_timeout: Micros = 5 * MINUTE
    max_state_bytes: int = 64 << 10
    stale_after: Micros = 7 * 24 * 60 * MINUTE

    def backoff(self, failures: int) -> Micros:
        """Return how long to wait after this many failures in a row."""
        return min(self.backoff_longest, self.backoff_first << min(failures - 1, 40))


_LENGTHS = {setting.name for setting in fields(Policy) if setting.type == "Micros"}
_POSITIVE = {"phase_timeout", "fix_attempts", "reconcile_attempts", "crash_attempts", "max_state_bytes"}


def read_policy(settings: Mapping[str, Any]) -> Policy:
    """Read a policy. A length is `"30s"`, a timedelta or a number of seconds. Raises OstinatoError for a mistake."""
    if not isinstance(settings, Mapping):
        raise OstinatoError(f"policy {short_repr(settings)} is not a mapping; write policy={{'phase_timeout': '1m'}}")
    names = [one.name for one in fields(Policy)]
    values: dict[str, int] = {}
    for name, value in settings.items():
        if name not in names:
            hint = did_you_mean(str(name), names) or f"there are {', '.join(names)}"
            raise OstinatoError(f"a workflow's policy has no {short_repr(name)}; {hint}")
        if name in _LENGTHS:
            values[name] = read_length(value, f"policy {name}")
        elif type(value) is not int or value > MOST:
            raise OstinatoError(f"policy {name} {short_repr(value)} is not a whole number up to {MOST:,}")
        else:
            values[name] = value
        if values[name] < 0:
            raise OstinatoError(f"policy {name} {short_repr(value)} is negative")
        if values[name] == 0 and name in _POSITIVE:
            raise OstinatoError(f"policy {name} {short_repr(value)} is too small; it must be more than 0")
    policy = Policy(**values)
    for shorter, longer in (("wake_min", "wake_max"), ("backoff_first", "backoff_longest")):
        if getattr(policy, shorter) > getattr(policy, longer):
            raise OstinatoError(f"policy {shorter} is longer than {longer}")
    return policy


@dataclass(slots=True)
class Workflow:
    """A stored workflow.

    - `repairs`: how often the code was replaced under the same version number
    - `digest`: a text that identifies the definition and its code
    - `definition`: the definition, as JSON
    - `run_id`: the id of the only unfinished run; None if no run is unfinished
    """

    id: str
    namespace: str
    name: str
    version: int
    repairs: int
    digest: str
    definition: str
    source: str | None
    state: WorkflowState
    run_id: str | None
    blocked: Blocked | None
    logic_failures: int
    created: Micros
    updated: Micros
    actor: str | None

    @property
    def runnable(self) -> bool:
        return self.state is WorkflowState.ACTIVE and self.blocked is None and self.run_id is None

    @property
    def label(self) -> str:
        """The version as people read it: `3`, or `3.1` after a repair."""
        return f"{self.version}.{self.repairs}" if self.repairs else str(self.version)


@dataclass(slots=True)
class HandlerState:
    """The stored state of a handler.

    - `state`: the value that the handler returned last, as JSON
    - `next_run`: when a producer is due; None if it has no more times
    - `wake_at`: when a consumer is due even without an event; None if it runs only after an event
    - `dirty`: whether there may be events for a consumer, so that it is due before `wake_at`
    - `not_before`: if `dirty` is true, the earliest time at which the consumer is due; None means at once
    """

    workflow_id: str
    name: str
    type: HandlerType
    state: str | None = None
    next_run: Micros | None = None
    wake_at: Micros | None = None
    dirty: bool = False
    not_before: Micros | None = None
    last_run: Micros | None = None


@dataclass(slots=True)
class HandlerRun:
    """One attempt of a handler.

    - `retry_of`: the id of the previous attempt; for a fixer, the id of the run to fix; None if there is no such run
    - `prepared`, `outcome`: the checkpoints after `prepare` and after the mutation, as JSON
    - `failures`: the number of transient failures in a row, up to and including this attempt
    - `crashes`: the number of crashes in a row, up to and including this attempt
    """

    run_id: str
    workflow_id: str
    handler: str
    type: HandlerType
    retry_of: str | None
    version: int
    repairs: int
    phase: Phase
    status: RunStatus
    prepared: str | None = None
    outcome: str | None = None
    error: str | None = None
    failures: int = 0
    crashes: int = 0
    created: Micros = 0
    updated: Micros = 0

    @property
    def skippable(self) -> bool:
        """Whether a person may skip the events that the run has reserved. This is possible if the run is a consumer's,
        `prepare` has finished, and the run's mutation has no final outcome yet."""
        return self.type is HandlerType.CONSUMER and self.phase in (Phase.PREPARED, Phase.MUTATING)


@dataclass(slots=True)
class TopicEvent:
    id: str
    workflow_id: str
    topic: str
    message_id: str
    payload: str
    status: EventStatus
    reserved_by: str | None
    created_by: str | None
    attempt: int
    created: Micros
    updated: Micros


@dataclass(slots=True)
class Mutation:
    """One effect on another system. `origin_run` is the run that called the mutator first. `run_id` is the run that is
    now responsible for the effect: `origin_run`, or a retry of it."""

    id: str
    workflow_id: str
    origin_run: str
    run_id: str
    mutator: str
    params: str
    key: str
    status: MutationStatus
    title: str | None = None
    result: str | None = None
    error: str | None = None
    attempts: int = 0
    next_at: Micros | None = None
    resolved_by: str | None = None
    created: Micros = 0
    updated: Micros = 0


@dataclass(slots=True)
class InputRecord:
    """An input: an object of another system that causes events. `skipped` says whether a person skipped the events."""

    id: str
    workflow_id: str
    source: str
    type: str
    external_id: str
    title: str
    created: Micros
    skipped: bool


@dataclass(frozen=True, slots=True)
class Publication:
    """An event to publish when the run commits. `causes` are the ids of the inputs that caused the event."""

    topic: str
    message_id: str
    payload: Json
    causes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewInput:
    """An object of another system, such as an e-mail, that a producer registered because it causes events."""

    id: str
    source: str
    type: str
    external_id: str
    title: str


@dataclass(slots=True)
class Publications:
    """The events and inputs that a run has buffered until it commits."""

    events: list[Publication] = field(default_factory=list)
    inputs: dict[str, NewInput] = field(default_factory=dict)
