"""The migrations of ways after a node that died within them."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path

import pytest

from ostinato.store.contract import Operation, Store, sql
from ostinato.store.migrate import migrate_way, way_key
from ostinato.store.sqlite import SqliteStore
from ostinato.ways import WAYS
from tests.support.faults import CrashPoint, Dropped, DroppingStore, When


async def migrate_all(store: Store) -> None:
    await store.open()
    for way in WAYS:
        await migrate_way(store, way.name, way.loaded_migrations)


@pytest.mark.parametrize(
    ("when", "step"), [("before the statement", 9), ("before the transaction", 1), ("after the commit", 1)]
)
def test_the_next_node_makes_what_is_missing(tmp_path: Path, when: When, step: int) -> None:
    async def die_at(number: int) -> int:
        path = str(tmp_path / f"{number}.db")
        store = SqliteStore(path, inline=True)
        dropping = DroppingStore(store, CrashPoint(number, when))
        try:
            await migrate_all(dropping)
        except Dropped:
            assert dropping.broken
        await store.close()
        after = SqliteStore(path, inline=True)
        await migrate_all(after)
        for way in WAYS:
            if way.loaded_migrations:
                version = await after.read(lambda _, way=way: read_version(way.name))  # type: ignore[misc]
                assert version == str(len(way.loaded_migrations)), (way.name, number)
        await after.close()
        return dropping.points

    for number in count(1, step):
        if asyncio.run(die_at(number)) < number:
            assert number > 1
            return


def read_version(way: str) -> Operation[str]:
    rows = yield sql("schema_number", key=way_key(way))
    return str(rows[0][0])
