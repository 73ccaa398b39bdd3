"""What a schedule is made of, and the words for what becomes of its due times. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from ostinato.errors import OstinatoError, did_you_mean
from ostinato.model import DEFAULT_NAMESPACE, Status, read_length
from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros

OverlapName: TypeAlias = Literal["skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all"]


class Overlap(StrEnum):
    """What happens to an occurrence while an earlier one is still running."""

    SKIP = "skip"
    BUFFER_ONE = "buffer_one"
    BUFFER_ALL = "buffer_all"
    CANCEL_OTHER = "cancel_other"
    TERMINATE_OTHER = "terminate_other"
    ALLOW_ALL = "allow_all"


class Reason(StrEnum):
    """Why an occurrence did not run."""

    OVERLAP = "overlap"  # another was in the way
    REPLACED = "replaced"  # a later one took its place
    CATCHUP_WINDOW = "catchup_window"  # it was too late
    COALESCED = "coalesced"  # a later one stands for it
    PAUSED = "paused"
    PARKED = "parked"  # the schedule could not be read, or not be decided upon
    EXHAUSTED = "exhausted"  # no actions remain
    BUFFER_FULL = "buffer_full"
    ASKED = "asked"  # someone wanted this one left out
    CLOSED = "closed"  # the schedule was deleted, or the backfill cancelled, before its turn came

    @property
    def status(self) -> Status:
        """A time that came too late is missed; one that came and was passed over is skipped."""
        return Status.MISSED if self in (Reason.CATCHUP_WINDOW, Reason.COALESCED) else Status.SKIPPED


class State(StrEnum):
    """`parked`: something about it cannot be read or done, `reason` says what; it waits for someone to mend it."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    PARKED = "parked"
    CLOSED = "closed"


PACE = 100


@dataclass(frozen=True, slots=True)
class CatchUp:
    """What happens to times that are late, after an outage above all. `window`: how late a time may be and still
    run; `most`: how many late ones at the most, the newest; `pace`: how many of them in each second."""

    mode: Literal["skip", "latest", "all"] = "latest"
    window: Micros | None = None
    most: int | None = None
    pace: int = PACE


# A time is late only beyond this: a busy moment of the machine is not an outage.
GRACE: Micros = 10 * SECOND


def read_catchup(value: Any) -> CatchUp:
    """`"skip"`, `"latest"`, `"all"`, a window such as `"1h"`, `{"window": "1h", "most": 5, "pace": 10}`, or a
    CatchUp."""
    if isinstance(value, CatchUp):
        found = value
    elif isinstance(value, Mapping):
        found = _catchup_of(value)
    elif value in ("skip", "latest", "all"):
        found = CatchUp(value)
    else:
        try:
            found = CatchUp("all", window=read_length(value, "catchup"))
        except OstinatoError:
            raise OstinatoError(
                f"catchup {value!r} is unknown; use 'skip', 'latest', 'all', or a window such as '1h'"
            ) from None
    few = found.pace < 1 or (found.most is not None and found.most < 1)
    if few or (found.window is not None and found.window < 0):
        raise OstinatoError(f"catchup {value!r}: a window is not negative, most and pace are at least 1")
    return found


def _catchup_of(given: Mapping[str, Any]) -> CatchUp:
    for name in given:
        if name not in ("mode", "window", "most", "pace"):
            raise OstinatoError(f"catchup has no {name!r}; its parts are mode, window, most and pace")
    mode = given.get("mode", "all")
    if mode not in ("skip", "latest", "all"):
        raise OstinatoError(f"catchup mode {mode!r} is unknown; use 'skip', 'latest' or 'all'")
    window = given.get("window")
    for name in ("most", "pace"):
        if not isinstance(given.get(name, 1), int):
            raise OstinatoError(f"catchup {name} {given[name]!r} is not a whole number")
    return CatchUp(
        mode,
        None if window is None else read_length(window, "catchup window"),
        given.get("most"),
        given.get("pace", PACE),
    )


def read_overlap(value: Any) -> Overlap:
    try:
        return Overlap(str(value).lower())
    except ValueError:
        hint = did_you_mean(str(value), [one.value for one in Overlap]) or f"there are {', '.join(Overlap)}"
        raise OstinatoError(f"overlap {value!r} is unknown; {hint}") from None


@dataclass(frozen=True, slots=True)
class Policies:
    """`keep`: how many of its occurrences that are over stay on record, beside the age that the app keeps.
    `manual_counts`: what somebody triggers is bound by the remaining actions, and counts against them."""

    overlap: Overlap = Overlap.SKIP
    catchup: CatchUp = field(default_factory=CatchUp)
    pause_after_failures: int | None = None
    max_buffer: int | None = None
    keep: int | None = None
    manual_counts: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """What a schedule starts: a job with an input, and what is to be different for it from what the job says. It is
    known by its identity, so that what is worked out from it once can be kept."""

    job: str
    input: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Times in a row that did not run for one reason. Beyond `ROWS` of them one row, `run`, stands for the rest."""

    reason: Reason
    count: int
    run: str | None = None
    first: Micros = 0
    rows: int = 0


ROWS = 100


@dataclass(frozen=True, slots=True)
class Memory:
    """What a schedule remembers from one of its moments to the next.

    `counts`: how many times had which outcome. `coalesced`: late times that the next run stands for. `left_out` and
    `moved`: single occurrences, by nominal time, that someone wants skipped or at another moment. `kept`: a jittered
    occurrence that was pending when an edit took its nominal time away. `ahead`: nominal times of such as were moved
    ahead and had come when an edit was made: they do not come again. `previous`: the nominal time before.
    `waiting` and `backfills`: how many occurrences wait for others to end, how many backfills are under way. `alike`:
    those that wait came by the clock or by hand, and have no rules of their own."""

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
    """How its runs went: what the last success returned, what the last failure was, failures since a success."""

    result: Any = None
    failure: Any = None
    failures: int = 0
    success_at: Micros | None = None
    ended_at: Micros | None = None


@dataclass(frozen=True, slots=True)
class Schedule:
    """`reached` is the last nominal time that was dealt with; `next` the moment of the next one; `updated` the moment
    of the last edit; `paused` since when. `remaining` counts down the actions that are left, if they are limited."""

    id: str
    name: str
    spec: Spec
    policies: Policies = field(default_factory=Policies)
    action: Action = field(default_factory=lambda: Action(""))
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

    @property
    def seed(self) -> str:
        """What makes its jitter its own, for ever."""
        return self.own_seed or f"{self.namespace}-{self.name}"

    @property
    def exhausted(self) -> bool:
        return self.remaining is not None and self.remaining <= 0

    @property
    def standing(self) -> State:
        """The state people see."""
        return State.PAUSED if self.paused is not None and self.state is State.RUNNING else self.state


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One due time: nominal, and with its jitter when it really runs. Without a reason it is to run; `stands_for`
    says how many earlier times are coalesced into it. `origin` is `auto`, or the id of the trigger or backfill.
    `apart`: it comes out of the order of nominal times, and no stretch of them contains it."""

    nominal: Micros
    actual: Micros
    reason: Reason | None = None
    stands_for: int = 0
    origin: str = "auto"
    overlap: Overlap | None = None
    asked: bool = False  # someone wanted it to run though it is late
    apart: bool = False

    @property
    def manual(self) -> bool:
        return self.origin != "auto"
