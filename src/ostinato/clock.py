"""The only clock. Nothing else in Ostinato asks what time it is."""

from __future__ import annotations

import time
from typing import Protocol

from ostinato.when.instants import Micros


class Clock(Protocol):
    virtual: bool  # time passes only when something waits for it

    def now(self) -> Micros:
        """Microseconds since 1970, UTC."""
        ...


class SystemClock:
    """The wall clock of this machine."""

    virtual = False

    def now(self) -> Micros:
        return time.time_ns() // 1000


class SharedClock:
    """A clock set by another: the local one plus what was measured against the database. All nodes of one database
    agree by it, however their own clocks differ."""

    def __init__(self, local: Clock) -> None:
        self.local = local
        self.virtual = local.virtual
        self.offset: Micros = 0

    def now(self) -> Micros:
        return self.local.now() + self.offset

    def measured(self, before: Micros, shared: Micros, after: Micros) -> None:
        """The other clock read `shared` at some moment between two readings of ours."""
        self.offset = shared - (before + after) // 2
