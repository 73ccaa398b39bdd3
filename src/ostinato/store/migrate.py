"""Numbered, forward-only migrations, run under a lock. A store made by a newer Ostinato is left alone."""

from __future__ import annotations

import re
import sqlite3
from functools import lru_cache
from importlib import resources
from typing import Any, Literal

from ostinato.errors import StoreError, shown

_NAME = re.compile(r"(?P<number>\d{4})_(?P<title>\w+)\.(?P<dialect>sqlite|postgres)\.sql")
_LOCK = 7_032_118_440
_SET = "INSERT INTO ostinato_meta VALUES ('schema', {}) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


@lru_cache(maxsize=2)
def migrations(dialect: Literal["sqlite", "postgres"]) -> tuple[tuple[int, str], ...]:
    """Each migration's number and text, in order."""
    found = []
    for file in resources.files("ostinato.store").joinpath("migrations").iterdir():
        match = _NAME.fullmatch(file.name)
        if match and match["dialect"] == dialect:
            found.append((int(match["number"]), file.read_text(encoding="utf-8")))
    return tuple(sorted(found))


def pending(dialect: Literal["sqlite", "postgres"], version: int, where: str) -> list[tuple[int, str]]:
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
            connection.execute(
                _SET.format("?"),
                (str(number),),
            )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def sqlite_version(connection: sqlite3.Connection) -> int:
    there = connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ostinato_meta'").fetchone()
    if not there:
        return 0
    row = connection.execute("SELECT value FROM ostinato_meta WHERE key = 'schema'").fetchone()
    return _number(row[0]) if row else 0


def _number(value: str) -> int:
    if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
        raise StoreError(f"ostinato_meta says that the schema is {shown(value)}, which is no number: restore a backup")
    return int(value)


async def migrate_postgres(connection: Any, where: str) -> None:
    if not pending("postgres", await postgres_version(connection), where):
        return
    async with connection.transaction():
        await connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
        for number, text in pending("postgres", await postgres_version(connection), where):
            await connection.execute(text)
            await connection.execute(
                _SET.format("$1"),
                str(number),
            )


async def postgres_version(connection: Any) -> int:
    # Not to_regclass: it answers from a cache that another node's migration, a moment ago, does not reach.
    there = "SELECT 1 FROM pg_catalog.pg_class WHERE relname = 'ostinato_meta' AND pg_table_is_visible(oid)"
    if not await connection.fetchval(there):
        return 0
    return _number(await connection.fetchval("SELECT value FROM ostinato_meta WHERE key = 'schema'") or "0")


def split(text: str) -> list[str]:
    """The statements of a migration; none of ours has a semicolon inside."""
    bare = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("--"))
    return [statement for statement in (part.strip() for part in bare.split(";")) if statement]
