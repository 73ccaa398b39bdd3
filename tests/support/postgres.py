"""A PostgreSQL database that is migrated once and emptied between tests."""

from __future__ import annotations

from typing import Any

import asyncpg

from ostinato.store.migrate import migrate_postgres, migrate_way
from ostinato.store.urls import open_url
from ostinato.ways import WAYS

_OTHERS = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""
_SHAPE = """SELECT md5(coalesce(string_agg(part, ';' ORDER BY part), '')) FROM (
    SELECT concat_ws(' ', c.relname, c.relkind, a.attname, a.atttypid, a.attnotnull) AS part
        FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
        WHERE c.relnamespace = 'public'::regnamespace
    UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace) parts"""
_TABLES = "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'"
_SEQUENCES = "SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences"

_shapes: dict[str, str] = {}  # by database: what a migrated one looks like
_rows: dict[str, dict[str, list[Any]]] = {}  # and what is in its tables


async def bare(url: str) -> None:
    """Leave nothing in the database, and nobody else on it."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"{_OTHERS}; DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    finally:
        await connection.close()


async def empty(url: str) -> None:
    """Leave an empty store in the database, as a node would make it, and nobody else on it."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(_OTHERS)
        shape = await connection.fetchval(_SHAPE)
        if shape == _shapes.get(url):
            await _delete(connection, _rows[url])
            return
        await connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        await migrate_postgres(connection, url)
        await _migrate_ways(url)
        _shapes[url] = await connection.fetchval(_SHAPE)
        _rows[url] = {
            table: rows
            for (table,) in await connection.fetch(_TABLES)
            if (rows := await connection.fetch(f"TABLE {table}"))
        }
    finally:
        await connection.close()


async def _migrate_ways(url: str) -> None:
    """Make the tables of the ways, as every app does: with them missing, each test would have to migrate again."""
    store = open_url(url)
    await store.open()
    try:
        for way in WAYS:
            await migrate_way(store, way.name, way.loaded_migrations)
    finally:
        await store.close()


async def _delete(connection: Any, first: dict[str, list[Any]]) -> None:
    tables = [row[0] for row in await connection.fetch(_TABLES)]
    async with connection.transaction():
        await connection.execute("SET LOCAL session_replication_role = replica")  # foreign keys want no order
        await connection.execute("; ".join(f"DELETE FROM {table}" for table in tables))
        await connection.execute(_SEQUENCES)
        for table, rows in first.items():
            await connection.copy_records_to_table(table.strip('"'), records=[tuple(row) for row in rows])
