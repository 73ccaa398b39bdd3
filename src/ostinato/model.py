"""The nouns of the engine: runs, timers, events, and the policies a run carries. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from ostinato.errors import OstinatoError
from ostinato.when.durations import parse_duration
from ostinato.when.instants import SECOND, Micros

Json: TypeAlias = Any
DEFAULT_NAMESPACE = "default"
DEFAULT_QUEUE = "default"


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


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a failed attempt is followed by another, and after how long.

    The n-th delay is `delay` × `factor`^(n-1), at most `longest`, less a random part of up to `jitter` of it.
    """

    attempts: int = 1
    delay: Micros = SECOND
    factor: float = 2.0
    longest: Micros = 600 * SECOND
    jitter: float = 0.1

    def backoff(self, failures: int, chance: float) -> Micros:
        """The pause after this many failures; `chance` is in [0, 1)."""
        full = min(float(self.longest), self.delay * self.factor ** min(failures - 1, 60))
        return int(full * (1 - self.jitter * chance))


def read_retry(value: Retry | int | Mapping[str, Any] | None) -> Retry:
    """`3`, `Retry(…)`, or `{"attempts": 3, "delay": "5s"}`."""
    if value is None:
        return Retry()
    if isinstance(value, Retry):
        delay, longest = (read_length(v, "retry delay", raw=True) for v in (value.delay, value.longest))
        return _checked(replace(value, delay=delay, longest=longest))
    if isinstance(value, int) and not isinstance(value, bool):
        return _checked(Retry(attempts=value))
    if isinstance(value, Mapping):
        known = {"attempts", "delay", "factor", "longest", "jitter"}
        for name in value:
            if name not in known:
                raise OstinatoError(f"retry has no {name!r}; its parts are {', '.join(sorted(known))}")
        found = dict(value)
        for name in ("delay", "longest"):
            if name in found:
                found[name] = read_length(found[name], f"retry {name}")
        return _checked(Retry(**found))
    raise OstinatoError(f"retry {value!r} is not a number of attempts; write retry=3 or Retry(attempts=3, delay=…)")


def _checked(retry: Retry) -> Retry:
    numbers = (retry.factor, retry.jitter)
    if not isinstance(retry.attempts, int) or not all(isinstance(one, int | float) for one in numbers):
        raise OstinatoError(f"{retry} cannot be: attempts are a whole number, factor and jitter are numbers")
    retry = replace(retry, longest=max(retry.longest, retry.delay))
    if retry.attempts < 1 or retry.delay < 0 or retry.factor < 1 or not 0 <= retry.jitter <= 1:
        raise OstinatoError(
            f"{retry} cannot be: at least one attempt, no negative delay, a factor from 1, jitter 0 to 1"
        )
    return retry


_LONGEST: Micros = 1_000 * 366 * 86_400 * SECOND


def read_length(value: Any, field_name: str, *, raw: bool = False) -> Micros:
    """A length of time as microseconds: text (`"5s"`, `"PT5M"`), a timedelta, or a number of seconds; with `raw` a
    number is microseconds already."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        micros = value if raw else value * SECOND
        if not -_LONGEST <= micros <= _LONGEST:  # neither is a number that is none
            raise OstinatoError(
                f"{field_name} {value!r} is longer than anything lasts; {_LONGEST // SECOND} s is the most"
            )
        return int(micros)
    length = parse_duration(value, field_name)
    if length.months:
        raise OstinatoError(f"{field_name} {value!r} has months, which have no fixed length; write days")
    return length.exact


@dataclass(frozen=True, slots=True)
class Limit:
    """How many runs of one key may go at once, and how often. `key` names what shares the limit; `{name}` in it
    is replaced from the input. Without `most` and `rate` the key only gets its fair share, by `weight`."""

    key: str
    most: int | None = None
    rate: int | None = None
    per: Micros = SECOND
    weight: int = 1


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
