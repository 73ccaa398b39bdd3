"""Keep connections to PostgreSQL from one test on virtual time to the next.

A new connection costs the server a process, its caches of the tables and the plans of all statements: more than most
tests do with it. A connection belongs to the event loop that opened it, so these tests share a loop, too. It gets each
test's clock, and what a test leaves on it is cancelled.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar

import asyncpg
import pytest

from ostinato.store.postgres import PostgresStore
from ostinato.testing import VirtualClock, World, plugin
from ostinato.testing.stuck import Patience
from ostinato.testing.virtual_time import VirtualLoop
from ostinato.testing.world import _FrozenTimeStore

T = TypeVar("T")
_idle: dict[str, list[KeptConnection]] = {}  # by database


class KeptConnection(asyncpg.Connection):
    """A connection that its pool can close and the next pool can use again."""

    __slots__ = ("dsn",)
    dsn: str
    _protocol: Any
    _termination_listeners: set[Any]
    _call_termination_listeners: Any
    _pool_holder: Any

    async def close(self, *, timeout: float | None = None) -> None:
        shared = asyncio.get_running_loop() is _shared_loop()
        if not shared or self.is_closed() or self._protocol.is_in_transaction() or self._protocol._is_cancelling():
            await super().close(timeout=timeout)
            return
        self._call_termination_listeners()
        self._termination_listeners.clear()
        holder, self._pool_holder = self._pool_holder and self._pool_holder(), None
        if holder is not None:
            holder._release_on_close()
        _idle.setdefault(self.dsn, []).append(self)


class _SharedLoop(VirtualLoop):
    def begin(self, clock: VirtualClock) -> None:
        self.clock = self._jumping._clock = clock
        self.patience = self._jumping._patience = Patience(clock)
        self._reached = 0.0


@cache
def _shared_loop() -> _SharedLoop:
    return _SharedLoop(VirtualClock())


class SharedRunner:
    """Runs coroutines on the shared loop, as `asyncio.Runner` does on one of its own."""

    def __init__(self, clock: VirtualClock) -> None:
        self._loop = _shared_loop()
        self._loop.begin(clock)
        self._context = contextvars.copy_context()

    def get_loop(self) -> VirtualLoop:
        return self._loop

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        asyncio.set_event_loop(self._loop)
        try:
            return self._loop.run_until_complete(self._loop.create_task(main, context=self._context))
        finally:
            asyncio.set_event_loop(None)

    def close(self) -> None:
        """Cancel what is left on the loop, and wait for its threads."""
        loop: Any = self._loop
        while tasks := asyncio.all_tasks(loop):
            for task in tasks:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop._asyncgens_shutdown_called = False
        if loop._default_executor is not None:
            loop._default_executor.shutdown()
            loop._default_executor = None
        for timer in list(loop._scheduled):
            timer.cancel()


def run_on_kept_connections(main: Coroutine[Any, Any, T], clock: VirtualClock) -> T:
    """As `run_virtual`, with connections that are kept."""
    runner = SharedRunner(clock)
    try:
        return runner.run(runner.get_loop().watch(main))
    finally:
        runner.close()


@contextmanager
def keeping_connections() -> Iterator[None]:
    """Let worlds on PostgreSQL share a loop, and stores on that loop share connections."""
    make_pool, make_runner = PostgresStore._make_pool, plugin._make_runner

    async def make_keeping_pool(store: PostgresStore) -> Any:
        if asyncio.get_running_loop() is not _shared_loop():
            return await make_pool(store)
        return await make_pool(store, connect=_connect, connection_class=KeptConnection)

    def make_sharing_runner(world: World) -> Any:
        return SharedRunner(world.clock) if isinstance(world._store, _FrozenTimeStore) else make_runner(world)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresStore, "_make_pool", make_keeping_pool)
        patch.setattr(plugin, "_make_runner", make_sharing_runner)
        yield
    for dsn in list(_idle):
        forget(dsn)
    for _ in range(3):  # the loop closes their sockets
        _shared_loop().run_until_complete(asyncio.sleep(0))
    _shared_loop().close()


async def _connect(dsn: str, **options: Any) -> KeptConnection:
    idle = _idle.get(dsn, [])
    while idle:
        connection = idle.pop()
        try:
            await connection.execute("SELECT")  # it may have been ended meanwhile, or be at a statement still
            return connection
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError):
            connection.terminate()
        except BaseException:
            connection.terminate()
            raise
    new: KeptConnection = await asyncpg.connect(dsn, **options)
    new.dsn = dsn
    return new


def kept_pids(dsn: str) -> list[int]:
    """The server processes of the kept connections to a database."""
    return [connection.get_server_pid() for connection in _idle.get(dsn, []) if not connection.is_closed()]


def forget(dsn: str) -> None:
    """End the kept connections to a database, because their plans are those of other tables."""
    for connection in _idle.pop(dsn, []):
        connection.terminate()
