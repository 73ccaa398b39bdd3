"""Making runs ready to be started: everything that may be wrong with a start is found here, before anything is on
record. What is the same for many runs of one job is worked out once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict

from ostinato.engine.context import to_json
from ostinato.engine.handlers import Declaration, Handler, fill
from ostinato.engine.rows import write_options
from ostinato.engine.runs import deadline_timer
from ostinato.engine.webhooks import JOB as WEBHOOK
from ostinato.errors import OstinatoError, did_you_mean, is_text, shown, there_are
from ostinato.model import MOST, Limit, Options, Retry, Run, Timer, read_length, read_retry
from ostinato.when.durations import Length
from ostinato.when.instants import Micros, read_instant

_KEY = 512


class StartOptions(TypedDict, total=False):
    """What a start may say over what its job declares."""

    queue: str | None
    priority: int
    retry: Retry | int | Mapping[str, Any] | None
    timeout: Length | None
    deadline: Length | None
    serial_key: str | None
    concurrency: Limit | int | Mapping[str, Any] | None
    at_most_once: bool | None
    parent: str | None
    actor: str | None


_OPTIONS = StartOptions.__optional_keys__


class Starting:
    """Starts of one job with the same options."""

    def __init__(
        self,
        name: str,
        handler: Handler | Declaration | None,
        at: datetime | str | None,
        options: Mapping[str, Any],
        *,
        namespace: str,
        actor: str | None,
        now: Micros,
    ) -> None:
        _check_options(options)
        if name == WEBHOOK:
            raise OstinatoError("the job 'webhook' delivers what happened and is started by webhooks alone")
        self._name = name
        self._handler = handler
        self._namespace = namespace
        self._now = now
        self._due = now if at is None else max(now, read_instant(at, "at"))
        self._limit = read_limit(options.get("concurrency"), name) or (handler.limit if handler else None)
        self._serial: str | None = options.get("serial_key") or (handler.serial_key if handler else None)
        deadline = some_length(options.get("deadline"), "deadline")
        self._own = Options(
            retry=read_retry(options["retry"]) if options.get("retry") is not None else None,
            timeout=some_length(options.get("timeout"), "timeout"),
            deadline=None if deadline is None else now + deadline,
            at_most_once=options.get("at_most_once", (handler.at_most_once or None) if handler else None),
            limit=self._limit,
        )
        self._text = write_options(self._own)
        self._queue: str = options.get("queue") or (handler.queue if handler else "default")
        self._priority = int(options.get("priority", handler.priority if handler else 0))
        self._parent: str | None = options.get("parent")
        self._actor: str | None = options.get("actor", actor)
        self._hold = (handler.serial_hold if handler else "chain") if self._serial else None

    @property
    def deadline(self) -> Micros | None:
        return self._own.deadline

    def run(self, id: str, input: Mapping[str, Any] | None, key: str | None) -> tuple[Run, Timer | None]:
        """One run, and the timer of its deadline if it has one."""
        if input is not None and not isinstance(input, Mapping):
            raise OstinatoError(
                f"job {self._name!r}: the input {shown(input)} is not an object with names; write {{'name': value}}"
            )
        given = dict(input) if input else {}
        if given and not all(isinstance(name, str) for name in given):
            raise OstinatoError(f"job {self._name!r}: the input is an object with names, not {input!r}")
        if self._handler is not None:
            self._handler.check(given)
        if key is not None and (not is_text(key) or len(key) > _KEY):
            raise OstinatoError(f"the id {key!r} is not a text of 1 to {_KEY} characters")
        limit, text = self._limit, self._text
        if limit is not None and "{" in limit.key:
            limit = replace(limit, key=fill(limit.key, given, "the concurrency key") or "")
            text = write_options(replace(self._own, limit=limit))
        run = Run(
            id=id,
            root_id=id,
            name=self._name,
            namespace=self._namespace,
            key=key,
            queue=self._queue,
            priority=self._priority,
            due=self._due,
            created=self._now,
            parent_id=self._parent,
            serial_key=None if self._serial is None else fill(self._serial, given, "serial_key"),
            serial_hold=self._hold,
            concurrency_key=None if limit is None else limit.key,
            options=text,
            input=to_json(given, f"the input of job {self._name!r}") if given else None,
            actor=self._actor,
        )
        return run, None if self._own.deadline is None else deadline_timer(run, self._own.deadline)


def _check_options(options: Mapping[str, Any]) -> None:
    for option in options:
        if option not in _OPTIONS:
            hint = did_you_mean(option, _OPTIONS) or there_are(sorted(_OPTIONS))
            raise OstinatoError(f"start() has no option {option!r}; {hint}")
    for option in ("queue", "serial_key", "parent", "actor"):
        value = options.get(option)
        if value is not None and value != "" and not is_text(value):
            raise OstinatoError(f"{option} {value!r} is not a text")
    check_priority(options.get("priority", 0))


def check_priority(value: Any) -> None:
    if not isinstance(value, int) or abs(value) > MOST:
        raise OstinatoError(f"priority {shown(value)} is not a whole number from {-MOST:,} to {MOST:,}")


def some_length(value: Length | None, field: str) -> Micros | None:
    if value is None:
        return None
    length = read_length(value, field)
    if length <= 0:
        raise OstinatoError(f"{field} {value!r} must be greater than zero")
    return length


def read_limit(value: Limit | int | Mapping[str, Any] | None, name: str) -> Limit | None:
    if value is None:
        return None
    if isinstance(value, Mapping):
        known = ("key", "most", "rate", "per", "weight")
        for part in value:
            if part not in known:
                raise OstinatoError(f"concurrency has no {part!r}; its parts are {', '.join(known)}")
        value = Limit(**{"key": f"job:{name}", **value})
    limit = Limit(f"job:{name}", most=value) if isinstance(value, int) else value
    if not isinstance(limit, Limit):
        raise OstinatoError(f"concurrency {value!r} is not a number; write concurrency=3 or Limit('key', most=3)")
    return limit


def same_place(one: Callable[..., Any], other: Callable[..., Any]) -> bool:
    """Whether two functions are the same one, perhaps imported twice."""
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)
