"""Define the engine's data classes, such as `Run`, `Timer`, `Event`, `Retry` and `Limit`."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from ostinato.backoff import backoff
from ostinato.errors import OstinatoError, short_repr
from ostinato.when.durations import Length, parse_duration
from ostinato.when.instants import SECOND, Micros, format_instant, to_datetime

T = TypeVar("T")
Json: TypeAlias = Any
DEFAULT_NAMESPACE = "default"
DEFAULT_QUEUE = "default"


StatusName: TypeAlias = Literal[
    "buffered",
    "ready",
    "active",
    "waiting",
    "succeeded",
    "failed",
    "timed_out",
    "cancelled",
    "terminated",
    "crashed",
    "skipped",
    "missed",
]


class Status(StrEnum):
    BUFFERED = "buffered"
    READY = "ready"
    ACTIVE = "active"
    WAITING = "waiting"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    TERMINATED = "terminated"
    CRASHED = "crashed"
    SKIPPED = "skipped"
    MISSED = "missed"

    @property
    def over(self) -> bool:
        return self not in LIVE


LIVE = frozenset({Status.BUFFERED, Status.READY, Status.ACTIVE, Status.WAITING})


_MICROSECOND = timedelta(microseconds=1)
_LONGEST: Micros = 1_000 * 366 * 86_400 * SECOND


def read_length(value: Length, field_name: str) -> Micros:
    """Return a length of time in microseconds. Raises `OstinatoError` if it is invalid, is too long, or has months."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        micros = value * SECOND
        if not -_LONGEST <= micros <= _LONGEST:  # not a number (NaN) is refused here, too
            raise OstinatoError(f"{field_name} {value!r} exceeds the maximum of {_LONGEST // SECOND} s")
        return int(micros)
    length = parse_duration(value, field_name)
    if length.months:
        raise OstinatoError(f"{field_name} {value!r} has months, which have no fixed length; write days")
    return length.exact


def _read_timedelta(value: Length, field_name: str) -> timedelta:
    return value if isinstance(value, timedelta) else timedelta(microseconds=read_length(value, field_name))


def _micros(length: Length) -> Micros:
    assert isinstance(length, timedelta)
    return length // _MICROSECOND


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


MOST = 1_000_000_000  # the maximum of every count; every store can hold it


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST


@dataclass(frozen=True, slots=True)
class Retry:
    """The retry policy of a run: the number of attempts, and the delays between them.

    - `attempts`: the number of all attempts, including the first
    - `delay`: the first delay
    - `factor`: the number by which each delay is multiplied to get the next
    - `longest`: the longest delay; if this is shorter than `delay`, it is replaced by `delay`
    - `jitter`: the largest part of a delay that is subtracted at random, such as 0.1 for a tenth

    The n-th delay is `delay` × `factor`^(n-1), but at most `longest`. `delay` and `longest` are texts such as `"5s"`,
    timedeltas or numbers of seconds; they are converted to timedeltas.
    """

    attempts: int = 1
    delay: Length = timedelta(seconds=1)
    factor: float = 2.0
    longest: Length = timedelta(minutes=10)
    jitter: float = 0.1

    def __post_init__(self) -> None:
        delay, longest = _read_timedelta(self.delay, "retry delay"), _read_timedelta(self.longest, "retry longest")
        object.__setattr__(self, "delay", delay)
        object.__setattr__(self, "longest", max(longest, delay))
        if not _is_count(self.attempts):
            raise OstinatoError(f"retry attempts {short_repr(self.attempts)} is not a whole number from 1 to {MOST:,}")
        if delay < timedelta():
            raise OstinatoError(f"retry delay {delay} is negative; a delay must be zero or more")
        if not _is_number(self.factor) or not self.factor >= 1:
            raise OstinatoError(f"retry factor {self.factor!r} is not a number from 1")
        if not _is_number(self.jitter) or not 0 <= self.jitter <= 1:
            raise OstinatoError(f"retry jitter {self.jitter!r} is not a number from 0 to 1")

    def backoff(self, failures: int, chance: float) -> Micros:
        """Return the delay after this many failures. `chance` is a random number in [0, 1)."""
        full = backoff(failures, _micros(self.delay), float(_micros(self.longest)), self.factor)
        return int(full * (1 - self.jitter * chance))

    def as_stored(self) -> dict[str, Any]:
        """Return the policy as JSON for a row of the store, with lengths in microseconds."""
        lengths = {"delay": _micros(self.delay), "longest": _micros(self.longest)}
        return {"attempts": self.attempts, "factor": self.factor, "jitter": self.jitter, **lengths}

    @staticmethod
    def from_stored(row: Mapping[str, Any]) -> Retry:
        return _from_stored(Retry, row, ("delay", "longest"))


def read_retry(value: Retry | int | Mapping[str, Any] | None) -> Retry:
    """Convert a value to a retry policy. The value is a `Retry`, a number of attempts such as `3`, a dict such as
    `{"attempts": 3, "delay": "5s"}`, or None for the default policy. Raises `OstinatoError` for any other value."""
    if value is None:
        return Retry()
    if isinstance(value, Retry):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Retry(attempts=value)
    if isinstance(value, Mapping):
        parts = ("attempts", "delay", "factor", "longest", "jitter")
        for name in value:
            if name not in parts:
                raise OstinatoError(f"retry has no {name!r}; its parts are {', '.join(parts)}")
        return Retry(**value)
    raise OstinatoError(f"retry {value!r} is not a number of attempts; write retry=3 or Retry(attempts=3, delay='5s')")


@dataclass(frozen=True, slots=True)
class Limit:
    """How many runs with one key may run at once, and how many may start in a period. All runs with the same key share
    the limit.

    - `key`: the key; `{name}` in the key is replaced by the value `name` of the input
    - `most`: how many runs may run at once, or None, if this is not limited
    - `rate`: how many runs may start in each period, or None, if this is not limited
    - `per`: the period as a text such as `"1m"`, a timedelta or a number of seconds; converted to a timedelta
    - `weight`: the key's share of the nodes, relative to the weights of other keys

    If `most` and `rate` are both None, the number of runs is not limited, but each key still gets only its fair share
    of the nodes.
    """

    key: str
    most: int | None = None
    rate: int | None = None
    per: Length = timedelta(seconds=1)
    weight: int = 1

    def __post_init__(self) -> None:
        per = _read_timedelta(self.per, "the limit's per")
        object.__setattr__(self, "per", per)
        for name, count in (("most", self.most), ("rate", self.rate)):
            if count is not None and not _is_count(count):
                raise OstinatoError(f"the limit's {name} {short_repr(count)} is not a whole number from 1 to {MOST:,}")
        if not _is_count(self.weight):
            raise OstinatoError(
                f"the limit's weight {short_repr(self.weight)} is not a whole number from 1 to {MOST:,}"
            )
        if per < timedelta(milliseconds=1):
            raise OstinatoError(f"the limit's per {per} is too short; the minimum is one millisecond")

    @property
    def period(self) -> Micros:
        return _micros(self.per)

    def as_stored(self) -> dict[str, Any]:
        """Return the limit as JSON for a row of the store, with `per` in microseconds."""
        return {"key": self.key, "most": self.most, "rate": self.rate, "per": self.period, "weight": self.weight}

    @staticmethod
    def from_stored(row: Mapping[str, Any]) -> Limit:
        return _from_stored(Limit, row, ("per",))


def _from_stored(kind: type[T], row: Mapping[str, Any], lengths: Container[str]) -> T:
    """Return a `Retry` or a `Limit` with the values of a row of the store. They were checked when they were written,
    perhaps by other rules than today's, so they are not checked again: the run must still be recovered and ended.
    `lengths` are the values that the row has in microseconds."""
    policy = object.__new__(kind)
    for part in fields(kind):  # type: ignore[arg-type]
        value = row.get(part.name, part.default)
        in_micros = part.name in lengths and part.name in row
        object.__setattr__(policy, part.name, timedelta(microseconds=value) if in_micros else value)
    return policy


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one run, which override the options of its job. None means that the job's option applies.

    `crashes` is the number of crashes after which the run fails. By default, it is 3. For a job, all crashes of the run
    count. For other kinds of runs, only the crashes since the run last made progress count.
    """

    retry: Retry | None = None
    timeout: Micros | None = None
    deadline: Micros | None = None
    at_most_once: bool | None = None
    limit: Limit | None = None
    crashes: int | None = None


@dataclass(slots=True)
class Run:
    """One attempt of a run.

    - `root_id`: the id of the first attempt, which identifies the chain of attempts
    - `claim`: how often nodes have claimed this attempt; the store refuses a write from a node that has an earlier
      claim
    - `detail`: what the schedule has stored about the occurrence, as JSON; None if no schedule started the run
    """

    id: str
    name: str
    kind: str = "job"
    namespace: str = DEFAULT_NAMESPACE
    key: str | None = None
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    due: Micros = 0
    created: Micros = 0
    root_id: str = ""
    number: int = 1
    parent_id: str | None = None
    claim: int = 0
    serial_key: str | None = None
    serial_hold: str | None = None
    concurrency_key: str | None = None
    options: str | None = None
    input: str | None = None
    checkpoint: str | None = None
    crashes: int = 0
    actor: str | None = None
    schedule_id: str | None = None
    detail: str | None = None
    # A claim does not read the fields below.
    status: Status = Status.READY
    reason: str | None = None
    ready_at: Micros | None = None
    started: Micros | None = None
    finished: Micros | None = None
    retry_of: str | None = None
    node: str | None = None
    hold: str | None = None
    result: str | None = None
    error: str | None = None
    progress: str | None = None
    cancel_requested: Micros | None = None
    superseded: bool = False


class Timer(NamedTuple):
    """A durable wake-up, identified by (kind, owner, purpose)."""

    kind: str
    owner: str
    purpose: str
    due: Micros
    namespace: str = DEFAULT_NAMESPACE
    data: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A recorded change. `subject` is the id of the object that changed. `instant` is when it changed, in microseconds;
    `at` is the same as a datetime."""

    seq: int
    instant: Micros
    namespace: str
    name: str
    subject: str
    data: Mapping[str, Json] = field(default_factory=dict)
    actor: str | None = None

    @property
    def at(self) -> datetime:
        return to_datetime(self.instant)


_MOMENTS = frozenset(
    {"due", "first", "last", "move", "nominal", "put_back", "scheduled_for", "skip", "to"}
)  # in an event's data


def event_data(event: Event) -> dict[str, Json]:
    """Return an event's data as a dict for users. Times are written in RFC 3339."""
    return {
        key: format_instant(value) if key in _MOMENTS and type(value) is int else value
        for key, value in event.data.items()
    }
