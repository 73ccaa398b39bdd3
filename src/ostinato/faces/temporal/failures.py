"""Write errors of runs and steps as Temporal failures. Temporal's clients raise them as ApplicationError."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from temporalio.api.failure.v1 import Failure

from ostinato.faces.temporal.payloads import payload_of


def write_failure(error: Mapping[str, Any], reason: str | None, status: str) -> Failure:
    """Write a stored error as a failure.

    If the error has no message, the failure's message is `reason`. If there is no reason either, it is `status`.
    """
    failure = Failure(
        message=str(error.get("message") or reason or status),
        source="Ostinato",
        stack_trace=str(error.get("traceback") or ""),
    )
    info = failure.application_failure_info
    info.type = str(error.get("type") or (reason or "").partition(":")[0])
    info.non_retryable = bool(error.get("non_retryable"))
    info.details.payloads.extend(payload_of(value) for value in error.get("details") or ())
    return failure
