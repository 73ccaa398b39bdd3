"""Dying before and after every statement of the life of a function: the result is the same, no step that has ended is
done again, and no message, end of a child or cancellation is lost."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.errors import StoreError
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.support.faults import Dropped, DroppingStore, FaultyStore, ForgetfulStore, HesitantStore
from tests.support.functions import Effects, check_order, declare_order, play_order, recorded
from tests.support.postgres import empty

LEASE = 4.0
PARTS, POINTS = 4, 84  # of a walk over all crash points, to be walked beside one another
UNCOUNTED = frozenset({"renew_lease", "list_nodes", "any_drafts"})


def make_app(store: Store, clock: VirtualClock, effects: Effects, cache: int) -> Ostinato:
    app = Ostinato(store, clock=clock, lease=LEASE, function_cache=cache)
    declare_order(app, effects)
    return app


async def scenario(store: Store, clock: VirtualClock, at: int, after_commit: bool) -> int:
    effects, cache = Effects(), 1 + at % 2 * 99
    begin = asyncio.get_running_loop().time()
    dropping = DroppingStore(store, at, after_commit, leave=UNCOUNTED)
    first = make_app(dropping, clock, effects, cache)
    try:
        await first._open(node=True)
        playing = asyncio.create_task(play_order(first, begin))
        while not playing.done() and not dropping.broken:
            await asyncio.sleep(0.2)
        playing.cancel()
        await playing
    except (Dropped, StoreError, asyncio.CancelledError):
        assert dropping.broken
    if first._engine is not None:
        await first.engine.kill()
        await first._close_after_crash()
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
    return dropping.statements


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that is made once; every crash point begins with a copy."""
    path = tmp_path_factory.mktemp("empty") / "store.db"

    async def make() -> None:
        store = SqliteStore(str(path), inline=True, durable=False)
        await store.open()
        await store.close()

    asyncio.run(make())
    return path


def walk(tmp_path: Path, empty_store: Path, points: range, after_commit: bool) -> int:
    """Crash at each of these statements, or, after the commit, at one of each transaction. Returns the number of
    statements of a whole life."""
    at = points.start
    while at in points:
        clock = VirtualClock()
        path = tmp_path / f"{at}.db"
        shutil.copy(empty_store, path)
        store = SqliteStore(str(path), inline=True, durable=False)
        statements = run_virtual(scenario(store, clock, at, after_commit), clock)
        if statements < at:
            return statements
        at = statements + 1 if after_commit else at + 1
    return at - 1


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_every_crash_point_of_a_function_on_sqlite(
    tmp_path: Path, empty_store: Path, after_commit: bool, part: int
) -> None:
    last = part == PARTS - 1
    points = range(1 + part * POINTS, 10_000 if last else 1 + (part + 1) * POINTS)
    statements = walk(tmp_path, empty_store, points, after_commit)
    assert not last or statements > 300


def walk_postgres(url: str, points: Iterator[int], after_commit: Callable[[int], bool]) -> int:
    """Crash at these points until one lies behind the last statement. Returns how many statements there are."""
    for at in points:
        clock = VirtualClock()
        store = _FrozenTimeStore(open_url(url))
        statements = run_virtual(scenario(store, clock, at, after_commit(at)), clock)
        empty(url)
        if statements < at:
            return statements
    raise AssertionError("the points end before the statements")


def test_crash_points_of_a_function_on_postgres(postgres_url: str) -> None:
    """The same statements; each point takes a while here, so every eleventh, before and after in turn."""
    assert walk_postgres(postgres_url, count(3, 11), lambda at: at % 2 == 0) > 250


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_every_crash_point_of_a_function_on_postgres(postgres_url: str, after_commit: bool) -> None:
    assert walk_postgres(postgres_url, count(1), lambda _: after_commit) > 250


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
