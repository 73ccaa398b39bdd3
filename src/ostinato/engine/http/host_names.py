"""Look up the addresses of host names, in separate threads.

The system's resolver blocks its thread and cannot be interrupted. If the name servers do not respond, it blocks for up
to half a minute. So callers limit how long they wait.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
MOST_AT_ONCE = 64


class Resolver:
    """Asks the system for addresses. Callers that ask for the same name at the same time share one lookup."""

    def __init__(self, most: int = MOST_AT_ONCE) -> None:
        self._threads = _Threads(most)
        self._under_way: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Future[list[str]]]]
        self._under_way = WeakKeyDictionary()

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """Return the IP addresses of a host name. The system's resolver accepts numbers, too: `2130706433` and `0x7f.1`
        are both `127.0.0.1`. Raises `OSError` if there is no address, or if too many lookups are in progress."""
        loop = asyncio.get_running_loop()
        under_way = self._under_way.setdefault(loop, {})
        if host not in under_way:

            def done(future: asyncio.Future[list[str]]) -> None:
                del under_way[host]
                if not future.cancelled():
                    future.exception()  # if no caller waits any more, asyncio would log the exception as never read

            under_way[host] = loop.run_in_executor(self._threads, _look_up, host)
            under_way[host].add_done_callback(done)
        return await asyncio.shield(under_way[host])


def _look_up(host: str) -> list[str]:
    results = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in results))


class _Threads(Executor):
    """Runs each call in a new daemon thread, up to a maximum. A process that ends does not wait for daemon threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._free = threading.BoundedSemaphore(most)

    def submit(self, function: Callable[..., T], /, *args: Any, **options: Any) -> Future[T]:
        future: Future[T] = Future()
        if not self._free.acquire(blocking=False):
            future.set_exception(OSError(f"{self._most} names are being looked up, and none of them is found"))
            return future

        def call() -> None:
            try:
                if future.set_running_or_notify_cancel():
                    try:
                        future.set_result(function(*args, **options))
                    except BaseException as problem:
                        future.set_exception(problem)
            finally:
                self._free.release()

        threading.Thread(target=call, name="ostinato-names", daemon=True).start()
        return future


resolve = Resolver()
