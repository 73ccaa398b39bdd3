"""Back up SQLite stores, even while in use, and restore them while no node runs. For PostgreSQL, use its own tools."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from enum import Enum
from pathlib import Path

from ostinato.clock import SystemClock
from ostinato.errors import Conflict, NotAStore, StoreError
from ostinato.store.contract import Store
from ostinato.store.migrate import sqlite_version
from ostinato.store.sqlite import SqliteStore, check_file, explain

_PAGES = 1000  # pages per step; writers get a turn between steps
_SQLITE = b"SQLite format 3\0"  # the first bytes of every SQLite file
Progress = Callable[[int, int], None]  # pages done, pages in all


async def backup(store: Store, path: str | Path, progress: Progress | None = None, *, overwrite: bool = False) -> None:
    """Copy the store to a file while the store is in use. The file `path` is created or replaced only when the copy is
    complete and was checked. Raises `Conflict` if the file exists, unless `overwrite` is true and the file is an older
    backup. Raises `StoreError` if the store is not SQLite, is not a store of Ostinato's, or cannot be copied."""
    if not isinstance(store, SqliteStore):
        raise StoreError(f"back up the whole database {store.url} with pg_dump: ways may have tables in it, too")
    await asyncio.to_thread(_back_up, store.path, Path(path), progress, overwrite)


def _back_up(source: str, target: Path, progress: Progress | None, overwrite: bool) -> None:
    if target.exists():
        if target.samefile(source):
            raise Conflict(f"{target} is the store itself; name another file for the copy")
        if not overwrite:
            raise Conflict(f"{target} exists; replacing an older backup needs overwrite (--overwrite)")
        if not target.is_file() or _file_kind(target) is not _FileKind.STORE:
            raise Conflict(f"{target} exists and is not a copy of a store; remove it, or name another file")
    _copy(Path(source), target, progress, in_use=True)


class _FileKind(Enum):
    """What a file contains, which decides whether the file may be replaced."""

    STORE = "a store of Ostinato's"
    NOTHING = "empty"
    DAMAGED = "a SQLite file that cannot be read"
    FOREIGN = "somebody else's"


def _file_kind(path: Path) -> _FileKind:
    with path.open("rb") as file:
        head = file.read(len(_SQLITE))
    if head != _SQLITE:
        return _FileKind.FOREIGN if head else _FileKind.NOTHING
    try:
        with closing(_open_to_read(path)) as connection:
            if sqlite_version(connection):
                return _FileKind.STORE
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            return _FileKind.FOREIGN if tables else _FileKind.NOTHING
    except sqlite3.Error as problem:
        if getattr(problem, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return _FileKind.DAMAGED
        raise explain(problem, str(path)) from problem


def _open_to_read(path: Path, *, in_use: bool = False) -> sqlite3.Connection:
    """Open an SQLite file read-only. SQLite may create a WAL file beside a file that it reads. To avoid this, open the
    file as immutable, unless `in_use` is true or the file has a WAL file already."""
    alone = not in_use and not path.with_name(path.name + "-wal").exists()
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if alone else ''}", uri=True)


async def restore(path: str | Path, url: str, *, overwrite: bool = False) -> None:
    """Copy the backup `path` to the place of a store. `url` names the store. If the store exists, it is replaced only
    if `overwrite` is true and no node is running on it.

    Raises `StoreError` if `url` does not name a SQLite store, if `path` is not a backup, or if the store exists and
    `overwrite` is false. Raises `Conflict` if a node is running on the store, or if the existing file must not be
    replaced, for example because it is not a store.
    """
    where = url.removeprefix("sqlite:///")
    if "://" in where:
        raise StoreError(f"a backup file can be restored to sqlite:///… only, not to {url}")
    await asyncio.to_thread(_restore, Path(path), Path(where), overwrite)


def _restore(source: Path, target: Path, overwrite: bool) -> None:
    if not source.is_file():
        raise StoreError(f"there is no backup {source}")
    match _file_kind(source):
        case _FileKind.FOREIGN | _FileKind.NOTHING:
            raise StoreError(f"{source} is not a copy of a store of Ostinato's; nothing was changed")
        case _FileKind.DAMAGED:
            raise StoreError(f"the backup {source} is damaged; take another. Nothing was changed")
    if target.exists():
        _check_replaceable(source, target, overwrite)
    restored = target.with_name(target.name + ".restored")
    _copy(source, restored, None)
    if target.exists():
        _check_replaceable(source, target, overwrite)  # a node may have started in the meantime
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
    kind = _file_kind(target)
    if kind is _FileKind.FOREIGN:
        raise Conflict(f"{target} exists and is not a store of Ostinato's; remove it, or name another file")
    if kind is _FileKind.STORE and (names := _nodes_at_work(target)):
        raise Conflict(
            f"{len(names)} nodes may be running on {target} ({', '.join(names[:5])}): stop every node, then"
            " restore. A node that was killed counts until its lease expires, a few seconds later"
        )


def _nodes_at_work(path: Path) -> list[str]:
    """Return the names of nodes whose lease has not expired."""
    try:
        with closing(_open_to_read(path)) as connection:
            rows = connection.execute(
                "SELECT name FROM ostinato_nodes WHERE lease_until > ? ORDER BY name", (SystemClock().now(),)
            )
            return [name for (name,) in rows]
    except sqlite3.Error as problem:
        if getattr(problem, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CORRUPT:
            return []  # no node can run on a damaged store
        raise explain(problem, str(path)) from problem


def _copy(source: Path, target: Path, progress: Progress | None, *, in_use: bool = False) -> None:
    if not target.absolute().parent.is_dir():
        raise StoreError(f"the folder {target.absolute().parent} does not exist")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        with closing(_open_to_read(source, in_use=in_use)) as origin:
            # Read one snapshot for the whole copy: otherwise every commit of another process restarts the copy.
            origin.execute("BEGIN")
            if not sqlite_version(origin):
                raise NotAStore(f"{source} has no tables of Ostinato; is it the right database? Nothing was copied")
            with closing(sqlite3.connect(partial)) as copy:
                report = None if progress is None else lambda _, left, total: progress(total - left, total)
                origin.backup(copy, pages=_PAGES, progress=report)
                check_file(copy, str(partial))
    except sqlite3.Error as problem:
        partial.unlink(missing_ok=True)
        raise explain(problem, str(source)) from problem
    descriptor = os.open(partial, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    os.replace(partial, target)
