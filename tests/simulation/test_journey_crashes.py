"""Dying before and after every statement of a journey with a task, branches, a timer, a wait and a compensation: it
ends the same, and every logical call goes under one key."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.errors import NotFound, StoreUnavailable
from ostinato.journeys.runtime.submit import StepNotActive
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, run_virtual
from tests.support.crash_walks import (
    LEASE,
    TRANSACTIONS,
    die_at,
    each_statement,
    each_transaction,
    play_until_crash,
    walk,
)
from tests.support.faults import CrashPoint, DroppingStore, FaultyStore, When
from tests.support.journey_parts import Work, plugins, text

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


async def story(dropping: DroppingStore, store: Store, clock: VirtualClock) -> None:
    work = Work()
    first = Ostinato(dropping, clock=clock, lease=LEASE, journey_plugins=plugins(work))
    await play_until_crash(first, dropping, booked(first))
    await store.close()
    async with Ostinato(store, clock=clock, lease=LEASE, journey_plugins=plugins(work)) as second:
        async with asyncio.timeout(200):
            id = await booked(second)
        await ended_well(second, id, work)


@each_transaction
def test_every_crash_point_of_a_journey_on_sqlite(sqlite_url: str, when: When) -> None:
    assert walk(sqlite_url, story, when) >= 30


def test_crash_points_of_a_journey_on_postgres(postgres_url: str) -> None:
    """Each point takes a while here, so some of them. Two writes may share a transaction in one play, so the points are
    counted in another one, too."""
    points = walk(postgres_url, story, *TRANSACTIONS, first=2, step=4)
    assert max(points, die_at(CrashPoint(1000, TRANSACTIONS[0]), postgres_url, story)) > 30


@pytest.mark.soak
@pytest.mark.timeout(7200)
@each_statement
def test_every_statement_of_a_journey(store_url: str, when: When) -> None:
    assert walk(store_url, story, when) >= (31 if when == "before the statement" else 30)


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
