"""Noticing what blocks the event loop: an `async def` job that computes, or sleeps, without awaiting.

A thread asks the loop for a sign of life. If none comes, it looks at what the loop's own thread is doing at that very
moment: afterwards nobody could tell which job it was.
"""

from __future__ import annotations

import asyncio
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import orjson

from ostinato.engine.log import log
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros

LONG = 1.0  # seconds without a sign of life
_AGAIN = 0.25  # seconds to answer after all: a process that was suspended has not blocked its loop
_QUIET = 60.0  # seconds between two warnings about one place
_KEY = "blocked:"  # begins the keys of what is on record
_OWN = str(Path(__file__).parent.parent) + "/"
_LIBRARY = (sysconfig.get_path("stdlib"), "<frozen")


@dataclass(frozen=True, slots=True)
class Stall:
    """The loop stood still. `job` is None where it was not a job that blocked it."""

    job: str | None
    where: str
    seconds: float


class LoopWatch:
    """Watches the running loop from a thread, until it is stopped. `job_of` names the job that a task belongs to;
    `ended` is called, on the loop, when it goes on."""

    def __init__(
        self,
        job_of: Callable[[asyncio.Task[Any] | None], str | None],
        ended: Callable[[Stall], None],
        long: float = LONG,
    ) -> None:
        self._job_of = job_of
        self._ended = ended
        self._long = long
        self._loop = asyncio.get_running_loop()
        self._thread_id = threading.get_ident()
        self._stop = threading.Event()
        self.last: tuple[Stall, float] | None = None  # the latest, and when it began, by the monotonic clock
        self._warned: dict[str, float] = {}
        self._thread = threading.Thread(target=self._watch, name="ostinato-loop-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def stall_since(self, seconds: float) -> Stall | None:
        """The latest stall, if it began so many seconds ago or later."""
        if self.last is None or time.monotonic() - self.last[1] > seconds:
            return None
        return self.last[0]

    def _watch(self) -> None:
        with suppress(RuntimeError):  # the loop was closed without a word
            while not self._stop.wait(self._long):
                answered = threading.Event()
                asked = time.monotonic()
                self._loop.call_soon_threadsafe(answered.set)
                if answered.wait(self._long) or answered.wait(_AGAIN):
                    continue
                stall = self._look(time.monotonic() - asked)
                if stall is None:
                    continue
                self.last = stall, asked
                self._warn(stall)
                while not answered.wait(self._long):
                    if self._stop.is_set():
                        return
                over = Stall(stall.job, stall.where, round(time.monotonic() - asked, 1))
                self._loop.call_soon_threadsafe(self._ended, over)

    def _look(self, seconds: float) -> Stall | None:
        frame = sys._current_frames().get(self._thread_id)
        if frame is None or Path(frame.f_code.co_filename).name == "selectors.py":
            return None  # it waits for something to do: the machine is slow, not the loop
        task = None
        with suppress(RuntimeError):
            task = asyncio.current_task(self._loop)
        return Stall(self._job_of(task), place_of(frame), round(seconds, 1))

    def _warn(self, stall: Stall) -> None:
        now = time.monotonic()
        about = stall.job or stall.where
        if now - self._warned.get(about, -_QUIET) < _QUIET:
            return
        self._warned[about] = now
        what = "the event loop is blocked" if stall.job is None else f"job {stall.job!r} blocks the event loop"
        log.warning(
            f"{what}, and with it everything else in this process: {advice(stall)}",
            action="loop_blocked",
            job=stall.job,
            where=stall.where,
            seconds=stall.seconds,
        )


def advice(stall: Stall) -> str:
    if stall.job is None:
        return "await what takes long, or do it in a thread"
    return "declare it with `def`, to run in a thread, or with process=True if it computes"


def place_of(frame: FrameType) -> str:
    """The innermost place that is neither Python's own nor Ostinato's: `jobs.py:12 in crunch`."""
    found = frame
    walked: FrameType | None = frame
    while walked is not None:
        file = walked.f_code.co_filename
        if not file.startswith((*_LIBRARY, _OWN)) or "site-packages" in file:
            found = walked
            break
        walked = walked.f_back
    return f"{Path(found.f_code.co_filename).name}:{found.f_lineno} in {found.f_code.co_qualname}"


# On record, for the doctor: by job, how often and how long


@dataclass(frozen=True, slots=True)
class Blocked:
    """What is on record about a job that has blocked an event loop."""

    job: str
    times: int
    at: Micros
    seconds: float
    where: str


def note(stall: Stall, now: Micros) -> Operation[None]:
    """Put a stall on record. One that no job is known for is not."""
    if stall.job is None:
        return
    known = [one for one in (yield from blocked()) if one.job == stall.job]
    value = {
        "times": known[0].times + 1 if known else 1,
        "at": now,
        "seconds": stall.seconds,
        "where": stall.where,
    }
    yield sql("set_meta", [(_KEY + stall.job, orjson.dumps(value).decode())])


def blocked() -> Operation[list[Blocked]]:
    rows = yield sql("meta_between", low=_KEY, high=_KEY + "\U0010ffff")
    return [Blocked(key.removeprefix(_KEY), **orjson.loads(value)) for key, value in rows]
