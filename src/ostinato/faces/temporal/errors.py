"""Turn Ostinato's errors into gRPC statuses, with the details that Temporal's clients expect.

Clients retry some statuses, such as UNAVAILABLE and INTERNAL. Only errors that may be retried get such a status.
"""

from __future__ import annotations

from typing import Any

import grpc
from google.protobuf.message import Message
from temporalio.api.common.v1.grpc_status_pb2 import GrpcStatus
from temporalio.api.errordetails.v1 import (
    NamespaceAlreadyExistsFailure,
    NamespaceNotFoundFailure,
    NotFoundFailure,
    PermissionDeniedFailure,
    QueryFailedFailure,
    WorkflowExecutionAlreadyStartedFailure,
)

from ostinato.engine.computing import Busy
from ostinato.engine.log import log
from ostinato.errors import Conflict, NotFound, OstinatoError, SpecError, StoreError, StoreUnavailable
from ostinato.faces.auth import Refused
from ostinato.schedules.operations.edit import AlreadyExists, TokenMismatch

_LONGEST = 2000  # characters of a message: it travels in a header
_REFUSED = {
    401: grpc.StatusCode.UNAUTHENTICATED,
    403: grpc.StatusCode.PERMISSION_DENIED,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
}


class Wrong(OstinatoError):
    """Raised if a field of a request is invalid."""

    def __init__(self, field: str, words: str) -> None:
        super().__init__(f"{field}: {words}")
        self.field = field


class Absent(OstinatoError):
    """Raised for a call that Temporal has but Ostinato does not have."""


class QueryFailed(OstinatoError):
    """Raised if a query cannot be answered."""


class NoNamespace(NotFound):
    def __init__(self, namespace: str) -> None:
        super().__init__(f"Namespace {namespace} is not found; make it with `ostinato namespaces create {namespace}`")
        self.namespace = namespace


class NamespaceExists(Conflict):
    def __init__(self, namespace: str) -> None:
        super().__init__(f"Namespace {namespace} already exists; register another name")


class AlreadyStarted(Conflict):
    """Raised if an execution already has the workflow id, and the request's policies do not allow another execution."""

    def __init__(self, words: str, run_id: str, request_id: str = "") -> None:
        super().__init__(words)
        self.run_id = run_id
        self.request_id = request_id


def status_of(error: Exception) -> tuple[grpc.StatusCode, str, Message | None]:
    """Return the gRPC status of an error, the text for the client, and Temporal's message with details.

    The message is None if Temporal has no details for such an error.
    """
    code = grpc.StatusCode
    match error:
        case Refused():
            detail = PermissionDeniedFailure(reason=error.title) if error.status == 403 else None
            return _REFUSED.get(error.status, code.INVALID_ARGUMENT), str(error), detail
        case NoNamespace():
            return code.NOT_FOUND, str(error), NamespaceNotFoundFailure(namespace=error.namespace)
        case NotFound():
            return code.NOT_FOUND, str(error), NotFoundFailure()
        case AlreadyExists():
            words = f'schedule "{error.name}" is already registered'
            return code.ALREADY_EXISTS, words, WorkflowExecutionAlreadyStartedFailure()
        case AlreadyStarted():
            return (
                code.ALREADY_EXISTS,
                str(error),
                WorkflowExecutionAlreadyStartedFailure(start_request_id=error.request_id, run_id=error.run_id),
            )
        case NamespaceExists():
            return code.ALREADY_EXISTS, str(error), NamespaceAlreadyExistsFailure()
        case TokenMismatch():
            return code.FAILED_PRECONDITION, f"mismatched conflict token: {error}", None
        case Conflict():
            return code.FAILED_PRECONDITION, str(error), None
        case StoreUnavailable():
            return code.UNAVAILABLE, "the store does not answer; try again", None
        case StoreError():
            log.error("the store refused a call", action="call_failed", problem=str(error))
            return code.INTERNAL, "the store refused this; the server's log says why", None
        case Busy():
            return code.RESOURCE_EXHAUSTED, str(error), None
        case Absent():
            return code.UNIMPLEMENTED, str(error), None
        case QueryFailed():
            return code.INVALID_ARGUMENT, str(error), QueryFailedFailure()
        case SpecError():
            return code.INVALID_ARGUMENT, f"Invalid schedule spec: {error}", None
        case OstinatoError():
            return code.INVALID_ARGUMENT, str(error), None
        case _:
            log.error("a call failed", action="call_failed", exc_info=error)
            return code.INTERNAL, "something went wrong here; the server's log has the details", None


async def refuse(context: Any, error: Exception) -> None:
    """End a call with the gRPC status of an error. Always raises gRPC's own exception."""
    code, words, detail = status_of(error)
    words = words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"
    status = GrpcStatus(code=code.value[0], message=words)
    if detail is not None:
        status.details.add().Pack(detail)
    await context.abort(code, words, (("grpc-status-details-bin", status.SerializeToString()),))
