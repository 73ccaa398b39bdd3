"""Ambiguous commits, and seeded simulations of several nodes with everything that can go wrong."""

from __future__ import annotations

import asyncio
import os
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, Retry
from ostinato.ids import Ids
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import SkewedClock, VirtualClock, run_virtual
from ostinato.when.instants import SECOND
from tests.support.faults import FaultyStore, Ledger, SharedStore, check_invariants

LEASE = 4.0
HOUR = 3600 * SECOND


def declare(app: Ostinato, ledger: Ledger, dice: random.Random) -> None:
    @app.job(retry=3, serial_key="{key}")
    async def serial(ctx: Any, key: str) -> None:
        ledger.begin(ctx, key)
        try:
            await asyncio.sleep(dice.random())
            await ctx.checkpoint({"half": True})
            await asyncio.sleep(dice.random())
            ledger.end(ctx)
        finally:
            ledger.leave(ctx, key)

    @app.job(retry=3)
    async def flaky(ctx: Any) -> None:
        ledger.begin(ctx)
        await asyncio.sleep(dice.random() * 2)
        if dice.random() < 0.3:
            raise ValueError("bad luck")
        ledger.end(ctx)

    @app.job(retry=Retry(attempts=3, delay=0), serial_key="turn-{key}", serial_hold="active")
    async def turns(ctx: Any, key: str) -> None:
        ledger.begin(ctx, f"turn-{key}")
        try:
            await asyncio.sleep(dice.random())
            if dice.random() < 0.3:
                raise ValueError("once more")
        finally:
            ledger.leave(ctx, f"turn-{key}")

    @app.job(concurrency=2)
    async def limited(ctx: Any) -> None:
        ledger.begin(ctx)
        await asyncio.sleep(dice.random() * 3)
        ledger.end(ctx)


async def ambiguous(path: Path, clock: VirtualClock, seed: int, rate: float) -> tuple[list[Any], list[Any], int]:
    """The same work with and without writes that are applied and then reported as failed."""
    dice = random.Random(seed)
    store = FaultyStore(SqliteStore(str(path), inline=True, durable=False), random.Random(seed + 1), ambiguous=rate)
    app = Ostinato(store, clock=clock, ids=Ids(random.Random(7).getrandbits), dice=random.Random(3), lease=10**9)
    calls: dict[str, int] = {}

    @app.job(retry=3, serial_key="{key}")
    async def work(ctx: Any, key: str, n: int) -> int:
        calls[f"{n}/{ctx.attempt}"] = calls.get(f"{n}/{ctx.attempt}", 0) + 1
        await asyncio.sleep(1)
        await ctx.checkpoint(n)
        if n % 5 == 0 and ctx.attempt == 1:
            raise ValueError("first time")
        return n

    async with app:
        for n in range(60):
            await app.start("work", {"key": str(dice.randrange(8)), "n": n}, id=f"w{n}")
            if n % 10 == 3:
                await app.cancel(f"w{n}")
        await asyncio.sleep(120)
        assert set(calls.values()) == {1}, "a body was executed twice without a crash on record"
        runs = await app.runs(limit=1000, attempts=True)
        events = await app.events(limit=10_000)
    outcomes = sorted((r.input["n"], r.attempt, r.status, r.result) for r in runs)
    facts = sorted((e.name, e.data["attempt"]) for e in events)
    return outcomes, facts, store.faults


def test_ambiguous_commits_change_nothing(tmp_path: Path) -> None:
    clean = run_virtual(ambiguous(tmp_path / "clean.db", (clock := VirtualClock()), 1, 0.0), clock)
    assert clean[2] == 0
    for seed in range(6):
        clock = VirtualClock()
        faulty = run_virtual(ambiguous(tmp_path / f"{seed}.db", clock, 1, 0.05 + 0.05 * seed), clock)
        assert faulty[2] > 5
        assert faulty[:2] == clean[:2]


async def simulate(path: Path, clock: VirtualClock, seed: int) -> None:
    """Three nodes on one store: crashes, stops in good order, pauses past the lease, clocks that step, a store that
    fails or is away for longer than a lease. The store is a server with a clock of its own, to which each node has
    another one, or a file, to the processes of one machine."""
    dice = random.Random(seed)
    shared = SqliteStore(str(path), inline=True, durable=False)
    await shared.open()
    ledger = Ledger()
    server = clock if seed % 2 else None
    machine = SkewedClock(clock, timedelta(microseconds=dice.randint(-500_000, 500_000)))
    nodes: list[tuple[Ostinato, SkewedClock]] = []
    stores: list[FaultyStore] = []
    stopping: list[asyncio.Task[None]] = []

    async def node(number: int) -> None:
        wrong = dice.choice([-1, 1]) * dice.choice([1, SECOND, HOUR])
        skewed = machine if server is None else SkewedClock(clock, timedelta(microseconds=wrong))
        faulty = FaultyStore(SharedStore(shared), random.Random(seed * 31 + number), server=server)
        stores.append(faulty)
        app = Ostinato(
            faulty,
            clock=skewed,
            lease=LEASE,
            grace=dice.choice([0.1, 1, 10]),
            ids=Ids(random.Random(seed * 7 + number).getrandbits),
            dice=dice,
        )
        declare(app, ledger, dice)
        await app._open(node=True)
        faulty.lost = faulty.ambiguous = faulty.cut = 0.05
        nodes.append((app, skewed))

    for number in range(3):
        await node(number)
    client = Ostinato(SharedStore(shared, server), clock=machine, ids=Ids(random.Random(seed * 13).getrandbits))
    declare(client, ledger, dice)
    async with client.connected():
        for step in range(20):
            match dice.randrange(10):
                case 0 | 1 | 2:
                    for _ in range(dice.randint(1, 5)):
                        await client.start("serial", {"key": str(dice.randrange(3))})
                        await client.start("flaky")
                        await client.start("limited")
                        await client.start("turns", {"key": str(dice.randrange(2))}, deadline=dice.choice([None, 60]))
                case 3:  # a node dies; another comes
                    app, _ = nodes.pop(dice.randrange(len(nodes)))
                    await app.engine.kill()
                    await app._close_after_crash()
                    await node(100 + step)
                case 4:  # a node stops for longer than its lease, and goes on
                    app, _ = dice.choice(nodes)
                    paused = app.engine
                    for loop in paused._loops:
                        loop.cancel()
                    await asyncio.gather(*paused._loops, return_exceptions=True)
                    await asyncio.sleep(LEASE * 2 + 1)
                    paused._begin_loops()
                case 5:  # a clock steps
                    _, skewed = dice.choice(nodes)
                    skewed.skew += dice.choice([-1, 1]) * timedelta(seconds=dice.choice([0.5, 8, 7200]))
                case 6:
                    running = await client.runs(status="active", limit=5)
                    for run in running[:1]:
                        await client.cancel(run.id, "by chance")
                case 7:  # a node is stopped in good order, which takes its time; another comes
                    app, _ = nodes.pop(dice.randrange(len(nodes)))
                    stopping.append(asyncio.create_task(app._close()))
                    await asyncio.sleep(dice.random() * 3)
                    await node(200 + step)
                case 8:  # the store is away for all of them
                    trouble: Any = dice.choice(["away", "locked", "full"])
                    for store in stores:
                        store.trouble = trouble
                    await asyncio.sleep(dice.random() * 3 * LEASE)
                    for store in stores:
                        store.trouble = ""
                case _:
                    await asyncio.sleep(dice.random() * 5)
            await asyncio.sleep(dice.random() * 2)
        for store in stores:
            store.lost = store.ambiguous = store.cut = 0
        await asyncio.sleep(90)
        await asyncio.gather(*stopping)
        await check_invariants(client, ledger)
        for app, _ in nodes:
            await app._close()
    await shared.close()


def run_seed(path: Path, seed: int) -> None:
    clock = VirtualClock()
    try:
        run_virtual(simulate(path, clock, seed), clock)
    except BaseException as problem:
        raise AssertionError(f"seed {seed}: run it alone with OSTINATO_SEED={seed}") from problem
    finally:
        for file in path.parent.glob(path.name + "*"):
            file.unlink()


_ALONE = os.environ.get("OSTINATO_SEED")


@pytest.mark.parametrize("part", range(8))
def test_seeded_simulations_hold_the_invariants(tmp_path: Path, part: int) -> None:
    seeds = [int(_ALONE)] if _ALONE else range(part * 4, part * 4 + 4)
    for seed in seeds:
        run_seed(tmp_path / f"{seed}.db", seed)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(2))
def test_many_seeds_hold_the_invariants(tmp_path: Path, part: int) -> None:
    count = int(os.environ.get("OSTINATO_SOAK_SEEDS", "20000")) // 2
    for seed in range(10_000 + part * count, 10_000 + (part + 1) * count):
        run_seed(tmp_path / f"{seed}.db", seed)
