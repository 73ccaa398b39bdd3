"""Group commit: what many runs want written is gathered while the last commit is on its way, and goes together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

from ostinato.errors import OstinatoError, StoreError, StoreRefused

T = TypeVar("T")
R = TypeVar("R")
_MOST = 500
_LATER = 30.0  # seconds until what cannot be written is tried again


class Committer(Generic[T, R]):
    """Gathers items and hands them to `commit` in batches, which answers for each of them. What is wrong with the store
    is waited out, unless `hopeful` is false: then it is the caller's trouble. Any other problem is one item's own, a
    poison: the others of its batch go on without it, and for it comes what `instead` makes of it, if anything. Where
    nobody waits for an item that cannot be written and nothing comes instead, it is tried again later."""

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
        self._later: list[asyncio.TimerHandle] = []  # what cannot be written for now

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def unwritable(self) -> int:
        """How many items nobody could write so far; each is tried again."""
        return len(self._later)

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
        for timer in self._later:
            timer.cancel()
        self._later.clear()
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
        while True:
            try:
                answers = await self._commit([item for item, _ in batch])
            except Exception as problem:
                if is_trouble(problem) and self._hopeful:
                    self._trouble(problem)
                    await asyncio.sleep(pause)
                    pause = min(2.0, pause * 2)
                    continue
                if is_trouble(problem) or len(batch) == 1:
                    await self._give_up(batch, problem)
                    return
                for one in batch:  # one of them is poison: let the others go on
                    await self._persist([one])
                return
            for (_, done), answer in zip(batch, answers, strict=True):
                if done is not None and not done.done():
                    done.set_result(answer)
            return

    async def _give_up(self, batch: list[tuple[T, asyncio.Future[R] | None]], problem: Exception) -> None:
        """What cannot be written: trouble that is the callers', or a poison alone."""
        item, done = batch[0]
        if self._hopeful:
            self._trouble(problem)
            other = None if self._instead is None else self._instead(item, problem)
            if other is not None:
                await self._persist([(other, done)])
                return
            if done is None:
                self._put_again(item)
        for _, one in batch:
            if one is not None and not one.done():
                one.set_exception(problem)

    def _put_again(self, item: T) -> None:
        def again() -> None:
            self._later.remove(timer)
            self.put(item)

        timer = asyncio.get_running_loop().call_later(_LATER, again)
        self._later.append(timer)


def is_trouble(problem: Exception) -> bool:
    """Whether something is wrong with the store, and not with what it was given."""
    return isinstance(problem, StoreError) and not isinstance(problem, StoreRefused)
