"""The only clock. Nothing else in Ostinato asks what time it is."""

from __future__ import annotations

import time
from typing import Protocol

from ostinato.when.instants import Micros


class Clock(Protocol):
    def now(self) -> Micros:
        """Microseconds since 1970, UTC."""
        ...


class SystemClock:
    """The wall clock of this machine."""

    def now(self) -> Micros:
        return time.time_ns() // 1000
