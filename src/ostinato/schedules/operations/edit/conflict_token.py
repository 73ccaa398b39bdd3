"""Refuse a change by a caller who has not seen the latest change of a schedule."""

from __future__ import annotations

from ostinato.errors import Conflict
from ostinato.schedules.model import Schedule


class TokenMismatch(Conflict):
    """Raised if the schedule has changed since the caller read it. `current` is the schedule's present token."""

    def __init__(self, name: str, expected: int, current: int) -> None:
        super().__init__(
            f"schedule {name!r} has changed: the conflict token given is {expected}, the current one is {current}; "
            "read it again and decide again"
        )
        self.current = current


def check_token(name: str, token: int | None, schedule: Schedule) -> None:
    if token is not None and token != schedule.token:
        raise TokenMismatch(name, token, schedule.token)
