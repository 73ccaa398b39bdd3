"""Run the numbered migrations of a store under a lock. If a newer Ostinato has migrated the store, raise `StoreError`.
An extension (`Way`) may have its own migrations (`Migration`), which are numbered separately."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any

from ostinato.errors import StoreError, short_repr
from ostinato.store.contract import Extensions, Migration, Operation, Statement, Store, sql
from ostinato.store.sql import Dialect, Query

_NAME = re.compile(r"(?P<number>\d{4})_(?P<title>\w+)\.(?P<dialect>sqlite|postgres)\.sql")
_LOCK = 7_032_118_440
_SET = "INSERT INTO ostinato_meta VALUES ('schema', {}) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


@lru_cache(maxsize=2)
def migrations(dialect: Dialect) -> tuple[tuple[int, str], ...]:
    """Return the migrations of a dialect as (number, text), in order."""
    texts = []
    for file in resources.files("ostinato.store").joinpath("migrations").iterdir():
        match = _NAME.fullmatch(file.name)
        if match and match["dialect"] == dialect:
            texts.append((int(match["number"]), file.read_text(encoding="utf-8")))
    return tuple(sorted(texts))


def pending(dialect: Dialect, version: int, where: str) -> list[tuple[int, str]]:
    newest = migrations(dialect)[-1][0]
    if version > newest:
        raise StoreError(
            f"the store {where} was made by a newer Ostinato (schema {version}; this one knows {newest});"
            " upgrade this one"
        )
    return [(number, text) for number, text in migrations(dialect) if number > version]


def migrate_sqlite(connection: sqlite3.Connection, where: str) -> None:
    if not pending("sqlite", sqlite_version(connection), where):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number, text in pending("sqlite", sqlite_version(connection), where):
            for statement in split(text):
                connection.execute(statement)
            connection.execute(_SET.format("?"), (str(number),))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def sqlite_version(connection: sqlite3.Connection, key: str = "schema") -> int:
    table = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ostinato_meta'").fetchone()
    if not table:
        return 0
    row = connection.execute("SELECT value FROM ostinato_meta WHERE key = ?", (key,)).fetchone()
    return _number(row[0]) if row else 0


def _number(value: str) -> int:
    if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
        raise StoreError(
            f"the schema version in ostinato_meta is {short_repr(value)}, which is not a number; restore a backup"
        )
    return int(value)


async def migrate_postgres(connection: Any, where: str) -> None:
    if not pending("postgres", await postgres_version(connection), where):
        return
    async with connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
        for number, text in pending("postgres", await postgres_version(connection), where):
            await connection.execute(text)
            await connection.execute(_SET.format("$1"), str(number))


async def postgres_version(connection: Any, key: str = "schema") -> int:
    # Do not use to_regclass here: its cache may not have the tables that another node has just created.
    table_exists = "SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'ostinato_meta' AND pg_table_is_visible(oid)"
    if not await connection.fetchval(table_exists):
        return 0
    return _number(await connection.fetchval("SELECT value FROM ostinato_meta WHERE key = $1", key) or "0")


def split(text: str) -> list[str]:
    """Split a migration into its statements, at the semicolons that are not inside the definition of a trigger."""
    bare = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    statements: list[str] = []
    begun = ""
    for part in bare.split(";"):
        begun += part
        if sqlite3.complete_statement(f"{begun};"):
            statements.append(begun.strip())
            begun = ""
        else:
            begun += ";"
    return [statement for statement in statements if statement]


class _Steps:
    """The SQL statements that migrate an extension's tables from schema `version` to the newest one, for both dialects.
    `length` is the number of statements. If one dialect has fewer statements, it gets empty ones at the end."""

    def __init__(self, migrations: Sequence[Migration], version: int) -> None:
        texts = [(split(step.sqlite), split(step.postgres or step.sqlite)) for step in migrations[version:]]
        sqlite = [text for ours, _ in texts for text in ours]
        postgres = [text for _, ours in texts for text in ours]
        self.length = max(len(sqlite), len(postgres))
        self._queries = {"sqlite": self._numbered(sqlite), "postgres": self._numbered(postgres)}

    def _numbered(self, texts: list[str]) -> dict[str, Query]:
        texts = texts + [""] * (self.length - len(texts))  # a statement without a text is skipped
        return {str(number): Query(str(number), text, (), False) for number, text in enumerate(texts)}

    def statement(self, number: int) -> Statement:
        return Statement(str(number), {}, None, False, self)

    def queries(self, dialect: Dialect) -> dict[str, Query]:
        return self._queries[dialect]


def create_tables(connection: sqlite3.Connection, extensions: Extensions) -> None:
    """Create all tables in an empty SQLite database: those of the engine and those of the extensions."""
    migrate_sqlite(connection, ":memory:")
    for way, migrations in extensions.items():
        for migration in migrations:
            connection.executescript(migration.sqlite)
        connection.execute("INSERT INTO ostinato_meta VALUES (?, ?)", (way_key(way), str(len(migrations))))


def way_key(way: str) -> str:
    """Return the key in `ostinato_meta` for the schema version of an extension (`Way`)."""
    return f"schema:{way}"


async def migrate_way(store: Store, way: str, migrations: Sequence[Migration]) -> None:
    """Run the missing migrations of an extension (`Way`). Raises `StoreError` if its tables are too new."""
    key, newest = way_key(way), len(migrations)

    def read_version(_: int) -> Operation[int]:
        rows = yield sql("schema_number", key=key)
        return _number(rows[0][0]) if rows else 0

    def migrate(_: int) -> Operation[None]:
        yield sql("begin_schema", key=key)
        version = _number((yield sql("lock_schema", key=key))[0][0])
        if version < newest:
            steps = _Steps(migrations, version)
            for number in range(steps.length):
                yield steps.statement(number)
            yield sql("set_meta", [(key, str(newest))])

    version = await store.read(read_version)
    if version > newest:
        raise StoreError(
            f"the tables of {way} in {store.url} were made by a newer version of it (schema {version}; this one knows"
            f" {newest}); upgrade this one"
        )
    if version < newest:
        await store.run(migrate)
