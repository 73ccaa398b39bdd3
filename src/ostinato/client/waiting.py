"""The same client for code that does not await."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from ostinato.client.client import DEFAULT_SERVER, Client
from ostinato.errors import OstinatoError

T = TypeVar("T")


class SyncClient:
    """The same calls for code that does not await: `with SyncClient(…) as client: client.schedules.pause("report")`.
    A loop of its own runs in a thread; `follow` gives a plain iterator."""

    def __init__(self, server: str = DEFAULT_SERVER, **options: Any) -> None:
        self._client = Client(server, **options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="ostinato-client", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None) -> None:
        self._wait(self._client.__aexit__())
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        assert loop is not None
        assert thread is not None
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    @property
    def schedules(self) -> Any:
        return _Sync(self._client.schedules, self._wait)

    @property
    def webhooks(self) -> Any:
        return _Sync(self._client.webhooks, self._wait)

    @property
    def journeys(self) -> Any:
        return _Sync(self._client.journeys, self._wait)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return getattr(_Sync(self._client, self._wait), name)  # type: ignore[no-any-return]

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            coroutine.close()
            raise OstinatoError("the client is not open; use `with SyncClient(…) as client:`")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()


class _Sync:
    """The calls of an object, each waited for."""

    def __init__(self, of: Any, wait: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self._of = of
        self._wait = wait

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)

        def call(*given: Any, **named: Any) -> Any:
            made = found(*given, **named)
            return self._each(made) if inspect.isasyncgen(made) else self._wait(made)

        return call

    def _each(self, made: Any) -> Any:
        while True:
            try:
                yield self._wait(anext(made))
            except StopAsyncIteration:
                return
