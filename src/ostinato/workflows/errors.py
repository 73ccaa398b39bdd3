"""Define the errors that mutators, readers and handlers raise. Each error belongs to one class of failures.

The class depends only on the type of the error, never on its message. Errors that are not in this module have these
classes:

- From a reader or mutator: `TimeoutError`, `ConnectionError` and errors of the store are transient. All others are
  internal errors.
- From a handler: errors of the store are transient. All others are logic errors.

See `classify` and `classify_handler` in `runtime.context`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ostinato.errors import OstinatoError, short_repr
from ostinato.workflows.model import Delivered, FailureClass


class HandlerFailed(OstinatoError):
    """The base class of the errors in this module. `delivered` says whether the effect of a mutator took place: `"no"`,
    `"maybe"` or `"yes"`. If `delivered` is None, the class attribute `usually` is used. With `"yes"`, `result` is the
    mutator's result."""

    failure: ClassVar[FailureClass] = FailureClass.INTERNAL
    usually: ClassVar[Delivered] = Delivered.MAYBE

    def __init__(self, message: str, *, delivered: str | None = None, result: Any = None) -> None:
        super().__init__(message)
        try:
            self.delivered = self.usually if delivered is None else Delivered(delivered)
        except ValueError:
            raise OstinatoError(f"delivered {short_repr(delivered)} is none of no, maybe, yes") from None
        self.result = result


class Transient(HandlerFailed):
    """Raised for a failure that may disappear without any change: a timeout, a rate limit, a 5xx response."""

    failure = FailureClass.TRANSIENT


class LogicError(HandlerFailed):
    """Raised if the handler requests something that can never succeed."""

    failure = FailureClass.LOGIC
    usually = Delivered.NO


class AuthRequired(HandlerFailed):
    """Raised if credentials are missing, expired or revoked. `service` names the service to reconnect."""

    failure = FailureClass.AUTH
    usually = Delivered.NO

    def __init__(self, service: str, message: str | None = None, *, delivered: str | None = None) -> None:
        super().__init__(message or f"Waiting for you to reconnect {service}", delivered=delivered)
        self.service = service


class PermissionDenied(HandlerFailed):
    """Raised if the credentials are valid but do not allow the call."""

    failure = FailureClass.PERMISSION
    usually = Delivered.NO


class PreconditionFailed(HandlerFailed):
    """Raised if something does not exist that must exist, such as a table or a label. A person must create it."""

    failure = FailureClass.PRECONDITION
    usually = Delivered.NO


class InternalError(HandlerFailed):
    """Raised for a defect of the host or of a connector."""

    failure = FailureClass.INTERNAL


class PhaseViolation(LogicError):
    """Raised if a handler calls a method that its phase does not allow."""
