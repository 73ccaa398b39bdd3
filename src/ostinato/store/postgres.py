"""Implement the store in PostgreSQL, which several machines can share, through asyncpg.

After a lost connection or a deadlock, the operation is tried again. An error of the server or the connection is raised
as `StoreError`. If the server does not accept a value, `StoreRefused` is raised.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from math import ceil
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from ostinato.backoff import backoff
from ostinato.errors import StoreError, StoreRefused, StoreUnavailable, TriggerFailed
from ostinato.store.contract import (
    NO_EXTENSIONS,
    Extensions,
    Make,
    Operation,
    Rows,
    Statement,
    Store,
    drive_async,
    single,
    sql,
)
from ostinato.store.migrate import migrate_postgres
from ostinato.store.sql import Query, queries, query_of
from ostinato.when.instants import Micros

T = TypeVar("T")
# Our batches are small, so a nested loop over an index is always the right plan. If the statistics of a table are old,
# because it has just grown or shrunk, the planner would scan the whole table.
SETTINGS = {
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_seqscan": "off",
    "jit": "off",
    # A node that freezes in a transaction keeps its locks, also the lock on its own row. Without this timeout, no other
    # node could take over its runs.
    "idle_in_transaction_session_timeout": "10s",
    # A plan that is made for one batch may scan the table, and search the batch for each row of the table: this takes
    # 90 µs a row at 500 rows. The generic plan takes 12 µs, and is made only once.
    "plan_cache_mode": "force_generic_plan",
    "application_name": "ostinato",
}
_LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # raised when a connection ends during a statement
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    ConnectionError,
    OSError,
    EOFError,
    TimeoutError,
)
_DRIVER = (asyncpg.PostgresError, *_LOST)  # whatever a statement may raise
_IDLE = "25P03"  # the server has ended a transaction that was idle for too long
_VALUES = ("21", "22", "23", "54")  # error classes that a value causes: cardinality, data, integrity, size
_TRIGGER = "P0"  # the class of exceptions that triggers raise
_AGAIN = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)


class PostgresStore(Store):
    """A store in PostgreSQL.

    - `patience`: how many seconds a call waits at most if the server is unavailable
    - `idle`: a number of seconds, or 0 for no limit. A connection that is unused for `idle` seconds is closed. A
      prepared statement that is older than `idle` seconds is prepared again when it is next used.
    """

    dialect = "postgres"

    def __init__(self, url: str, *, connections: int = 8, patience: float = 60.0, idle: float = 300.0) -> None:
        self.url = hide_password(url)
        self._dsn = url
        self._connections = connections
        self._patience = patience
        self._idle = idle
        self._queries = queries("postgres")
        self._pool: asyncpg.Pool | None = None
        self._wakes: list[Callable[[], None]] = []
        self._own: set[int] = set()  # the server process ids of our connections
        self._listener: asyncio.Task[None] | None = None

    # Lifecycle

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None:
        if self._pool is not None:
            return
        try:
            await self._connect()
        except BaseException:
            if self._pool is not None:
                await self._pool.close()
                self._pool = None
            raise
        self._start_listening()

    async def _connect(self) -> None:
        try:
            self._pool = await self._make_pool()
            async with self._pool.acquire() as connection:
                await migrate_postgres(connection, self.url)
        except (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError) as problem:
            raise StoreError(f"the store {self.url} refuses the user or password: {problem}") from problem
        except asyncpg.InvalidCatalogNameError as problem:
            raise StoreError(f"the store {self.url} has no such database: create it first ({problem})") from problem
        except asyncpg.InsufficientPrivilegeError as problem:
            raise StoreError(f"the store {self.url} does not let this user create tables: {problem}") from problem
        except _LOST as problem:
            raise StoreUnavailable(
                f"the store {self.url} does not answer: {problem}; is PostgreSQL running?"
            ) from problem

    async def _make_pool(self, **options: Any) -> asyncpg.Pool:
        return await asyncpg.create_pool(
            self._dsn,
            min_size=1,
            max_size=self._connections,
            server_settings=SETTINGS,
            timeout=10,
            init=self._remember_pid,
            reset=_skip_reset,
            max_inactive_connection_lifetime=self._idle,
            max_cached_statement_lifetime=ceil(self._idle),
            statement_cache_size=1000,  # all statements; with the default of 100, many would be planned again and again
            **options,
        )

    @asynccontextmanager
    async def on_this_loop(self) -> AsyncIterator[Store]:
        """Yield a store with one connection, opened on the running event loop. Other loops cannot use it."""
        beside = PostgresStore(self._dsn, connections=1, patience=self._patience, idle=self._idle)
        beside._own = self._own
        try:
            beside._pool = await beside._make_pool()
        except _DRIVER as problem:
            raise StoreUnavailable(f"the store {self.url} does not answer: {problem}") from problem
        try:
            yield beside
        finally:
            await beside.close()

    async def _remember_pid(self, connection: Any) -> None:
        pid = connection.get_server_pid()
        self._own.add(pid)
        connection.add_termination_listener(lambda _: self._own.discard(pid))

    async def close(self) -> None:
        self._wakes.clear()
        listener, self._listener = self._listener, None
        pool, self._pool = self._pool, None
        try:
            if listener is not None:
                listener.cancel()
                await asyncio.gather(listener, return_exceptions=True)
            if pool is not None:
                await asyncio.wait_for(pool.close(), timeout=5)
        except (TimeoutError, *_LOST):
            assert pool is not None
            pool.terminate()
        except asyncio.CancelledError:
            if pool is not None:
                pool.terminate()  # now, because no other code closes this pool
            raise

    # Operations

    async def run(self, make: Make[T]) -> T:
        return await self._persist(make, True)

    async def read(self, make: Make[T]) -> T:
        return await self._persist(make, False)

    async def _persist(self, make: Make[T], write: bool) -> T:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience
        tries, outages = 0, 0
        while True:
            if self._pool is None:
                raise StoreError("the store is not open; call open() first")
            try:
                async with self._pool.acquire() as connection:
                    if write:
                        return await self._transact(make(tries), connection)
                    return await self.drive(make(tries), connection)
            except _AGAIN:
                tries += 1
                if tries > 50:
                    raise StoreUnavailable(
                        f"the store {self.url} still reports a deadlock after {tries} tries"
                    ) from None
            except asyncpg.DiskFullError as problem:
                raise StoreUnavailable(
                    f"the disk of the store {self.url} is full; nothing is lost: free some space, and work continues"
                ) from problem
            except asyncpg.ReadOnlySQLTransactionError as problem:
                raise StoreUnavailable(f"the store {self.url} is read-only (a standby?): {problem}") from problem
            except _DRIVER as problem:
                if _of_a_value(problem):
                    raise StoreRefused(f"the store {self.url} does not accept a value: {problem}") from problem
                if isinstance(problem, asyncpg.PostgresError) and (problem.sqlstate or "").startswith(_TRIGGER):
                    raise TriggerFailed(f"a trigger of the store {self.url} failed: {problem}") from problem
                if isinstance(problem, asyncpg.PostgresError) and not _passing(problem):
                    raise StoreError(f"the store {self.url} reported an error: {problem}") from problem
                tries += 1
                if loop.time() > deadline:
                    raise StoreUnavailable(f"the store {self.url} does not answer: {problem}") from problem
                outages += 1
                await asyncio.sleep(backoff(outages, 0.02, 1.0))

    async def _transact(self, operation: Operation[T], connection: Any) -> T:
        """Run an operation, commit it, and return its result. The transaction begins with the first statement that is
        not marked `alone`. A statement before that runs without a transaction."""
        transaction: Any = None
        trouble: Exception | None = None  # the first error of a statement; later ones follow from it

        async def execute(statement: Statement) -> Rows:
            nonlocal transaction, trouble
            try:
                if transaction is None and not statement.alone and self._query(statement).text:
                    beginning = connection.transaction()
                    await beginning.start()
                    transaction = beginning  # only now: a transaction whose start was cancelled cannot be rolled back
                return await execute_postgres(connection, self._query(statement), statement)
            except _DRIVER as problem:
                trouble = trouble or problem
                raise

        try:
            result = await drive_async(operation, execute)
            if trouble is not None:
                raise trouble
        except BaseException as problem:
            if transaction is not None:
                await _roll_back(transaction, connection)
            if trouble is not None and isinstance(problem, Exception) and not _of_a_value(trouble):
                raise trouble from None
            raise
        if transaction is not None:
            await transaction.commit()
        return result

    async def drive(self, operation: Operation[T], connection: Any) -> T:
        """Run an operation to its end on one connection."""
        return await drive_async(operation, lambda s: execute_postgres(connection, self._query(s), s))

    def _query(self, statement: Statement) -> Query:
        return query_of(statement, "postgres", self._queries)

    def on_change(self, wake: Callable[[], None]) -> None:
        self._wakes.append(wake)
        self._start_listening()

    def _start_listening(self) -> None:
        """Start to listen for notifications, if the store is open and `on_change` was called."""
        if self._pool is not None and self._wakes and self._listener is None:
            self._listener = asyncio.create_task(self._listen())

    async def clock_probe(self) -> Micros | None:
        ((now,),) = await self.read(lambda _: single(sql("store_clock")))
        return int(now)

    async def _listen(self) -> None:
        """Listen for notifications of other nodes, on a separate connection. Reconnect when the connection is lost."""
        while True:
            connection = None
            try:
                connection = await asyncpg.connect(self._dsn, timeout=10)
                gone = asyncio.Event()
                connection.add_termination_listener(lambda *_, gone=gone: gone.set())
                await connection.add_listener("ostinato", self._heard)
                self._wake()  # for notifications missed while disconnected
                await gone.wait()
            except _DRIVER:
                pass
            finally:
                if connection is not None and not connection.is_closed():
                    connection.terminate()
            await asyncio.sleep(1)

    def _heard(self, connection: Any, pid: int, *_: object) -> None:
        """Handle a notification that the store has changed: call all functions that were registered with `on_change`.
        `pid` identifies the connection that sent the notification. If this connection belongs to this store object, and
        only one function is registered, ignore the notification. In this case, the only user of this object has made
        the change itself."""
        # If only one function is registered, this object has one user, and that user has made the change.
        if pid not in self._own or len(self._wakes) > 1:
            self._wake()

    def _wake(self) -> None:
        for wake in self._wakes:
            wake()


def _passing(problem: asyncpg.PostgresError) -> bool:
    """Return whether an error is temporary, so that a retry may succeed: a lost connection, an expired idle
    transaction, a lack of resources, an object that is locked or not ready, a shutdown, or a failure of the server."""
    state = problem.sqlstate or ""
    return state[:2] in ("08", "53", "55", "57", "58") or state == _IDLE or isinstance(problem, _LOST)


def _of_a_value(problem: Exception) -> bool:
    """Return whether a parameter value caused the error, and not the server or the connection."""
    return isinstance(problem, asyncpg.PostgresError) and (problem.sqlstate or "")[:2] in _VALUES


async def _roll_back(transaction: Any, connection: Any) -> None:
    """Roll back. If this fails, close the connection and raise nothing: the caller raises the original error."""
    try:
        await transaction.rollback()
    except _DRIVER:
        connection.terminate()


async def _skip_reset(connection: Any) -> None:
    """Do nothing. The pool's reset would cost a round trip, and operations do not change a connection's state."""


async def execute_postgres(connection: Any, query: Query, statement: Statement) -> Rows:
    if not query.text:
        await asyncio.sleep(0)  # a pause, so that the event loop can do other work
        return []
    if statement.rows is not None and not statement.rows:
        return []
    text, values = query.render("dollar", statement.params, statement.rows)
    return await connection.fetch(text, *values)  # type: ignore[no-any-return]


def hide_password(url: str) -> str:
    parts = urlsplit(url)
    query = re.sub(r"(?i)(^|&)(password|sslpassword)=[^&]*", r"\1\2=***", parts.query)
    netloc = parts.netloc
    if parts.password is not None:
        netloc = f"{parts.username}:***@{netloc.rpartition('@')[2]}"
    return urlunsplit(parts._replace(netloc=netloc, query=query))
