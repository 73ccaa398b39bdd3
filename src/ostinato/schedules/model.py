"""Define a schedule, its policies, its action and its occurrences as data classes. Nothing here uses the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from ostinato.errors import OstinatoError, did_you_mean, short_repr
from ostinato.model import DEFAULT_NAMESPACE, MOST, Status, read_length
from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros

OverlapName: TypeAlias = Literal["skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all"]


class Overlap(StrEnum):
    """The policy for an occurrence that is due while an earlier one is still running."""

    SKIP = "skip"
    BUFFER_ONE = "buffer_one"
    BUFFER_ALL = "buffer_all"
    CANCEL_OTHER = "cancel_other"
    TERMINATE_OTHER = "terminate_other"
    ALLOW_ALL = "allow_all"


class Reason(StrEnum):
    """Why an occurrence did not run."""

    OVERLAP = "overlap"  # an earlier run was unfinished
    REPLACED = "replaced"  # a later one took its place
    CATCHUP_WINDOW = "catchup_window"  # it was too late
    COALESCED = "coalesced"  # it was late, and one later run represents it
    PAUSED = "paused"
    PARKED = "parked"  # the schedule could not be read, or not be decided upon
    EXHAUSTED = "exhausted"  # no actions remain
    BUFFER_FULL = "buffer_full"
    ASKED = "asked"  # a user skipped it
    CLOSED = "closed"  # the schedule was deleted, or the backfill cancelled, before its turn came

    @property
    def status(self) -> Status:
        """`missed` for a late time (`CATCHUP_WINDOW` or `COALESCED`), else `skipped`."""
        return Status.MISSED if self in (Reason.CATCHUP_WINDOW, Reason.COALESCED) else Status.SKIPPED


StateName: TypeAlias = Literal["running", "paused", "completed", "parked", "closed"]


class State(StrEnum):
    """The state of a schedule. A parked schedule does not fire until the error in `Schedule.reason` is repaired."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    PARKED = "parked"
    CLOSED = "closed"


PACE = 100


@dataclass(frozen=True, slots=True)
class CatchUp:
    """The policy for late times, mainly after an outage.

    - Mode `skip`: no late time gets a run.
    - Mode `latest`: if a due time is on time, no late time gets a run. Otherwise only the newest late time gets a run.
      In both cases, the first run that follows represents the late times without a run.
    - Mode `all`: late times get runs, within the limits `window` and `most`.
    - `window`: how late a time may be, or None for no limit; only for the mode `all`
    - `most`: how many late times may get a run, counted from the newest, or None for no limit; only for the mode `all`
    - `pace`: how many runs of late times start per second
    """

    mode: Literal["skip", "latest", "all"] = "latest"
    window: Micros | None = None
    most: int | None = None
    pace: int = PACE


# A time is late only after this: a short delay is not an outage.
GRACE: Micros = 10 * SECOND


def read_catchup(value: Any) -> CatchUp:
    """Read `"skip"`, `"latest"`, `"all"`, a window such as `"1h"`, `{"window": "1h", "most": 5, "pace": 10}`, or a
    CatchUp. Raises OstinatoError if the value is none of these."""
    if isinstance(value, CatchUp):
        catchup = value
    elif isinstance(value, Mapping):
        catchup = _catchup_of(value)
    elif value in ("skip", "latest", "all"):
        catchup = CatchUp(value)
    else:
        try:
            catchup = CatchUp("all", window=read_length(value, "catchup"))
        except OstinatoError:
            raise OstinatoError(
                f"catchup {value!r} is unknown; use 'skip', 'latest', 'all', or a window such as '1h'"
            ) from None
    if catchup.window is not None and catchup.window < 0:
        raise OstinatoError(f"catchup {value!r}: the window must not be negative")
    read_count(catchup.pace, "catchup pace")
    if catchup.most is not None:
        read_count(catchup.most, "catchup most")
    return catchup


def _catchup_of(parts: Mapping[str, Any]) -> CatchUp:
    for name in parts:
        if name not in ("mode", "window", "most", "pace"):
            raise OstinatoError(f"catchup has no {name!r}; its parts are mode, window, most and pace")
    mode = parts.get("mode", "all")
    if mode not in ("skip", "latest", "all"):
        raise OstinatoError(f"catchup mode {mode!r} is unknown; use 'skip', 'latest' or 'all'")
    try:
        window = None if parts.get("window") is None else read_length(parts["window"], "catchup window")
    except OstinatoError as problem:  # an error of a spec; this is none
        raise OstinatoError(str(problem)) from None
    return CatchUp(mode, window, parts.get("most"), parts.get("pace", PACE))


def read_count(value: Any, field: str, least: int = 1) -> int:
    """Return `value` if it is a whole number that is at least `least` and not too large. Otherwise raise
    OstinatoError."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST:
        raise OstinatoError(f"{field} {short_repr(value)} is not a whole number from {least} to {MOST:,}")
    return value


def read_overlap(value: Any) -> Overlap:
    try:
        return Overlap(str(value).lower())
    except ValueError:
        hint = did_you_mean(str(value), [one.value for one in Overlap]) or f"there are {', '.join(Overlap)}"
        raise OstinatoError(f"overlap {value!r} is unknown; {hint}") from None


@dataclass(frozen=True, slots=True)
class Policies:
    """The policies of a schedule.

    - `keep`: how many finished occurrences the store keeps, counted from the newest; None means no such limit. In any
      case, finished occurrences are deleted after the app's time limit `keep_runs`.
    - `manual_counts`: if true, runs of triggers and backfills count as actions, and do not start if no actions remain
    """

    overlap: Overlap = Overlap.SKIP
    catchup: CatchUp = field(default_factory=CatchUp)
    pause_after_failures: int | None = None
    max_buffer: int | None = None
    keep: int | None = None
    manual_counts: bool = False


JOB = "job"  # the kind of an action that starts a job


@dataclass(frozen=True, slots=True, eq=False)
class ScheduleAction:
    """What a schedule starts: a job, or something of another kind that an extension (`Way`) adds.

    - `job`: the name of the job; if `kind` is not `job`, the same text as `kind`
    - `input`: the input of the job; if `kind` is not `job`, a mapping with the name of what is started, and its input
    - `options`: options that override the job's own
    - `facts`: data for every `schedule:…` event about the schedule or its runs; only an extension sets `facts`. If an
      action has facts, due times that its catch-up window passes over share one row

    Two actions are equal only if they are the same object.
    """

    job: str
    input: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    kind: str = JOB
    facts: Mapping[str, Any] = field(default_factory=dict)


def note_declared(origin: str, back: str) -> str:
    """Return a warning for a user who has changed or deleted a schedule that code or a file declares. The warning names
    the code or the file, and says what will undo the change: the next start of a node with that code, or the next
    `apply` of that file. For example: "it is declared in file:jobs.yaml; the next `apply` of that file creates it
    again".

    - `origin`: the code or the file, such as `code:shop` or `file:jobs.yaml`
    - `back`: the last words of the warning, such as "creates it again"
    """
    in_code = origin.partition(":")[0] == "code"  # with the app's name, if it has one
    cause = "the next start of a node with that code" if in_code else "the next `apply` of that file"
    return f"it is declared in {origin}; {cause} {back}"


def run_name(action: ScheduleAction) -> str:
    """Return the name that runs of the action have: the job's name, or the name of what the action starts."""
    return action.job if action.kind == JOB else str(action.input.get(action.kind, action.job))


def target_words(action: ScheduleAction) -> str:
    """Describe what an action starts: a job's name, or a kind and a name."""
    return action.job if action.kind == JOB else f"{action.kind} {run_name(action)}"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Consecutive due times that got no run, all for the same `reason`. A stretch has at most one shared row, which is
    a row for several times. Each time that is not in the shared row has a separate row.

    - `count`: the number of times in the shared row, or 0 if there is no shared row
    - `run`: the id of the shared row, or None if there is no shared row
    - `first`: the first nominal time in the shared row, or 0 if there is no shared row
    - `rows`: if there is no shared row, the number of separate rows; otherwise not used
    """

    reason: Reason
    count: int
    run: str | None = None
    first: Micros = 0
    rows: int = 0


ROWS = 100


@dataclass(frozen=True, slots=True)
class Memory:
    """The state that a schedule keeps from one firing to the next.

    - `counts`: the number of started runs (key `actions`), and for each `Reason` the number of times that did not run
    - `coalesced`: the number of late times that got no run and that the next run will represent
    - `left_out`: the nominal times that a user has skipped
    - `moved`: the occurrences that a user has moved, as a dict from nominal time to new time
    - `kept`: the delayed occurrences of an earlier spec, which still run, as a dict from nominal to actual time
    - `previous`: the nominal time at which the next data window begins, or None if no time has come yet
    - `waiting`: the number of runs that the overlap policy holds back
    - `backfills`: the number of unfinished backfills
    - `alike`: true if runs wait, and all of them follow only the policies of the schedule. It is false if one of them
      belongs to a backfill, has a separate overlap policy, or was requested by a user who resumed the schedule with a
      catch-up policy.
    - `ahead`: nominal times in the future that were processed already, because a user had moved them to an earlier time
      and later changed the spec; if the new spec also has such a time, the time does not run again
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    coalesced: int = 0
    left_out: frozenset[Micros] = frozenset()
    moved: Mapping[Micros, Micros] = field(default_factory=dict)
    kept: Mapping[Micros, Micros] = field(default_factory=dict)
    previous: Micros | None = None
    stretch: Stretch | None = None
    waiting: int = 0
    backfills: int = 0
    alike: bool = False
    ahead: frozenset[Micros] = frozenset()


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of a schedule's runs.

    - `result`: the result of the last success
    - `failure`: the last failure
    - `failures`: the number of failures since the last success
    """

    result: Any = None
    failure: Any = None
    failures: int = 0
    success_at: Micros | None = None
    ended_at: Micros | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as it is stored.

    - `paused`: when the schedule was paused, or None if it is not paused
    - `remaining`: the number of actions left, or None if actions are not limited
    - `reached`: the time up to which all nominal times have been processed
    - `next`: when the schedule is due next; None if no time will come, or if the schedule is paused or not running
    - `updated`: the time from which the spec applies; set when the schedule is created, when its spec changes, and when
      the schedule gets new actions after no actions remained
    - `token`: the conflict token, a number that grows with every edit and every change of `remaining`
    - `companion`: the name of the `Companion` that stores additional rows for the runs, or None
    """

    id: str
    name: str
    spec: Spec
    policies: Policies = field(default_factory=Policies)
    action: ScheduleAction = field(default_factory=lambda: ScheduleAction(""))
    namespace: str = DEFAULT_NAMESPACE
    state: State = State.RUNNING
    reason: str | None = None
    paused: Micros | None = None
    notes: str = ""
    remaining: int | None = None
    reached: Micros = 0
    next: Micros | None = None
    updated: Micros = 0
    token: int = 1
    memory: Memory = field(default_factory=Memory)
    outcomes: Outcomes = field(default_factory=Outcomes)
    memo: Any = None
    tags: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    origin: str | None = None
    created: Micros = 0
    closed: Micros | None = None
    zone_rules: str = ""
    actor: str | None = None
    own_seed: str | None = None
    companion: str | None = None

    @property
    def seed(self) -> str:
        """The seed of the schedule's jitter. It never changes."""
        return self.own_seed or f"{self.namespace}-{self.name}"

    @property
    def exhausted(self) -> bool:
        return self.remaining is not None and self.remaining <= 0

    @property
    def shown_state(self) -> State:
        """The state that users see: PAUSED if `state` is RUNNING and `paused` is set, otherwise `state`."""
        return State.PAUSED if self.paused is not None and self.state is State.RUNNING else self.state


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One due time of a schedule.

    - `nominal`: the time that the spec gives; for a trigger, the time of the trigger
    - `actual`: when the occurrence is due, after jitter or a move by a user
    - `reason`: why the occurrence does not run, or None if it runs
    - `stands_for`: the number of earlier times that are coalesced into this one
    - `origin`: `auto` for a scheduled time, otherwise `trigger-…` or `backfill-…` with an id
    - `overlap`: the occurrence's own overlap policy, or None if the schedule's policy applies
    - `apart`: whether the occurrence comes from an earlier spec, and so may be out of order
    """

    nominal: Micros
    actual: Micros
    reason: Reason | None = None
    stands_for: int = 0
    origin: str = "auto"
    overlap: Overlap | None = None
    asked: bool = False  # a user resumed with a catch-up: it runs although it is late
    apart: bool = False

    @property
    def manual(self) -> bool:
        return self.origin != "auto"
