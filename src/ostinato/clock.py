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
    """The clock of a machine. Setting the clock changes its time, but has no effect on its ticks."""

    @property
    def origin(self) -> str | None:
        """Return an id of the moment from which ticks are counted. If two processes get the same id, their ticks can be
        compared. None means that the ticks of this process cannot be compared with those of other processes."""
        ...

    def ticks(self) -> Micros:
        """Return microseconds since the moment named by `origin`. Setting the clock does not change this number."""
        ...


class SystemClock:
    virtual = False

    def __init__(self) -> None:
        self.origin = _origin()

    def now(self) -> Micros:
        return time.time_ns() // 1000

    def ticks(self) -> Micros:
        return _ticks() // 1000


def _ticks() -> int:
    """Return nanoseconds of a clock that cannot be set. If the system has `CLOCK_BOOTTIME`, these are the nanoseconds
    since boot, including the time in which the machine was suspended."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns()


def _origin() -> str | None:
    """Return the boot id and the id of the Linux time namespace, as one text. Returns None if the system does not have
    both ids."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/time')}"
    return None


class SharedClock:
    """The time that all nodes of a store share: the ticks of this machine plus the offset `ahead`. If somebody sets the
    machine's clock, this time does not change until `set` replaces the offset."""

    def __init__(self, local: MachineClock) -> None:
        self.local = local
        self.virtual = local.virtual
        self.ahead: Micros = local.now() - local.ticks()  # offset from the ticks
        self.measured_at: Micros | None = None  # in ticks

    def now(self) -> Micros:
        return self.local.ticks() + self.ahead

    def set(self, ahead: Micros) -> Micros:
        """Replace the offset by `ahead`. Returns the difference, which is positive if the clock goes forward."""
        step, self.ahead = ahead - self.ahead, ahead
        self.measured_at = self.local.ticks()
        return step
