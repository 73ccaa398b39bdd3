"""Wait for chains of attempts to end, and call listeners for events.

A listener is a function. If it has a name, its cursor is stored: the listener is called at least once for every event
since the name was first registered, on one node at a time. If it has no name, it is called in this process, for the
events that happen while the app is running.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ostinato.clock import Clock
from ostinato.engine.executor import is_stopping
from ostinato.engine.log import log
from ostinato.engine.rows import read_event
from ostinato.errors import OstinatoError, StoreError
from ostinato.model import DEFAULT_NAMESPACE, Event
from ostinato.store.contract import Operation, Rows, Store, single, sql
from ostinato.when.instants import SECOND, Micros

_BATCH = 500  # events or chains to read at once
_POLL = 1.0  # seconds between two looks for events
_HOLD: Micros = 30 * SECOND  # how long a node holds the cursor of a named listener without renewing it
Callback = Callable[[Event], Awaitable[None] | None]


async def wait_for_event(event: asyncio.Event, seconds: float | None) -> None:
    """Wait for the event, but at most `seconds` seconds. Does not use `asyncio.wait_for`, because that can lose a
    cancellation that arrives together with the event."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


@dataclass(frozen=True, slots=True)
class ChainOutcome:
    """How a chain of attempts ended."""

    status: str
    reason: str | None
    result: str | None
    error: str | None


class Waiters:
    """The callers that wait for chains to end. A chain is a run with its retries. If a chain ends in this process, its
    callers wake up at once. If a chain ends in another process, its callers wake up when this object next reads the
    store. It reads the store every `poll` seconds, and after a call of `hint`."""

    def __init__(self, store: Store, poll: float | None) -> None:
        self._store = store
        self._poll = poll
        self._waiting: dict[str, list[asyncio.Future[ChainOutcome]]] = {}
        self._look = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def wait(self, root: str) -> ChainOutcome:
        """Wait for the end of the chain, and return how it ended. Raises `OstinatoError` if the app closes first."""
        future: asyncio.Future[ChainOutcome] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(root, []).append(future)
        try:
            await self.look([root])  # it may have ended already
            if self._task is None:
                self._task = asyncio.create_task(self._loop())
            return await future
        finally:
            if root in self._waiting:
                self._waiting[root] = [f for f in self._waiting[root] if f is not future]
                if not self._waiting[root]:
                    del self._waiting[root]

    def __contains__(self, root: str) -> bool:
        return root in self._waiting

    def ended(self, root: str, end: ChainOutcome) -> None:
        """Wake the callers that wait for this chain."""
        for future in self._waiting.pop(root, ()):
            if not future.done():
                future.set_result(end)

    def hint(self) -> None:
        """Wake the task that asks the store which chains have ended. Call this when chains may have ended in other
        processes. A chain is a run with its retries."""
        self._look.set()

    async def look(self, roots: list[str]) -> None:
        """Read from the store which chains have ended, and wake the callers that wait for these chains. A chain is a
        run with its retries. `roots` has the ids of the chains to read."""
        ended = sql("chains_ended", [(root,) for root in roots])
        for root, status, reason, result, error, _ in await self._store.read(lambda _: single(ended)):
            self.ended(root, ChainOutcome(status, reason, result, error))

    async def _loop(self) -> None:
        while self._waiting:
            self._look.clear()
            await wait_for_event(self._look, self._poll)
            try:
                roots = list(self._waiting)
                for at in range(0, len(roots), _BATCH):
                    await self.look(roots[at : at + _BATCH])
            except StoreError as trouble:
                words = "cannot see whether runs have ended: the store is unavailable"
                log.warning(words, action="waiters_trouble", problem=str(trouble))
        self._task = None

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for futures in self._waiting.values():
            for future in futures:
                if not future.done():
                    future.set_exception(OstinatoError("the app was closed before the run ended"))
        self._waiting.clear()


class Listeners:
    """Functions that are called for events, each with its own position in the order of events."""

    def __init__(self, store: Store, clock: Clock, node: Callable[[], str]) -> None:
        self._store = store
        self._clock = clock
        self._node = node
        self._listeners: list[_Listener] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._running = False
        self._watchers: set[asyncio.Event] = set()
        self.namespace = DEFAULT_NAMESPACE

    @contextmanager
    def watching(self) -> Iterator[asyncio.Event]:
        """Yield an `asyncio.Event`. It is set whenever the store may have new events to read. The caller clears it."""
        news = asyncio.Event()
        self._watchers.add(news)
        try:
            yield news
        finally:
            self._watchers.discard(news)

    def add(self, pattern: str, callback: Callback, name: str | None) -> None:
        """Add a listener for events whose name matches the pattern, by the rules of `fnmatch`."""
        listener = _Listener(pattern, callback, name)
        self._listeners.append(listener)
        if self._running:
            self._tasks.append(asyncio.create_task(self._follow(listener, None)))

    def hint(self) -> None:
        """Wake all listeners and all callers of `watching`, because the store may have new events."""
        for listener in self._listeners:
            listener.news.set()
        for news in self._watchers:
            news.set()

    async def start(self) -> None:
        self._running = True
        last = await self._last() if self._listeners else None
        self._tasks = [asyncio.create_task(self._follow(listener, last)) for listener in self._listeners]

    async def stop(self) -> None:
        self._running = False
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        for listener in self._listeners:
            if listener.name is not None:
                release = sql("release_cursor", name=listener.name, node=self._node())
                with suppress(StoreError):
                    await self._store.run(lambda _, release=release: single(release))  # type: ignore[misc]

    async def _last(self) -> int:
        """Return the sequence number of the last event."""
        ((seq,),) = await self._store.read(lambda _: single(sql("last_event")))
        return int(seq)

    async def _follow(self, listener: _Listener, last: int | None) -> None:
        """Call a listener for each matching event, until this task is cancelled. A named listener that has a stored
        cursor begins at the cursor. Any other listener begins after the event with the sequence number `last`. If
        `last` is None, it begins after the newest event."""
        after = last if last is not None else await self._last()
        if listener.name is not None:
            cursor = sql("open_cursor", [(listener.name, after, 0)])
            await self._store.run(lambda _: single(cursor))
        while True:
            listener.news.clear()
            try:
                reached = await self._step(listener, after)
                held_elsewhere = reached is None
                after, more = reached or (after, False)
            except StoreError as trouble:
                words = "cannot read events: the store is unavailable"
                log.warning(words, action="listener_trouble", problem=str(trouble))
                held_elsewhere = more = False
            if not more:
                wait = _HOLD / SECOND if held_elsewhere else None if self._clock.virtual else _POLL
                await wait_for_event(listener.news, wait)

    async def _step(self, listener: _Listener, after: int) -> tuple[int, bool] | None:
        """Read the next events, and call the listener for those that match its pattern. A named listener continues
        after the event at its cursor. Any other listener continues after the event with the sequence number `after`.
        Returns (the sequence number of the last event read, whether there may be more events), or None if another node
        holds the cursor."""
        if listener.name is not None:
            cursor = await self._store.run(lambda _: self._take(listener.name or ""))
            if not cursor:
                return None  # another node holds the cursor
            after = int(cursor[0][0])
        rows = await self._store.read(lambda _: single(sql("read_events", after=after, limit=_BATCH)))
        renewed = self._clock.now()
        for number, row in enumerate(rows, 1):
            event = read_event(row)
            if event.namespace == self.namespace and fnmatchcase(event.name, listener.pattern):
                await listener.call(event)
            after = event.seq
            if listener.name is not None and (number == len(rows) or self._clock.now() - renewed > SECOND):
                renewed = self._clock.now()
                if not await self._move(listener.name, after, renewed):
                    return None  # another node has taken the cursor
        return after, len(rows) == _BATCH

    def _take(self, name: str) -> Operation[Rows]:
        now = self._clock.now()
        return (yield sql("take_cursor", name=name, node=self._node(), until=now + _HOLD, now=now))

    async def _move(self, name: str, seq: int, now: Micros) -> bool:
        """Move the cursor of a listener to the event `seq`. Returns False if another node holds the cursor now."""
        move = sql("move_cursor", name=name, node=self._node(), seq=seq, until=now + _HOLD)
        return bool(await self._store.run(lambda _: single(move)))


class _Listener:
    def __init__(self, pattern: str, callback: Callback, name: str | None) -> None:
        self.pattern = pattern
        self.callback = callback
        self.name = name
        self.news = asyncio.Event()  # there may be new events

    async def call(self, event: Event) -> None:
        """Call the function for an event. Anything that it raises is logged, and the function is not called again for
        this event."""
        task = asyncio.current_task()
        try:
            answer = self.callback(event)
            if inspect.isawaitable(answer):
                await answer
        except BaseException as problem:
            if is_stopping(problem, task):
                raise
            log.exception("a callback failed", action="callback_failed", event=event.name, seq=event.seq)
