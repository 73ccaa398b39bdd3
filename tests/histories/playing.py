"""Play a plan on a store of either kind."""

from __future__ import annotations

import asyncio
from unittest.mock import patch

import asyncpg

from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.histories.generate import Plan
from tests.histories.run import History, play
from tests.support.kept_connections import run_on_kept_connections


def on_sqlite(plan: Plan) -> History:
    clock = VirtualClock()
    return run_virtual(play(plan, lambda: SqliteStore(":memory:", inline=True, durable=False), clock), clock)


def on_postgres(url: str, plan: Plan) -> History:
    asyncio.run(_wipe(url))
    clock = VirtualClock()
    # Virtual time does not pass while the store works, so the store may not pause before it tries again.
    with patch("ostinato.store.postgres.backoff", return_value=0.0):
        return run_on_kept_connections(play(plan, lambda: _FrozenTimeStore(open_url(url, inline=True)), clock), clock)


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
