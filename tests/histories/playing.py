"""Play a plan on a store of either kind."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import asyncpg

from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.histories.generate import Plan
from tests.histories.run import History, play


def on_sqlite(plan: Plan) -> History:
    return _on(plan, lambda: SqliteStore(":memory:", inline=True, durable=False))


def on_postgres(url: str, plan: Plan) -> History:
    asyncio.run(_wipe(url))
    return _on(plan, lambda: _FrozenTimeStore(open_url(url, inline=True)))


def _on(plan: Plan, make: Callable[[], Store]) -> History:
    clock = VirtualClock()
    return run_virtual(play(plan, make, clock), clock)


async def _wipe(url: str) -> None:
    """Every table empty, where there are any: to make them again would take longer than a history does."""
    connection = await asyncpg.connect(url)
    names = await connection.fetch(
        """SELECT tablename FROM pg_tables WHERE tablename LIKE 'ostinato\\_%'
        AND tablename NOT IN ('ostinato_meta', 'ostinato_namespaces')"""
    )
    if names:
        await connection.execute(f"TRUNCATE {', '.join(name for (name,) in names)} RESTART IDENTITY CASCADE")
    await connection.close()
