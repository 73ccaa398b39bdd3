"""Nodes that are stopped in good order again and again, one alone or several, while schedules fire, journeys go on and
attempts are tried again. Nothing of it may show in what becomes of the work."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, every
from ostinato.ids import Ids
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from ostinato.testing import VirtualClock, run_virtual
from ostinato.testing.world import _FrozenTimeStore
from tests.simulation.schedule_records import due_by, records_of
from tests.support.faults import Ledger, SharedStore, check_invariants
from tests.support.journey_parts import Work, plugins, text

ERRAND = text(
    """
    a: {type: task, task: {kind: 'work:v1', seconds: 2, resultVar: gone}, next: rest}
    rest: {type: timer, timer: {duration: PT3S}, next: back}
    back: {type: task, task: {kind: 'work:v1', seconds: 1, resultVar: back}, next: done}
    done: {type: succeed}
    """
)


def declare(app: Ostinato, ledger: Ledger, dice: random.Random) -> None:
    @app.job(retry={"attempts": 9, "delay": "1s"})
    async def flaky(ctx: Any) -> None:
        ledger.begin(ctx)
        await asyncio.sleep(dice.random() * 3)
        if dice.random() < 0.3:
            raise ValueError("bad luck")
        ledger.end(ctx)

    @app.job(serial_key="{key}")
    async def serial(ctx: Any, key: str) -> None:
        ledger.begin(ctx, key)
        try:
            await asyncio.sleep(dice.random() * 4)
            ledger.end(ctx)
        finally:
            ledger.leave(ctx, key)


async def simulate(store: Store, clock: VirtualClock, seed: int, count: int) -> None:
    dice = random.Random(seed)
    work, ledger = Work(), Ledger()
    await store.open()
    numbers = iter(range(1000))

    def make() -> Ostinato:
        ids = Ids(random.Random(seed * 1000 + next(numbers)).getrandbits)
        app = Ostinato(
            SharedStore(store),
            clock=clock,
            lease=4,
            grace=dice.choice([0.1, 2, 20]),
            ids=ids,
            dice=dice,
            journey_plugins=plugins(work),
        )
        declare(app, ledger, dice)
        return app

    nodes: list[Ostinato] = []

    async def add() -> None:
        app = make()
        await app._open(node=True)
        nodes.append(app)

    stopping: list[asyncio.Task[None]] = []
    async with make().connected() as client:
        for _ in range(count):
            await add()
        await client.journeys.deploy(ERRAND)
        for overlap in ("skip", "buffer_all", "allow_all"):
            await client.schedules.create(overlap, every("2s"), "flaky", overlap=overlap, catchup="all", max_buffer=50)
        await client.schedules.create("errands", every("5s"), {"journey": "example"}, overlap="allow_all")
        for step in range(8):
            await client.start("serial", {"key": str(dice.randrange(2))})
            await client.journeys.start("example", mode="async")
            await asyncio.sleep(dice.random() * 3)
            app = nodes.pop(dice.randrange(len(nodes)))
            closing = asyncio.create_task(app._close())
            stopping.append(closing)
            if count == 1 and step % 2:  # nobody is there for a while
                await closing
            await asyncio.sleep(dice.random() * 3)
            await add()
        await asyncio.gather(*stopping)
        for name in ("skip", "buffer_all", "allow_all", "errands"):
            await client.schedules.pause(name)
        await asyncio.sleep(400)
        await check(client, ledger, clock)
        for app in nodes:
            await app._close()
    await store.close()


async def check(client: Ostinato, ledger: Ledger, clock: VirtualClock) -> None:
    await check_invariants(client, ledger)
    runs = await client.runs(limit=1000)
    ended = Counter(run.status for run in runs)
    assert ended.keys() <= {"succeeded", "skipped"}, [(r.name, r.status, r.reason) for r in runs]
    assert not any("cannot start" in (run.reason or "") for run in runs)
    events = await client.events(limit=100_000)
    for created in [event for event in events if event.name == "schedule:created"]:
        of_schedule = [event for event in events if event.subject == created.subject]
        paused = next(event.instant for event in of_schedule if event.name == "schedule:paused")
        autos = sorted(nominal for nominal, _, _ in await records_of(client, created.subject))
        assert autos == due_by(of_schedule, paused), created.data["name"]


@pytest.mark.parametrize("count", [1, 3], ids=["alone", "several"])
def test_stops_leave_no_trace_on_sqlite(tmp_path: Path, count: int) -> None:
    play(tmp_path, count, range(5))


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("count", [1, 3], ids=["alone", "several"])
def test_many_stops_leave_no_trace_on_sqlite(tmp_path: Path, count: int) -> None:
    play(tmp_path, count, range(5, 500))


def play(tmp_path: Path, count: int, seeds: range) -> None:
    for seed in seeds:
        clock = VirtualClock()
        store = SqliteStore(str(tmp_path / f"{seed}.db"), inline=True, durable=False)
        run_virtual(simulate(store, clock, seed, count), clock)


@pytest.mark.parametrize("count", [1, 3], ids=["alone", "several"])
def test_stops_leave_no_trace_on_postgres(postgres_url: str, count: int) -> None:
    clock = VirtualClock()
    run_virtual(simulate(_FrozenTimeStore(open_url(postgres_url, inline=True)), clock, 100 + count, count), clock)
