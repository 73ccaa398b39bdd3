"""Make the handler of a job from its function and its options. Wrong options are refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, TypedDict

from ostinato.engine.jobs import Handler, context_parameter, mode_of
from ostinato.errors import OstinatoError, check_text, did_you_mean, list_choices, short_repr
from ostinato.model import Limit, Retry, read_retry
from ostinato.start_checks import check_priority, read_limit, read_positive_length
from ostinato.when.durations import Length


class JobOptions(TypedDict, total=False):
    name: str | None
    retry: Retry | int | Mapping[str, Any] | None
    timeout: Length | None
    heartbeat: Length | None
    concurrency: Limit | int | None
    serial_key: str | None
    serial_hold: Literal["chain", "active"]
    queue: str
    priority: int
    at_most_once: bool
    process: bool


def check_names(options: Collection[str]) -> None:
    """Raise `OstinatoError` if a name is not an option of jobs."""
    names = sorted(JobOptions.__optional_keys__)
    for option in options:
        if option not in names:
            raise OstinatoError(
                f"@app.job has no option {option!r}; {did_you_mean(option, names) or list_choices(names)}"
            )


def make_handler(function: Callable[..., Any], options: JobOptions) -> Handler:
    """Return the handler of a function with these options. Raises `OstinatoError` if an option is wrong."""
    name = options.get("name")
    if name is None:
        name = function.__name__
    check_text(name, "the job's name")
    queue, priority = options.get("queue", "default"), options.get("priority", 0)
    serial_key = options.get("serial_key")
    check_text(queue, f"job {name!r}: the queue")
    check_priority(priority)
    if serial_key is not None:
        check_text(serial_key, f"job {name!r}: serial_key")
    serial_hold = options.get("serial_hold", "chain")
    if serial_hold not in ("chain", "active"):
        raise OstinatoError(f"serial_hold {serial_hold!r} is unknown; use 'chain' or 'active'")
    for flag in ("at_most_once", "process"):
        if not isinstance(options.get(flag, False), bool):
            raise OstinatoError(f"job {name!r}: {flag} {short_repr(options.get(flag))} is neither True nor False")
    handler = Handler(
        name=name,
        function=function,
        mode=mode_of(function, options.get("process", False)),
        retry=read_retry(options.get("retry")),
        timeout=read_positive_length(options.get("timeout"), "timeout"),
        heartbeat=read_positive_length(options.get("heartbeat"), "heartbeat"),
        serial_key=serial_key,
        serial_hold=serial_hold,
        limit=read_limit(options.get("concurrency"), name),
        queue=queue,
        priority=priority,
        at_most_once=options.get("at_most_once", False),
        context=context_parameter(function),
        signature=inspect.signature(function),
    )
    handler.check_keys()
    return handler
