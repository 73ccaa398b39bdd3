"""The clock. Nothing else in Ostinato reads the time."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ostinato.when.instants import Micros


class Clock(Protocol):
    virtual: bool  # the clock moves only when everything waits

    def now(self) -> Micros:
        """Return microseconds since 1970, UTC."""
        ...


class MachineClock(Clock, Protocol):
    """A machine's clock. Its time may be set at any moment; its ticks never jump."""

    @property
    def origin(self) -> str | None:
        """Return an id of the moment that the ticks are counted from. Ticks of processes with the same origin can be
        compared."""
        ...

    def ticks(self) -> Micros:
        """Return microseconds since the origin. Setting the clock does not change them."""
        ...


class SystemClock:
    """The wall clock of this machine."""

    virtual = False

    def __init__(self) -> None:
        self.origin = _origin()

    def now(self) -> Micros:
        return time.time_ns() // 1000

    def ticks(self) -> Micros:
        return _ticks() // 1000


def _ticks() -> int:
    """Return nanoseconds since boot, including the time suspended where the system provides it."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns()


def _origin() -> str | None:
    """Return an id of this boot and time namespace, whose processes share their ticks; None if the system has none."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/time')}"
    return None


class SharedClock:
    """The time that all nodes of one store share: this machine's ticks plus an offset.

    Setting the machine's clock does not change it.
    """

    def __init__(self, local: MachineClock) -> None:
        self.local = local
        self.virtual = local.virtual
        self.ahead: Micros = local.now() - local.ticks()  # offset from the ticks
        self.measured_at: Micros | None = None  # in ticks

    def now(self) -> Micros:
        return self.local.ticks() + self.ahead

    def set(self, ahead: Micros) -> Micros:
        """Set the offset from the ticks. Returns how far the time steps."""
        step, self.ahead = ahead - self.ahead, ahead
        self.measured_at = self.local.ticks()
        return step
