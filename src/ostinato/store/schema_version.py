"""Read the schema version of a store, without changing the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from ostinato.errors import NotAStore, StoreError, StoreUnavailable
from ostinato.store.migrate import migrations, postgres_version, sqlite_version, way_key
from ostinato.store.sqlite import SqliteStore, check_file, explain
from ostinato.store.urls import open_url


@dataclass(frozen=True, slots=True)
class StoreVersion:
    """The schema version of a store, and the version that is needed.

    - `current`: the store's version, or 0, if the store has no tables of Ostinato
    - `newest`: the version that this Ostinato needs
    - `foreign`: whether the database has tables, but none of Ostinato's
    - `ways`: for each extension (`Way`) that has migrations, (the version of its tables, the version that is needed)
    """

    url: str
    current: int
    newest: int
    foreign: bool = False
    ways: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def pending(self) -> int:
        """The number of missing migrations, including the migrations of the extensions."""
        versions = [(self.current, self.newest), *self.ways.values()]
        return sum(max(0, newest - current) for current, newest in versions)

    @property
    def newer(self) -> bool:
        """Whether a newer Ostinato has migrated the store, or the tables of an extension."""
        return any(current > newest for current, newest in [(self.current, self.newest), *self.ways.values()])

    @property
    def older(self) -> str:
        """The end of a sentence about what is too old in the store, such as `has schema 3, and this Ostinato needs 4`.
        The text has such a part for Ostinato's own tables and for the tables of each extension (`Way`), if their
        version is too low. If no version is too low, the text is empty."""
        versions = [("", self.current, self.newest)]
        versions += [(f" of {name}", current, newest) for name, (current, newest) in self.ways.items()]
        return "; it ".join(
            f"has schema {current}{name}, and this Ostinato needs {newest}"
            for name, current, newest in versions
            if current < newest
        )


async def read_version(url: str, *, check: bool = True, ways: Mapping[str, int] | None = None) -> StoreVersion:
    """Return a store's schema version. Raises `StoreError` if the store does not exist, is damaged or cannot be
    reached. If `check` is true, a SQLite file is checked for damage, which takes time in proportion to its size. `ways`
    maps extensions (`Way`) to the versions that they need."""
    ways = ways or {}
    store = open_url(url)
    if isinstance(store, SqliteStore):
        return _read_file(store, check, ways)
    import asyncpg

    try:
        connection = await asyncpg.connect(url, timeout=10)
    except (OSError, asyncpg.PostgresError, TimeoutError) as problem:
        raise StoreUnavailable(f"the store {store.url} does not answer: {problem}; is PostgreSQL running?") from problem
    try:
        version = await postgres_version(connection)
        foreign = not version and bool(await connection.fetchval(_POSTGRES_TABLES))
        versions = {
            name: (await postgres_version(connection, way_key(name)), needed)
            for name, needed in ways.items()
            if version
        }
    finally:
        await connection.close()
    return StoreVersion(store.url, version, migrations("postgres")[-1][0], foreign, versions)


_POSTGRES_TABLES = """SELECT count(*) FROM pg_catalog.pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)
    AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)"""


async def check_usable(url: str, *, create: bool, ways: Mapping[str, int] | None = None) -> None:
    """Check whether a command can use the store. If `create` is true, the command may create or migrate the store when
    it opens the store. `ways` is as in `read_version`.

    Raises `StoreError` in these cases:

    - The store is damaged or unreachable.
    - The database has tables, but none of Ostinato's. The error is a `NotAStore`.
    - `create` is false, and the store does not exist, is empty, or has a schema that is too old.
    """
    try:
        schema = await read_version(url, check=False, ways=ways)
    except NoStore:
        if create:
            return
        raise
    if schema.foreign:
        raise NotAStore(
            f"{schema.url} has tables, and none of them is Ostinato's; is it the right database? To add tables"
            " of Ostinato to it, run `ostinato migrate`, or start a node there"
        )
    if create or not schema.pending:
        return
    if not schema.current:
        raise NotAStore(
            f"{schema.url} is empty: it has no tables of Ostinato yet. `ostinato migrate`, a starting node, or a"
            " command that adds something creates them"
        )
    raise StoreError(
        f"the store {schema.url} {schema.older}; `ostinato migrate` or a starting node brings it up to date"
    )


class NoStore(StoreError):
    """Raised if the store's file does not exist."""


def _read_file(store: SqliteStore, check: bool, ways: Mapping[str, int]) -> StoreVersion:
    path = Path(store.path)
    if not path.is_file():
        raise NoStore(f"there is no store {store.path}")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)) as connection:
            if check:
                check_file(connection, store.path)
            version = sqlite_version(connection)
            foreign = not version and bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
            versions = {
                name: (sqlite_version(connection, way_key(name)), needed) for name, needed in ways.items() if version
            }
    except sqlite3.Error as problem:
        raise explain(problem, store.path) from problem
    return StoreVersion(store.url, version, migrations("sqlite")[-1][0], foreign, versions)
