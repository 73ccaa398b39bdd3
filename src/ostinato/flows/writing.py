"""Execute transactions of agents, and repeat them while the store is unavailable.

On SQLite, every commit must flush the disk. So the transactions that wait for the writer are merged into one. On
PostgreSQL, each transaction is committed alone, because a merged transaction would hold its locks longer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from ostinato.engine.group_commit import is_trouble
from ostinato.engine.ways import Host
from ostinato.errors import TriggerFailed
from ostinato.store.contract import Operation, Store
from ostinato.when.instants import Micros

T = TypeVar("T")
_MOST = 100  # operations in one transaction
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds


async def write_patiently(host: Host, make: Callable[[Micros], Operation[T]], *, nudge: bool = True) -> T:
    """Execute the operation that `make` returns, and return its result. While the store is unavailable, try again. Each
    try calls `make` with the present time. If `nudge` is true, the node looks for ready runs afterwards."""
    pause = _FIRST_PAUSE
    while True:
        now = host.engine().clock.now()
        try:
            written = await _write(host.store, lambda now=now: make(now))  # type: ignore[misc]
        except Exception as problem:
            if not is_trouble(problem):
                raise
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, 2 * pause)
        else:
            if nudge:
                host.engine().nudge()
            return written


async def _write(store: Store, make: Callable[[], Operation[T]]) -> T:
    if not store.url.startswith("sqlite"):
        return await store.run(lambda _: make())
    loop = asyncio.get_running_loop()
    group = _groups.get(store)
    if group is None or group.loop is not loop:  # recovery handles what another loop has left
        group = _groups[store] = _Group(store, loop)
    return await group.write(make)


async def close_group(store: Store) -> None:
    """Cancel the pending commits of a store whose node has stopped or was lost."""
    group = _groups.pop(store, None)
    if group is not None:
        await group.close()


class _Group:
    """Collects operations while a commit is in progress, and then commits them together."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._store = store
        self._waiting: list[tuple[Callable[[], Operation[Any]], asyncio.Future[Any]]] = []
        self._task: asyncio.Task[None] | None = None

    async def write(self, make: Callable[[], Operation[T]]) -> T:
        done: asyncio.Future[T] = self.loop.create_future()
        self._waiting.append((make, done))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._commit_all())
        return await done

    async def close(self) -> None:
        if self._task is not None and self.loop is asyncio.get_running_loop():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _commit_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            batch = [(make, done) for make, done in batch if not done.done()]  # the caller may have been canceled
            try:
                await self._commit(batch)
            except BaseException as problem:
                for _, done in batch:
                    if not done.done():
                        done.set_exception(problem if isinstance(problem, Exception) else asyncio.CancelledError())
                if not isinstance(problem, Exception):
                    raise

    async def _commit(self, batch: list[tuple[Callable[[], Operation[Any]], asyncio.Future[Any]]]) -> None:
        def work(_: int) -> Operation[list[Any]]:
            answers = []
            for make, _done in batch:
                answers.append((yield from make()))
            return answers

        try:
            answers = await self._store.run(work)
        except Exception as problem:
            if len(batch) == 1 or (is_trouble(problem) and not isinstance(problem, TriggerFailed)):
                raise
            for entry in batch:  # one of them is the cause, so execute each alone
                try:
                    await self._commit([entry])
                except Exception as own_problem:
                    if not entry[1].done():
                        entry[1].set_exception(own_problem)
            return
        for (_, done), answer in zip(batch, answers, strict=True):
            if not done.done():
                done.set_result(answer)


_groups: WeakKeyDictionary[Store, _Group] = WeakKeyDictionary()
