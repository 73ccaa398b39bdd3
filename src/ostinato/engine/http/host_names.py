"""Look up the addresses of host names, in separate threads.

The system's resolver blocks its thread and cannot be interrupted. If the name servers do not respond, it blocks for up
to half a minute. So callers limit how long they wait, and no namespace gets all threads.
"""

from __future__ import annotations

import asyncio
import math
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from contextvars import ContextVar
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from ostinato.engine.computing import Turns

T = TypeVar("T")
MOST_AT_ONCE = 128
looks_up_for: ContextVar[str] = ContextVar("ostinato_looks_up_for", default="")  # the namespace of the current run


class HostNameResolver:
    """Asks the system for addresses, for at most `most` names at the same time in each event loop. The namespaces share
    these places (see `Turns`): a lookup beyond the share of its namespace waits. Callers of one namespace that ask for
    the same name at the same time share one lookup."""

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._most = most
        self._of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Lookups] = WeakKeyDictionary()

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """Return the IP addresses of a host name. The system's resolver accepts numbers, too: `2130706433` and `0x7f.1`
        are both `127.0.0.1`. Raises `OSError` if there is no address."""
        loop = asyncio.get_running_loop()
        lookups = self._of_loops.get(loop)
        if lookups is None:
            lookups = self._of_loops[loop] = _Lookups(self._most)
        return await lookups.look_up(looks_up_for.get(), host)


class _Lookups:
    """The lookups of one event loop, by namespace and name."""

    def __init__(self, most: int) -> None:
        self._turns = Turns(most, waiting_each=math.inf, waiting=math.inf)  # a call waits no longer than its time-out
        self._under_way: dict[tuple[str, str], _Lookup] = {}

    async def look_up(self, namespace: str, host: str) -> list[str]:
        key = namespace, host
        lookup = self._under_way.get(key)
        if lookup is None:
            lookup = self._under_way[key] = _Lookup(self._turns, namespace, host)
            lookup.task.add_done_callback(lambda _: self._forget(key, lookup))
        lookup.callers += 1
        try:
            return await asyncio.shield(lookup.task)
        finally:
            lookup.callers -= 1
            if not lookup.callers and not lookup.begun:
                self._forget(key, lookup)
                lookup.task.cancel()

    def _forget(self, key: tuple[str, str], lookup: _Lookup) -> None:
        if self._under_way.get(key) is lookup:
            del self._under_way[key]
        if lookup.task.done() and not lookup.task.cancelled():
            lookup.task.exception()  # if no caller waits any more, asyncio would log the exception as never read


class _Lookup:
    """A lookup that waits for its turn, or has begun. Once it has begun, it keeps its turn until the system answers,
    even if no caller waits any more."""

    def __init__(self, turns: Turns, namespace: str, host: str) -> None:
        self.callers = 0
        self.begun = False
        self.task = asyncio.get_running_loop().create_task(self._look_up(turns, namespace, host))

    async def _look_up(self, turns: Turns, namespace: str, host: str) -> list[str]:
        async with turns.turn(namespace):
            self.begun = True
            return await asyncio.get_running_loop().run_in_executor(_threads, _ask_system, host)


def _ask_system(host: str) -> list[str]:
    results = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in results))


class _Threads(Executor):
    """Runs each call in a new daemon thread. A process that ends does not wait for daemon threads."""

    def submit(self, function: Callable[..., T], /, *args: Any, **options: Any) -> Future[T]:
        future: Future[T] = Future()

        def call() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*args, **options))
                except BaseException as problem:
                    future.set_exception(problem)

        threading.Thread(target=call, name="ostinato-names", daemon=True).start()
        return future


_threads = _Threads()
resolve = HostNameResolver()
