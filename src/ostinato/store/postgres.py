"""The store to grow onto: PostgreSQL, through asyncpg.

A lost connection or a deadlock is answered by trying the operation again; it is made so that it may. What is wrong
with the server or the connection is never the operation's word: whatever an operation makes of such an error, it is
the error that counts. Only a value that the server will not take is the fault of who gave it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from ostinato.errors import StoreError, StoreRefused, StoreUnavailable
from ostinato.store.contract import Make, Operation, Rows, Statement, drive_async, sql
from ostinato.store.migrate import migrate_postgres
from ostinato.store.sql import Query, queries
from ostinato.when.instants import Micros

T = TypeVar("T")
# With our batches of known size a nested loop over an index is always right, while a look at the statistics of a
# table that has just grown or shrunk tempts the planner into scanning all of it.
SETTINGS = {
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_seqscan": "off",
    "jit": "off",
    # A node that freezes in the middle of a transaction holds its rows, its own among them, and nobody could take over.
    "idle_in_transaction_session_timeout": "10s",
    # And a plan made for one batch, with its number of rows in view, may walk the table and look into the batch for
    # each of its rows: 90 µs a row at 500 rows, where the plan made for any batch takes 12. It also saves the planning.
    "plan_cache_mode": "force_generic_plan",
    "application_name": "ostinato",
}
_LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # what a connection that ends in the middle of a statement may raise
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
_IDLE = "25P03"  # the server has ended a transaction that stood still for too long
_VALUES = ("21", "22", "23", "54")  # classes of errors that a value causes: cardinality, data, integrity, size
_AGAIN = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)


class PostgresStore:
    """`patience` is how many seconds a call waits for a server that is away."""

    dialect = "postgres"

    def __init__(self, url: str, *, connections: int = 8, patience: float = 60.0) -> None:
        self.url = hide_password(url)
        self._dsn = url
        self._connections = connections
        self._patience = patience
        self._queries = queries("postgres")
        self._pool: asyncpg.Pool | None = None
        self._wakes: list[Callable[[], None]] = []
        self._own: set[int] = set()  # the server's process ids behind our connections
        self._listener: asyncio.Task[None] | None = None

    # Lifecycle

    async def open(self) -> None:
        if self._pool is not None:
            return
        try:
            await self._connect()
        except BaseException:
            if self._pool is not None:
                await self._pool.close()
                self._pool = None
            raise
        self._listener = asyncio.create_task(self._listen())

    async def _connect(self) -> None:
        try:
            self._pool = await asyncpg.create_pool(
                self._dsn,
                min_size=1,
                max_size=self._connections,
                server_settings=SETTINGS,
                timeout=10,
                init=self._know,
                reset=_leave_as_it_is,
            )
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

    async def _know(self, connection: Any) -> None:
        pid = connection.get_server_pid()
        self._own.add(pid)
        connection.add_termination_listener(lambda _: self._own.discard(pid))

    async def close(self) -> None:
        self._wakes.clear()
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
            self._listener = None
        if self._pool is not None:
            pool, self._pool = self._pool, None
            try:
                await asyncio.wait_for(pool.close(), timeout=5)
            except (TimeoutError, *_LOST):
                pool.terminate()

    # Operations

    async def run(self, make: Make[T]) -> T:
        return await self._persist(make, True)

    async def read(self, make: Make[T]) -> T:
        return await self._persist(make, False)

    async def _persist(self, make: Make[T], write: bool) -> T:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience
        tries, pause = 0, 0.02
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
                    raise StoreUnavailable(f"the store {self.url} is in deadlock after {tries} tries") from None
            except asyncpg.DiskFullError as problem:
                raise StoreUnavailable(
                    f"the disk of the store {self.url} is full; nothing is lost, make room and it goes on"
                ) from problem
            except asyncpg.ReadOnlySQLTransactionError as problem:
                raise StoreUnavailable(f"the store {self.url} is read-only (a standby?): {problem}") from problem
            except _DRIVER as problem:
                if _of_a_value(problem):
                    raise StoreRefused(f"the store {self.url} will not take a value: {problem}") from problem
                if isinstance(problem, asyncpg.PostgresError) and not _passing(problem):
                    raise StoreError(f"the store {self.url} refused: {problem}") from problem
                tries += 1
                if loop.time() > deadline:
                    raise StoreUnavailable(f"the store {self.url} does not answer: {problem}") from problem
                await asyncio.sleep(pause)
                pause = min(1.0, pause * 2)

    async def _transact(self, operation: Operation[T], connection: Any) -> T:
        """One transaction, begun with the first statement that is not one by itself."""
        transaction: Any = None
        trouble: Exception | None = None  # the first error of a statement: what comes after it is its consequence

        async def execute(statement: Statement) -> Rows:
            nonlocal transaction, trouble
            try:
                if transaction is None and not statement.alone and self._queries[statement.name].text:
                    beginning = connection.transaction()
                    await beginning.start()
                    transaction = beginning  # only now: one whose beginning was cancelled cannot be rolled back
                return await execute_postgres(connection, self._queries[statement.name], statement)
            except _DRIVER as problem:
                trouble = trouble or problem
                raise

        try:
            found = await drive_async(operation, execute)
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
        return found

    async def drive(self, operation: Operation[T], connection: Any) -> T:
        """Run an operation to its end on one connection."""
        return await drive_async(operation, lambda s: execute_postgres(connection, self._queries[s.name], s))

    def on_change(self, wake: Callable[[], None]) -> None:
        self._wakes.append(wake)

    async def clock_probe(self) -> Micros | None:
        def look(_: int) -> Operation[Micros]:
            return int((yield sql("store_clock"))[0][0])

        return await self.read(look)

    async def _listen(self) -> None:
        """Hints from other nodes, on a connection of its own that comes back when the server does."""
        while True:
            connection = None
            try:
                connection = await asyncpg.connect(self._dsn, timeout=10)
                gone = asyncio.Event()
                connection.add_termination_listener(lambda *_, gone=gone: gone.set())
                await connection.add_listener("ostinato", self._heard)
                self._wake()  # whatever was said while nobody listened
                await gone.wait()
            except _DRIVER:
                pass
            finally:
                if connection is not None and not connection.is_closed():
                    connection.terminate()
            await asyncio.sleep(1)

    def _heard(self, connection: Any, pid: int, *_: object) -> None:
        """What this store's one user has done itself it knows already."""
        if pid not in self._own or len(self._wakes) > 1:
            self._wake()

    def _wake(self) -> None:
        for wake in self._wakes:
            wake()


def _passing(problem: asyncpg.PostgresError) -> bool:
    """Trouble of the server's own that passes: connections, resources, locks, an operator, the system."""
    state = problem.sqlstate or ""
    return state[:2] in ("08", "53", "55", "57", "58") or state == _IDLE or isinstance(problem, _LOST)


def _of_a_value(problem: Exception) -> bool:
    """Whether a value that was given is at fault, and not the server or the way to it."""
    return isinstance(problem, asyncpg.PostgresError) and (problem.sqlstate or "")[:2] in _VALUES


async def _roll_back(transaction: Any, connection: Any) -> None:
    """Without a word about it: the error that brought it here says what is wrong. A connection on which this fails is
    not used again."""
    try:
        await transaction.rollback()
    except _DRIVER:
        connection.terminate()


async def _leave_as_it_is(connection: Any) -> None:
    """Operations change nothing of a connection's own state, so there is nothing to reset, at a round trip each."""


async def execute_postgres(connection: Any, query: Query, statement: Statement) -> Rows:
    if not query.text or (statement.rows is not None and not statement.rows):
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
