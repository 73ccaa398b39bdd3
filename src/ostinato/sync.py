"""The same app for code that does not await: scripts, shells, plain web views. A loop of its own runs in a thread."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeVar

from ostinato.app import Ostinato, RunHandle
from ostinato.errors import OstinatoError
from ostinato.model import Event
from ostinato.store.borrowed import run_borrowed_sync
from ostinato.views import LogLine, RunInfo

T = TypeVar("T")


class SyncRun:
    """A run that was started, for code that does not await."""

    def __init__(self, app: SyncOstinato, handle: RunHandle[Any]) -> None:
        self._app = app
        self._handle = handle
        self.id = handle.id
        self.new = handle.new

    def result(self, timeout: Any = None) -> Any:
        return self._app.call(self._handle.result(timeout))

    def cancel(self, reason: str = "") -> str:
        return self._app.call(self._handle.cancel(reason))

    def info(self) -> RunInfo:
        return self._app.call(self._handle.info())


class SyncCalls:
    """Every call of `app.schedules`, `app.webhooks` or `app.journeys` under its name: `sync.schedules.create(…)`."""

    def __init__(self, app: SyncOstinato, calls: Any) -> None:
        self._app = app
        self._calls = calls

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found = getattr(self._calls, name)
        if not inspect.iscoroutinefunction(found):
            return found  # type: ignore[no-any-return]

        def call(*given: Any, **named: Any) -> Any:
            return self._app.call(found(*given, **named))

        return call


class SyncOstinato:
    """`with SyncOstinato(app) as sync:` runs a node, as `async with app:` does; `with SyncOstinato(app).connected() as
    sync:` only opens the store, to start and watch runs that other processes do."""

    def __init__(self, app: Ostinato, *, node: bool = True) -> None:
        self.app = app
        self._node = node
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> SyncOstinato:
        loop = self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=loop.run_forever, name="ostinato-loop", daemon=True)
        self._thread.start()
        try:
            self.call(self.app._open(node=self._node))
        except BaseException:
            self._end()
            raise
        return self

    @contextmanager
    def connected(self) -> Iterator[SyncOstinato]:
        """Open the store without running anything here."""
        with SyncOstinato(self.app, node=False) as opened:
            yield opened

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.call(self.app._close())
        finally:
            self._end()

    def _end(self) -> None:
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the app, and wait for it."""
        if self._loop is None:
            coroutine.close()
            raise OstinatoError("the app is not open; use `with SyncOstinato(app) as sync:`")
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def start(
        self,
        job: str | Callable[..., Any],
        input: Mapping[str, Any] | None = None,
        *,
        connection: Any = None,
        **options: Any,
    ) -> SyncRun:
        """Start a job; with a `connection`, as part of the transaction there."""
        if connection is None:
            return SyncRun(self, self.call(self.app.start(job, input, **options)))
        make = self.app.starting(job, input, **options)
        (started,) = run_borrowed_sync(connection, make)
        return SyncRun(self, RunHandle(self.app, started.id, started.new))

    def start_many(
        self, job: str | Callable[..., Any], inputs: Sequence[Mapping[str, Any]], **options: Any
    ) -> list[SyncRun]:
        return [SyncRun(self, handle) for handle in self.call(self.app.start_many(job, inputs, **options))]

    @property
    def schedules(self) -> SyncCalls:
        """The calls of `app.schedules`, each waited for."""
        return SyncCalls(self, self.app.schedules)

    @property
    def webhooks(self) -> SyncCalls:
        """The calls of `app.webhooks`, each waited for."""
        return SyncCalls(self, self.app.webhooks)

    @property
    def journeys(self) -> SyncCalls:
        """The calls of `app.journeys`."""
        return SyncCalls(self, self.app.journeys)

    def get(self, id: str) -> RunInfo:
        return self.call(self.app.get(id))

    def runs(self, **filters: Any) -> list[RunInfo]:
        return self.call(self.app.runs(**filters))

    def logs(self, id: str) -> list[LogLine]:
        return self.call(self.app.logs(id))

    def events(self, **filters: Any) -> list[Event]:
        return self.call(self.app.events(**filters))

    def cancel(self, id: str, reason: str = "") -> str:
        return self.call(self.app.cancel(id, reason))
