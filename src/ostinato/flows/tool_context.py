"""`ToolContext`, the `ctx` of a tool or a command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ostinato.flows.hooks import TurnInfo, UserInfo


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The `ctx` of a tool or a command. The user and the turn come from the session, so a model cannot choose them.
    `key` is the same in every attempt of one call, so that services can detect duplicates."""

    agent: str
    namespace: str
    user: UserInfo
    turn: TurnInfo
    key: str
    _end: Callable[[str], None] = field(repr=False)

    def end_session(self, reason: str = "ended") -> None:
        """End the session after this turn. If a flow is active, the session ends after that flow."""
        self._end(reason)
