"""No connection is left open where opening, stopping or closing is cancelled or fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import asyncpg
import pytest

from ostinato import Ostinato, OstinatoError
from ostinato.store.postgres import PostgresStore
from tests.support.kept_connections import kept_pids
from tests.support.postgres import EMPTYING

Work = Callable[[], Coroutine[Any, Any, Any]]


async def connections(url: str) -> int:
    """How many connections of Ostinato the server has, once it has noticed those that ended."""
    remote = await asyncpg.connect(url)
    try:
        query = f"""SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
            AND pid <> pg_backend_pid() AND application_name <> '{EMPTYING}' AND pid <> ALL($1)"""
        for _ in range(200):
            count = int(await remote.fetchval(query, kept_pids(url)))
            if count == 0:
                break
            await remote.execute("SELECT pg_sleep(0.01)")
        return count
    finally:
        await remote.close()


async def cancel_after(steps: int, work: Work) -> bool:
    """Cancel it after so many turns of the event loop. Returns whether it had ended by then."""
    task = asyncio.ensure_future(work())
    for _ in range(steps):
        await asyncio.sleep(0)
    ended = task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return ended


def test_a_store_whose_close_is_cancelled_leaves_no_connection(postgres_url: str) -> None:
    async def main() -> None:
        for steps in range(1, 12):  # a task that is cancelled before its first step never begins
            store = PostgresStore(postgres_url)
            await store.open()
            await cancel_after(steps, store.close)
            assert await connections(postgres_url) == 0, steps

    asyncio.run(main())


def test_a_store_whose_opening_is_cancelled_leaves_no_connection(postgres_url: str) -> None:
    async def main() -> None:
        for pause in (0.0, 0.002, 0.005, 0.01, 0.02, 0.04):
            store = PostgresStore(postgres_url)
            task = asyncio.ensure_future(store.open())
            await asyncio.wait([task], timeout=pause)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await store.close()
            assert await connections(postgres_url) == 0, pause

    asyncio.run(main())


@asynccontextmanager
async def failing() -> AsyncIterator[None]:
    with pytest.raises((asyncio.CancelledError, OstinatoError)):
        yield


def test_an_app_whose_start_fails_or_whose_stop_is_cancelled_leaves_no_connection(postgres_url: str) -> None:
    async def wrong() -> None:
        raise OstinatoError("not today")

    async def main() -> None:
        app = Ostinato(postgres_url)
        app._prepare_schedules = wrong  # type: ignore[method-assign]
        async with failing():
            await app.__aenter__()
        assert await connections(postgres_url) == 0
        for steps in (1, 2, 5, 10, 20):
            app = Ostinato(postgres_url)
            await app.__aenter__()
            await cancel_after(steps, app.__aexit__)
            async with asyncio.timeout(30):
                while await connections(postgres_url):  # the lease has a thread of its own
                    pass

    asyncio.run(main())
