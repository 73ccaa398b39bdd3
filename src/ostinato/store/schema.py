"""Which schema a store has, without changing it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ostinato.errors import NotAStore, StoreError, StoreUnavailable
from ostinato.store.migrate import migrations, postgres_version, sqlite_version
from ostinato.store.sqlite import SqliteStore, check_file, explain
from ostinato.store.urls import open_url


@dataclass(frozen=True, slots=True)
class Schema:
    """`found` is the store's, 0 where there is none yet; `known` is the newest that this Ostinato has. `foreign`:
    there are tables, and none of them is Ostinato's."""

    url: str
    found: int
    known: int
    foreign: bool = False

    @property
    def pending(self) -> int:
        return max(0, self.known - self.found)


class _Looked(NamedTuple):
    found: int
    foreign: bool


async def look(url: str, *, check: bool = True) -> Schema:
    """Look at a store. One that is not there, damaged or unreachable says so. Without `check` a file is not read
    through for damage, which takes as long as it is large."""
    store = open_url(url)
    if isinstance(store, SqliteStore):
        return Schema(store.url, *_known("sqlite", _look_at_file(store.path, check)))
    import asyncpg

    try:
        connection = await asyncpg.connect(url, timeout=10)
    except (OSError, asyncpg.PostgresError, TimeoutError) as problem:
        raise StoreUnavailable(f"the store {store.url} does not answer: {problem}; is PostgreSQL running?") from problem
    try:
        found = await postgres_version(connection)
        foreign = not found and bool(await connection.fetchval(_POSTGRES_TABLES))
        return Schema(store.url, *_known("postgres", _Looked(found, foreign)))
    finally:
        await connection.close()


_POSTGRES_TABLES = """SELECT count(*) FROM pg_catalog.pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)
    AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)"""


def _known(dialect: str, looked: _Looked) -> tuple[int, int, bool]:
    newest = migrations("sqlite" if dialect == "sqlite" else "postgres")[-1][0]
    return looked.found, newest, looked.foreign


async def check_usable(url: str, *, create: bool) -> None:
    """Refuse a store that opening would change, for who only looks or changes what is there. With `create`, for who
    puts something in: a store that is not there or is older is made ready, but a database of somebody else's is not
    touched."""
    try:
        schema = await look(url, check=False)
    except NoStore:
        if create:
            return
        raise
    if schema.foreign:
        raise NotAStore(
            f"{schema.url} has tables, and none of them is Ostinato's; is it the right one? To keep Ostinato's tables"
            " beside them, run `ostinato migrate`, or start a node there"
        )
    if create or not schema.pending:
        return
    if not schema.found:
        raise NotAStore(
            f"{schema.url} is empty: no Ostinato has worked there yet. `ostinato migrate`, a node that starts or a"
            " command that puts something in makes its tables"
        )
    raise StoreError(
        f"the store {schema.url} has schema {schema.found}, and this Ostinato needs {schema.known}: `ostinato migrate`"
        " brings it up to date, and so does a node that starts"
    )


class NoStore(StoreError):
    """There is no such file."""


def _look_at_file(path: str, check: bool) -> _Looked:
    if not Path(path).is_file():
        raise NoStore(f"there is no store {path}")
    try:
        connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=10)
        try:
            if check:
                check_file(connection, path)
            found = sqlite_version(connection)
            foreign = not found and bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
            return _Looked(found, foreign)
        finally:
            connection.close()
    except sqlite3.Error as problem:
        raise explain(problem, path) from problem
