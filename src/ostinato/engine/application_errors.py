"""Read the attributes of temporalio's `ApplicationError`, or of any exception with the same attributes. The attributes
decide whether and when a job is tried again. So jobs that were written for Temporal work unchanged."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import orjson

from ostinato.errors import error_text

_LARGEST = 64 << 10  # bytes of details that are kept


def application_error(problem: BaseException) -> dict[str, Any]:
    """Return a dict with `type`, `message`, `details` (a list of JSON values), `non_retryable`, and `seconds` (the
    delay before the next attempt, or None). Returns an empty dict if the exception has no `non_retryable`."""
    if not isinstance(getattr(problem, "non_retryable", None), bool):
        return {}
    delay = getattr(problem, "next_retry_delay", None)
    return {
        "type": str(getattr(problem, "type", None) or type(problem).__name__),
        "message": str(getattr(problem, "message", None) or error_text(problem)),
        "details": _json(getattr(problem, "details", ())),
        "non_retryable": problem.non_retryable,  # type: ignore[attr-defined]
        "seconds": delay.total_seconds() if isinstance(delay, timedelta) else None,
    }


def _json(details: Any) -> list[Any]:
    try:
        text = orjson.dumps(list(details), default=repr)
    except TypeError:
        return []
    values: list[Any] = orjson.loads(text) if len(text) <= _LARGEST else []
    return values
