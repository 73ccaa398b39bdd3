"""Which schema a store has, without changing it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from ostinato.errors import StoreError, StoreUnavailable
from ostinato.store.migrate import migrations, postgres_version, sqlite_version
from ostinato.store.sqlite import SqliteStore, check_file, explain
from ostinato.store.urls import open_url


@dataclass(frozen=True, slots=True)
class Schema:
    """`found` is the store's, 0 where there is none yet; `known` is the newest that this Ostinato has."""

    url: str
    found: int
    known: int

    @property
    def pending(self) -> int:
        return max(0, self.known - self.found)


async def look(url: str) -> Schema:
    """Look at a store. One that is not there, damaged or unreachable says so."""
    store = open_url(url)
    if isinstance(store, SqliteStore):
        return Schema(store.url, _look_at_file(store.path), migrations("sqlite")[-1][0])
    import asyncpg

    try:
        connection = await asyncpg.connect(url, timeout=10)
    except (OSError, asyncpg.PostgresError, TimeoutError) as problem:
        raise StoreUnavailable(f"the store {store.url} does not answer: {problem}; is PostgreSQL running?") from problem
    try:
        return Schema(store.url, await postgres_version(connection), migrations("postgres")[-1][0])
    finally:
        await connection.close()


def _look_at_file(path: str) -> int:
    if not Path(path).is_file():
        raise StoreError(f"there is no store {path}")
    try:
        connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=10)
        try:
            check_file(connection, path)
            return sqlite_version(connection)
        finally:
            connection.close()
    except sqlite3.Error as problem:
        raise explain(problem, path) from problem
