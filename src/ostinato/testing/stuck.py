"""Detect a test that waits for something that can never happen, and cancel it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import suppress
from functools import partial
from typing import Any, Generic, TypeVar

from ostinato.clock import Clock
from ostinato.when.instants import SECOND, Micros

T = TypeVar("T")
_STUBBORN = 3600.0  # virtual seconds for cancelled tasks to end
_BETWEEN_LOOKS = 50  # moves of the clock between two checks; reading the processor time is a system call


class Stuck(RuntimeError):
    """Raised if a test waits for something that can never happen."""


class Watched(Generic[T]):
    """Wraps the coroutine `main`. To run the coroutine, await this object. `steps` counts how often the coroutine was
    started or resumed. `give_up` cancels the coroutine, and stores the reason in `given_up`. Before that, `given_up` is
    None."""

    def __init__(self, main: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> None:
        self._main = main
        self._loop = loop
        self._task: asyncio.Task[Any] | None = None
        self._awaited: Any = None
        self.steps = 0
        self.given_up: str | None = None

    def __await__(self) -> Generator[Any, Any, T]:
        self._task = asyncio.current_task()
        step: Callable[[], Any] = partial(self._main.send, None)
        while True:
            self.steps += 1
            try:
                self._awaited = step()
            except StopIteration as done:
                return done.value  # type: ignore[no-any-return]
            try:
                yield self._awaited
            except BaseException as problem:
                step = partial(self._main.throw, problem)
            else:
                step = partial(self._main.send, None)

    def give_up(self, why: str) -> None:
        assert self._task is not None
        self.given_up = f"the test waits for something that never happens, at {self._place()}: {why}"
        self._task.cancel()

    def has_timer(self) -> bool:
        """Return whether the coroutine waits for a timer of its own, in `asyncio.sleep` or within `asyncio.timeout`."""
        return any(self._is_mine(handle) for handle in getattr(self._loop, "_scheduled", ()) if not handle.cancelled())

    def _is_mine(self, handle: Any) -> bool:
        if any(argument is self._awaited for argument in handle._args or ()):
            return True
        owner = getattr(handle._callback, "__self__", None)
        return isinstance(owner, asyncio.Timeout) and getattr(owner, "_task", None) is self._task

    def _place(self) -> str:
        return " → ".join(_places(self._main))


def _places(coroutine: Any) -> list[str]:
    """Return where a coroutine waits: the chain of awaits, outermost first, without asyncio's own files."""
    places = []
    while (frame := getattr(coroutine, "cr_frame", None)) is not None:
        code = frame.f_code
        if "/asyncio/" not in code.co_filename.replace("\\", "/"):
            places.append(f"{code.co_filename}:{frame.f_lineno} in {code.co_name}")
        coroutine = coroutine.cr_await
    return places


def end_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel all tasks that are left on a loop, so that the loop can be closed. Raises `Stuck` if some tasks ignore
    that for an hour of virtual time. A runner would wait for these without end, so their coroutines are closed."""
    tasks = asyncio.all_tasks(loop)
    if not tasks:
        return
    for task in tasks:
        task.cancel()
    _, stubborn = loop.run_until_complete(asyncio.wait(tasks, timeout=_STUBBORN))
    places = [(_places(task.get_coro()) or ["?"])[-1] for task in stubborn]
    for task in stubborn:
        with suppress(BaseException):
            task.get_coro().close()  # type: ignore[union-attr]
        task.cancel()
    if stubborn:
        loop.run_until_complete(asyncio.wait(stubborn, timeout=_STUBBORN))
        for task in stubborn:
            if task.done() and not task.cancelled():
                task.exception()  # retrieved, so that asyncio does not log it
        raise Stuck(f"this code ignores its cancellation, so the test cannot end: {', '.join(sorted(places))}")


class Patience:
    """Limits how long a watched coroutine may wait. A coroutine that has waited too long is cancelled.

    If the loop has no timers, the coroutine may wait:

    - `silent_files_s` seconds if the loop watches sockets or pipes
    - otherwise `silent_s` seconds if other threads are alive
    - otherwise not at all

    If the loop has timers, the limit depends on the timers:

    - If one of them belongs to the coroutine, as in `asyncio.sleep` or `asyncio.timeout`, the coroutine may wait
      without limit.
    - If all of them belong to other code, the coroutine may wait for `years` of virtual time or for `work_s` seconds of
      processor time. The limit that is reached first applies.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.silent_s = 5.0
        self.silent_files_s = 60.0
        self.years = 10.0
        self.work_s = 30.0
        self._watched: Watched[Any] | None = None
        self._steps = 0
        self._since: Micros = 0
        self._worked_since_s: float | None = None
        self._silent_since_s: float | None = None
        self._moves = 0

    def watch(self, watched: Watched[Any] | None) -> None:
        self._watched = watched
        self._steps = -1

    def may_wait_outside(self, files: int) -> bool:
        """Return True if the loop may wait longer for something outside it: a thread, a socket or a child process. If
        the watched coroutine has waited too long, cancel it and return False. Call this only when the loop has no
        timer. `files` is the number of sockets and pipes that the loop watches."""
        watched = self._watched
        if watched is None:
            return True
        now = time.monotonic()
        if self._progressed(watched) or self._silent_since_s is None:
            self._silent_since_s = now
        patience = self.silent_files_s if files else self.silent_s if threading.active_count() > 1 else 0.0
        if now - self._silent_since_s < patience:
            return True
        self._silent_since_s = None
        watched.give_up("nothing is scheduled, and nothing in progress could wake it")
        return False

    def may_move(self) -> bool:
        """Return True if the virtual clock may move. If the watched coroutine has waited too long, cancel it and return
        False. Call this before every move of the clock."""
        self._silent_since_s = None
        watched = self._watched
        if watched is None:
            return True
        self._moves += 1
        if self._progressed(watched) or self._moves % _BETWEEN_LOOKS:
            return True
        # Use processor time, because it does not pass while a debugger stops the test.
        if self._worked_since_s is None:
            self._worked_since_s = time.thread_time()
        worked_s = time.thread_time() - self._worked_since_s
        years = (self._clock.now() - self._since) / (366 * 86_400 * SECOND)
        if years < self.years and worked_s < self.work_s:
            return True
        if watched.has_timer():
            self._steps = -1
            return True
        passed = f"{years:.1f} years of virtual time" if years >= self.years else f"{worked_s:.0f} seconds of work"
        watched.give_up(f"{passed} did not wake it")
        self._steps = -1
        return False

    def _progressed(self, watched: Watched[Any]) -> bool:
        if self._steps == watched.steps:
            return False
        self._steps, self._since, self._worked_since_s = watched.steps, self._clock.now(), None
        return True
