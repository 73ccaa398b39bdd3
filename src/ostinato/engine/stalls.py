"""Find out which code blocks the event loop. Often it is an `async def` that computes or sleeps without awaiting.

A thread regularly asks the loop to respond. If the loop does not respond in time, the thread finds out at once which
code is running.
"""

from __future__ import annotations

import asyncio
import sys
import sysconfig
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import orjson

from ostinato.engine.kinds import JOB
from ostinato.engine.log import log
from ostinato.model import Run
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros

LONG = 1.0  # seconds without a response
_AGAIN = 0.25  # more seconds to respond: after the process was suspended, the loop needs a moment
_QUIET = 60.0  # seconds between two warnings about one job or place
_KEY = "blocked:"  # prefix of the keys in the table `meta`
_OWN = str(Path(__file__).parent.parent) + "/"
_LIBRARY = (sysconfig.get_path("stdlib"), "<frozen")


@dataclass(frozen=True, slots=True)
class Stall:
    """A time in which the event loop was blocked.

    - `job`: the name of the run that blocked the loop, or None, if no run did
    - `where`: the line of code that was running, such as `jobs.py:12 in crunch`
    - `kind`: the kind of the run, such as `job`
    """

    job: str | None
    where: str
    seconds: float
    kind: str = JOB

    @property
    def blocker(self) -> str | None:
        """The kind and the name of the run that blocked the event loop, such as `job 'crunch'`. None if no run did."""
        return None if self.job is None else f"{self.kind} {self.job!r}"


class LoopWatch:
    """Watches the running event loop from a thread, and warns when code blocks the loop. `run_of` returns the run that
    a task executes, or None. `ended` is called on the loop after each blockage. `stop` ends the thread."""

    def __init__(
        self,
        run_of: Callable[[asyncio.Task[Any] | None], Run | None],
        ended: Callable[[Stall], None],
        long: float = LONG,
    ) -> None:
        self._run_of = run_of
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
        """Return the latest stall if it began at most `seconds` ago, otherwise None."""
        if self.last is None or time.monotonic() - self.last[1] > seconds:
            return None
        return self.last[0]

    def _watch(self) -> None:
        with suppress(RuntimeError):  # the loop was closed without a call of `stop`
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
                over = replace(stall, seconds=round(time.monotonic() - asked, 1))
                self._loop.call_soon_threadsafe(self._ended, over)

    def _look(self, seconds: float) -> Stall | None:
        frame = sys._current_frames().get(self._thread_id)
        if frame is None or Path(frame.f_code.co_filename).name == "selectors.py":
            return None  # the loop is idle: the machine is slow
        task = None
        with suppress(RuntimeError):
            task = asyncio.current_task(self._loop)
        run = self._run_of(task)
        name, kind = (None, JOB) if run is None else (run.name, run.kind)
        return Stall(name, place_of(frame), round(seconds, 1), kind)

    def _warn(self, stall: Stall) -> None:
        now = time.monotonic()
        about = stall.job or stall.where
        if now - self._warned.get(about, -_QUIET) < _QUIET:
            return
        self._warned[about] = now
        what = "the event loop is blocked" if stall.blocker is None else f"{stall.blocker} blocks the event loop"
        log.warning(
            f"{what}, and with it everything else in this process: {advice(stall)}",
            action="loop_blocked",
            job=stall.job,
            where=stall.where,
            seconds=stall.seconds,
        )


def advice(stall: Stall) -> str:
    if stall.job is None or stall.kind != JOB:
        return "await what takes long, or do it in a thread: await asyncio.to_thread(…)"
    return "declare it with `def`, to run in a thread, or with process=True if it computes"


def place_of(frame: FrameType) -> str:
    """Return the innermost line of the user's code on the stack, such as `jobs.py:12 in crunch`. Code of Python's
    library and of Ostinato does not count. If there is no other code, return the innermost line."""
    innermost = frame
    walked: FrameType | None = frame
    while walked is not None:
        file = walked.f_code.co_filename
        if not file.startswith((*_LIBRARY, _OWN)) or "site-packages" in file:
            innermost = walked
            break
        walked = walked.f_back
    return f"{Path(innermost.f_code.co_filename).name}:{innermost.f_lineno} in {innermost.f_code.co_qualname}"


# Stored for the doctor, by job


@dataclass(frozen=True, slots=True)
class Blocked:
    """A stored report about a job that has blocked an event loop.

    - `job`: the name of the job; for another kind of run, the kind and the name
    - `times`: how often the job has blocked a loop
    - `at`: when the job last blocked a loop, in microseconds since 1970
    - `seconds`: how long the job blocked the loop the last time, in seconds
    - `where`: the line of code that was running the last time
    """

    job: str
    times: int
    at: Micros
    seconds: float
    where: str


def note(stall: Stall, now: Micros) -> Operation[None]:
    """Store a stall for the doctor, if a run caused it."""
    if stall.job is None:
        return
    name = stall.job if stall.kind == JOB else f"{stall.kind} {stall.job}"
    earlier = [one for one in (yield from blocked()) if one.job == name]
    value = {
        "times": earlier[0].times + 1 if earlier else 1,
        "at": now,
        "seconds": stall.seconds,
        "where": stall.where,
    }
    yield sql("set_meta", [(_KEY + name, orjson.dumps(value).decode())])


def blocked() -> Operation[list[Blocked]]:
    rows = yield sql("meta_between", low=_KEY, high=_KEY + "\U0010ffff")
    return [Blocked(key.removeprefix(_KEY), **orjson.loads(value)) for key, value in rows]
