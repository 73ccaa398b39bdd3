"""The errors of durable functions, as their code sees them."""

from __future__ import annotations

from typing import Any

from ostinato.errors import Conflict, OstinatoError


class FunctionError(OstinatoError):
    """The base class of the errors that `ctx` raises."""


class StepFailed(FunctionError):
    """A step has failed and has no attempts left. `type` is the class of its exception, `error` everything that is
    recorded of it. A replay raises the same error. The exception itself is not recorded, so code must not depend on its
    class."""

    def __init__(self, step: str, error: dict[str, Any]) -> None:
        self.step = step
        self.error = error
        self.type = str(error.get("type", ""))
        super().__init__(f"step {step!r} failed: {self.type}: {error.get('message', '')}".rstrip(": "))


class StepInterrupted(StepFailed):
    """A step with `at_most_once` was interrupted. It may have taken effect or not."""


class ChildFailed(FunctionError):
    """A child run did not succeed, or could not be started. `status` says how it ended, or `not started`."""

    def __init__(self, child: str, name: str, status: str, reason: str | None, error: Any) -> None:
        self.child = child
        self.status = status
        self.error = error
        words = f"child {name!r} ({child}) is {status}" if child else f"child {name!r} was not started"
        super().__init__(f"{words}: {reason or ''}".rstrip(": "))


class ReceiveTimedOut(FunctionError, TimeoutError):
    """No message came in time."""


class Cancelled(BaseException):
    """The run is being cancelled; the argument is the reason. Clean up in `finally` or `except Cancelled`, within the
    grace. Like `asyncio.CancelledError`, it is no `Exception`, so `except Exception` does not swallow it."""


class TooLarge(FunctionError):
    """A limit is exceeded: the number of steps, or the depth of children."""


class CodeMissing(BaseException):
    """This node lacks code that the run began with; the argument names it. The run is left to a node that has the code.
    Like `Cancelled`, it is no `Exception`."""


class NotDurable(FunctionError):
    """The function waits for something that is not recorded."""


class Changed(FunctionError):
    """The code asks for another operation than the record of the run has."""

    def __init__(self, words: str, *, position: str, expected: str, actual: str, place: str) -> None:
        super().__init__(words)
        self.position = position
        self.expected = expected
        self.actual = actual
        self.place = place


class FunctionOver(Conflict):
    """The run has ended, so nothing will receive the message."""


class MailboxFull(Conflict):
    """The run has too many messages that it has not received yet."""
