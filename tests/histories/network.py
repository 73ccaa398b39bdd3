"""One store, several nodes, and links between them that a plan disturbs: operations come late, break in the middle of a
statement, are committed without an answer, or find nobody for a while. A PostgreSQL server really ends connections."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from ostinato.errors import StoreUnavailable
from ostinato.store.contract import NO_EXTENSIONS, Extensions, Make, Operation, Statement, Store, sql
from ostinato.store.sql import Query, queries
from ostinato.when.instants import Micros

T = TypeVar("T")


class Cut(Exception):
    """The connection was lost between two statements."""


@dataclass(frozen=True)
class Weather:
    """How likely it is that one transaction goes wrong, and how: `lost` before its first statement, `cut` between two
    of them, `ambiguous` after its commit. `severed`: in the middle of a statement the server ends the connection; a
    store without a server is cut instead. `slow` is the most seconds that it is late, before and after."""

    lost: float = 0.0
    cut: float = 0.0
    severed: float = 0.0
    ambiguous: float = 0.0
    slow: float = 0.0


CALM = Weather()


class Hub:
    """The shared store. It tells every node when one of them has changed something."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.has_server = store.url.startswith("postgres")
        self.wakes: list[Callable[[], None]] = []

    async def run(self, make: Make[T]) -> T:
        channels: list[str] = []

        def listen(statement: Statement) -> None:
            if statement.name in ("notify", "created_events"):
                channels.append(statement.name)

        result = await self.store.run(lambda tries: tapped(make(tries), listen))
        if channels:
            for wake in list(self.wakes):
                wake()
        return result


def tapped(operation: Operation[T], look: Callable[[Statement], None]) -> Operation[T]:
    """The same operation; `look` sees each statement before it is executed, and may raise."""
    step: Callable[[], Statement] = partial(next, operation)
    while True:
        try:
            statement = step()
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        look(statement)
        try:
            rows = yield statement
            step = partial(operation.send, rows)
        except Exception as problem:  # the operation may know better what the error means
            step = partial(operation.throw, problem)


class Link(Store):
    """A node's way to the store. Like PostgresStore it tries again by itself, and gives up after a few times."""

    def __init__(self, hub: Hub, dice: random.Random) -> None:
        self._hub = hub
        self._dice = dice
        self._thawed = asyncio.Event()
        self._thawed.set()
        self.weather = CALM
        self.away = False
        self.dead = False
        self.faults = 0
        self.url = hub.store.url

    def freeze(self) -> None:
        """Nothing gets through until `thaw`, as if the process was stopped."""
        self._thawed.clear()

    def thaw(self) -> None:
        self._thawed.set()

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None: ...

    async def close(self) -> None: ...

    async def run(self, make: Make[T]) -> T:
        for _ in range(4):
            await self._travel()
            fate = self._fate()
            if fate == "lost":
                continue
            if fate == "severed" and self._hub.has_server:
                make = sever(make, self._dice.randint(1, 6))  # the store itself tries again
            elif fate in ("cut", "severed"):
                make = _cut(make, self._dice.randint(1, 6))
            try:
                result = await self._hub.run(make)
            except Cut:
                continue
            await self._travel()
            if fate != "ambiguous":
                return result
            if self._dice.random() < 0.5:
                raise StoreUnavailable("the connection was lost after the commit")
        raise StoreUnavailable("the connection was lost again and again")

    async def read(self, make: Make[T]) -> T:
        await self._travel()
        result = await self._hub.store.read(make)
        await self._travel()
        return result

    def on_change(self, wake: Callable[[], None]) -> None:
        self._hub.wakes.append(wake)

    async def clock_probe(self) -> Micros | None:
        return None

    async def _travel(self) -> None:
        if self.weather.slow and self._dice.random() < 0.5:
            await asyncio.sleep(self._dice.random() * self.weather.slow)
        await self._thawed.wait()
        if self.dead:
            raise StoreUnavailable("this process is gone")
        if self.away:
            self.faults += 1
            raise StoreUnavailable("the store is away")

    def _fate(self) -> str:
        chance = self._dice.random()
        for kind in ("lost", "cut", "ambiguous", "severed"):
            chance -= getattr(self.weather, kind)
            if chance < 0:
                self.faults += 1
                return kind
        return ""


def _cut(make: Make[T], at: int) -> Make[T]:
    """The same operation, broken off at its n-th statement, if it has so many."""

    def cut(tries: int) -> Operation[T]:
        left = at

        def count(_: Statement) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                raise Cut

        return tapped(make(tries), count)

    return cut


SEVER = Query("sever", "SELECT pg_terminate_backend(pg_backend_pid())", (), False)


def sever(make: Make[T], at: int) -> Make[T]:
    """The same operation. At its first try the server ends the connection at its n-th statement, if it has so many."""
    queries("postgres").setdefault(SEVER.name, SEVER)

    def severed(tries: int) -> Operation[T]:
        return make(tries) if tries else _severed(make(tries), at)

    return severed


def _severed(operation: Operation[T], at: int) -> Operation[T]:
    step: Callable[[], Statement] = partial(next, operation)
    for number in itertools.count(1):
        try:
            statement = step()
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        if number == at:
            yield sql(SEVER.name)
        try:
            rows = yield statement
            step = partial(operation.send, rows)
        except Exception as problem:  # the operation may know better what the error means
            step = partial(operation.throw, problem)
    raise AssertionError
