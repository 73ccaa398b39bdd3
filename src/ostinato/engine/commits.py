"""Group commit: what many runs want written is gathered while the last commit is on its way, and goes together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from ostinato.errors import OstinatoError, StoreError

T = TypeVar("T")
R = TypeVar("R")
_MOST = 500


class Committer(Generic[T, R]):
    """Gathers items and hands them to `commit` in batches, which answers for each of them. A store that is away is
    waited for, unless `hopeful` is false: then its trouble is the caller's."""

    def __init__(
        self,
        commit: Callable[[Sequence[T]], Awaitable[Sequence[R]]],
        trouble: Callable[[Exception], None],
        *,
        hopeful: bool = True,
        instead: Callable[[T, Exception], T | None] | None = None,
    ) -> None:
        self._commit = commit
        self._trouble = trouble
        self._hopeful = hopeful
        self._instead = instead
        self._waiting: list[tuple[T, asyncio.Future[R] | None]] = []
        self._some = asyncio.Event()
        self._none = asyncio.Event()
        self._none.set()
        self._task: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._waiting)

    def start(self) -> None:
        self._task = asyncio.create_task(self._loop())

    def put(self, item: T) -> None:
        """Commit this soon; nobody waits for it."""
        self._waiting.append((item, None))
        self._none.clear()
        self._some.set()

    async def write(self, item: T) -> R:
        """Return when it is committed."""
        done: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, done))
        self._none.clear()
        self._some.set()
        return await done

    async def drain(self) -> None:
        """Return when nothing is left to commit."""
        await self._none.wait()

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        for _, done in self._waiting:
            if done is not None and not done.done():
                done.set_exception(OstinatoError("the app was closed before this was written"))
        self._waiting.clear()

    async def _loop(self) -> None:
        while True:
            await self._some.wait()
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            await self._persist(batch)
            if not self._waiting:
                self._some.clear()
                self._none.set()

    async def _persist(self, batch: list[tuple[T, asyncio.Future[R] | None]]) -> None:
        """Until it is written: these are facts already, and only the store can keep them."""
        pause = 0.05
        answers: Sequence[R] = ()
        problem: Exception | None = None
        while True:
            try:
                answers = await self._commit([item for item, _ in batch])
            except StoreError as trouble:
                if self._hopeful:
                    self._trouble(trouble)
                    await asyncio.sleep(pause)
                    pause = min(2.0, pause * 2)
                    continue
                problem = trouble
            except Exception as trouble:
                problem = trouble
            break
        if problem is not None and len(batch) > 1 and not isinstance(problem, StoreError):
            for one in batch:  # one of them is poison: let the others go on
                await self._persist([one])
            return
        if problem is not None and self._hopeful:
            self._trouble(problem)
            item = batch[0][0]
            other = None if self._instead is None else self._instead(item, problem)
            if other is not None:
                await self._persist([(other, batch[0][1])])
                return
        for at, (_, done) in enumerate(batch):
            if done is not None and not done.done():
                if problem is None:
                    done.set_result(answers[at])
                else:
                    done.set_exception(problem)
