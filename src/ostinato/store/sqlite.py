"""Implement the store in one SQLite file, with one writer thread and full durability.

Operations that arrive during a commit run together in the next transaction. So they need only one flush to disk.
Several processes may use the file. While another process has locked the file, an operation waits for up to a minute.
"""

from __future__ import annotations

import asyncio
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from ostinato.errors import StoreError, StoreRefused, StoreUnavailable, TriggerFailed
from ostinato.store.contract import NO_EXTENSIONS, Extensions, Make, Migration, Operation, Row, Rows, Statement, Store
from ostinato.store.migrate import create_tables, migrate_sqlite, migrations
from ostinato.store.sql import Query, queries, query_of
from ostinato.when.instants import Micros

T = TypeVar("T")
_VARIABLES = 30_000  # SQLite takes 32,766 in one statement
_ROWS = 100  # rows per statement; more rows are not faster
_TOGETHER = 64  # operations in one transaction
_NOTIFYING = frozenset({"notify", "created_events"})  # statements that wake other apps on an inline store
_PATIENCE = 60.0  # seconds to wait for a locked file
_VALUES = (sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE)


class SqliteStore(Store):
    """A store in one SQLite file.

    If `inline` is true, everything runs on the calling thread, which virtual time needs. `durable=False` is for tests:
    nothing is flushed to disk, and a new file is created as a copy of an empty database that has all tables.
    """

    dialect = "sqlite"

    def __init__(self, path: str, *, inline: bool = False, durable: bool = True) -> None:
        self.url = f"sqlite:///{path}"
        self.path = path
        self._inline = inline
        self._durable = durable
        self.check_on_open = True  # check the whole file for damage, which takes time in proportion to its size
        self._queries = queries("sqlite")
        self._writer: sqlite3.Connection | None = None
        self._reader: sqlite3.Connection | None = None
        self._watcher: sqlite3.Connection | None = None
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._reads: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._wakes: list[Callable[[], None]] = []
        self._watch: asyncio.Task[None] | None = None
        self._notified = False
        self._closing = False
        self._place = path
        self._file: tuple[int, int] | None = None  # device and inode of the open file

    # Lifecycle

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None:
        if self._writer is not None:
            return
        check_version()
        if self.path == ":memory:" and not self._inline:
            raise StoreError("each connection would have its own in-memory store; name a file")
        self._closing = False
        image = None if self._durable else _new_image(extensions)
        if self._inline:
            self._connect(image)
        else:
            await asyncio.to_thread(self._connect, image)
            self._threads = [
                threading.Thread(target=self._write_loop, name="ostinato-writer", daemon=True),
                threading.Thread(target=self._read_loop, name="ostinato-reader", daemon=True),
            ]
            for thread in self._threads:
                thread.start()
            self._watch = asyncio.create_task(self._look_for_changes())

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
            self._watch = None
        self._closing = True
        if self._threads:
            self._jobs.put(None)
            self._reads.put(None)
            for thread in self._threads:
                await asyncio.to_thread(thread.join)
            self._threads = []
        self._disconnect()
        self._wakes.clear()

    def _connect(self, image: bytes | None) -> None:
        """Open and migrate the file. If it does not exist and `image` is not None, create it from the bytes `image`."""
        self._place = os.path.abspath(self.path)  # the process may change its working directory
        if image is not None and self.path != ":memory:":
            _write_file(self._place, image)
        self._writer = connect(self.path)
        if image is not None and self.path == ":memory:":
            self._writer.deserialize(image)
        self._file = _file_at(self._place)
        try:
            if not self._durable:
                self._writer.execute("PRAGMA synchronous = OFF")
            if self.check_on_open:
                check_file(self._writer, self.path)
            _patiently(lambda: migrate_sqlite(self._connection, self.path))
            if not self._inline:
                self._reader = connect(self.path)
                self._watcher = connect(self.path)
        except BaseException:
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        for connection in (self._writer, self._reader, self._watcher):
            if connection is not None:
                connection.close()
        self._writer = self._reader = self._watcher = None

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._writer is None:
            raise StoreError("the store is not open; call open() first")
        return self._writer

    # Operations

    async def run(self, make: Make[T]) -> T:
        return self._alone(make) if self._inline else await self._submit(make, self._jobs)

    async def read(self, make: Make[T]) -> T:
        if self._inline:
            return drive(make(0), self._executor(self._connection))
        return await self._submit(make, self._reads)

    async def _submit(self, make: Make[T], jobs: queue.SimpleQueue[_Job | None]) -> T:
        self._connection  # noqa: B018  # raises if the store is closed
        job = _Job(make, asyncio.get_running_loop())
        if self._closing:
            raise StoreError("the store is being closed")
        jobs.put(job)
        return await job.future  # type: ignore[no-any-return]

    def on_change(self, wake: Callable[[], None]) -> None:
        self._wakes.append(wake)

    async def clock_probe(self) -> Micros | None:
        return None

    async def _look_for_changes(self) -> None:
        """Check four times a second whether another connection has committed a change. This may be the connection of
        another process, or the writer of this store. After a change, call the functions that were registered with
        `on_change`."""
        assert self._watcher is not None
        seen = None
        while True:
            version = self._watcher.execute("PRAGMA data_version").fetchone()[0]
            if seen is not None and version != seen:
                for wake in self._wakes:
                    wake()
            seen = version
            await asyncio.sleep(0.25)

    def _write_loop(self) -> None:
        while (job := self._jobs.get()) is not None:
            jobs = [job]
            last = False
            while len(jobs) < _TOGETHER:
                try:
                    more = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if more is None:
                    last = True
                    break
                jobs.append(more)
            self._together(jobs)
            if last:
                return

    def _together(self, jobs: list[_Job]) -> None:
        """Run all jobs in one transaction. If a job fails, roll back and run each job in its own transaction."""
        if len(jobs) > 1:
            try:
                results = self._transaction([job.make for job in jobs])
            except Exception:  # the job that failed fails again below, alone, and its caller gets the error
                pass
            else:
                for job, value in zip(jobs, results, strict=True):
                    job.answer(value)
                return
        for job in jobs:
            try:
                job.answer(self._alone(job.make))
            except BaseException as problem:
                job.refuse(problem)

    def _alone(self, make: Make[T]) -> T:
        return self._transaction([make])[0]  # type: ignore[no-any-return]

    def _transaction(self, makes: list[Make[Any]]) -> list[Any]:
        connection = self._connection
        trouble: list[sqlite3.Error] = []  # errors of statements; later ones follow from the first
        execute = self._executor(connection, trouble)
        self._notified = False
        try:
            _patiently(lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                results = [drive(make(0), execute) for make in makes]
                if trouble:
                    raise trouble[0]
                self._check_there()
                _patiently(lambda: connection.execute("COMMIT"))
            except BaseException as problem:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                if trouble and isinstance(problem, Exception) and not _of_a_value(trouble[0]):
                    raise trouble[0] from None
                raise
        except sqlite3.Error as problem:
            raise explain(problem, self.path) from problem
        if self._inline and self._notified:
            for wake in self._wakes:  # several apps may share one inline store
                wake()
        return results

    def _check_there(self) -> None:
        """Raise `StoreUnavailable` if the open file was deleted or replaced. SQLite would continue to write to the
        deleted file, and these writes would be lost when the last process closes that file."""
        if self._file is not None and self._file != _file_at(self._place):
            raise StoreUnavailable(
                f"the file of the store {self.path} was deleted or replaced while it was open: what this process writes"
                " would be lost, so it stops writing; put the file back, or restart this process to use the new file"
            )

    def _read_loop(self) -> None:
        assert self._reader is not None
        execute = self._executor(self._reader)
        while (job := self._reads.get()) is not None:
            try:
                self._check_there()
                job.answer(_patiently(lambda job=job: drive(job.make(0), execute)))  # type: ignore[misc]
            except sqlite3.Error as problem:
                job.refuse(explain(problem, self.path))
            except BaseException as problem:
                job.refuse(problem)

    def _executor(
        self, connection: sqlite3.Connection, trouble: list[sqlite3.Error] | None = None
    ) -> Callable[[Statement], Rows]:
        statements = self._queries

        def execute(statement: Statement) -> Rows:
            if statement.name in _NOTIFYING:
                self._notified = True
            try:
                return execute_sqlite(connection, query_of(statement, "sqlite", statements), statement)
            except UnicodeEncodeError as problem:  # half of a surrogate pair
                raise StoreRefused(f"the store {self.path} does not accept a value: {problem}") from problem
            except sqlite3.Error as problem:
                if trouble is not None:
                    trouble.append(problem)
                raise

        return execute


def execute_sqlite(connection: sqlite3.Connection | sqlite3.Cursor, query: Query, statement: Statement) -> Rows:
    """Run one statement, and return its rows. A large batch is split into several calls of the driver."""
    if query.counted:
        return [(sum(connection.execute(text, values).rowcount for text, values in calls(query, statement)),)]
    rows: list[Row] = []
    for text, values in calls(query, statement):
        rows += connection.execute(text, values).fetchall()
    return rows


def calls(query: Query, statement: Statement) -> Iterator[tuple[str, list[Any]]]:
    """Yield (SQL, values) for each driver call that is needed to run a statement. A large batch needs several calls."""
    if not query.text:
        return
    if statement.rows is None:
        yield query.render("qmark", statement.params, None)
    elif query.each:
        names = [name for name, _, _ in query.columns]
        for row in statement.rows:
            yield query.render("qmark", {**statement.params, **dict(zip(names, row, strict=True))}, None)
    else:
        size = min(_ROWS, _VARIABLES // max(1, len(query.columns)))
        for at in range(0, len(statement.rows), size):
            yield query.render("qmark", statement.params, statement.rows[at : at + size])


def drive(operation: Operation[T], execute: Callable[[Statement], Rows]) -> T:
    """Run an operation to its end, and return its result. `execute` runs one statement on a blocking connection."""
    try:
        statement = next(operation)
        while True:
            try:
                rows = execute(statement)
            except Exception as problem:
                statement = operation.throw(problem)  # the operation may handle the error
            else:
                statement = operation.send(rows)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


class _Job:
    __slots__ = ("future", "loop", "make")

    def __init__(self, make: Make[Any], loop: asyncio.AbstractEventLoop) -> None:
        self.make = make
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()

    def answer(self, value: Any) -> None:
        self._settle(self.future.set_result, value)

    def refuse(self, problem: BaseException) -> None:
        self._settle(self.future.set_exception, problem)

    def _settle(self, settle: Callable[[Any], None], value: Any) -> None:
        def unless_done() -> None:
            if not self.future.done():
                settle(value)

        with suppress(RuntimeError):  # the caller's loop may be closed
            self.loop.call_soon_threadsafe(unless_done)


# Connections, and errors of a file


def connect(path: str) -> sqlite3.Connection:
    folder = Path(path).absolute().parent
    try:
        folder_exists = path == ":memory:" or folder.is_dir()
    except PermissionError:
        raise StoreError(f"the store {path} cannot be opened; this user may not read its folder") from None
    if not folder_exists:
        raise StoreError(f"the folder {folder} of the store {path} does not exist; create it, or choose another URL")
    try:
        connection = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, cached_statements=1024, timeout=5.0
        )
        try:
            _set_up(connection)
        except BaseException:
            connection.close()
            raise
    except sqlite3.Error as problem:
        raise explain(problem, path) from problem
    return connection


def _set_up(connection: sqlite3.Connection) -> None:
    _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL"))
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA temp_store = MEMORY")  # makes statements with RETURNING a tenth faster
    connection.execute("PRAGMA cache_size = -32000")
    connection.execute("PRAGMA journal_size_limit = 67108864")
    connection.execute("PRAGMA wal_autocheckpoint = 4000")  # pages; pages that change often are written back less often


def _write_file(path: str, image: bytes) -> None:
    """Write a database to a new file. Do nothing if the file exists."""
    with suppress(OSError), open(path, "xb") as file:  # if the path is wrong, `connect` raises a clear error
        file.write(image[:18] + b"\x02\x02" + image[20:])  # the versions for writing and reading: 2 is WAL


def _new_image(extensions: Extensions) -> bytes:
    """Return the bytes of an empty database with all tables. Copying them is faster than running the migrations."""
    return _image(migrations("sqlite"), tuple((way, tuple(extensions[way])) for way in extensions))


@lru_cache(maxsize=8)
def _image(_: tuple[tuple[int, str], ...], extensions: tuple[tuple[str, tuple[Migration, ...]], ...]) -> bytes:
    """Return the bytes of an empty database with all tables. The result is cached. The first argument is the engine's
    migrations. It is not used, but makes the cached result invalid when the migrations change."""
    with closing(connect(":memory:")) as connection:
        create_tables(connection, dict(extensions))
        return connection.serialize()


def _file_at(path: str) -> tuple[int, int] | None:
    """Return (device, inode) of a file, or None if the file does not exist."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def check_version() -> None:
    if sqlite3.sqlite_version_info < (3, 38):
        raise StoreError(f"Ostinato needs SQLite 3.38 or newer; this Python has {sqlite3.sqlite_version}")


def check_file(connection: sqlite3.Connection, path: str) -> None:
    try:
        answer = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    except sqlite3.Error as problem:
        raise explain(problem, path) from problem
    if answer != "ok":
        raise StoreError(
            f"the store {path} is damaged ({answer}); restore it from a backup, or salvage it with sqlite3's .recover"
        )


def _patiently(action: Callable[[], T]) -> T:
    """Call `action` and return its result. While another process holds the lock, retry for up to a minute."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            return action()
        except sqlite3.OperationalError as problem:
            busy = (problem.sqlite_errorcode or 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not busy or time.monotonic() > deadline:
                raise
            time.sleep(0.002)


def _of_a_value(problem: sqlite3.Error) -> bool:
    """Return whether a parameter value caused the error, and not the file, the connection or a trigger."""
    if _of_a_trigger(problem):
        return False
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    unbound = isinstance(problem, sqlite3.InterfaceError | sqlite3.ProgrammingError | sqlite3.DataError)
    return code in _VALUES or (unbound and code in (0, sqlite3.SQLITE_MISUSE))


def _of_a_trigger(problem: sqlite3.Error) -> bool:
    return getattr(problem, "sqlite_errorcode", 0) == sqlite3.SQLITE_CONSTRAINT_TRIGGER


def explain(problem: sqlite3.Error, path: str) -> StoreError:
    """Return a `StoreError` for an error of SQLite. Its message tells the operator what to do."""
    code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
    if _of_a_value(problem):
        return StoreRefused(f"the store {path} does not accept a value: {problem}")
    if _of_a_trigger(problem):
        return TriggerFailed(f"a trigger of the store {path} failed: {problem}")
    match code:
        case sqlite3.SQLITE_FULL:
            return StoreUnavailable(
                f"the disk of the store {path} is full; nothing is lost: free some space, and work continues"
            )
        case sqlite3.SQLITE_READONLY:
            return StoreError(f"the store {path} cannot be written; check the permissions of the file and its folder")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreError(f"the store {path} is damaged or not a SQLite file; restore it from a backup")
        case sqlite3.SQLITE_CANTOPEN:
            return StoreError(f"the store {path} cannot be opened; check that its folder exists and is writable")
        case sqlite3.SQLITE_NOMEM | sqlite3.SQLITE_PROTOCOL | sqlite3.SQLITE_INTERRUPT:
            return StoreUnavailable(f"the store {path} is temporarily unavailable: {problem}")
        case sqlite3.SQLITE_IOERR:
            return StoreUnavailable(f"the disk of the store {path} has an I/O error: {problem}")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreUnavailable(
                f"another process has locked the store {path} for a minute; find that process and end it"
            )
        case _:
            return StoreError(f"the store {path} reported an error: {problem}")
