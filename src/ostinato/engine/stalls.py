"""Find out which code blocks the event loop. Often it is an `async def` that computes or sleeps without awaiting.

A thread regularly checks whether the loop responds. If the loop does not respond, the thread finds out which code is
running.
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
_PACKAGES = ("/site-packages/", "/dist-packages/")  # these folders may be inside that of Python's library
_IMPORT = "<frozen importlib"
_ASYNCIO = str(Path(asyncio.__file__).parent) + "/"


@dataclass(frozen=True, slots=True)
class Stall:
    """A period of `seconds` in which code blocked the event loop.

    - `where`: the line of that code, for example `jobs.py:12 in crunch`
    - `job` and `kind`: the name and the kind of the run that executed the code; `job` is None if no run executed it
    - `importing`: whether the code imported a module. If it did, `job` is None, because the job is not the cause: each
      module is loaded once, by the code that needs it first.
    """

    job: str | None
    where: str
    seconds: float
    kind: str = JOB
    importing: bool = False

    @property
    def blocker(self) -> str | None:
        """The kind and the name of the run that blocked the event loop, such as `job 'crunch'`. None if no run did."""
        return None if self.job is None else f"{self.kind} {self.job!r}"


class LoopWatch:
    """Watches the running event loop from a thread, and warns when code blocks the loop. `stop` ends the watching.
    `run_of` returns the run that a task executes. `ended` is called on the loop when a stall is over."""

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
        return stall_at(frame, self._run_of(task), seconds)

    def _warn(self, stall: Stall) -> None:
        now = time.monotonic()
        about = stall.job or stall.where
        if now - self._warned.get(about, -_QUIET) < _QUIET:
            return
        self._warned[about] = now
        what = "the event loop is blocked" if stall.blocker is None else f"{stall.blocker} blocks the event loop"
        if stall.importing:
            what = "an import blocks the event loop"
        log.warning(
            f"{what}, and with it everything else in this process: {advice(stall)}",
            action="loop_blocked",
            job=stall.job,
            where=stall.where,
            seconds=stall.seconds,
        )


def advice(stall: Stall) -> str:
    if stall.importing:
        return "import it at the top of a module, so that it is loaded before the node starts"
    if stall.job is None or stall.kind != JOB:
        return "await what takes long, or do it in a thread: await asyncio.to_thread(…)"
    return "declare it with `def`, to run in a thread, or with process=True if it computes"


def stall_at(frame: FrameType, run: Run | None, seconds: float) -> Stall:
    """Return the stall of code that has been running for `seconds`. `frame` is the innermost frame of its stack, and
    `run` is the run that executes it, or None."""
    statement = _find_import(frame)
    if statement is not None:
        return Stall(None, place_of(statement), round(seconds, 1), importing=True)
    name, kind = (None, JOB) if run is None else (run.name, run.kind)
    return Stall(name, place_of(frame), round(seconds, 1), kind)


def _find_import(frame: FrameType) -> FrameType | None:
    """Return the frame of the import statement that is being executed, or None if no module is being imported. `frame`
    is the innermost frame of the stack. If one import has caused another, return the frame of the outermost import
    statement. The search goes from `frame` outwards, and ends at the first frame of asyncio."""
    statement = None
    walked: FrameType | None = frame
    # Outside the frames of asyncio, an import statement may have started the whole program. It blocks nothing.
    while walked is not None and not walked.f_code.co_filename.startswith(_ASYNCIO):
        if walked.f_code.co_filename.startswith(_IMPORT):
            statement = walked.f_back
        walked = walked.f_back
    return statement


def place_of(frame: FrameType) -> str:
    """Return the line of the user's code on a stack, for example `jobs.py:12 in crunch`. `frame` is the innermost
    frame. Frames of Python's library and of Ostinato are skipped. If there are only such frames, return the line of
    `frame`."""
    innermost = frame
    walked: FrameType | None = frame
    while walked is not None:
        if _is_other_code(walked.f_code.co_filename):
            innermost = walked
            break
        walked = walked.f_back
    return f"{Path(innermost.f_code.co_filename).name}:{innermost.f_lineno} in {innermost.f_code.co_qualname}"


def _is_other_code(file: str) -> bool:
    """Return whether a file belongs neither to Python's library nor to Ostinato, wherever they are installed."""
    if file.startswith(_OWN):
        return False
    return not file.startswith(_LIBRARY) or any(folder in file for folder in _PACKAGES)


# Stored for the doctor, by job


@dataclass(frozen=True, slots=True)
class StallReport:
    """A stored report about runs that have blocked an event loop. `job` is the name of their job. For runs of another
    kind, `job` is the kind and the name. `times` counts the stalls that these runs have caused. `at`, `seconds` and
    `where` describe the latest stall."""

    job: str
    times: int
    at: Micros
    seconds: float
    where: str


def note(stall: Stall, now: Micros) -> Operation[None]:
    """Count a stall in the stored report about its job, which `ostinato doctor` shows. If no run caused the stall,
    store nothing."""
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


def blocked() -> Operation[list[StallReport]]:
    rows = yield sql("meta_with_prefix", prefix=_KEY)
    return [StallReport(key.removeprefix(_KEY), **orjson.loads(value)) for key, value in rows]
