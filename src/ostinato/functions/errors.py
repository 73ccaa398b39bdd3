"""Define the errors of durable functions. Most are raised in the function's code. `FunctionOver` and `MailboxFull` are
raised where a message is sent."""

from __future__ import annotations

from typing import Any

from ostinato.errors import Conflict, OstinatoError


class FunctionError(OstinatoError):
    """The base class of the errors that `ctx` raises."""


_LONGEST_NOTE = 3_000  # characters of a step's traceback


class StepFailed(FunctionError):
    """A step has failed and is not tried again. Only a description of the step's exception is recorded, so code cannot
    catch the exception by its own class. `error` is the description, and `type` is the name of the exception's
    class. Its traceback is a note of this exception."""

    def __init__(self, step: str, error: dict[str, Any]) -> None:
        self.step = step
        self.error = error
        self.type = str(error.get("type", ""))
        super().__init__(f"step {step!r} failed: {self.type}: {error.get('message', '')}".rstrip(": "))
        if error.get("traceback"):
            trace = str(error["traceback"]).rstrip()
            if len(trace) > _LONGEST_NOTE:  # the traceback of the function must have room, too
                end = trace[-_LONGEST_NOTE:]
                trace = "…" + end[max(0, end.find("\n")) :]
            self.add_note(f"In step {step!r}:\n{trace}")


class StepInterrupted(StepFailed):
    """A step with `at_most_once` was interrupted. The step may or may not have taken effect."""


class ChildFailed(FunctionError):
    """A child run did not succeed. `status` is the status with which it ended, or `not started`."""

    def __init__(self, child: str, name: str, status: str, reason: str | None, error: Any) -> None:
        self.child = child
        self.status = status
        self.error = error
        words = f"child {name!r} ({child}) is {status}" if child else f"child {name!r} was not started"
        super().__init__(f"{words}: {reason or ''}".rstrip(": "))


class ReceiveTimedOut(FunctionError, TimeoutError):
    """No message came in time."""


class Cancelled(BaseException):
    """The run is being cancelled. The argument is the reason. Code may clean up in `finally` or `except Cancelled`,
    within `model.CANCEL_GRACE`. Like `asyncio.CancelledError`, this class is not a subclass of `Exception`."""


class TooLarge(FunctionError):
    """A limit is exceeded: the number of steps, or the depth of children."""


class CodeMissing(BaseException):
    """This node lacks code that the run needs. The argument names the missing code. A node that has the code continues
    the run. Like `Cancelled`, this class is not a subclass of `Exception`."""


class NotDurable(FunctionError):
    """The function awaits something that is not an operation of `ctx`, so the result could not be recorded."""


class Changed(FunctionError):
    """The function's code does not fit the run's record: the code asks for an operation that differs from the recorded
    one, or does not ask for a recorded operation."""

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
