"""Run operations inside a caller's transaction, on connections of asyncpg, psycopg, sqlite3 and SQLAlchemy. The caller
commits or rolls back."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from ostinato.errors import StoreError
from ostinato.store.contract import Operation, Rows, Statement, drive_async
from ostinato.store.postgres import execute_postgres
from ostinato.store.sql import Query, Style, queries, query_of
from ostinato.store.sqlite import drive, execute_sqlite

T = TypeVar("T")


async def run_in_caller_transaction(connection: Any, make: Callable[[], Operation[T]]) -> T:
    """Run an operation in the transaction of the caller's connection, and return the result. If no transaction is open,
    begin one, which the caller must commit.

    Raises `StoreError` if the connection cannot be used. If no transaction is open, connections of asyncpg and
    connections in autocommit mode cannot be used.
    """
    module = type(connection).__module__.partition(".")[0]
    if isinstance(connection, sqlite3.Connection):
        return _drive_sqlite(connection, make)
    if module == "asyncpg":
        if not connection.is_in_transaction():
            raise _no_transaction()
        return await drive_async(make(), lambda s: execute_postgres(connection, _query(s), s))
    if module == "psycopg":
        return await _psycopg(connection, make)
    if module == "sqlalchemy":
        return await _sqlalchemy(connection, make)
    raise StoreError(
        f"a connection of {type(connection).__module__}.{type(connection).__name__} cannot be used here; "
        "give one of sqlite3, asyncpg, psycopg or SQLAlchemy"
    )


def run_in_caller_transaction_sync(connection: Any, make: Callable[[], Operation[T]]) -> T:
    """Run an operation in the transaction of the caller's blocking connection, and return the result. If no transaction
    is open, one begins, and the caller must commit it. Raises `StoreError` if the connection cannot be used, or if it
    is in autocommit mode without an open transaction."""
    if isinstance(connection, sqlite3.Connection):
        return _drive_sqlite(connection, make)
    module = type(connection).__module__.partition(".")[0]
    if module == "psycopg" and not hasattr(connection, "__aenter__"):
        _check_psycopg(connection)
        return drive(make(), lambda s: _psycopg_sync(connection, s))
    if module == "sqlalchemy":
        return _drive_sqlalchemy(_sync_connection(connection), make)
    raise StoreError(f"a connection of {type(connection).__module__} cannot be used without await")


def _drive_sqlite(connection: sqlite3.Connection, make: Callable[[], Operation[T]]) -> T:
    """Run an operation in the caller's transaction, and return the result. If no transaction is open, begin one. If the
    operation fails, undo all its changes, so that the caller cannot commit some of them. Raises `StoreError` if no
    transaction is open and the connection is in autocommit mode."""
    begins = not connection.in_transaction
    if begins and (connection.isolation_level is None or getattr(connection, "autocommit", None) is True):
        raise _no_transaction()  # Python would not commit it
    cursor = connection.cursor()
    cursor.row_factory = None  # the caller's may return dicts, for example
    if begins:
        cursor.execute("BEGIN IMMEDIATE")
    cursor.execute("SAVEPOINT ostinato_operation")
    try:
        result = drive(make(), lambda s: execute_sqlite(cursor, query_of(s, "sqlite", queries("sqlite")), s))
    except BaseException:
        if begins:
            connection.rollback()
        elif connection.in_transaction:  # SQLite itself ends the transaction if the disk is full
            cursor.execute("ROLLBACK TO ostinato_operation")
            cursor.execute("RELEASE ostinato_operation")
        raise
    cursor.execute("RELEASE ostinato_operation")
    return result


def _query(statement: Statement) -> Query:
    return query_of(statement, "postgres", queries("postgres"))


def _no_transaction() -> StoreError:
    return StoreError("this connection is not in a transaction; begin one first")


def _check_psycopg(connection: Any) -> None:
    """Raise `StoreError` if each statement on the connection would be a transaction of its own."""
    if connection.autocommit and connection.info.transaction_status.name == "IDLE":
        raise _no_transaction()


async def _psycopg(connection: Any, make: Callable[[], Operation[T]]) -> T:
    _check_psycopg(connection)
    if not hasattr(connection, "__aenter__"):
        return drive(make(), lambda s: _psycopg_sync(connection, s))

    async def execute(statement: Statement) -> Rows:
        call = _driver_call(statement, "pyformat")
        if call is None:
            return []
        cursor = connection.cursor(row_factory=_rows_as_tuples())
        await cursor.execute(*call)
        return await cursor.fetchall() if cursor.description else []

    return await drive_async(make(), execute)


def _rows_as_tuples() -> Any:
    """Return psycopg's row factory for tuples. The caller's own factory may return dicts, for example."""
    from psycopg.rows import tuple_row

    return tuple_row


def _psycopg_sync(connection: Any, statement: Statement) -> Rows:
    call = _driver_call(statement, "pyformat")
    if call is None:
        return []
    cursor = connection.cursor(row_factory=_rows_as_tuples())
    cursor.execute(*call)
    return cursor.fetchall() if cursor.description else []


def _driver_call(statement: Statement, style: Style) -> tuple[str, Any] | None:
    """Return (SQL text, values) for a PostgreSQL driver, or None if the statement has no text or an empty batch."""
    query = _query(statement)
    if not query.text or (statement.rows is not None and not statement.rows):
        return None
    return query.render(style, statement.params, statement.rows)


async def _sqlalchemy(connection: Any, make: Callable[[], Operation[T]]) -> T:
    if hasattr(connection, "run_sync"):
        return await connection.run_sync(  # type: ignore[no-any-return]
            lambda sync: _drive_sqlalchemy(_sync_connection(sync), make)
        )
    return _drive_sqlalchemy(_sync_connection(connection), make)


def _sync_connection(connection: Any) -> Any:
    """Return the connection of a SQLAlchemy Session. If the argument already is a connection, return it unchanged."""
    return connection.connection() if hasattr(connection, "get_bind") else connection


def _drive_sqlalchemy(connection: Any, make: Callable[[], Operation[T]]) -> T:
    dialect = connection.dialect
    if dialect.name == "sqlite":
        raw = connection.connection.driver_connection
        if not isinstance(raw, sqlite3.Connection):
            raise StoreError("of SQLAlchemy's SQLite drivers only the built-in one (pysqlite) can be used here")
        return _drive_sqlite(raw, make)
    commits_each = getattr(dialect, "detect_autocommit_setting", None)  # since SQLAlchemy 2.0.43
    if commits_each is not None and commits_each(connection.connection.dbapi_connection):
        raise _no_transaction()
    style: Style = "dollar" if dialect.paramstyle.startswith("numeric") else "pyformat"

    def execute(statement: Statement) -> Rows:
        call = _driver_call(statement, style)
        if call is None:
            return []
        text, values = call
        result = connection.exec_driver_sql(text, tuple(values) if style == "dollar" else values)
        return [tuple(row) for row in result.fetchall()] if result.returns_rows else []

    return drive(make(), execute)
