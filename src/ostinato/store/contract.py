"""Define the contract between the engine and its stores.

An *operation* is a generator that runs as one transaction. It yields named statements, receives their rows, and does no
I/O itself. So the same operation runs on SQLite, on PostgreSQL, and inside a caller's transaction.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from ostinato.when.instants import Micros

T = TypeVar("T")
Row: TypeAlias = Sequence[Any]
Rows: TypeAlias = list[Row]


class Statement(NamedTuple):
    """One named statement with its parameters.

    - `rows`: the batch of rows, or None, if the statement's text has no `{rows …}`
    - `alone`: whether the statement needs no transaction
    - `source`: the object that has the text, such as a `sql.Statements`, or None, if the statement comes with the store
    """

    name: str
    params: Mapping[str, Any]
    rows: Sequence[Row] | None = None
    alone: bool = False
    source: Any = None


Operation: TypeAlias = Generator[Statement, Rows, T]
# Creates a new operation for each try of the transaction. The argument is the number of earlier tries.
Make: TypeAlias = Callable[[int], Operation[T]]


def sql(name: str, rows: Sequence[Row] | None = None, /, **params: Any) -> Statement:
    return Statement(name, params, rows)


def single(statement: Statement) -> Operation[Rows]:
    """Make an operation that runs one statement and returns its rows."""
    return (yield statement)


def alone(name: str, rows: Sequence[Row] | None = None, /, **params: Any) -> Statement:
    """Return a statement that PostgreSQL runs without a transaction if it is the first of its operation. This saves two
    round trips. If the statement writes, no other statement of its operation may write, because PostgreSQL would commit
    the two writes separately."""
    return Statement(name, params, rows, True)


PAUSE = Statement("pause", {})
_EACH = 50


def with_pauses(values: Iterable[T], each: int = _EACH) -> Operation[list[T]]:
    """Return `values` as a list. Use this if the values take time to compute: after every `each` values, the operation
    pauses, and the event loop can do other work."""
    collected: list[T] = []
    for value in values:
        collected.append(value)
        if len(collected) % each == 0:
            yield PAUSE
    return collected


async def drive_async(operation: Operation[T], execute: Callable[[Statement], Awaitable[Rows]]) -> T:
    """Run an operation to its end, and return its result. `execute` runs one statement on an async connection."""
    try:
        statement = next(operation)
        while True:
            try:
                rows = await execute(statement)
            except Exception as problem:
                statement = operation.throw(problem)  # the operation may handle the error
            else:
                statement = operation.send(rows)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


class Migration(NamedTuple):
    """One migration of an extension's tables. Leave `postgres` empty if the text is the same for both stores."""

    sqlite: str
    postgres: str = ""


Extensions: TypeAlias = Mapping[str, Sequence[Migration]]  # the migrations of each extension (`Way`), by its name
NO_EXTENSIONS: Extensions = {}


class Store(Protocol):
    """Runs operations. When `run` returns, the changes are durable."""

    url: str

    async def open(self, extensions: Extensions = NO_EXTENSIONS) -> None:
        """Connect to the store, check it, and create or migrate the tables of the engine. Raises `StoreError` if the
        store cannot be used. Afterwards, call `migrate_way` for each extension to create or migrate its tables.

        `extensions` only saves time in tests: a new SQLite store with `durable=False` gets the tables of these
        extensions at once. Other stores ignore `extensions`.
        """
        ...

    async def close(self) -> None: ...

    async def run(self, make: Make[T]) -> T:
        """Run an operation in one transaction, commit it, and return the operation's result. `make` returns the
        operation. After a deadlock or a lost connection, `make` is called again, and the new operation is run. The
        earlier try may have been committed, so operations must be idempotent."""
        ...

    async def read(self, make: Make[T]) -> T:
        """Run an operation that only reads, and return its result."""
        ...

    def on_change(self, wake: Callable[[], None]) -> None:
        """Register the function `wake`. From now on, the store calls it when another process may have changed
        something. The store may miss a change, and may call `wake` without a change."""
        ...

    @asynccontextmanager
    async def on_this_loop(self) -> AsyncIterator[Store]:
        """Yield a store that can be used on the event loop of the calling thread. By default, it is this store."""
        yield self

    async def clock_probe(self) -> Micros | None:
        """Return the time of the store's clock, or None if the store has no clock of its own."""
        ...
