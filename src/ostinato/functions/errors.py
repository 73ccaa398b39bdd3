"""Define the errors of durable functions. The function's own code gets most of them. Senders of messages get
`FunctionOver` and `MailboxFull`."""

from __future__ import annotations

from typing import Any

from ostinato.errors import Conflict, OstinatoError


class FunctionError(OstinatoError):
    """The base class of the errors that `ctx` raises."""


class StepFailed(FunctionError):
    """A step has failed and is not tried again. `type` is the name of the class of its exception. `error` is everything
    that is recorded about that exception. A replay raises the same StepFailed. The exception object itself is not
    recorded, so code cannot catch it by its class."""

    def __init__(self, step: str, error: dict[str, Any]) -> None:
        self.step = step
        self.error = error
        self.type = str(error.get("type", ""))
        super().__init__(f"step {step!r} failed: {self.type}: {error.get('message', '')}".rstrip(": "))


class StepInterrupted(StepFailed):
    """A step with `at_most_once` was interrupted. It may have taken effect or not."""


class ChildFailed(FunctionError):
    """A child run did not succeed, or could not be started. `status` is the status in which it ended, or `not
    started`."""

    def __init__(self, child: str, name: str, status: str, reason: str | None, error: Any) -> None:
        self.child = child
        self.status = status
        self.error = error
        words = f"child {name!r} ({child}) is {status}" if child else f"child {name!r} was not started"
        super().__init__(f"{words}: {reason or ''}".rstrip(": "))


class ReceiveTimedOut(FunctionError, TimeoutError):
    """No message came in time."""


class Cancelled(BaseException):
    """The run is being cancelled; the argument is the reason. Code may clean up in `finally` or `except Cancelled`,
    within `model.CANCEL_GRACE`. Like `asyncio.CancelledError`, this is a BaseException, so `except Exception` does not
    catch it."""


class TooLarge(FunctionError):
    """A limit is exceeded: the number of steps, or the depth of children."""


class CodeMissing(BaseException):
    """This node lacks code that the run began with; the argument names that code. A node that has the code will
    continue the run. Like `Cancelled`, this is a BaseException."""


class NotDurable(FunctionError):
    """The function waits for something that is not recorded."""


class Changed(FunctionError):
    """The code of a function no longer fits the record of the run: the code asks for a different operation than the
    record contains."""

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
