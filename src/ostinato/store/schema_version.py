"""Read the schema version of a store, without changing the store."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

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
        """How many migrations are missing, those of the extensions included."""
        versions = [(self.current, self.newest), *self.ways.values()]
        return sum(max(0, newest - current) for current, newest in versions)

    @property
    def newer(self) -> bool:
        """Whether a newer Ostinato has migrated the store, or the tables of an extension."""
        return any(current > newest for current, newest in [(self.current, self.newest), *self.ways.values()])

    @property
    def older(self) -> str:
        """What is older than this Ostinato needs, as the end of a sentence about the store."""
        versions = [("", self.current, self.newest)]
        versions += [(f" of {name}", current, newest) for name, (current, newest) in self.ways.items()]
        return "; it ".join(
            f"has schema {current}{name}, and this Ostinato needs {newest}"
            for name, current, newest in versions
            if current < newest
        )


class _Current(NamedTuple):
    version: int
    foreign: bool
    ways: dict[str, int]


async def read_version(url: str, *, check: bool = True, ways: Mapping[str, int] | None = None) -> StoreVersion:
    """Return a store's schema version. Raises `StoreError` if the store does not exist, is damaged or unreachable.

    With `check=True`, a SQLite file is checked for damage. The check takes time in proportion to the file's size.
    `ways` has the versions that extensions (`Way`) need, by name.
    """
    ways = ways or {}
    store = open_url(url)
    if isinstance(store, SqliteStore):
        return _compare(store.url, "sqlite", _read_file(store.path, check, ways), ways)
    import asyncpg

    try:
        connection = await asyncpg.connect(url, timeout=10)
    except (OSError, asyncpg.PostgresError, TimeoutError) as problem:
        raise StoreUnavailable(f"the store {store.url} does not answer: {problem}; is PostgreSQL running?") from problem
    try:
        version = await postgres_version(connection)
        foreign = not version and bool(await connection.fetchval(_POSTGRES_TABLES))
        versions = {name: await postgres_version(connection, way_key(name)) for name in ways if version}
        return _compare(store.url, "postgres", _Current(version, foreign, versions), ways)
    finally:
        await connection.close()


_POSTGRES_TABLES = """SELECT count(*) FROM pg_catalog.pg_class WHERE relkind IN ('r', 'p') AND pg_table_is_visible(oid)
    AND relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)"""


def _compare(
    url: str, dialect: Literal["sqlite", "postgres"], current: _Current, ways: Mapping[str, int]
) -> StoreVersion:
    versions = {name: (version, ways[name]) for name, version in current.ways.items()}
    return StoreVersion(url, current.version, migrations(dialect)[-1][0], current.foreign, versions)


async def check_usable(url: str, *, create: bool, ways: Mapping[str, int] | None = None) -> None:
    """Raise `StoreError` if a command cannot use the store. Commands call this before they open the store.

    With `create=False`, the store must exist and have the newest schema. Commands that read or change existing rows
    pass False. With `create=True`, the store may be missing or older, because opening it creates or migrates it.
    Commands that add rows pass True. If the database has tables, but none of Ostinato's, `NotAStore` is always raised.
    `ways` is as in `read_version`.
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


def _read_file(path: str, check: bool, ways: Mapping[str, int]) -> _Current:
    if not Path(path).is_file():
        raise NoStore(f"there is no store {path}")
    try:
        connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=10)
        try:
            if check:
                check_file(connection, path)
            version = sqlite_version(connection)
            foreign = not version and bool(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
            versions = {name: sqlite_version(connection, way_key(name)) for name in ways if version}
            return _Current(version, foreign, versions)
        finally:
            connection.close()
    except sqlite3.Error as problem:
        raise explain(problem, path) from problem
