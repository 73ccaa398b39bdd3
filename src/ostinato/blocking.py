"""Call coroutines from code that does not await. They run on an event loop in a thread. A call blocks until it has a
result."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, TypeVar

from ostinato.errors import OstinatoError

T = TypeVar("T")


class LoopThread:
    """An event loop in its own thread. It runs from `start` until `stop`. At other times `call` raises `OstinatoError`
    with the message `closed`."""

    def __init__(self, name: str, closed: str) -> None:
        self._name = name
        self._closed = closed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name=self._name, daemon=True)
        self._thread.start()

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop, and return its result. An exception of the coroutine is raised here. Raises
        `OstinatoError` if the loop is not running."""
        if self._loop is None:
            coroutine.close()
            raise OstinatoError(self._closed)
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def stop(self) -> None:
        """End the thread and close the loop. Does nothing if the loop is not running."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


class BlockingCalls:
    """Wraps `target`, an object with coroutine methods, for code that does not await. A coroutine method of `target`
    becomes a method that blocks until the coroutine is done. An async generator becomes a plain generator. `wait` runs
    a coroutine and returns its result."""

    def __init__(self, target: Any, wait: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._target = target
        self._wait = wait

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._target, name)
        if not callable(method):
            return method

        @wraps(method)
        def call(*args: Any, **kwargs: Any) -> Any:
            result = method(*args, **kwargs)
            if inspect.isasyncgen(result):
                return self._each(result)
            return self._wait(result) if inspect.iscoroutine(result) else result

        return call

    def _each(self, items: Any) -> Iterator[Any]:
        while True:
            try:
                yield self._wait(anext(items))
            except StopAsyncIteration:
                return
