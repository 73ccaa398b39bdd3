"""Exceptions that leave a flow or a turn before its code ends. Like `Cancelled`, they are not subclasses of
`Exception`, so that `except Exception` in a flow does not catch them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class FlowEnded(BaseException):
    """Raised by `ctx.end(reason)`."""

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason)
        self.reason = reason


class Switched(BaseException):
    """Raised to continue with another flow instead of the present one."""

    def __init__(self, flow: str, input: Mapping[str, Any] | None, reason: str) -> None:
        super().__init__(flow)
        self.flow = flow
        self.input = input
        self.reason = reason


class NotDirect(BaseException):
    """Raised when a turn that is handled directly, without recorded steps, needs a recorded step after all. The run of
    the turn's session then handles the turn. `notes` are facts that the run needs to continue."""

    def __init__(self, **notes: Any) -> None:
        super().__init__()
        self.notes = notes


class ClaimLost(BaseException):
    """Raised when this node no longer holds the run of a session. All further writes of this node for the run are
    refused."""
