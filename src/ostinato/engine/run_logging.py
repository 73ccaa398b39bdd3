"""Write log lines about runs. The line about a failed attempt is a warning. It has the traceback, and says whether
another attempt follows. Most other lines have the level debug."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from ostinato.engine.log import log
from ostinato.model import DEFAULT_NAMESPACE, Run, Status
from ostinato.when.instants import SECOND, Micros

if TYPE_CHECKING:
    from ostinato.engine.runs import End

FAILURES = {Status.FAILED: "failed", Status.TIMED_OUT: "timed out", Status.CRASHED: "crashed"}
_REASON = 200  # characters of a reason; the traceback has the rest


def report_start(run: Run) -> None:
    if log.debugging:
        log.debug(f"{_what(run)} starts", action="run_started", **_values(run))


def report_ends(ends: Sequence[End], now: Micros) -> None:
    """Write a log line for each `End`. The level is warning if the attempt failed, or if this node does not know the
    run's job. Otherwise the level is debug."""
    debugging = log.debugging
    for end in ends:
        if end.status in FAILURES:
            report_failure(end.run, end.status, end.reason, what_follows(end, now), traceback_in(end.error))
        elif end.status is Status.WAITING and end.reason == "no_handler":
            log.warning(
                f"{_what(end.run)} waits: this node does not know the job, and will leave it to one that does",
                action="no_handler",
                **_values(end.run),
            )
        elif debugging:
            seconds = None if end.run.started is None else round((now - end.run.started) / SECOND, 3)
            values = {**_values(end.run), "status": end.status.value, "seconds": seconds}
            log.debug(f"{_what(end.run)} {_ended(end)}", action="run_ended", **values)


def report_failure(
    run: Run, status: Status, reason: str | None, follows: str = "not tried again", traceback: str = ""
) -> None:
    """Log a warning about an attempt that failed. `follows` says what happens next."""
    log.warning(
        f"{_what(run)} {FAILURES[status]}{_why(reason)}; {follows}",
        action="run_failed",
        **_values(run),
        status=status.value,
        traceback=traceback,
    )


def what_follows(end: End, now: Micros) -> str:
    """Return a text about what follows a failed attempt, such as `tried again in 5 s` or `not tried again`."""
    if end.following is not None:
        pause = max(0, end.following.due - now) / SECOND
        return tried_again(pause)
    return "not tried again" if end.run.number == 1 else f"gives up after {end.run.number} attempts"


def tried_again(seconds: float) -> str:
    return "tried again at once" if seconds < 0.05 else f"tried again in {_length(seconds)}"


def _length(seconds: float) -> str:
    if seconds < 10:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.0f} h"


def _what(run: Run) -> str:
    return f"{'job' if run.kind == 'job' else run.kind} {run.name!r}"


def _why(reason: str | None) -> str:
    reason = reason or ""
    return f": {reason[:_REASON]}{'…' if len(reason) > _REASON else ''}" if reason else ""


def _ended(end: End) -> str:
    if end.finished:
        return "succeeded" if end.status is Status.SUCCEEDED else f"ended: {end.status.value}"
    return f"left this node: {end.status.value}"


def _values(run: Run) -> dict[str, Any]:
    """Return the values that identify an attempt in a log line. Values that are None are left out."""
    values = {
        "job": run.name,
        "schedule": _schedule(run),
        "due": datetime.fromtimestamp(run.due // SECOND, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "attempt": run.number,
        "run": run.root_id,
        "namespace": None if run.namespace == DEFAULT_NAMESPACE else run.namespace,
    }
    return {name: value for name, value in values.items() if value is not None}


def _schedule(run: Run) -> str | None:
    if run.schedule_id is None or not run.detail:
        return None
    name = orjson.loads(run.detail).get("schedule")
    return None if name is None else str(name)


def traceback_in(error: str | None) -> str:
    """Return the traceback of an error that `describe_error` has written. Returns "" if it has no frames: then it only
    repeats the message."""
    described = orjson.loads(error) if error else None
    text = str(described.get("traceback", "")) if isinstance(described, dict) else ""
    return text if "\n" in text.strip() else ""
