"""Virtual time: a clock that jumps to the next thing that waits, and an event loop that goes by it.

When nothing can run, the loop does not wait: it moves the clock to the next deadline. `asyncio.sleep(3600)` takes no
time, and neither does a year of schedules. While a thread or a call to a real service is under way, time stands still.
A coroutine that waits for something that cannot come ends with `Stuck`.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from ostinato.testing.watching import Patience, Stuck, Watched
from ostinato.when.instants import SECOND, Micros, read_instant

T = TypeVar("T")
_BEGIN = read_instant("2026-01-01T00:00:00Z", "begin")


class VirtualClock:
    """A clock that stands until it is moved."""

    virtual = True
    origin = "virtual"

    def __init__(self, begin: Micros = _BEGIN) -> None:
        self._now = begin
        self.begin = begin

    def now(self) -> Micros:
        return self._now

    def ticks(self) -> Micros:
        return self._now

    def advance(self, length: Micros) -> None:
        if length < 0:
            raise ValueError("time does not go back; a clock that does is a SkewedClock")
        self._now += length


class SkewedClock:
    """Another machine's clock: the shared one, wrong by `skew`, which a test may change at any moment. Its ticks go on
    as if nothing was."""

    virtual = True
    origin = "virtual"

    def __init__(self, clock: VirtualClock, skew: Micros = 0) -> None:
        self._clock = clock
        self.skew = skew

    def now(self) -> Micros:
        return self._clock.now() + self.skew

    def ticks(self) -> Micros:
        return self._clock.ticks()


class _JumpingSelector(selectors.BaseSelector):
    """Asked to wait, it looks once; if there is nothing and nothing is under way, it moves the clock instead."""

    def __init__(self, clock: VirtualClock, patience: Patience) -> None:
        self._clock = clock
        self._patience = patience
        self._real = selectors.DefaultSelector()
        self.under_way = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        events = self._real.select(0)
        if events or (timeout is not None and timeout <= 0):
            return events
        if self.under_way:
            return self._real.select(0.5)
        if timeout is None:
            # The loop's own pipe, through which threads wake it, is the one file that is always there.
            return self._real.select(0.5) if self._patience.waits_outside(len(self._real.get_map()) - 1) else []
        if self._patience.moves():
            self._clock.advance(max(1, round(timeout * SECOND)))
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
        self._jumping = _JumpingSelector(clock, self.patience)
        super().__init__(self._jumping)
        # asyncio adds this to its time to see what is due; a nanosecond is lost in a float after half a year.
        self._clock_resolution = 1 / SECOND

    def time(self) -> float:
        return (self.clock.now() - self.clock.begin) / SECOND

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """While something outside is under way, time does not move."""
        self._jumping.under_way += 1
        try:
            yield
        finally:
            self._jumping.under_way -= 1

    async def watch(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine; raise `Stuck` if it waits for something that cannot come."""
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
        """Wait until the threads have ended. From Python 3.12 on a runner gives a `timeout`, which this loop would
        measure by the virtual clock: it would be over at once."""
        with self.standing_still():
            await super().shutdown_default_executor()


def run_virtual(main: Coroutine[Any, Any, T], clock: VirtualClock | None = None) -> T:
    """Run a coroutine on virtual time."""
    moving = clock or VirtualClock()
    loop = VirtualLoop(moving)
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(loop.watch(main))
