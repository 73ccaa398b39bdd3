"""The nouns of the engine: runs, timers, events, and the policies a run carries. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal, NamedTuple, TypeAlias

from ostinato.errors import OstinatoError, shown
from ostinato.when.durations import Length, parse_duration
from ostinato.when.instants import SECOND, Micros, format_instant

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
    """A length of time as microseconds: a text (`"5s"`, `"PT5M"`), a timedelta, or a number of seconds."""
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


MOST = 1_000_000_000  # of anything that is counted: every store holds it


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a failed attempt is followed by another, and after how long.

    `attempts` counts all of them, the first included. The n-th delay is `delay` × `factor`^(n-1), at most `longest`,
    less a random part of up to `jitter` of it. `delay` and `longest` are texts such as `"5s"`, timedeltas or numbers
    of seconds; they are kept as timedeltas.
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
            raise OstinatoError(f"retry attempts {shown(self.attempts)} is not a whole number from 1 to {MOST:,}")
        if delay < timedelta():
            raise OstinatoError(f"retry delay {delay} is negative; a delay is zero or more")
        if not _is_number(self.factor) or not self.factor >= 1:
            raise OstinatoError(f"retry factor {self.factor!r} is not a number from 1")
        if not _is_number(self.jitter) or not 0 <= self.jitter <= 1:
            raise OstinatoError(f"retry jitter {self.jitter!r} is not a number from 0 to 1")

    def backoff(self, failures: int, chance: float) -> Micros:
        """The pause after this many failures; `chance` is in [0, 1)."""
        delay = _micros(self.delay)
        full = min(float(_micros(self.longest)), delay * self.factor ** min(failures - 1, 60))
        return int(full * (1 - self.jitter * chance))

    def as_stored(self) -> dict[str, Any]:
        """The JSON that a row keeps, with lengths in microseconds."""
        lengths = {"delay": _micros(self.delay), "longest": _micros(self.longest)}
        return {"attempts": self.attempts, "factor": self.factor, "jitter": self.jitter, **lengths}

    @staticmethod
    def from_stored(row: Mapping[str, Any]) -> Retry:
        lengths = {name: timedelta(microseconds=row[name]) for name in ("delay", "longest") if name in row}
        return Retry(**{**row, **lengths})


def read_retry(value: Retry | int | Mapping[str, Any] | None) -> Retry:
    """`3`, `Retry(…)`, or `{"attempts": 3, "delay": "5s"}`."""
    if value is None:
        return Retry()
    if isinstance(value, Retry):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Retry(attempts=value)
    if isinstance(value, Mapping):
        known = ("attempts", "delay", "factor", "longest", "jitter")
        for name in value:
            if name not in known:
                raise OstinatoError(f"retry has no {name!r}; its parts are {', '.join(known)}")
        return Retry(**value)
    raise OstinatoError(f"retry {value!r} is not a number of attempts; write retry=3 or Retry(attempts=3, delay='5s')")


@dataclass(frozen=True, slots=True)
class Limit:
    """How many runs of one key may go at once, and how often. `key` names what shares the limit; `{name}` in it
    is replaced from the input. Without `most` and `rate` the key only gets its fair share, by `weight`. `per` is the
    period of `rate`: a text such as `"1m"`, a timedelta or a number of seconds; it is kept as a timedelta."""

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
                raise OstinatoError(f"the limit's {name} {shown(count)} is not a whole number from 1 to {MOST:,}")
        if not _is_count(self.weight):
            raise OstinatoError(f"the limit's weight {shown(self.weight)} is not a whole number from 1 to {MOST:,}")
        if per < timedelta(milliseconds=1):
            raise OstinatoError(f"the limit's per {per} is too short; a millisecond is the least")

    @property
    def period(self) -> Micros:
        """`per` in microseconds."""
        return _micros(self.per)

    def as_stored(self) -> dict[str, Any]:
        """The JSON that a row keeps, with `per` in microseconds."""
        return {"key": self.key, "most": self.most, "rate": self.rate, "per": self.period, "weight": self.weight}

    @staticmethod
    def from_stored(row: Mapping[str, Any]) -> Limit:
        return Limit(**{**row, "per": timedelta(microseconds=row["per"])} if "per" in row else row)


@dataclass(frozen=True, slots=True)
class Options:
    """What may be set for one run, over what its handler says. None: the handler's own."""

    retry: Retry | None = None
    timeout: Micros | None = None
    deadline: Micros | None = None
    at_most_once: bool | None = None
    limit: Limit | None = None


@dataclass(slots=True)
class Run:
    """One attempt. `root_id` is the first of its chain; `claim` counts how often it was claimed and is its fence.
    `detail` is what its schedule says about the occurrence, as JSON."""

    id: str
    name: str
    kind: str = "job"
    namespace: str = DEFAULT_NAMESPACE
    key: str | None = None
    status: Status = Status.READY
    reason: str | None = None
    queue: str = DEFAULT_QUEUE
    priority: int = 0
    due: Micros = 0
    ready_at: Micros | None = None
    created: Micros = 0
    started: Micros | None = None
    finished: Micros | None = None
    root_id: str = ""
    retry_of: str | None = None
    number: int = 1
    parent_id: str | None = None
    node: str | None = None
    claim: int = 0
    serial_key: str | None = None
    serial_hold: str | None = None
    concurrency_key: str | None = None
    hold: str | None = None
    options: str | None = None
    input: str | None = None
    result: str | None = None
    error: str | None = None
    checkpoint: str | None = None
    progress: str | None = None
    cancel_requested: Micros | None = None
    superseded: bool = False
    crashes: int = 0
    actor: str | None = None
    schedule_id: str | None = None
    detail: str | None = None


class Timer(NamedTuple):
    """A durable wake-up. (kind, owner, purpose) tells it from every other."""

    kind: str
    owner: str
    purpose: str
    due: Micros
    namespace: str = DEFAULT_NAMESPACE
    data: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """A fact. `subject` is the id of what it is about."""

    seq: int
    at: Micros
    namespace: str
    name: str
    subject: str
    data: Mapping[str, Json] = field(default_factory=dict)
    actor: str | None = None


_MOMENTS = frozenset({"due", "first", "last", "move", "nominal", "put_back", "skip", "to"})  # in an event's data


def event_data(event: Event) -> dict[str, Json]:
    """An event's data as JSON for others: its moments as RFC 3339, as all others are."""
    return {
        key: format_instant(value) if key in _MOMENTS and type(value) is int else value
        for key, value in event.data.items()
    }
