"""Dying before and after every statement of a workflow's life: no event is lost or consumed twice, and no effect takes
place twice."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, run_virtual
from tests.support.crash_walks import (
    LEASE,
    TRANSACTIONS,
    Story,
    each_statement,
    each_transaction,
    play_until_crash,
    walk,
)  # fmt: skip
from tests.support.faults import DroppingStore, FaultyStore, When
from tests.support.workflows import Mailbox, Service, mailbox

MAILS = ["one", "two", "three"]


def slow_mailbox(app: Ostinato, service: Service, *, reconcile: bool) -> Mailbox:
    """The workflow, with a mutator that takes a while: a node can die in the middle of it."""
    box = mailbox(app, service=service, mails=list(MAILS), reconcile=reconcile)
    send = service.send

    async def slow(call: Any, **params: Any) -> Any:
        await asyncio.sleep(1)
        result = await send(call, **params)
        await asyncio.sleep(1)
        return result

    tools = app.workflows._context.tools
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


def make_story(*, reconcile: bool) -> Story:
    async def story(dropping: DroppingStore, store: Store, clock: VirtualClock) -> None:
        service = Service()
        first = Ostinato(dropping, clock=clock, lease=LEASE)
        slow_mailbox(first, service, reconcile=reconcile)
        await play_until_crash(first, dropping, everything_consumed(first, service, reconcile=reconcile))
        await store.close()
        second = Ostinato(store, clock=clock, lease=LEASE)
        slow_mailbox(second, service, reconcile=reconcile)
        async with second:
            await everything_consumed(second, service, reconcile=reconcile)
            await ended_well(second, service)

    return story


each_repair = pytest.mark.parametrize("reconcile", [True, False], ids=["reconcile", "person"])


@each_repair
@each_transaction
def test_every_crash_point_of_a_workflow_on_sqlite(sqlite_url: str, when: When, reconcile: bool) -> None:
    assert walk(sqlite_url, make_story(reconcile=reconcile), when) > 30


def test_crash_points_of_a_workflow_on_postgres(postgres_url: str) -> None:
    """Each point takes a while here, so some of them."""
    assert walk(postgres_url, make_story(reconcile=True), *TRANSACTIONS, first=2, step=5) > 30


@pytest.mark.soak
@pytest.mark.timeout(7200)
@each_repair
@each_statement
def test_every_statement_of_a_workflow(store_url: str, when: When, reconcile: bool) -> None:
    assert walk(store_url, make_story(reconcile=reconcile), when) > 30


@pytest.mark.parametrize("seed", range(20))
def test_a_store_that_breaks_leaves_each_effect_once(tmp_path: Any, seed: int) -> None:
    """Transactions are lost before their commit, or committed without an answer and tried again."""

    async def main(clock: VirtualClock) -> None:
        service = Service()
        store = FaultyStore(SqliteStore(str(tmp_path / "store.db"), inline=True, durable=False), random.Random(seed))
        app = Ostinato(store, clock=clock, lease=LEASE)
        slow_mailbox(app, service, reconcile=True)
        async with app:
            store.lost, store.ambiguous = 0.1, 0.2
            await everything_consumed(app, service, reconcile=True)
            store.lost = store.ambiguous = 0.0
            await asyncio.sleep(10)
            await ended_well(app, service)
        assert store.faults > 5

    clock = VirtualClock()
    run_virtual(main(clock), clock)
