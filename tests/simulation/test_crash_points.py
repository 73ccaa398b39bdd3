"""Dying before and after every statement of start, claim, checkpoint, complete and recover: the invariants hold."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.store.contract import Store
from ostinato.testing import VirtualClock
from tests.support.crash_walks import LEASE, each_statement, each_transaction, play_until_crash, walk
from tests.support.faults import DroppingStore, Ledger, When, check_invariants


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


async def story(dropping: DroppingStore, store: Store, clock: VirtualClock) -> None:
    """One node works until its connection is dropped; another comes and finishes everything."""
    ledger = Ledger()
    first = Ostinato(dropping, clock=clock, lease=LEASE)
    declare(first, ledger)
    acknowledged: set[str] = set()

    async def work() -> None:
        for n, key in enumerate(["a", "a", "b"]):
            run = await first.start("work", {"key": key, "fail": n == 0}, id=f"run-{n}")
            acknowledged.add(run.id)
        for id in sorted(acknowledged):
            await first.engine.waiters.wait(id)

    await play_until_crash(first, dropping, work())
    await store.close()
    second = Ostinato(store, clock=clock, lease=LEASE)
    declare(second, ledger)
    async with second:
        for n, key in enumerate(["a", "a", "b"]):
            await second.start("work", {"key": key, "fail": n == 0}, id=f"run-{n}")
        await asyncio.sleep(40)
        for id in acknowledged:
            assert (await second.get(id)).status in ("succeeded", "failed"), "an acknowledged run was lost"
        await check_invariants(second, ledger)


@each_transaction
def test_every_crash_point_on_sqlite(sqlite_url: str, when: When) -> None:
    assert walk(sqlite_url, story, when, uncounted=frozenset()) > 20


@each_transaction
def test_crash_points_on_postgres(postgres_url: str, when: When) -> None:
    """Each point takes a while here, so some of them."""
    assert walk(postgres_url, story, when, step=3, uncounted=frozenset()) > 20


@pytest.mark.soak
@pytest.mark.timeout(7200)
@each_statement
def test_every_statement(store_url: str, when: When) -> None:
    assert walk(store_url, story, when, uncounted=frozenset()) > 20
