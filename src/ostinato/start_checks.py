"""Check the arguments of a start before a run is stored, and build runs. If many runs are started with the same
options, the options are checked only once."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypedDict

from ostinato.engine.context import to_json
from ostinato.engine.jobs import Declaration, Handler, check_only_by_position, fill
from ostinato.engine.rows import write_options
from ostinato.engine.runs import deadline_timer
from ostinato.errors import OstinatoError, check_key, did_you_mean, is_text, list_choices, short_repr
from ostinato.model import MOST, Limit, Options, Retry, Run, Timer, read_length, read_retry
from ostinato.when.durations import Length
from ostinato.when.instants import Micros, read_instant

_KEY = 512
_NO_PLACES = str.maketrans("{}", "()")  # a job's name is not a template


class StartOptions(TypedDict, total=False):
    """The options of a start. They override the options that the job declares."""

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


class StartCall(StartOptions, total=False):
    """The keywords of `start`."""

    id: str | None
    at: datetime | str | None
    connection: Any
    request_id: str | None


class StartManyCall(StartOptions, total=False):
    """The keywords of `start_many`."""

    ids: Sequence[str] | None
    at: datetime | str | None
    request_id: str | None


class RunBuilder:
    """Builds the runs of one job that are started with the same options. `called` says that a caller starts them now;
    otherwise their inputs are stored, perhaps by a former version."""

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
        called: bool = False,
    ) -> None:
        _check_options(name, handler, options)
        if isinstance(handler, Handler) and handler.started_by:
            raise OstinatoError(f"the job {name!r} can only be started by {handler.started_by}")
        self._name = name
        self._called = called
        self._handler = handler
        self._namespace = namespace
        self._now = now
        self._due = now if at is None else max(now, read_instant(at, "at"))
        self._limit = read_limit(options.get("concurrency"), name) or (handler.limit if handler else None)
        self._serial: str | None = options.get("serial_key") or (handler.serial_key if handler else None)
        self._is_keyed = "{" in (self._serial or "") or (self._limit is not None and "{" in self._limit.key)
        deadline = read_positive_length(options.get("deadline"), "deadline")
        self._own = Options(
            retry=read_retry(options["retry"]) if options.get("retry") is not None else None,
            timeout=read_positive_length(options.get("timeout"), "timeout"),
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
        """Build one run. Returns (run, timer of its deadline); the timer is None if the run has no deadline. `key` is
        the id that the caller chose, or None. Raises `OstinatoError` if the input or the key is wrong."""
        if input is not None and not isinstance(input, Mapping):
            raise OstinatoError(
                f"job {self._name!r}: the input {short_repr(input)} is not an object with string keys; "
                "write {'name': value}"
            )
        arguments = dict(input) if input else {}
        if arguments and not all(isinstance(name, str) for name in arguments):
            raise OstinatoError(f"job {self._name!r}: the keys of the input must be strings, not {input!r}")
        if self._called:
            check_only_by_position(self._name, arguments)
        if self._handler is not None:
            self._handler.check(arguments)
        if key is not None and (not is_text(key) or len(key) > _KEY):
            raise OstinatoError(f"the id {key!r} is not a text of 1 to {_KEY} characters")
        values = arguments if self._handler is None or not self._is_keyed else self._handler.key_values(arguments)
        limit, text = self._limit, self._text
        if limit is not None and "{" in limit.key:
            limit = replace(limit, key=fill(limit.key, values, "the concurrency key") or "")
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
            serial_key=None if self._serial is None else fill(self._serial, values, "serial_key"),
            serial_hold=self._hold,
            concurrency_key=None if limit is None else limit.key,
            options=text,
            input=to_json(arguments, f"the input of job {self._name!r}") if arguments else None,
            actor=self._actor,
        )
        return run, None if self._own.deadline is None else deadline_timer(run, self._own.deadline)


def _check_options(job: str, handler: Handler | Declaration | None, options: Mapping[str, Any]) -> None:
    for option in options:
        if option not in _OPTIONS:
            if handler is not None and option in (handler.takes or ()):
                raise OstinatoError(
                    f"{option!r} is a parameter of job {job!r}, not an option of start(); give the input as an object: "
                    f"start({job!r}, {{{option!r}: …}})"
                )
            hint = did_you_mean(option, _OPTIONS) or list_choices(sorted(_OPTIONS))
            raise OstinatoError(f"start() has no option {option!r}; {hint}")
    for option in ("queue", "serial_key", "parent", "actor"):
        value = options.get(option)
        if value is not None and not (is_text(value) or (value == "" and option != "queue")):
            raise OstinatoError(f"{option} {short_repr(value)} is not a text")
    check_priority(options.get("priority", 0))


def check_priority(value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > MOST:
        raise OstinatoError(f"priority {short_repr(value)} is not a whole number from {-MOST:,} to {MOST:,}")


def read_positive_length(value: Length | None, field: str) -> Micros | None:
    if value is None:
        return None
    length = read_length(value, field)
    if length <= 0:
        raise OstinatoError(f"{field} {value!r} must be greater than zero")
    return length


def read_limit(value: Limit | int | Mapping[str, Any] | None, name: str) -> Limit | None:
    if value is None:
        return None
    own_key = f"job:{name}".translate(_NO_PLACES)
    if isinstance(value, Mapping):
        parts = ("key", "most", "rate", "per", "weight")
        for part in value:
            if part not in parts:
                raise OstinatoError(f"concurrency has no {part!r}; its parts are {', '.join(parts)}")
        value = Limit(**{"key": own_key, **value})
    limit = Limit(own_key, most=value) if isinstance(value, int) else value
    if not isinstance(limit, Limit):
        raise OstinatoError(f"concurrency {value!r} is not a number; write concurrency=3 or Limit('key', most=3)")
    check_key(limit.key, "the limit's key")
    return limit


def is_same_function(first: Callable[..., Any], second: Callable[..., Any]) -> bool:
    """Return whether two function objects come from one definition in the source. There can be two objects because a
    module was imported twice. Returns True if both have the same module and the same qualified name, unless the source
    file contains two definitions, one for each object."""
    if (first.__module__, first.__qualname__) != (second.__module__, second.__qualname__):
        return False
    return not _are_both_in_source(first, second)


def _are_both_in_source(first: Callable[..., Any], second: Callable[..., Any]) -> bool:
    """Return whether the source file, as it is now, contains two definitions, one for each function. Returns False if
    the file contains only one of the definitions, for example after a reload. Also returns False if the functions come
    from different files, or if the file cannot be read."""
    codes = [getattr(inspect.unwrap(function), "__code__", None) for function in (first, second)]
    places = {(code.co_filename, code.co_name, code.co_firstlineno) for code in codes if code is not None}
    files = {file for file, _, _ in places}
    if len(places) != 2 or len(files) != 1:
        return False
    (file,) = files
    linecache.checkcache(file)
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return False
    return places <= {
        (file, node.name, min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
