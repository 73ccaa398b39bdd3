"""Provide a clock that jumps to the next deadline, and an event loop that uses it, so that `asyncio.sleep(3600)` takes
no real time. Virtual time stops while a thread or a request to a real service is in progress."""

from __future__ import annotations

import asyncio
import math
import selectors
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, TypeVar

from ostinato.model import read_length
from ostinato.testing.stuck import Patience, Stuck, Watched, end_tasks
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND, Micros, read_instant

T = TypeVar("T")
_BEGIN = read_instant("2026-01-01T00:00:00Z", "begin")
# A timer that is less than this many seconds away is due: the clock cannot move by less than a microsecond. A float
# represents 70 years more precisely than this, so every timer runs at exactly its microsecond.
_BETWEEN = 0.5 / SECOND


class VirtualClock:
    """A clock that moves only by `advance`."""

    virtual = True
    origin = "virtual"

    def __init__(self, begin: datetime | str | Micros = _BEGIN) -> None:
        """`begin` is a time, or microseconds since 1970."""
        self.begin = begin if isinstance(begin, int) else read_instant(begin, "begin")
        self._now = self.begin

    def now(self) -> Micros:
        return self._now

    def ticks(self) -> Micros:
        return self._now

    def elapsed(self) -> float:
        """Return the seconds since the clock's beginning."""
        return (self._now - self.begin) / SECOND

    def advance(self, length: Micros) -> None:
        if length < 0:
            raise ValueError("time cannot go back; use a SkewedClock for a clock that does")
        self._now += length


class SkewedClock:
    """The clock of another machine. Its `now` is the time of `clock` plus `skew`, and its `ticks` are the ticks of
    `clock`. A test may change `skew`, which is read as a timedelta."""

    virtual = True
    origin = "virtual"

    def __init__(self, clock: VirtualClock, skew: Length = 0) -> None:
        """`skew` is a text such as `"5s"` or `"-5s"`, a timedelta, or a number of seconds."""
        self._clock = clock
        self._skew = _read_skew(skew)

    @property
    def skew(self) -> timedelta:
        return timedelta(microseconds=self._skew)

    @skew.setter
    def skew(self, skew: Length) -> None:
        self._skew = _read_skew(skew)

    def now(self) -> Micros:
        return self._clock.now() + self._skew

    def ticks(self) -> Micros:
        return self._clock.ticks()


def _read_skew(skew: Length) -> Micros:
    if isinstance(skew, str) and skew.startswith("-"):
        return -read_length(skew[1:], "skew")
    if isinstance(skew, timedelta):
        return skew // timedelta(microseconds=1)
    return read_length(skew, "skew")


class _JumpingSelector(selectors.BaseSelector):
    """A selector that moves the clock instead of waiting. The first of these rules that applies decides:

    - If there are events or due timers, `select` returns at once.
    - If work outside the loop is in progress, `select` waits in real time.
    - If coroutines wait in `settle`, `select` wakes them.
    - If there is a timer, `select` moves the clock to it. Otherwise it waits in real time.
    """

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self._clock = loop.clock
        self._patience = loop.patience
        self._real = selectors.DefaultSelector()
        self.under_way = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = self._real.select(0)
        if events or (timeout is not None and timeout <= 0):
            return events
        if self.under_way:
            return self._real.select(0.5)
        if (timeout is not None and self._loop.catch_up(timeout)) or self._loop.wake_settling():
            return []
        if timeout is None:
            # One file is always registered: the loop's own pipe, through which threads wake it.
            return self._real.select(0.5) if self._patience.may_wait_outside(len(self._real.get_map()) - 1) else []
        if self._patience.may_move():
            length = self._loop.time() + timeout - self._clock.elapsed()
            self._clock.advance(max(1, round(length * SECOND)))
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def close(self) -> None:
        self._real.close()

    def get_map(self) -> Any:
        return self._real.get_map()


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop on a virtual clock."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.patience = Patience(clock)
        self._settling: list[asyncio.Future[None]] = []
        self._reached = 0.0  # the time of the last timer that was less than a microsecond ahead of the clock
        self._jumping = _JumpingSelector(self)
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return the loop's time, in seconds since the clock's beginning. It is the clock's time or the time that
        `catch_up` has set, whichever is later."""
        # If this returned only the clock's time, code that waits for a time between two microseconds would never end.
        return max(self._reached, self.clock.elapsed())

    @property
    def _clock_resolution(self) -> float:
        """The number of seconds by which asyncio may run a timer too early. It is as small as possible."""
        return math.ulp(self.time())

    @_clock_resolution.setter
    def _clock_resolution(self, _: float) -> None:
        """Ignore the value that asyncio sets, which is the resolution of the machine's clock."""

    def catch_up(self, timeout: float) -> bool:
        """Make the next timer due if it is less than half a microsecond ahead of the clock. The clock counts whole
        microseconds, so it cannot stop exactly at such a timer. Instead, set the loop's time (see `time`) to the time
        of the timer. The clock does not move.

        `timeout` is the number of seconds from the loop's time to the timer. Return True if the loop's time was
        changed.
        """
        when = self.time() + timeout
        if when >= self.clock.elapsed() + _BETWEEN:
            return False
        self._reached = when
        return True

    async def settle(self) -> None:
        """Wait until the loop can do nothing more unless the clock moves. Takes no virtual time."""
        settled = self.create_future()
        self._settling.append(settled)
        await settled

    def wake_settling(self) -> bool:
        """Wake all callers of `settle`. Return whether there were any."""
        settling, self._settling = self._settling, []
        waiting = [settled for settled in settling if not settled.done()]
        for settled in waiting:
            settled.set_result(None)
        return bool(waiting)

    @contextmanager
    def freeze_time(self) -> Iterator[None]:
        """Stop virtual time while something outside the loop is in progress, such as a thread or a request."""
        self._jumping.under_way += 1
        try:
            yield
        finally:
            self._jumping.under_way -= 1

    async def watch(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine, and return its result. Raises `Stuck` if it waits for something that can never happen."""
        watched = Watched(main, self)
        self.patience.watch(watched)
        try:
            return await watched
        except asyncio.CancelledError as cancelled:
            if watched.given_up is None:
                raise
            raise Stuck(watched.given_up) from cancelled
        finally:
            self.patience.watch(None)

    def run_in_executor(self, executor: Any, func: Callable[..., T], *args: Any) -> asyncio.Future[T]:  # type: ignore[override]
        self._jumping.under_way += 1
        future = super().run_in_executor(executor, func, *args)
        future.add_done_callback(self._thread_done)
        return future

    def _thread_done(self, _: Any) -> None:
        self._jumping.under_way -= 1

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait until the threads have ended. Ignores `timeout`, because it would expire at once in virtual time."""
        with self.freeze_time():
            await super().shutdown_default_executor()


def run_virtual(main: Coroutine[Any, Any, T], clock: VirtualClock | None = None) -> T:
    """Run a coroutine on virtual time, and return its result. Raises `Stuck` if the coroutine can never finish."""
    moving = clock or VirtualClock()
    loop = VirtualLoop(moving)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        try:
            result = runner.run(loop.watch(main))
        except BaseException:
            with suppress(Stuck):  # the test has failed already
                end_tasks(loop)
            raise
        end_tasks(loop)
        return result
