"""Dying before and after every statement of a journey with a task, branches, a timer, a wait and a compensation: it
ends the same, and every logical call goes under one key."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.errors import NotFound, StoreError, StoreUnavailable
from ostinato.journeys.runtime.submit import StepNotActive
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.support.faults import Dropped, DroppingStore, FaultyStore
from tests.support.journey_parts import Work, plugins, text
from tests.support.postgres import empty

LEASE = 4.0
PARTS = 4  # of a walk over all crash points, to be walked beside one another
BOOKING = text(
    """
    a: {type: task, task: {kind: 'work:v1', seconds: 1, resultVar: booked}, next: both}
    both:
      type: parallel
      parallel:
        branches:
          - name: check
            start: call
            states:
              call: {type: task, task: {kind: 'work:v1', seconds: 3, resultVar: checked}, next: ok}
              ok: {type: succeed}
          - name: person
            start: answer
            states:
              answer: {type: wait, wait: {channel: manual, input: {schema: {type: integer}}}, next: ok}
              ok: {type: succeed}
          - name: patience
            start: sleep
            states:
              sleep: {type: timer, timer: {duration: PT10S}, next: ok}
              ok: {type: succeed}
        join: {strategy: allOf}
      next: pay
    pay: {type: task, task: {kind: 'work:v1', fail: NO_MONEY}, next: done}
    done: {type: succeed}
    """,
    spec="""
    compensation:
      start: undo
      states:
        undo: {type: task, task: {kind: 'work:v1', seconds: 1, resultVar: undone}, next: done}
        done: {type: succeed}
    """,
)


async def booked(app: Ostinato) -> str:
    """Everything that callers do, each call safe to be made again."""
    await app.journeys.deploy(BOOKING)
    id = (await app.journeys.start("example", {"n": 1}, id="one", wait="1s")).id
    while True:
        try:
            await app.journeys.submit(id, "answer", 7, key="k", wait="1s")
            break
        except (StepNotActive, NotFound):
            await asyncio.sleep(0.5)
    await app.journeys.wait(id, timeout="120s")
    await app.engine.waiters.wait(f"{id}c")
    return id


async def ended_well(app: Ostinato, id: str, work: Work) -> None:
    outcome = await app.journeys.result(id)
    assert (outcome.phase, outcome.status) == ("FAILED", "NO_MONEY")
    child = await app.journeys.result(f"{id}c")
    assert child.output == {
        "n": 1, "booked": True, "checked": True, "payload": 7, "undone": True,
    }  # fmt: skip
    assert set(work.keys) == {f"{id}:0:1", f"{id}:1:1", f"{id}:0:3", f"{id}c:0:1"}
    by_key = {(call.key, call.state) for call in work.calls}
    assert len(by_key) == 4, "one key stood for two calls"
    names = [one.name for one in await app.events(subject=id, limit=1000)]
    for name in ("journey:started", "journey:input_received", "journey:timer_fired", "journey:completed"):
        assert names.count(name) == 1, (name, names)
    assert [run.status for run in await app.runs()] == ["succeeded", "failed"]
    assert not [one for one in await app.upcoming() if one.kind == "journey"]
    assert await app.check(repair=False) == []


async def scenario(store: Store, clock: VirtualClock, at: int, after_commit: bool) -> int:
    work = Work()
    dropping = DroppingStore(store, at, after_commit, leave=frozenset({"renew_lease", "list_nodes", "any_drafts"}))
    first = Ostinato(dropping, clock=clock, lease=LEASE, journey_plugins=plugins(work))
    try:
        await first._open(node=True)
        async with asyncio.timeout(60):
            await booked(first)
    except (Dropped, StoreError, TimeoutError):
        assert dropping.broken
    if first._engine is not None:
        await first.engine.kill()
        await first._close_after_crash()
    await store.close()
    async with Ostinato(store, clock=clock, lease=LEASE, journey_plugins=plugins(work)) as second:
        async with asyncio.timeout(200):
            id = await booked(second)
        await ended_well(second, id, work)
    return dropping.statements


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("after_commit", [False, True], ids=["before the statement", "after the commit"])
def test_every_crash_point_of_a_journey_on_sqlite(tmp_path: Any, after_commit: bool, part: int) -> None:
    at = 1 + part
    while True:
        clock = VirtualClock()
        store = SqliteStore(str(tmp_path / f"{at}.db"), inline=True, durable=False)
        statements = run_virtual(scenario(store, clock, at, after_commit), clock)
        if statements < at:
            break
        at += PARTS
    assert at > 60


def test_crash_points_of_a_journey_on_postgres(postgres_url: str) -> None:
    """The same statements; each point takes a while here, so every ninth, before and after in turn."""
    at = 5
    while True:
        clock = VirtualClock()
        store = _FrozenTimeStore(open_url(postgres_url))
        statements = run_virtual(scenario(store, clock, at, at % 2 == 0), clock)
        empty(postgres_url)
        if statements < at:
            break
        at += 9
    assert at > 40


@pytest.mark.parametrize("seed", range(60))
def test_a_store_that_breaks_and_does_not_say_when_leaves_each_fact_once(tmp_path: Any, seed: int) -> None:
    """Transactions are lost before their commit, or committed without an answer and tried again."""

    async def main(clock: VirtualClock) -> None:
        work = Work()
        store = FaultyStore(SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False), random.Random(seed))
        app = Ostinato(store, clock=clock, lease=LEASE, journey_plugins=plugins(work))
        async with app:
            store.lost, store.ambiguous = 0.1, 0.2
            while True:
                try:
                    id = await booked(app)
                    break
                except StoreUnavailable:
                    await asyncio.sleep(0.5)
            store.lost = store.ambiguous = 0.0
            await asyncio.sleep(10)
            await ended_well(app, id, work)
        assert store.faults > 5

    clock = VirtualClock()
    run_virtual(main(clock), clock)
