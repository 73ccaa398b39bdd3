"""Define the clocks of Ostinato. The engine asks a clock for the time, so that tests can use a virtual clock."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ostinato.when.instants import Micros


class Clock(Protocol):
    virtual: bool  # for tests: the time moves on only when all tasks wait

    def now(self) -> Micros:
        """Return microseconds since 1970, UTC."""
        ...


class MachineClock(Clock, Protocol):
    """A machine's clock. Its time may be set at any moment, but its monotonic ticks cannot be set."""

    @property
    def origin(self) -> str | None:
        """Return an id of the moment from which the ticks are counted. The ticks of two processes can be compared if
        they have the same origin. None means that they cannot be compared."""
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
    """Return nanoseconds since boot. They include the time in which the machine was suspended, if the system counts
    it."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns()


def _origin() -> str | None:
    """Return an id for the origin of the ticks: this boot of the machine, and the Linux time namespace of this process.
    Processes with the same id have the same ticks. Returns None if the system has no such ids."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/time')}"
    return None


class SharedClock:
    """The time that all nodes of one store share: this machine's ticks plus an offset.

    Changing the machine's clock does not change this time.
    """

    def __init__(self, local: MachineClock) -> None:
        self.local = local
        self.virtual = local.virtual
        self.ahead: Micros = local.now() - local.ticks()  # offset from the ticks
        self.measured_at: Micros | None = None  # in ticks

    def now(self) -> Micros:
        return self.local.ticks() + self.ahead

    def set(self, ahead: Micros) -> Micros:
        """Use `ahead` as the new offset from the machine's ticks. Returns by how much the time changes."""
        step, self.ahead = ahead - self.ahead, ahead
        self.measured_at = self.local.ticks()
        return step
