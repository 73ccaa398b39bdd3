"""Collect items while a commit is in progress, and commit the collected items together in the next commit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from ostinato.backoff import backoff
from ostinato.errors import StoreError, StoreRefused, StoreUnavailable, TriggerFailed

T = TypeVar("T")
R = TypeVar("R")
_MOST = 500  # items in one commit
_LATER = 30.0  # seconds until an item that cannot be written is tried again


class Committer(Generic[T, R]):
    """Collects items, and passes them to `commit` in batches. `commit` returns an answer for each item. Items come from
    `put`, which does not wait, and from `write`, which waits for the answer. If one item makes a batch fail, the other
    items are still written.

    If `retry` is true, which is the default, `trouble` is called with each error. What follows depends on the error:

    - If the store is unavailable, the batch is tried again until it is written.
    - If a trigger of the database fails for an item, the item is tried again later, until it is written.
    - If the store refuses an item, `instead` can return a replacement, which is written. Without a replacement, an item
      from `put` is tried again later, and `write` raises the error for its item.

    If `retry` is false, nothing is tried again: `write` raises the error, and items from `put` are lost.
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
        self._batch: list[tuple[T, asyncio.Future[R] | None]] = []  # the items that are being committed
        self._filled = asyncio.Event()  # there are items to commit
        self._emptied = asyncio.Event()  # there are none
        self._emptied.set()
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        # The items that could not be written, by the timer that queues them again.
        self._later: dict[asyncio.TimerHandle, tuple[T, asyncio.Future[R] | None]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def uncommitted(self) -> int:
        """Return how many items are queued or are being committed. Items that could not be written and wait to be tried
        again (`unwritable`) are not counted."""
        return len(self._batch) + len(self._waiting)

    @property
    def unwritable(self) -> int:
        """Return how many items could not be written and will be tried again later."""
        return len(self._later)

    def start(self) -> None:
        self._stopped = False
        self._task = asyncio.create_task(self._loop())

    def put(self, item: T) -> None:
        """Queue an item to be committed, and return at once."""
        self._queue((item, None))

    async def write(self, item: T) -> R:
        """Queue an item, wait until it is committed, and return its answer. If the item cannot be written, raises the
        error of `commit`. If the committer is stopped first, raises `StoreUnavailable`."""
        if self._stopped:
            raise StoreUnavailable("the app is closed, so this was not written")
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._queue((item, done))
        return await done

    def _queue(self, entry: tuple[T, asyncio.Future[R] | None]) -> None:
        self._waiting.append(entry)
        self._emptied.clear()
        self._filled.set()

    async def drain(self) -> None:
        """Wait until no item is queued and no batch is being committed. Does not wait for items that could not be
        written and wait to be tried again (`unwritable`)."""
        await self._emptied.wait()

    async def stop(self) -> None:
        """Stop committing, and let every unanswered `write` raise `StoreUnavailable`."""
        self._stopped = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        for timer in self._later:
            timer.cancel()
        _fail(list(self._later.values()), StoreUnavailable("the app was closed before this was written"))
        self._later.clear()
        _fail(self._batch, StoreUnavailable("the app was closed while this was written; it may be written or not"))
        _fail(self._waiting, StoreUnavailable("the app was closed before this was written"))
        self._batch, self._waiting = [], []

    async def _loop(self) -> None:
        while True:
            await self._filled.wait()
            self._batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            await self._persist(self._batch)
            self._batch = []
            if not self._waiting:
                self._filled.clear()
                self._emptied.set()

    async def _persist(self, batch: list[tuple[T, asyncio.Future[R] | None]]) -> None:
        """Commit a batch. If the store is unavailable and `retry` is true, try again until the store is available. If
        the store refuses the batch, or a trigger fails, commit each item alone, so that only the items that are the
        cause fail. Pass items that cannot be committed to `_give_up`."""
        failures = 0
        while True:
            try:
                answers = await self._commit([item for item, _ in batch])
            except Exception as problem:
                of_an_item = not is_trouble(problem) or isinstance(problem, TriggerFailed)
                if of_an_item and len(batch) > 1:
                    for entry in batch:
                        await self._persist([entry])
                    return
                if self._retry and not of_an_item:
                    self._trouble(problem)
                    failures += 1
                    await asyncio.sleep(backoff(failures, 0.05, 2.0))
                    continue
                await self._give_up(batch, problem)
                return
            for (_, done), answer in zip(batch, answers, strict=True):
                if done is not None and not done.done():
                    done.set_result(answer)
            return

    async def _give_up(self, batch: list[tuple[T, asyncio.Future[R] | None]], problem: Exception) -> None:
        """Handle a batch that could not be committed because of `problem`.

        If `retry` is true, the store has refused the batch, or a trigger has failed. The batch then has only one item,
        because `_persist` commits the items of such a batch one by one:

        - If `instead` returns a replacement for the item, commit the replacement.
        - Otherwise, if the item comes from `put`, or if a trigger has failed, queue the item again later.
        - Otherwise, the call of `write` that waits for the item raises `problem`.

        If `retry` is false, every call of `write` that waits for an item of the batch raises `problem`. Items from
        `put` are lost.
        """
        item, done = batch[0]
        if self._retry:
            self._trouble(problem)
            other = None if self._instead is None else self._instead(item, problem)
            if other is not None:
                await self._persist([(other, done)])
                return
            if done is None or isinstance(problem, TriggerFailed):
                self._queue_later(batch[0])
                return
        _fail(batch, problem)

    def _queue_later(self, entry: tuple[T, asyncio.Future[R] | None]) -> None:
        def queue() -> None:
            self._queue(self._later.pop(timer))

        timer = asyncio.get_running_loop().call_later(_LATER, queue)
        self._later[timer] = entry


def _fail(batch: Sequence[tuple[T, asyncio.Future[R] | None]], problem: Exception) -> None:
    """Let each unanswered `write` of the batch raise `problem`."""
    for _, done in batch:
        if done is not None and not done.done():
            done.set_exception(problem)


def is_trouble(problem: Exception) -> bool:
    """Return whether an error is a problem of the store, such as an outage. This is true for every `StoreError` except
    `StoreRefused`, which means that the store does not accept a value."""
    return isinstance(problem, StoreError) and not isinstance(problem, StoreRefused)
