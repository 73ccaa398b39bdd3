"""Durable functions: steps per second against DBOS steps and a plain job's checkpoints, on the same store in the same
run; what parked runs cost; how long the replay of a long record takes.

A step is an async function whose result is on record before the next step begins: a run is a chain of steps, many run
at once, and the time is from the first start to the last end. A DBOS step is the same within a workflow, and the peer
gets as many threads as serve it best. A checkpoint is `ctx.checkpoint`, awaited. How many runs are parked:
`OSTINATO_BENCH_PARKED` (default 10,000).
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg

from bench.idle import asleep
from bench.measure import machine, settled, show
from bench.stores import Fresh, path_of, postgres, settings_of, sqlite
from ostinato import Context, Ostinato
from ostinato.functions import FunctionContext

ROUNDS = 3
STEPS = 20
RUNS = 100  # for DBOS too
MANY = 500
RECORDED = 1_000
PARKED = int(os.environ.get("OSTINATO_BENCH_PARKED", "10000"))
BAR = 20.0  # times DBOS
REPLAY_BAR = 50.0  # milliseconds
_CALLERS = 200
_TRIAL = 1000  # runs that show how long parking takes


async def add(number: int) -> int:
    return number + 1


async def chain(ctx: FunctionContext, steps: int = STEPS) -> int:
    number = 0
    for _ in range(steps):
        number = await ctx.step(add, number)
    return number


async def checkpoints(ctx: Context) -> int:
    number = ctx.saved or 0
    while number < STEPS:
        number += 1
        await ctx.checkpoint(number)
    return int(number)


async def through(url: str, start: Callable[[Ostinato], Awaitable[Any]], runs: int, **settings: Any) -> float:
    """Steps per second of so many runs, from the first start to the last end."""
    app = Ostinato(url, **settings)
    app.function(chain)
    app.job(checkpoints)
    async with app:
        settled()
        begin = time.perf_counter()
        handles = await asyncio.gather(*(start(app) for _ in range(runs)))
        results = await asyncio.gather(*(handle.result() for handle in handles))
        seconds = time.perf_counter() - begin
    assert results == [STEPS] * runs, results[:3]
    return runs * STEPS / seconds


def start_function(app: Ostinato) -> Awaitable[Any]:
    return app.functions.start(chain)


def start_job(app: Ostinato) -> Awaitable[Any]:
    return app.start(checkpoints)


def dbos(url: str, setting: str) -> float:
    """DBOS steps per second, in a process of its own."""
    command = [sys.executable, "-m", "bench.peer", "dbos-steps", setting, url, str(RUNS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"dbos failed: {done.stderr[-2000:]}")
    return RUNS * STEPS / float(done.stdout.split()[-1])


def against(store: str, fresh: Fresh) -> bool:
    """Medians of interleaved rounds. The bar compares the best settings, as `bench.peers` does."""
    functions: list[float] = []
    many: list[float] = []
    jobs: list[float] = []
    peer: list[float] = []
    for _ in range(ROUNDS):
        functions.append(asyncio.run(through(fresh(), start_function, RUNS)))
        many.append(asyncio.run(through(fresh(), start_function, MANY, concurrency=MANY)))
        jobs.append(asyncio.run(through(fresh(), start_job, RUNS)))
        peer.append(dbos(fresh(), "best"))
    rate, best, theirs, checkpointed = map(statistics.median, (functions, many, peer, jobs))
    met = best / theirs >= BAR
    show(f"\n{store}\n  {'DBOS steps, 16 threads start workflows':44}{theirs:9,.0f}/s")
    show(f"  {'checkpoints of a plain job':44}{checkpointed:9,.0f}/s")
    times = f"{rate / theirs:6.1f} times DBOS, {rate / checkpointed:.2f} times checkpoints"
    show(f"  {f'steps, {RUNS} runs, defaults':44}{rate:9,.0f}/s  {times}")
    times = f"{best / theirs:6.1f} times DBOS   bar {BAR:.0f}: {_verdict(met)}"
    show(f"  {f'steps, {MANY} runs, concurrency={MANY}':44}{best:9,.0f}/s  {times}")
    return met


async def parked(url: str) -> None:
    """Runs that sleep after a step, all until the same moment: their size, what they cost, and their wake-up."""
    app = Ostinato(url)

    @app.function()
    async def park(ctx: FunctionContext, until: float) -> None:
        await ctx.step(add, 1)
        await ctx.sleep_until(datetime.fromtimestamp(until, UTC))

    room = asyncio.Semaphore(_CALLERS)

    async def start(until: float) -> None:
        async with room:
            await app.functions.start("park", {"until": until})

    async with app:
        begin = time.perf_counter()
        await asyncio.gather(*(start(time.time()) for _ in range(_TRIAL)))
        await _until(app, "succeeded", _TRIAL)
        each = (time.perf_counter() - begin) / _TRIAL
        due = time.time() + 2 * each * PARKED + 30  # later than all of them are parked
        before = await size_of(url)
        settled()
        begin = time.perf_counter()
        await asyncio.gather(*(start(due) for _ in range(PARKED)))
        await _until(app, "waiting", PARKED)
        show(f"  {'started, a step, and parked':44}{PARKED / (time.perf_counter() - begin):9,.0f}/s")
        show(f"  {'each, in the store':44}{(await size_of(url) - before) / PARKED:9,.0f} bytes")
        show(f"  {'kept in memory':44}{len(_cache(app)):9,} of them")
        await asyncio.sleep(2)
        share, grown = await asleep()
        show(f"  {'the node meanwhile':44}{share:9.2f} % of a core, memory {grown / 1024:+,.0f} KiB in 10 s")
        assert time.time() < due, "the machine is too slow: some woke up before they were measured"
        await asyncio.sleep(due - time.time())
        settled()
        begin = time.perf_counter()
        await _until(app, "succeeded", _TRIAL + PARKED)
        show(f"  {'woken, and over':44}{PARKED / (time.perf_counter() - begin):9,.0f}/s")


def _cache(app: Ostinato) -> Any:
    body = app.functions._context.body
    assert body is not None
    return body._parked


async def _until(app: Ostinato, status: str, count: int) -> None:
    while (await app.counts()).get(status, 0) < count:
        await asyncio.sleep(0.1)


async def size_of(url: str) -> int:
    """Bytes of a store: tables, indexes and, on SQLite, the log."""
    if url.startswith("sqlite"):
        file = path_of(url)
        return sum(path.stat().st_size for path in map(Path, (file, f"{file}-wal")) if path.exists())
    connection = await asyncpg.connect(url)
    try:
        return int(await connection.fetchval("SELECT pg_database_size(current_database())"))
    finally:
        await connection.close()


async def replayed(url: str) -> tuple[float, float]:
    """Milliseconds of a replay of a long record, and of reading the record alone."""
    app = Ostinato(url)
    app.function(chain)
    async with app:
        run = await app.functions.start(chain, {"steps": RECORDED})
        assert await run.result() == RECORDED
        replays: list[float] = []
        reads: list[float] = []
        settled()
        for _ in range(20):
            begin = time.perf_counter()
            assert not await app.functions.replay(run.id)
            replays.append((time.perf_counter() - begin) * 1000)
            begin = time.perf_counter()
            assert len(await app.functions.steps(run.id)) == RECORDED
            reads.append((time.perf_counter() - begin) * 1000)
    return statistics.median(replays), statistics.median(reads)


def show_replay(fresh: Fresh) -> bool:
    replay, read = asyncio.run(replayed(fresh()))
    met = replay < REPLAY_BAR
    show(
        f"  {f'replay of {RECORDED:,} steps':44}{replay:9.1f} ms; to read and list them {read:.1f} ms"
        f"   bar {REPLAY_BAR:.0f} ms: {_verdict(met)}"
    )
    return met


def measure(store: str, fresh: Fresh) -> bool:
    good = against(store, fresh)
    good = show_replay(fresh) and good
    show(f"  {PARKED:,} parked:")
    asyncio.run(parked(fresh()))
    return good


def _verdict(met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> bool:
    show(f"== functions: chains of {STEPS} steps; medians of {ROUNDS} interleaved rounds ==")
    show(machine("ostinato", "dbos", "asyncpg", "psycopg", "sqlalchemy"))
    show(f"  load of the machine before it began: {os.getloadavg()[0]:.1f}")
    with sqlite() as fresh:
        good = measure("SQLite (WAL, synchronous=FULL)", fresh)
    with postgres() as fresh:
        good = measure(f"PostgreSQL: {asyncio.run(settings_of(fresh()))}", fresh) and good
    show("  What limits: a commit for each step of a run; the steps of all runs that are at work share one.")
    return good
