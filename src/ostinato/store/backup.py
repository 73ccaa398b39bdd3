"""Online backup and restore of the embedded store. PostgreSQL has its own tools, and they are better."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from ostinato.errors import Conflict, StoreError
from ostinato.store.contract import Store
from ostinato.store.migrate import sqlite_version
from ostinato.store.sqlite import SqliteStore, check_file, explain

_PAGES = 1000  # copied between two looks at whether someone writes
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
        if not _is_backup(target):
            raise Conflict(f"{target} exists and is not a copy of a store; remove it, or name another file")
    _copy(source, target, progress)


def _is_backup(path: Path) -> bool:
    """Whether a file is a store of Ostinato's; nothing is changed by looking."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return bool(sqlite_version(connection))
        finally:
            connection.close()
    except (sqlite3.Error, OSError, ValueError):
        return False


async def restore(path: str | Path, url: str, *, overwrite: bool = False) -> None:
    """Put a backup where a store is to be. What is there already is kept unless `overwrite` says otherwise."""
    where = url.removeprefix("sqlite:///")
    if "://" in where:
        raise StoreError(f"a backup file can be restored to sqlite:///… only, not to {url}")
    await asyncio.to_thread(_restore, Path(path), Path(where), overwrite)


def _restore(source: Path, target: Path, overwrite: bool) -> None:
    if not source.is_file():
        raise StoreError(f"there is no backup {source}")
    if target.exists() and not overwrite:
        raise StoreError(f"{target} exists; restoring over it needs overwrite=True")
    _copy(str(source), target.with_name(target.name + ".restored"), None)
    for leftover in ("-wal", "-shm"):
        target.with_name(target.name + leftover).unlink(missing_ok=True)
    os.replace(target.with_name(target.name + ".restored"), target)


def _copy(source: str, target: Path, progress: Progress | None) -> None:
    if not target.absolute().parent.is_dir():
        raise StoreError(f"the folder {target.absolute().parent} does not exist")
    partial = target.with_name(target.name + ".partial")
    partial.unlink(missing_ok=True)
    try:
        with (
            closing(sqlite3.connect(f"file:{source}?mode=ro", uri=True)) as origin,
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
        raise explain(problem, source) from problem
    descriptor = os.open(partial, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    os.replace(partial, target)
