"""How a flow is left before its code ends. As `Cancelled`, these are no `Exception`: `except Exception` in a flow does
not catch them."""

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
