"""Collect items while a commit is in progress, and commit them together in the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from ostinato.backoff import backoff
from ostinato.errors import OstinatoError, StoreError, StoreRefused

T = TypeVar("T")
R = TypeVar("R")
_MOST = 500  # items in one commit
_LATER = 30.0  # seconds until an item that cannot be written is tried again


class Committer(Generic[T, R]):
    """Collects items and passes them to `commit` in batches. `commit` returns an answer for each item.

    If one item makes a batch fail, the other items are still written.

    By default, errors are handled as follows. `trouble` is called with each error.

    - If the store is unavailable, the batch is tried again until it is written.
    - If an item fails, `instead` may return another item to write.
    - If an item from `write` fails and is not replaced, `write` raises the error.
    - If an item from `put` fails and is not replaced, the item is tried again later.

    With `retry=False`, `write` raises each error, and failed items from `put` are lost. `trouble` and `instead` are not
    called.
    """

    def __init__(
        self,
        commit: Callable[[Sequence[T]], Awaitable[Sequence[R]]],
        trouble: Callable[[Exception], None],
        *,
        retry: bool = True,
        instead: Callable[[T, Exception], T | None] | None = None,
    ) -> None:
        self._commit = commit
        self._trouble = trouble
        self._retry = retry
        self._instead = instead
        self._waiting: list[tuple[T, asyncio.Future[R] | None]] = []
        self._writing = 0  # items of the batch that is being committed
        self._filled = asyncio.Event()  # there are items to commit
        self._emptied = asyncio.Event()  # there are none
        self._emptied.set()
        self._task: asyncio.Task[None] | None = None
        self._later: list[asyncio.TimerHandle] = []  # for each item that could not be written: when it is tried again

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def uncommitted(self) -> int:
        """Return how many items are not committed yet: the queued ones, and those of the batch in progress."""
        return self._writing + len(self._waiting)

    @property
    def unwritable(self) -> int:
        """Return how many items could not be written and will be tried again later."""
        return len(self._later)

    def start(self) -> None:
        self._task = asyncio.create_task(self._loop())

    def put(self, item: T) -> None:
        """Queue an item to be committed, and return at once."""
        self._waiting.append((item, None))
        self._emptied.clear()
        self._filled.set()

    async def write(self, item: T) -> R:
        """Queue an item, wait until it is committed, and return its answer."""
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        self._emptied.clear()
        self._filled.set()
        return await done

    async def drain(self) -> None:
        """Wait until every item is committed."""
        await self._emptied.wait()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        for timer in self._later:
            timer.cancel()
        self._later.clear()
        for _, done in self._waiting:
            if done is not None and not done.done():
                done.set_exception(OstinatoError("the app was closed before this was written"))
        self._waiting.clear()

    async def _loop(self) -> None:
        while True:
            await self._filled.wait()
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            self._writing = len(batch)
            await self._persist(batch)
            self._writing = 0
            if not self._waiting:
                self._filled.clear()
                self._emptied.set()

    async def _persist(self, batch: list[tuple[T, asyncio.Future[R] | None]]) -> None:
        """Commit a batch. Retry until it is written, or until `_give_up` handles it."""
        failures = 0
        while True:
            try:
                answers = await self._commit([item for item, _ in batch])
            except Exception as problem:
                if is_trouble(problem) and self._retry:
                    self._trouble(problem)
                    failures += 1
                    await asyncio.sleep(backoff(failures, 0.05, 2.0))
                    continue
                if is_trouble(problem) or len(batch) == 1:
                    await self._give_up(batch, problem)
                    return
                for entry in batch:  # one of the items is the cause: commit each alone
                    await self._persist([entry])
                return
            for (_, done), answer in zip(batch, answers, strict=True):
                if done is not None and not done.done():
                    done.set_result(answer)
            return

    async def _give_up(self, batch: list[tuple[T, asyncio.Future[R] | None]], problem: Exception) -> None:
        """Handle a batch that failed with `problem`.

        If the committer has `retry=False`, set `problem` as the exception of each future in `batch`. Otherwise `batch`
        has only one item:

        - If the committer's `instead` function returns another item, commit the other item.
        - If the item has no future, put the item again later.
        - Otherwise set `problem` as the exception of the item's future.
        """
        item, done = batch[0]
        if self._retry:
            self._trouble(problem)
            other = None if self._instead is None else self._instead(item, problem)
            if other is not None:
                await self._persist([(other, done)])
                return
            if done is None:
                self._put_later(item)
        for _, future in batch:
            if future is not None and not future.done():
                future.set_exception(problem)

    def _put_later(self, item: T) -> None:
        def put() -> None:
            self._later.remove(timer)
            self.put(item)

        timer = asyncio.get_running_loop().call_later(_LATER, put)
        self._later.append(timer)


def is_trouble(problem: Exception) -> bool:
    """Return whether an error means that the store is unavailable. Returns False if the store is available but refused
    a statement or its values."""
    return isinstance(problem, StoreError) and not isinstance(problem, StoreRefused)
