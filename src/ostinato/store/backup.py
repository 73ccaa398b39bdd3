"""Online backup and restore of the embedded store. PostgreSQL has its own tools, and they are better."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from ostinato.errors import StoreError
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore, check_file, explain

_PAGES = 1000  # copied between two looks at whether someone writes
Progress = Callable[[int, int], None]  # pages done, pages in all


async def backup(store: Store, path: str | Path, progress: Progress | None = None) -> None:
    """Copy the store to a file while it is in use. The copy is what was committed at one moment, checked, and
    appears under its name only when it is whole."""
    if not isinstance(store, SqliteStore):
        raise StoreError(f"back up {store.url} with pg_dump; tables of Ostinato begin with ostinato_")
    await asyncio.to_thread(_copy, store.path, Path(path), progress)


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
        origin = sqlite3.connect(f"file:{source}?mode=ro", uri=True)
        copy = sqlite3.connect(partial)
        try:
            # One view of the file for the whole copy: without it, every commit of another process begins it anew.
            origin.execute("BEGIN")
            origin.execute("SELECT count(*) FROM sqlite_master").fetchone()
            tell = None if progress is None else lambda _, left, total: progress(total - left, total)
            origin.backup(copy, pages=_PAGES, progress=tell)
            check_file(copy, str(partial))
        finally:
            copy.close()
            origin.close()
    except sqlite3.Error as problem:
        partial.unlink(missing_ok=True)
        raise explain(problem, source) from problem
    descriptor = os.open(partial, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    os.replace(partial, target)
