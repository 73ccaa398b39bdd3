"""Call coroutines from code that does not await. The coroutines run on an event loop in another thread, and each call
blocks until its coroutine ends."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from functools import wraps
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar

from ostinato.errors import OstinatoError

P = ParamSpec("P")
T = TypeVar("T")
_PATIENCE = 5.0  # seconds that a cancelled task has to end


class LoopThread:
    """An event loop that runs in a separate thread, which has the name `name`. While the loop is not running, `call`
    raises an `OstinatoError` with the message `closed`."""

    def __init__(self, name: str, closed: str) -> None:
        self._name = name
        self._closed = closed
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()  # `stop` cancels each call that has passed the check for a running loop
        self._calls: set[Future[Any]] = set()

    def start(self) -> None:
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name=self._name, daemon=True)
        self._thread.start()

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the loop, and return its result. An exception of the coroutine is raised here. Raises
        `OstinatoError` if another thread stops the loop meanwhile."""
        with self._lock:
            loop = self._loop
            if loop is None:
                coroutine.close()
                raise OstinatoError(self._closed)
            future = asyncio.run_coroutine_threadsafe(coroutine, loop)
            self._calls.add(future)
        try:
            return future.result()
        except CancelledError:
            if self._loop is loop:
                raise
            raise OstinatoError(self._closed) from None
        finally:
            self._calls.discard(future)

    def stop(self) -> None:
        """Cancel the calls of other threads, end the thread, and close the loop. Does nothing if the loop is not
        running."""
        with self._lock:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
            calls = list(self._calls)
        if loop is not None and thread is not None:
            for future in calls:
                future.cancel()  # this also cancels the task in the loop
            asyncio.run_coroutine_threadsafe(_end_tasks(), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()


async def _end_tasks() -> None:
    """Cancel all other tasks of the running loop, and wait until they have ended. The wait is limited to `_PATIENCE`
    seconds, because a task may ignore its cancellation."""
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_PATIENCE)


class Caller(Protocol):
    """Something with an event loop in another thread."""

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the event loop, and return its result."""


class Calls:
    """The base class of blocking wrappers. Coroutines of the wrapped object `calls` run on the event loop of `app`."""

    def __init__(self, app: Caller, calls: Any) -> None:
        self._app = app
        self._calls = calls


class Blocking(Generic[P, T]):
    """Wraps a coroutine method as a blocking method, with the same parameters and the same result."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._method = method

    def __get__(self, calls: Calls, owner: type[Calls]) -> Callable[P, T]:
        @wraps(self._method)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return calls._app.call(self._method(calls._calls, *args, **kwargs))

        return call


class BlockingCalls:
    """Makes the methods of `target` usable in code that does not await. Coroutine methods block, and async generators
    become plain generators. `wait` is a function that runs a coroutine and returns its result."""

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
