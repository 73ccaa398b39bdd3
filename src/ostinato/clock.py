"""The only clock. Nothing else in Ostinato asks what time it is."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ostinato.when.instants import Micros


class Clock(Protocol):
    virtual: bool  # time passes only when something waits for it

    def now(self) -> Micros:
        """Microseconds since 1970, UTC."""
        ...


class MachineClock(Clock, Protocol):
    """Somebody may set it at any moment; its ticks only ever go on."""

    @property
    def origin(self) -> str | None:
        """What ticks are counted from: those of processes with the same origin can be compared."""
        ...

    def ticks(self) -> Micros:
        """Microseconds since whenever, which no step of the clock changes."""
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
    """Nanoseconds since the machine began; where that can be had, with the time in which it was suspended."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic_ns()


def _origin() -> str | None:
    """This boot of this machine, for all of its processes that count from the same moment (a time namespace has one of
    its own); None where a machine does not tell."""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/time')}"
    return None


class SharedClock:
    """The time that all nodes of one store agree on: a reading of it, carried on by this machine's ticks. However the
    machine's own clock is set meanwhile, here it goes on."""

    def __init__(self, local: MachineClock) -> None:
        self.local = local
        self.virtual = local.virtual
        self.ahead: Micros = local.now() - local.ticks()  # of the ticks
        self.measured_at: Micros | None = None  # by the ticks

    def now(self) -> Micros:
        return self.local.ticks() + self.ahead

    def set(self, ahead: Micros) -> Micros:
        """Go by this from now on; returns how far it steps."""
        step, self.ahead = ahead - self.ahead, ahead
        self.measured_at = self.local.ticks()
        return step
