"""What happens around a node: a store that is away for longer than a lease, clocks that somebody sets. It costs time,
and nothing else: nobody's work is given up, no coming time is missed, and the dead stay dead."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, every
from ostinato.engine.timekeeping import PATIENCE, Agreement, agree
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import SkewedClock, VirtualClock, run_virtual
from ostinato.when.instants import SECOND
from tests.support.faults import FaultyStore, SharedStore

LEASE = 4
HOUR = 3600 * SECOND


class Place:
    """Nodes on one store: a server with a clock of its own, or a file on one machine."""

    def __init__(self, path: Path, clock: VirtualClock, server: bool) -> None:
        self._shared = SqliteStore(str(path / "store.db"), inline=True, durable=False)
        self._clock = clock
        self._server = clock if server else None
        self.machine = SkewedClock(clock)
        self.apps: list[Ostinato] = []
        self.clocks: list[SkewedClock] = []
        self.stores: list[FaultyStore] = []
        self.attempts: list[int] = []

    async def add(self) -> Ostinato:
        clock = SkewedClock(self._clock) if self._server else self.machine
        store = SharedStore(self._shared, self._server)
        app = Ostinato(store, clock=clock, lease=LEASE, grace=1)

        @app.job()
        async def long(ctx: Any) -> None:
            self.attempts.append(ctx.attempt)
            await asyncio.sleep(60)

        @app.job(at_most_once=True)
        async def once() -> None:
            await asyncio.sleep(60)

        @app.job()
        async def tick() -> None: ...

        await app._open(node=True)
        self.apps.append(app)
        self.clocks.append(clock)
        self.stores.append(store)
        return app

    async def kill(self, app: Ostinato) -> None:
        at = self.apps.index(app)
        for several in (self.apps, self.clocks, self.stores):
            del several[at]
        await app.engine.kill()
        await app._close_after_crash()

    async def trouble(self, kind: Any, seconds: float) -> None:
        """For all of them at once; when it is over, one hears of it after the other."""
        for store in self.stores:
            store.trouble = kind
        await asyncio.sleep(seconds)
        for store in list(self.stores):
            store.trouble = ""
            await asyncio.sleep(1)

    @asynccontextmanager
    async def opened(self, count: int) -> AsyncIterator[Place]:
        await self._shared.open()
        for _ in range(count):
            await self.add()
        yield self
        for app in self.apps:
            await app._close()
        await self._shared.close()


@pytest.mark.parametrize("server", [True, False], ids=["server", "file"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("kind", ["away", "locked", "full"])
def test_a_store_that_is_away_for_longer_than_the_lease_costs_nobody_his_work(
    tmp_path: Path, server: bool, count: int, kind: str
) -> None:
    async def main(clock: VirtualClock) -> None:
        async with Place(tmp_path, clock, server).opened(count) as place:
            first = place.apps[0]
            runs = [await first.start("long") for _ in range(20)] + [await first.start("once")]
            await asyncio.sleep(2.5 * LEASE)
            for seconds in (0.7 * LEASE, 0.9 * LEASE, 1.3 * LEASE, 5 * LEASE):
                await place.trouble(kind, seconds)
                await asyncio.sleep(0.3 * LEASE)
            await asyncio.sleep(60)
            assert {(await run.info()).status for run in runs} == {"succeeded"}
            assert set(place.attempts) == {1}
            assert len(place.attempts) == 20
            assert len(await first.nodes()) == count
            assert await first.check(repair=False) == []

    clock = VirtualClock()
    run_virtual(main(clock), clock)


@pytest.mark.parametrize("kind", ["away", "locked", "full"])
def test_a_node_whose_store_cannot_be_written_is_not_ready(tmp_path: Path, kind: str) -> None:
    async def main(clock: VirtualClock) -> None:
        async with Place(tmp_path, clock, server=False).opened(1) as place:
            app = place.apps[0]
            assert app.unready() is None
            away = asyncio.create_task(place.trouble(kind, 3 * LEASE))
            await asyncio.sleep(1.5 * LEASE)
            assert app.unready() == "the store has not taken this node's lease for 6 s"
            await away
            await asyncio.sleep(LEASE)
            assert "lease" not in (app.unready() or "")  # the beat of virtual time sleeps as long as it likes

    clock = VirtualClock()
    run_virtual(main(clock), clock)


def test_an_outage_is_logged_now_and_then(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Every part of a node meets it several times a second, and the log may be on the disk that is full."""
    caplog.set_level(logging.WARNING, "ostinato")

    async def main(clock: VirtualClock) -> None:
        async with Place(tmp_path, clock, server=False).opened(1) as place:
            run = await place.apps[0].start("tick")
            await run.result()
            for _ in range(2):
                caplog.clear()
                await place.trouble("full", 60)
                said = [line for line in caplog.messages if "the store is in trouble" in line]
                assert 3 <= len(said) <= 7
                await asyncio.sleep(60)

    clock = VirtualClock()
    run_virtual(main(clock), clock)


def test_what_a_stopping_node_could_not_write_is_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR, "ostinato")

    async def main(clock: VirtualClock) -> None:
        async with Place(tmp_path, clock, server=False).opened(1) as place:
            app, store = place.apps[0], place.stores[0]
            for _ in range(3):
                await app.start("long")
            await asyncio.sleep(59)
            store.trouble = "full"
            await asyncio.sleep(5)  # they are over, and their outcomes are being tried
            await app._close()
            assert caplog.messages == ["outcomes could not be written before the node stopped count=3"]
            place.apps.clear()

    clock = VirtualClock()
    run_virtual(main(clock), clock)


@pytest.mark.parametrize("server", [True, False], ids=["server", "file"])
def test_who_dies_in_an_outage_is_given_up_a_lease_after_it(tmp_path: Path, server: bool) -> None:
    async def main(clock: VirtualClock) -> None:
        async with Place(tmp_path, clock, server).opened(2) as place:
            dying, other = place.apps
            run = await dying.start("long")
            await asyncio.sleep(2.5 * LEASE)
            holder = next(app for app in place.apps if app.engine.bodies.running)
            away = asyncio.create_task(place.trouble("away", 3 * LEASE))
            await asyncio.sleep(1)
            await place.kill(holder)
            await away
            other = place.apps[0]
            await asyncio.sleep(2 * LEASE + 1)
            assert (await other.get(run.id)).attempt == 2
            assert len(await other.nodes()) == 1

    clock = VirtualClock()
    run_virtual(main(clock), clock)


@pytest.mark.parametrize("step", [2 * HOUR, -2 * HOUR, 8 * SECOND, -10 * SECOND], ids=lambda s: f"{s // SECOND:+} s")
def test_one_nodes_clock_is_not_believed_where_the_server_has_one(tmp_path: Path, step: int) -> None:
    async def main(clock: VirtualClock) -> None:
        async with Place(tmp_path, clock, server=True).opened(2) as place:
            first = place.apps[0]
            runs = [await first.start("long", deadline="1h") for _ in range(20)]
            later = await first.start("tick", at="2026-01-01T01:00:00Z")
            await first.schedules.create("tick", every("1s"), "tick", overlap="allow_all")
            await asyncio.sleep(2.5 * LEASE)
            for at, by in ((0, step), (1, -step), (0, -step), (1, 2 * step)):
                place.clocks[at].skew += timedelta(microseconds=by)
                await asyncio.sleep(2.5 * LEASE)
            await asyncio.sleep(60)
            await keeps_time(first, place)
            assert {(await run.info()).status for run in runs} == {"succeeded"}
            assert (await later.info()).status == "waiting"

    clock = VirtualClock()
    run_virtual(main(clock), clock)


async def keeps_time(app: Ostinato, place: Place) -> None:
    await asyncio.sleep(0.5)  # what has just begun ends
    assert set(place.attempts) == {1}, "a healthy node was given up"
    history = await app.schedules.history("tick", limit=1000)
    assert len(history) > 90
    assert {one.status for one in history} == {"succeeded"}
    nominal = [one.nominal for one in history]
    assert {(a - b).total_seconds() for a, b in pairwise(nominal)} == {1.0}
    info = await app.schedules.get("tick")
    assert info.next is not None
    assert (info.next - nominal[0]).total_seconds() == 1.0


@pytest.mark.parametrize("step", [2 * HOUR, -2 * HOUR, 8 * SECOND, -10 * SECOND], ids=lambda s: f"{s // SECOND:+} s")
def test_a_step_of_the_machines_clock_that_is_taken_back_leaves_no_trace(tmp_path: Path, step: int) -> None:
    async def main(clock: VirtualClock) -> None:
        async with Place(tmp_path, clock, server=False).opened(2) as place:
            first, second = place.apps
            await first.start("long")
            await first.schedules.create("tick", every("1s"), "tick", overlap="allow_all")
            await asyncio.sleep(2.5 * LEASE)
            place.machine.skew += timedelta(microseconds=step)
            await asyncio.sleep(2.5 * LEASE)
            holder = next(app for app in (first, second) if app.engine.bodies.running)
            await place.kill(next(app for app in (first, second) if app is not holder))
            await asyncio.sleep(LEASE + 2)
            assert len(await holder.nodes()) == 1, "the dead is taken for alive"
            await place.add()  # one that comes meanwhile goes by the same time
            await asyncio.sleep(2.5 * LEASE)
            place.machine.skew -= timedelta(microseconds=step)
            await holder.schedules.create("new", every("10s"), "tick")
            await asyncio.sleep(60)
            await keeps_time(holder, place)
            assert {one.status for one in await holder.schedules.history("new")} == {"succeeded"}

    clock = VirtualClock()
    run_virtual(main(clock), clock)


@pytest.mark.parametrize("step", [2 * HOUR, -2 * HOUR], ids=["on", "back"])
def test_a_step_of_the_machines_clock_that_stands_is_followed(tmp_path: Path, step: int) -> None:
    async def main(clock: VirtualClock) -> None:
        async with Place(tmp_path, clock, server=False).opened(2) as place:
            app = place.apps[0]
            await app.start("long")
            await asyncio.sleep(2.5 * LEASE)
            place.machine.skew += timedelta(microseconds=step)
            await asyncio.sleep(PATIENCE / SECOND - 30)
            assert app.engine.clock.now() == clock.now()
            await app.start_many("long", [{} for _ in range(20)])
            await asyncio.sleep(40)
            assert app.engine.clock.now() == clock.now() + step
            await app.schedules.create("tick", every("10s"), "tick")
            await place.kill(place.apps[1])
            await asyncio.sleep(2 * LEASE + 1)
            assert len(await app.nodes()) == 1
            await asyncio.sleep(120)
            ended = [run.status for run in await app.runs(name="long", limit=100)]
            assert set(ended) == {"succeeded"}
            history = await app.schedules.history("tick")
            assert {one.status for one in history} == {"succeeded"}
            assert len(history) > 10
            assert await app.check(repair=False) == []

    clock = VirtualClock()
    run_virtual(main(clock), clock)


def test_what_is_agreed_on() -> None:
    def of(ahead: int, origin: str = "a") -> Agreement:
        return Agreement(origin, ahead)

    assert agree(None, of(5), 0) == of(5)
    assert agree(of(0, "an earlier boot"), of(5), 0) == of(5)
    assert agree(of(0), of(100), 0) == of(0)  # noise
    assert agree(of(0), of(SECOND), 0) == of(SECOND)
    for step in (HOUR, -HOUR):
        assert agree(of(0), of(step), PATIENCE - 1) == of(0)
        assert agree(of(0), of(step), PATIENCE) == of(step)
