"""Run computations for callers without blocking the event loop, with limits and fair shares.

Most computations run in a child process, which has a memory limit and can be killed. Some run on the event loop, in
slices of a few milliseconds. A check that needs objects of this process, such as registered jobs, runs in a thread.

Only a limited number of computations run at the same time, and one namespace alone can never use up this number.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from ostinato.errors import OstinatoError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

PLACES = 2
WAITING_EACH = 8  # computations of one caller that may wait for their turn
WAITING = 64  # of all callers together
DEADLINE_S = 10.0  # of CPU time
_BUSY_MACHINE = 3  # the wall-clock limit is this many times the CPU time: a child has a low priority
MEMORY = 512 << 20  # bytes of a child's address space
LARGEST_ANSWER = 64 << 20
SLICE_S = 0.005
_START_S = 60.0
_IDLE_S = 60.0

_BOOT = """
import json, sys
path, line, seconds, memory = json.loads(sys.argv[1])
sys.path[:] = path
from ostinato.engine.computing_main import main
main(line, seconds, memory)
"""


class Busy(OstinatoError):
    """Raised if a computation was not started, because too many others are waiting. The caller may try again."""


class TooMuch(OstinatoError):
    """Raised if a computation was stopped, because it took too long or needed too much memory."""


class Turns:
    """Limits how many computations run at the same time. Each running computation holds one of the `places`. If no
    place is free, a computation waits.

    The waiting computations are grouped by caller. A place that becomes free goes to one computation of the first
    caller, the next place to one of the next caller, and so on.

    A caller gets a place only if it holds fewer places than are free. So one caller never holds more than half of the
    places, rounded up, and a caller that holds none gets any free place.
    """

    def __init__(self, places: int = PLACES, waiting_each: float = WAITING_EACH, waiting: float = WAITING) -> None:
        self._free = places
        self._waiting_each = waiting_each
        self._waiting = waiting
        self._taken: Counter[str] = Counter()
        self._lines: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[None]:
        """Wait for a place, and hold it inside the `async with` block. Raises `Busy` if too many computations wait."""
        if self._taken[caller] < self._free:
            self._take(caller)
        else:
            await self._wait(caller)
        try:
            yield
        finally:
            self._give_back(caller)

    async def _wait(self, caller: str) -> None:
        line = self._lines.setdefault(caller, deque())
        if len(line) >= self._waiting_each or sum(map(len, self._lines.values())) >= self._waiting:
            raise Busy("too much is being computed at the moment; try again in a few seconds")
        turn = asyncio.get_running_loop().create_future()
        line.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._give_back(caller)
            raise

    def _take(self, caller: str) -> None:
        self._free -= 1
        self._taken[caller] += 1

    def _give_back(self, caller: str) -> None:
        self._free += 1
        self._taken[caller] -= 1
        if not self._taken[caller]:
            del self._taken[caller]
        for other in list(self._lines):  # the order is: the caller that got a place last is last
            line = self._lines[other]
            while line and line[0].done():
                line.popleft()  # it was cancelled
            if not line:
                del self._lines[other]
            elif self._taken[other] < self._free:
                self._take(other)
                self._lines.move_to_end(other)
                line.popleft().set_result(None)


class Computing:
    """Runs the computations of one process. Child processes are started when they are first needed, and ended when they
    are idle. If `alone` is true, this process has only one caller and no node. Then all computations run in this
    process, do not wait for each other, and have no limit of time or memory."""

    def __init__(self, *, deadline_s: float = DEADLINE_S, memory: int = MEMORY, alone: bool = False) -> None:
        self.alone = alone
        self._closed = False
        self._deadline_s = deadline_s
        self._memory = memory
        self._beside = Turns()
        self._in_threads = Turns()
        self._here = Turns()
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None  # threads that wait for child processes
        self._own: ThreadPoolExecutor | None = None  # threads that run functions themselves
        self._ending: asyncio.TimerHandle | None = None

    async def call(self, caller: str, function: Callable[..., T], *args: Any) -> T:
        """Call a module-level function in a child process, and return its result. If this object was created with
        `alone`, call the function in a thread of this process instead. Arguments and result must be picklable. Raises
        the exception of the function, `TooMuch` if the function was stopped, and `Busy` if it was not started."""
        if self.alone:
            return await asyncio.to_thread(function, *args)
        loop = asyncio.get_running_loop()
        async with self._beside.turn(caller):
            with self._lock:
                self._refuse_if_closed()
                if self._threads is None:
                    self._threads = ThreadPoolExecutor(PLACES, "ostinato-computing")
                answer = loop.run_in_executor(self._threads, self._ask, function, args)
            try:
                return await answer
            finally:
                self._end_idle_later(loop)

    async def in_thread(self, caller: str, function: Callable[..., T], *args: Any) -> T:
        """Call a function in a thread, and return its result. A thread cannot be stopped, so the caller must limit the
        size of the arguments. Raises the function's exception, or `Busy` if the function was not started."""
        if self.alone:
            return await asyncio.to_thread(function, *args)
        async with self._in_threads.turn(caller):
            with self._lock:
                self._refuse_if_closed()
                if self._own is None:
                    self._own = ThreadPoolExecutor(PLACES, "ostinato-checking")
                answer = asyncio.get_running_loop().run_in_executor(self._own, function, *args)
            return await answer

    async def each(self, caller: str, items: Iterable[T]) -> list[T]:
        """Compute the items of a lazy iterable on the event loop, and return a list. Other tasks run between items, so
        every item must be cheap. Raises `TooMuch` if all items together take more than `deadline_s` seconds, and `Busy`
        if too many computations wait."""
        if self.alone:
            return list(items)
        left, collected = iter(items), list[T]()
        spent = _advance(left, collected)
        if spent is None:
            return collected
        async with self._here.turn(caller):
            while True:
                await asyncio.sleep(0)
                more = _advance(left, collected)
                if more is None:
                    return collected
                spent += more
                if spent > self._deadline_s:
                    raise TooMuch(f"this took longer than {self._deadline_s:g} s to work out; ask for less at once")

    def open(self) -> None:
        """Accept calls again after `close`."""
        self._closed = False

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise Busy("this process stops, and computes no more; try again elsewhere")

    def close(self) -> None:
        """Kill all child processes, even busy ones. After this, `call` and `in_thread` raise `Busy`, until `open` is
        called. If `alone` is true, they still work."""
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None
        with self._lock:
            self._closed = True
            children, idle = self._all, self._idle
            self._all, self._idle = set(), []
            threads = [pool for pool in (self._threads, self._own) if pool is not None]
            self._threads = self._own = None
        for child in children.difference(idle):
            child.end()  # the thread that talks with it sees it gone, and cleans up
        for child in idle:
            child.kill()
        for pool in threads:
            pool.shutdown(wait=False, cancel_futures=True)

    def pids(self) -> list[int]:
        with self._lock:
            return [child.pid for child in self._all]

    # Called in a thread of `_threads`

    def _ask(self, function: Callable[..., T], args: tuple[Any, ...]) -> T:
        child = self._take()
        sound = False
        try:
            failed, value = child.ask(pickle.dumps((function, args)), self._deadline_s)
            sound = not isinstance(value, TooMuch)
        finally:
            self._give_back(child, sound=sound)
        if failed:
            raise value
        return value  # type: ignore[no-any-return]

    def _take(self) -> _Child:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        child = _Child(self._deadline_s, self._memory)
        with self._lock:
            if not self._closed:
                self._all.add(child)
                return child
        child.kill()
        raise Busy("this process stops, and computes no more; try again elsewhere")

    def _give_back(self, child: _Child, *, sound: bool) -> None:
        with self._lock:
            if sound and child in self._all:
                self._idle.append(child)
                return
            self._all.discard(child)
        child.kill()

    def _end_idle_later(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._ending is not None:
            self._ending.cancel()
        self._ending = loop.call_later(_IDLE_S, self._end_idle)

    def _end_idle(self) -> None:
        self._ending = None
        with self._lock:
            idle, self._idle = self._idle, []
            self._all.difference_update(idle)
        for child in idle:
            child.kill()


def _advance(left: Iterator[T], collected: list[T]) -> float | None:
    """Append items to `collected` for one slice of time. Returns the seconds spent, or None if no items are left."""
    begin = time.perf_counter()
    for item in left:
        collected.append(item)
        spent = time.perf_counter() - begin
        if spent > SLICE_S:
            return spent
    return None


class _Child:
    """A child process, used by one thread at a time. It gets no environment variable except `PYTHONTZPATH`."""

    def __init__(self, seconds: float, memory: int) -> None:
        from multiprocessing.connection import Connection  # slow to import, so only where it is needed

        ours, theirs = socket.socketpair()
        with theirs:
            settings = [[os.path.abspath(folder) for folder in sys.path], theirs.fileno(), seconds, memory]
            zones = os.environ.get("PYTHONTZPATH")
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", _BOOT, orjson.dumps(settings).decode()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={} if zones is None else {"PYTHONTZPATH": zones},
                cwd="/",
                start_new_session=True,  # so that Ctrl-C in a terminal does not signal the child
            )
        self._line: Connection[Any, Any] = Connection(ours.detach())
        if not self._line.poll(_START_S):
            self.kill()
            raise Busy("a process to compute in did not start in time; try again")
        self._line.recv_bytes()

    @property
    def pid(self) -> int:
        return self._process.pid

    def ask(self, request: bytes, seconds: float) -> tuple[bool, Any]:
        """Send a pickled call. Returns (False, the result) or (True, the exception). Raises `TooMuch` if the child does
        not answer in time, ends before it answers, or sends too large an answer. The child sends an exception as its
        class, `args` and attributes, because some exceptions cannot be unpickled."""
        try:
            self._line.send_bytes(request)
            if not self._line.poll(seconds * _BUSY_MACHINE):
                raise TooMuch(f"this took longer than {seconds * _BUSY_MACHINE:g} s to work out; ask for less at once")
            failed, value = pickle.loads(self._line.recv_bytes(LARGEST_ANSWER + 1))
        except (EOFError, OSError):
            raise TooMuch("this took too long to work out, or more memory than it may have; ask for less") from None
        if failed:
            kind, words, state = value
            value = kind.__new__(kind, *words)
            value.args = words
            value.__dict__.update(state)
        return failed, value

    def end(self) -> None:
        """Kill the process. Any thread may call this."""
        self._process.kill()

    def kill(self) -> None:
        """Kill the process, wait for its end, and close the connection. Call it in the thread that uses the child."""
        self._process.kill()
        self._process.wait()
        self._line.close()
