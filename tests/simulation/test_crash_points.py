"""Dying before and after every statement of start, claim, checkpoint, complete and recover: the invariants hold."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.errors import StoreError
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.support.faults import Dropped, DroppingStore, Ledger, check_invariants
from tests.support.postgres import empty

LEASE = 4.0


def declare(app: Ostinato, ledger: Ledger) -> None:
    @app.job(serial_key="{key}", retry=2)
    async def work(ctx: Any, key: str, fail: bool = False) -> str:
        ledger.begin(ctx)
        await asyncio.sleep(0.5)
        await ctx.checkpoint({"at": ctx.attempt})
        await asyncio.sleep(0.5)
        if fail and ctx.attempt == 1:
            raise ValueError("once")
        ledger.end(ctx)
        return key


async def scenario(store: Store, clock: VirtualClock, at: int, after_commit: bool) -> int:
    """One node works until its connection is dropped at a statement; another comes and finishes everything."""
    ledger = Ledger()
    dropping = DroppingStore(store, at, after_commit)
    first = Ostinato(dropping, clock=clock, lease=LEASE)
    declare(first, ledger)
    started: list[str] = []
    try:
        await first._open(node=True)
        for n, key in enumerate(["a", "a", "b"]):
            run = await first.start("work", {"key": key, "fail": n == 0}, id=f"run-{n}")
            started.append(run.id)
        async with asyncio.timeout(60):
            for id in started:
                await first.engine.waiters.wait(id)
    except (Dropped, StoreError, TimeoutError):
        assert dropping.broken
    if first._engine is not None:
        await first.engine.kill()
        await first._close_after_crash()
    await store.close()
    second = Ostinato(store, clock=clock, lease=LEASE)
    declare(second, ledger)
    async with second:
        acknowledged = set(started)
        for n, key in enumerate(["a", "a", "b"]):
            await second.start("work", {"key": key, "fail": n == 0}, id=f"run-{n}")
        await asyncio.sleep(40)
        for id in acknowledged:
            assert (await second.get(id)).status in ("succeeded", "failed"), "an acknowledged run was lost"
        await check_invariants(second, ledger)
    return dropping.statements


@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_every_crash_point_on_sqlite(tmp_path: Any, after_commit: bool) -> None:
    walked = 0
    at = 1
    while True:
        clock = VirtualClock()
        store = SqliteStore(str(tmp_path / f"{at}.db"), inline=True, durable=False)
        statements = run_virtual(scenario(store, clock, at, after_commit), clock)
        walked += 1
        if statements < at:
            break
        at += 1
    assert walked > 40


@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_crash_points_on_postgres(postgres_url: str, after_commit: bool) -> None:
    """The same statements; each point takes a while here, so every sixth."""
    at = 1
    while True:
        clock = VirtualClock()
        store = _FrozenTimeStore(open_url(postgres_url))
        statements = run_virtual(scenario(store, clock, at, after_commit), clock)
        empty(postgres_url)
        if statements < at:
            break
        at += 6
    assert at > 40
