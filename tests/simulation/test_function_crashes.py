"""Dying before and after every statement of the life of a function: the result is the same, no step that has ended is
done again, and no message, end of a child or cancellation is lost."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, run_virtual
from tests.support.crash_walks import LEASE, TRANSACTIONS, each_statement, play_until_crash, walk
from tests.support.faults import DroppingStore, FaultyStore, ForgetfulStore, HesitantStore, When
from tests.support.functions import Effects, check_order, declare_order, play_order, recorded

PARTS = 4  # of a walk, side by side


def make_app(store: Store, clock: VirtualClock, effects: Effects, cache: int) -> Ostinato:
    app = Ostinato(store, clock=clock, lease=LEASE, function_cache=cache)
    declare_order(app, effects)
    return app


async def story(dropping: DroppingStore, store: Store, clock: VirtualClock) -> None:
    effects, cache = Effects(), 1 + dropping.point.number % 2 * 99
    begin = asyncio.get_running_loop().time()
    first = make_app(dropping, clock, effects, cache)
    await play_until_crash(first, dropping, play_order(first, begin))
    await store.close()
    async with make_app(store, clock, effects, cache).connected() as client:
        ended = await recorded(client)
    before = dict(effects.calls)
    async with make_app(store, clock, effects, cache) as second:
        async with asyncio.timeout(200):
            await play_order(second, begin)
        await check_order(second)
    assert {name: effects.calls[name] for name in ended} == {name: before[name] for name in ended}
    assert set(effects.calls.values()) <= {1, 2, 3}


@pytest.mark.parametrize("part", range(PARTS))
def test_every_crash_point_of_a_function_on_sqlite(sqlite_url: str, part: int) -> None:
    assert walk(sqlite_url, story, *TRANSACTIONS, first=1 + part, step=PARTS) > 80


def test_crash_points_of_a_function_on_postgres(postgres_url: str) -> None:
    """Each point takes a while here, so some of them."""
    assert walk(postgres_url, story, *TRANSACTIONS, first=3, step=5) > 80


@pytest.mark.soak
@pytest.mark.timeout(7200)
@each_statement
def test_every_statement_of_a_function(store_url: str, when: When) -> None:
    assert walk(store_url, story, when) > 80


async def undisturbed(store: Store, clock: VirtualClock, cache: int = 100) -> Effects:
    """One node, whose store breaks and recovers: nothing is interrupted, so each effect takes place once."""
    effects = Effects()
    async with make_app(store, clock, effects, cache) as app:
        if isinstance(store, FaultyStore):
            store.lost, store.ambiguous, store.cut = 0.1, 0.2, 0.05
        async with asyncio.timeout(600):
            await play_order(app, asyncio.get_running_loop().time())
        if isinstance(store, FaultyStore):
            store.lost = store.ambiguous = store.cut = 0.0
            await asyncio.sleep(10)
        await check_order(app)
    expected = {"reserve": 1, "left": 1, "right": 1, "sub ada": 1, "flaky": 2, "work": 1, "clean": 1}
    assert dict(effects.calls) == expected
    return effects


@pytest.mark.parametrize("seed", range(20))
def test_a_store_that_breaks_leaves_each_effect_once(tmp_path: Any, seed: int) -> None:
    """Transactions are lost before their commit, or committed without an answer and tried again."""
    clock = VirtualClock()
    store = FaultyStore(SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False), random.Random(seed))
    run_virtual(undisturbed(store, clock, 1 + seed % 2 * 99), clock)
    assert store.faults > 5


def test_every_answer_lost_leaves_each_effect_once(tmp_path: Any) -> None:
    clock = VirtualClock()
    store = ForgetfulStore(SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False))
    run_virtual(undisturbed(store, clock), clock)


@pytest.mark.parametrize("seed", range(10))
def test_other_orders_of_what_happens_at_once_leave_each_effect_once(tmp_path: Any, seed: int) -> None:
    clock = VirtualClock()
    inner = SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False)
    run_virtual(undisturbed(HesitantStore(inner, random.Random(seed)), clock, 1 + seed % 2 * 99), clock)
