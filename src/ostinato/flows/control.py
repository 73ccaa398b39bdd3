"""How a flow or a turn is left before its code ends. As `Cancelled`, these are no `Exception`: `except Exception` in a
flow does not catch them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class FlowEnded(BaseException):
    """`ctx.end(reason)` was called."""

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason)
        self.reason = reason


class Switched(BaseException):
    """Another flow takes the place of this one."""

    def __init__(self, flow: str, input: Mapping[str, Any] | None, reason: str) -> None:
        super().__init__(flow)
        self.flow = flow
        self.input = input
        self.reason = reason


class NotDirect(BaseException):
    """A turn that is handled without a record needs one after all: the run of its session handles it. `notes` are what
    it should know."""

    def __init__(self, **notes: Any) -> None:
        super().__init__()
        self.notes = notes


class ClaimLost(BaseException):
    """The run of a session is no longer this node's: what this node does for it is not written."""
