"""The contract between the engine and its stores.

An *operation* is a generator: it yields statements by name and is sent their rows, and all of it is one
transaction. It does no I/O of its own, so the same operation runs on SQLite in a thread, on PostgreSQL over a
socket, inside a caller's own transaction, and in tests that break the connection between any two statements.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from ostinato.when.instants import Micros

T = TypeVar("T")
Row: TypeAlias = Sequence[Any]
Rows: TypeAlias = list[Row]


class Statement(NamedTuple):
    """One named statement with its parameters; `rows` is a batch, for the statement's `{rows …}`."""

    name: str
    params: Mapping[str, Any]
    rows: Sequence[Row] | None = None
    alone: bool = False


Operation: TypeAlias = Generator[Statement, Rows, T]
# Makes the operation anew for each try; the number of tries before this one tells a retry from a first.
Make: TypeAlias = Callable[[int], Operation[T]]


def sql(name: str, rows: Sequence[Row] | None = None, /, **params: Any) -> Statement:
    return Statement(name, params, rows)


def alone(name: str, rows: Sequence[Row] | None = None, /, **params: Any) -> Statement:
    """The first statement of an operation which, on PostgreSQL, is all that the operation writes: it needs no
    transaction around it, and so none of the round trips to begin and commit one."""
    return Statement(name, params, rows, True)


async def drive_async(operation: Operation[T], execute: Callable[[Statement], Awaitable[Rows]]) -> T:
    """Run an operation to its end on a connection that is awaited."""
    try:
        statement = next(operation)
        while True:
            try:
                rows = await execute(statement)
            except Exception as problem:
                statement = operation.throw(problem)  # it may know better what the error means
            else:
                statement = operation.send(rows)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


class Store(Protocol):
    """Runs operations. What `run` has returned is durable."""

    url: str

    async def open(self) -> None:
        """Connect, check, migrate. A store that cannot be used says why."""
        ...

    async def close(self) -> None: ...

    async def run(self, make: Make[T]) -> T:
        """One transaction, committed. It is tried again after a deadlock or a lost connection, so an operation
        must be the same whether it is applied once or again."""
        ...

    async def read(self, make: Make[T]) -> T:
        """The same for operations that only read."""
        ...

    def on_change(self, wake: Callable[[], None]) -> None:
        """Call `wake` when another process may have changed something; a hint, never a promise."""
        ...

    async def clock_probe(self) -> Micros | None:
        """The store's own clock, where it has one of its own."""
        ...
