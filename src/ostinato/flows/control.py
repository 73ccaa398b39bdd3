"""Exceptions that leave a flow or a turn early. `except Exception` in a flow does not catch them."""

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
    """Raised if a turn that this node handles without recorded steps needs a recorded step. The session's run then
    handles the turn. `notes` are facts that the run needs."""

    def __init__(self, **notes: Any) -> None:
        super().__init__()
        self.notes = notes


class SessionClaimLost(BaseException):
    """Raised if this node no longer holds the run of a session. The store refuses all further writes for that run."""
