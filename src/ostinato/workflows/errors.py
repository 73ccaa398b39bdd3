"""Define the errors that mutators, readers and handlers raise. The type of an error decides how the run fails.

Errors of other types are treated as follows:

- From a reader or mutator: `TimeoutError`, `ConnectionError` and store errors are transient. Others are internal.
- From a handler: store errors are transient. Others are logic errors.
"""

from __future__ import annotations

from typing import Any, ClassVar

from ostinato.errors import OstinatoError, short_repr
from ostinato.workflows.model import Delivered, FailureClass


class HandlerFailed(OstinatoError):
    """The base class of the errors in this module.

    - `delivered`: whether the effect took place: `"no"`, `"maybe"` or `"yes"`. By default, it is the value of the class
      attribute `usually`.
    - `result`: the mutator's result, if `delivered` is `"yes"`
    """

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
    """Raised for a failure that may pass by itself: a timeout, a rate limit, a 5xx response."""

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
    """Raised if a person must first create something, such as a table or a label."""

    failure = FailureClass.PRECONDITION
    usually = Delivered.NO


class InternalError(HandlerFailed):
    """Raised for a defect of the host or of a connector."""

    failure = FailureClass.INTERNAL


class PhaseViolation(LogicError):
    """Raised if a handler calls a method of `ctx` with a wrong argument, or in a phase that does not allow it."""
