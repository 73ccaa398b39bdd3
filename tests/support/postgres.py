"""A PostgreSQL database that is migrated once and emptied between tests.

It is emptied on a connection that stays open: a new one takes the server longer to set up than the rows to delete.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import psycopg

from ostinato.store.migrate import migrate_way
from ostinato.store.urls import open_url
from ostinato.ways import WAYS
from tests.support import kept_connections

EMPTYING = "ostinato-emptying"  # the name of the connection on which databases are emptied
_OTHERS = """SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND pid <> ALL(%s)"""
_SHAPE = """SELECT md5(coalesce(string_agg(part, ';' ORDER BY part), '')) FROM (
    SELECT concat_ws(' ', c.relname, c.relkind, a.attname, a.atttypid, a.attnotnull) AS part
        FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
        WHERE c.relnamespace = 'public'::regnamespace
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace) parts"""
_DROP = "DROP SCHEMA public CASCADE; CREATE SCHEMA public"
_TABLES = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'"
_SEQUENCES = "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences"

_connections: dict[str, psycopg.Connection[Any]] = {}  # by database
_shapes: dict[str, str] = {}  # what a migrated one looks like
_rows: dict[str, dict[str, list[Any]]] = {}  # and what is in its tables


def bare(url: str) -> None:
    """Leave nothing in the database, and nobody else on it."""
    _end_others(url, spare=[])
    _connection(url).execute(_DROP)


def empty(url: str) -> None:
    """Leave an empty store in the database, as a node would make it, and nobody else on it."""
    connection = _connection(url)
    _end_others(url, spare=kept_connections.kept_pids(url))
    if _value(connection, _SHAPE) == _shapes.get(url):
        _delete(connection, _rows[url])
        return
    kept_connections.forget(url)
    connection.execute(_DROP)
    asyncio.run(_migrate(url))
    _shapes[url] = _value(connection, _SHAPE)
    _rows[url] = {table: rows for table in _tables(connection) if (rows := _query(connection, f"TABLE {table}"))}


def _end_others(url: str, spare: Sequence[int]) -> None:
    """End all connections to the database but this module's and those of the server processes in `spare`."""
    if not spare:
        kept_connections.forget(url)
    _connection(url).execute(_OTHERS, [list(spare)])


def disconnect(url: str) -> None:
    """Close the connection on which the database is emptied."""
    if url in _connections:
        _connections.pop(url).close()


def _connection(url: str) -> psycopg.Connection[Any]:
    """Return the connection to this database; a new one if a test has ended it."""
    try:
        _connections[url].execute("SELECT")
    except (KeyError, psycopg.OperationalError):
        disconnect(url)
        _connections[url] = psycopg.connect(url, autocommit=True, application_name=EMPTYING)
    return _connections[url]


def _query(connection: psycopg.Connection[Any], text: str) -> list[Any]:
    return connection.execute(text).fetchall()


def _value(connection: psycopg.Connection[Any], text: str) -> Any:
    return _query(connection, text)[0][0]


def _tables(connection: psycopg.Connection[Any]) -> list[str]:
    return [table for (table,) in _query(connection, _TABLES)]


async def _migrate(url: str) -> None:
    """Make all tables, those of the ways too, as every app does: each test would have to make the missing ones."""
    store = open_url(url)
    await store.open()
    try:
        for way in WAYS:
            await migrate_way(store, way.name, way.loaded_migrations)
    finally:
        await store.close()


def _delete(connection: psycopg.Connection[Any], first: dict[str, list[Any]]) -> None:
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")  # foreign keys want no order
        connection.execute("; ".join(f"DELETE FROM {table}" for table in _tables(connection)))
        connection.execute(_SEQUENCES)
        for table, rows in first.items():
            with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
