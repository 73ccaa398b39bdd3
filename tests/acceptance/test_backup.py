"""Backups that are made while nodes write, and what a restore replaces."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ostinato import Ostinato, StoreError
from ostinato.errors import Conflict
from ostinato.store.backup import restore


def test_a_backup_made_while_writing_is_whole_and_can_be_restored(tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")

        @app.job()
        async def work(n: int) -> int:
            return n

        pages: list[tuple[int, int]] = []
        async with app:
            for n in range(300):
                await app.start("work", {"n": n}, id=f"before-{n}")
            writing = asyncio.gather(*(app.start("work", {"n": n}, id=f"during-{n}") for n in range(300)))
            await app.backup(str(tmp_path / "copy.db"), lambda done, total: pages.append((done, total)))
            await writing
        assert pages[-1][0] == pages[-1][1] > 0
        with pytest.raises(StoreError, match="exists"):
            await restore(tmp_path / "copy.db", f"sqlite:///{tmp_path}/store.db")
        with pytest.raises(StoreError, match="no backup"):
            await restore(tmp_path / "nothing.db", f"sqlite:///{tmp_path}/new.db")
        await restore(tmp_path / "copy.db", f"sqlite:///{tmp_path}/new.db")
        restored = Ostinato(f"sqlite:///{tmp_path}/new.db")
        async with restored.connected():
            keys = {run.key for run in await restored.runs(limit=1000)}
            assert {f"before-{n}" for n in range(300)} <= keys

    asyncio.run(main())


def test_a_restore_replaces_no_store_in_use_and_no_other_database(tmp_path: Path) -> None:
    store, copy, other, text = (tmp_path / name for name in ("store.db", "copy.db", "other.db", "plain.txt"))

    def put_back(source: Path, target: Path) -> None:
        asyncio.run(restore(source, f"sqlite:///{target}", overwrite=True))

    def refused(source: Path, target: Path, words: str) -> None:
        before = target.read_bytes() if target.exists() else None
        with pytest.raises((StoreError, Conflict), match=words):
            put_back(source, target)
        assert (target.read_bytes() if target.exists() else None) == before

    async def restore_under_a_node() -> None:
        app = Ostinato(f"sqlite:///{store}")
        async with app:
            await app.backup(str(copy))
            with pytest.raises(Conflict, match="stop every node"):
                await restore(copy, f"sqlite:///{store}", overwrite=True)
            assert await app.runs() == []

    asyncio.run(restore_under_a_node())
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE customers (id integer)")
        connection.commit()
    text.write_text("no database, but long enough to be one")
    refused(other, store, "not a copy of a store")
    refused(text, tmp_path / "new.db", "plain.txt is not a copy of a store")
    refused(copy, other, "not a store of Ostinato's")
    refused(copy, text, "not a store of Ostinato's")
    refused(copy, copy, "the backup itself")
    store.write_bytes(store.read_bytes()[:100] + b"x" * 8000)  # damaged: what a backup is for
    put_back(copy, store)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "other.db", "plain.txt", "store.db"]


def test_postgres_is_backed_up_with_its_own_tools(postgres_url: str, tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(postgres_url)
        async with app.connected():
            with pytest.raises(StoreError, match="pg_dump"):
                await app.backup(str(tmp_path / "copy.db"))

    asyncio.run(main())
