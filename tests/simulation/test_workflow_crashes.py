"""Dying before and after every statement of a workflow's life: no event is lost or consumed twice, and no effect takes
place twice."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.errors import StoreError
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.support.faults import Dropped, DroppingStore, FaultyStore
from tests.support.postgres import empty
from tests.support.workflows import Mailbox, Service, mailbox

LEASE = 4.0
PARTS = 4  # of a walk over all crash points, to be walked beside one another
MAILS = ["one", "two", "three"]


def declared(app: Ostinato, service: Service, *, reconcile: bool) -> Mailbox:
    """The workflow, with a mutator that takes a while: a node can die in the middle of it."""
    box = mailbox(app, service=service, mails=list(MAILS), reconcile=reconcile)
    send = service.send

    async def slow(call: Any, **params: Any) -> Any:
        await asyncio.sleep(1)
        result = await send(call, **params)
        await asyncio.sleep(1)
        return result

    tools = app.workflows._surroundings.tools
    tools.mutators.clear()
    tools.mutator("send", reconcile=service.ask if reconcile else None)(slow)
    return box


async def everything_consumed(app: Ostinato, service: Service, *, reconcile: bool) -> None:
    """Wait until all is done. Without reconcile, a person says what really happened."""
    for _ in range(600):
        info = await app.workflows.get("inbox")
        events = await app.workflows.events("inbox")
        if len(events) == len(MAILS) and {event.status for event in events} <= {"consumed", "skipped"}:
            return
        if info.status == "Needs attention" and not reconcile:
            runs = await app.workflows.runs("inbox")
            took_effect = len(service.effects) > len([run for run in runs if _applied(run)])
            await app.workflows.resolve("inbox", "skip" if took_effect else "did_not_happen")
        await asyncio.sleep(1)
    raise AssertionError(f"not done: {info} {events}")


def _applied(run: Any) -> bool:
    return run.status == "committed" and run.outcome is not None and run.outcome["status"] in ("applied", "skipped")


async def ended_well(app: Ostinato, service: Service) -> None:
    sent = [mail["text"] for params in service.effects.values() for mail in params["mails"]]
    assert sorted(sent) == sorted(MAILS), "an effect took place twice, or not at all"
    runs = await app.workflows.runs("inbox", limit=1000)
    assert not [run for run in runs if run.status == "active"]
    assert await app.check(repair=False) == []


async def scenario(store: Store, clock: VirtualClock, at: int, after_commit: bool, reconcile: bool) -> int:
    service = Service()
    dropping = DroppingStore(store, at, after_commit, leave=frozenset({"renew_lease", "list_nodes", "any_drafts"}))
    first = Ostinato(dropping, clock=clock, lease=LEASE)
    declared(first, service, reconcile=reconcile)
    try:
        await first._open(node=True)
        async with asyncio.timeout(60):
            await everything_consumed(first, service, reconcile=reconcile)
    except (Dropped, StoreError, TimeoutError):
        assert dropping.broken
    if first._engine is not None:
        await first.engine.kill()
        await first._close_after_crash()
    await store.close()
    second = Ostinato(store, clock=clock, lease=LEASE)
    declared(second, service, reconcile=reconcile)
    async with second:
        await everything_consumed(second, service, reconcile=reconcile)
        await ended_well(second, service)
    return dropping.statements


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("reconcile", [True, False], ids=["reconcile", "person"])
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_every_crash_point_of_a_workflow_on_sqlite(
    tmp_path: Any, after_commit: bool, reconcile: bool, part: int
) -> None:
    at = 1 + part
    while True:
        clock = VirtualClock()
        store = SqliteStore(str(tmp_path / f"{at}.db"), inline=True, durable=False)
        statements = run_virtual(scenario(store, clock, at, after_commit, reconcile), clock)
        if statements < at:
            break
        at += PARTS
    assert at > 60


def walk_postgres(url: str, points: Iterator[int], after_commit: Callable[[int], bool], *, reconcile: bool) -> int:
    """Crash at these points until one lies behind the last statement. Returns how many statements there are."""
    for at in points:
        clock = VirtualClock()
        store = _FrozenTimeStore(open_url(url))
        statements = run_virtual(scenario(store, clock, at, after_commit(at), reconcile), clock)
        empty(url)
        if statements < at:
            return statements
    raise AssertionError("the points end before the statements")


def test_crash_points_of_a_workflow_on_postgres(postgres_url: str) -> None:
    """The same statements; each point takes a while here, so every ninth, before and after in turn."""
    assert walk_postgres(postgres_url, count(5, 9), lambda at: at % 2 == 0, reconcile=True) > 60


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("reconcile", [True, False], ids=["reconcile", "person"])
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_every_crash_point_of_a_workflow_on_postgres(postgres_url: str, after_commit: bool, reconcile: bool) -> None:
    assert walk_postgres(postgres_url, count(1), lambda _: after_commit, reconcile=reconcile) > 60


@pytest.mark.parametrize("seed", range(20))
def test_a_store_that_breaks_leaves_each_effect_once(tmp_path: Any, seed: int) -> None:
    """Transactions are lost before their commit, or committed without an answer and tried again."""

    async def main(clock: VirtualClock) -> None:
        service = Service()
        store = FaultyStore(SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False), random.Random(seed))
        app = Ostinato(store, clock=clock, lease=LEASE)
        declared(app, service, reconcile=True)
        async with app:
            store.lost, store.ambiguous = 0.1, 0.2
            await everything_consumed(app, service, reconcile=True)
            store.lost = store.ambiguous = 0.0
            await asyncio.sleep(10)
            await ended_well(app, service)
        assert store.faults > 5

    clock = VirtualClock()
    run_virtual(main(clock), clock)
