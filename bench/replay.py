"""What an engine said to its store, heard and said again in a bare loop: the ceiling of the same statements.

Every transaction that was committed is kept with its statements, the task that ran it, and how many others had been
committed when it began. Said again on a copy of the store as it was, with one connection for each task and the same
order between them, nothing is left but the driver and the database.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

import asyncpg

from bench.measure import settled
from bench.stores import path_of
from ostinato.store.contract import NO_EXTENSIONS, Extensions, Make, Operation, Rows, Statement, Store
from ostinato.store.postgres import SETTINGS
from ostinato.store.sql import queries, query_of
from ostinato.store.sqlite import calls, connect
from ostinato.when.instants import Micros

T = TypeVar("T")


@dataclass
class Said:
    """One transaction. `after`: how many had been committed when it began."""

    lane: int
    after: int
    begin: float
    statements: list[Statement] = field(default_factory=list)


class Hearing(Store):
    """A store that records its operations and passes them on."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.url = store.url
        self.said: list[Said] = []
        self._lanes: dict[int, int] = {}

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None:
        await self._store.open(extensions)

    @asynccontextmanager
    async def on_this_loop(self) -> AsyncIterator[Store]:
        """The lease is renewed beside what is measured, and not written down."""
        async with self._store.on_this_loop() as store:
            yield store

    async def close(self) -> None:
        await self._store.close()

    async def run(self, make: Make[T]) -> T:
        lane = self._lanes.setdefault(id(asyncio.current_task()), len(self._lanes))
        heard = Said(lane, len(self.said), time.perf_counter())

        def listening(tries: int) -> Operation[T]:
            heard.statements.clear()
            operation = make(tries)
            rows: Rows | None = None
            while True:
                try:
                    statement = next(operation) if rows is None else operation.send(rows)
                except StopIteration as done:
                    return done.value  # type: ignore[no-any-return]
                heard.statements.append(statement)
                rows = yield statement

        result = await self._store.run(listening)
        if heard.statements:
            self.said.append(heard)
        return result

    async def read(self, make: Make[T]) -> T:
        return await self._store.read(make)

    def on_change(self, wake: Callable[[], None]) -> None:
        self._store.on_change(wake)

    async def clock_probe(self) -> Micros | None:
        return None


def say_again_sqlite(url: str, said: list[Said], begin: float) -> float:
    """Seconds for what was said from `begin` on; what came before is said too, off the clock."""
    named = queries("sqlite")
    before = [one for one in said if one.begin < begin]
    timed = [one for one in said if one.begin >= begin]

    def calls_of(said: Said) -> list[tuple[str, list[Any]]]:
        return [call for one in said.statements for call in calls(query_of(one, "sqlite", named), one)]

    connection = connect(path_of(url))
    for sent in before:
        _transact(connection, calls_of(sent))
    ready = [calls_of(one) for one in timed]
    settled()
    start = time.perf_counter()
    for transaction in ready:
        _transact(connection, transaction)
    seconds = time.perf_counter() - start
    connection.close()
    return seconds


def _transact(connection: sqlite3.Connection, transaction: list[tuple[str, list[Any]]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for text, values in transaction:
        connection.execute(text, values).fetchall()
    connection.execute("COMMIT")


async def say_again_postgres(url: str, said: list[Said], begin: float) -> float:
    named = queries("postgres")
    lanes: dict[int, list[tuple[int, int, list[tuple[str, Any]]]]] = {}
    connections: dict[int, Any] = {}
    first = next((n for n, one in enumerate(said) if one.begin >= begin), len(said))
    for number, statement in enumerate(said):
        queries_sent = [(query_of(one, "postgres", named), one) for one in statement.statements]
        texts = [query.render("dollar", one.params, one.rows) for query, one in queries_sent if query.text]
        if statement.lane not in connections:
            connections[statement.lane] = await asyncpg.connect(url, server_settings=SETTINGS)
        if number < first:
            await _transact_postgres(connections[statement.lane], texts)
        else:
            lanes.setdefault(statement.lane, []).append((number, statement.after, texts))
    done = asyncio.Condition()
    finished: set[int] = set()
    reached = first  # everything before this number is committed

    async def say(lane: int) -> None:
        nonlocal reached
        for number, after, texts in lanes[lane]:
            async with done:
                while reached < after:
                    await done.wait()
            await _transact_postgres(connections[lane], texts)
            async with done:
                finished.add(number)
                while reached in finished:
                    reached += 1
                done.notify_all()

    settled()
    start = time.perf_counter()
    await asyncio.gather(*(say(lane) for lane in lanes))
    seconds = time.perf_counter() - start
    for connection in connections.values():
        await connection.close()
    return seconds


async def _transact_postgres(connection: Any, transaction: list[tuple[str, Any]]) -> None:
    async with connection.transaction():
        for text, values in transaction:
            await connection.fetch(text, *values)
