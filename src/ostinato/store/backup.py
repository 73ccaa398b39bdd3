"""Online backup and restore of the embedded store. PostgreSQL has its own tools, and they are better."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from enum import Enum
from pathlib import Path

from ostinato.clock import SystemClock
from ostinato.errors import Conflict, StoreError
from ostinato.store.contract import Store
from ostinato.store.migrate import sqlite_version
from ostinato.store.sqlite import SqliteStore, check_file, explain

_PAGES = 1000  # copied between two looks at whether someone writes
_SQLITE = b"SQLite format 3\0"  # begins every such file
Progress = Callable[[int, int], None]  # pages done, pages in all


async def backup(store: Store, path: str | Path, progress: Progress | None = None, *, overwrite: bool = False) -> None:
    """Copy the store to a file while it is in use. The copy is what was committed at one moment, checked, and
    appears under its name only when it is whole.

    Raises `Conflict` where the file exists. With `overwrite` it replaces an older backup, and nothing else.
    """
    if not isinstance(store, SqliteStore):
        raise StoreError(f"back up {store.url} with pg_dump; tables of Ostinato begin with ostinato_")
    await asyncio.to_thread(_back_up, store.path, Path(path), progress, overwrite)


def _back_up(source: str, target: Path, progress: Progress | None, overwrite: bool) -> None:
    if target.exists():
        if target.samefile(source):
            raise Conflict(f"{target} is the store itself; name another file for the copy")
        if not overwrite:
            raise Conflict(f"{target} exists; replacing an older backup needs overwrite (--overwrite)")
        if not target.is_file() or _what_is(target) is not _Found.STORE:
            raise Conflict(f"{target} exists and is not a copy of a store; remove it, or name another file")
    _copy(Path(source), target, progress, in_use=True)


class _Found(Enum):
    """What a file is, to who would put another in its place."""

    STORE = "a store of Ostinato's"
    NOTHING = "empty"
    DAMAGED = "a SQLite file that cannot be read"
    FOREIGN = "somebody else's"


def _what_is(path: Path) -> _Found:
    """Nothing is changed by looking."""
    with path.open("rb") as file:
        head = file.read(len(_SQLITE))
    if head != _SQLITE:
        return _Found.FOREIGN if head else _Found.NOTHING
    try:
        with closing(_open_to_read(path)) as connection:
            if sqlite_version(connection):
                return _Found.STORE
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            return _Found.FOREIGN if tables else _Found.NOTHING
    except sqlite3.Error as problem:
        if getattr(problem, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return _Found.DAMAGED
        raise explain(problem, str(path)) from problem


def _open_to_read(path: Path, *, in_use: bool = False) -> sqlite3.Connection:
    """Unless it may be `in_use` at any moment, a file without a log beside it is open nowhere: SQLite is told so, or it
    would leave a log there itself."""
    alone = not in_use and not path.with_name(path.name + "-wal").exists()
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}", uri=True)


async def restore(path: str | Path, url: str, *, overwrite: bool = False) -> None:
    """Put a backup where a store is to be. What is there already is kept unless `overwrite` says otherwise; and it is
    kept in any case where it is no store of Ostinato's, or where a node is at work on it.

    Raises `StoreError` where the file is no backup, `Conflict` where something is in the way.
    """
    where = url.removeprefix("sqlite:///")
    if "://" in where:
        raise StoreError(f"a backup file can be restored to sqlite:///… only, not to {url}")
    await asyncio.to_thread(_restore, Path(path), Path(where), overwrite)


def _restore(source: Path, target: Path, overwrite: bool) -> None:
    if not source.is_file():
        raise StoreError(f"there is no backup {source}")
    match _what_is(source):
        case _Found.FOREIGN | _Found.NOTHING:
            raise StoreError(f"{source} is not a copy of a store of Ostinato's; nothing was changed")
        case _Found.DAMAGED:
            raise StoreError(f"the backup {source} is damaged; take another. Nothing was changed")
    if target.exists():
        _check_replaceable(source, target, overwrite)
    restored = target.with_name(target.name + ".restored")
    _copy(source, restored, None)
    if target.exists():
        _check_replaceable(source, target, overwrite)  # a node may have begun meanwhile
    for leftover in ("-wal", "-shm"):
        target.with_name(target.name + leftover).unlink(missing_ok=True)
    os.replace(restored, target)


def _check_replaceable(source: Path, target: Path, overwrite: bool) -> None:
    if not overwrite:
        raise StoreError(f"{target} exists; restoring over it needs overwrite=True")
    if not target.is_file():
        raise Conflict(f"{target} is not a file; name another place for the store")
    if target.samefile(source):
        raise Conflict(f"{target} is the backup itself; name another file for the store")
    found = _what_is(target)
    if found is _Found.FOREIGN:
        raise Conflict(f"{target} exists and is not a store of Ostinato's; remove it, or name another file")
    if found is _Found.STORE and (names := _nodes_at_work(target)):
        raise Conflict(
            f"{len(names)} of its nodes may be at work on {target} ({', '.join(names[:5])}): stop every node, then"
            " restore. One that was killed counts until its lease has run out, a few seconds later"
        )


def _nodes_at_work(path: Path) -> list[str]:
    """The names of nodes whose lease has not run out."""
    try:
        with closing(_open_to_read(path)) as connection:
            rows = connection.execute(
                "SELECT name FROM ostinato_nodes WHERE lease_until > ? ORDER BY name", (SystemClock().now(),)
            )
            return [name for (name,) in rows]
    except sqlite3.Error as problem:
        if getattr(problem, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT:
            return []  # nodes cannot work on it, either
        raise explain(problem, str(path)) from problem


def _copy(source: Path, target: Path, progress: Progress | None, *, in_use: bool = False) -> None:
    if not target.absolute().parent.is_dir():
        raise StoreError(f"the folder {target.absolute().parent} does not exist")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        with (
            closing(_open_to_read(source, in_use=in_use)) as origin,
            closing(sqlite3.connect(partial)) as copy,
        ):
            # One view of the file for the whole copy: without it, every commit of another process begins it anew.
            origin.execute("BEGIN")
            origin.execute("SELECT count(*) FROM sqlite_master").fetchone()
            tell = None if progress is None else lambda _, left, total: progress(total - left, total)
            origin.backup(copy, pages=_PAGES, progress=tell)
            check_file(copy, str(partial))
    except sqlite3.Error as problem:
        partial.unlink(missing_ok=True)
        raise explain(problem, str(source)) from problem
    descriptor = os.open(partial, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    os.replace(partial, target)
