"""Whole runs per second, start to committed end, against the ceiling of the store; what a run costs; how that grows."""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from operator import truediv
from pathlib import Path

import asyncpg

from bench.ceiling import postgres_ceiling, sqlite_ceiling
from bench.chart import svg, text_chart
from bench.idle import finished
from bench.measure import machine, settled, show
from bench.stores import Fresh, path_of, postgres, settings_of, sqlite
from ostinato import Ostinato

BATCHES = (100, 500)  # 100 runs at once are the default of an app
ROUNDS = 5
COUNT = 10_000
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def ceiling(url: str, count: int, batch: int) -> float:
    if url.startswith("sqlite"):
        return sqlite_ceiling(url, count, batch)
    return asyncio.run(postgres_ceiling(url, count, batch))


async def whole(url: str, count: int, concurrency: int) -> float:
    """Seconds until the ends of `count` runs of an empty async job are committed."""
    app = Ostinato(url, concurrency=concurrency)

    @app.job()
    async def nothing() -> None: ...

    async with app:
        inputs: list[dict[str, object]] = [{}] * count
        settled()
        begin = time.perf_counter()
        await app.start_many("nothing", inputs)
        await all_ended(app, count)
        seconds = time.perf_counter() - begin
        counts = await app.counts()
    assert counts == {"succeeded": count}, counts
    return seconds


async def all_ended(app: Ostinato, count: int, status: str = "succeeded") -> None:
    registry = app.engine.metrics.registry
    while (registry.get_sample_value("ostinato_runs_ended_total", {"status": status}) or 0) < count:
        await asyncio.sleep(0.01)


def ratios(name: str, fresh: Fresh, count: int, bar: float) -> bool:
    show(f"\n{name}: {count:,} runs of an empty async job, start to committed end, in runs per second")
    seconds: dict[tuple[str, int], list[float]] = {}
    for _ in range(ROUNDS):
        for batch in BATCHES:
            seconds.setdefault(("ceiling", batch), []).append(count / ceiling(fresh(), count, batch))
            seconds.setdefault(("engine", batch), []).append(count / asyncio.run(whole(fresh(), count, batch)))
    good = True
    for batch in BATCHES:
        best, ours = seconds["ceiling", batch], seconds["engine", batch]
        # Of neighbours in time, round by round: what else the machine does hits both alike.
        ratio = statistics.median(mine / most for mine, most in zip(ours, best, strict=True))
        met = ratio >= bar
        good = good and met
        show(
            f"  {batch} at once: ceiling {statistics.median(best):8,.0f}/s   engine {statistics.median(ours):8,.0f}/s"
            f"   ratio {ratio:.2f} (rounds {min(map(truediv, ours, best)):.2f} to {max(map(truediv, ours, best)):.2f})"
            f"   bar {bar}: {'met' if met else 'MISSED'}"
        )
    return good


async def cost(url: str, count: int) -> tuple[float, float]:
    """Bytes of write-ahead log and commits for each run, of a node at its defaults."""
    app = Ostinato(url)

    @app.job()
    async def nothing() -> None: ...

    async with app:
        await asyncio.sleep(0.5)
        before = await _measure_writes(app, url)
        await app.start_many("nothing", [{}] * count)
        await all_ended(app, count)
        after = await _measure_writes(app, url)
    return (after[0] - before[0]) / count, (after[1] - before[1]) / count


async def _measure_writes(app: Ostinato, url: str) -> tuple[int, int]:
    """Bytes of write-ahead log so far, and commits."""
    if url.startswith("sqlite"):
        return _size(path_of(url) + "-wal"), _commits[0]
    connection = await asyncpg.connect(url)
    try:
        await asyncio.sleep(1.1)  # the server's counters lag by up to a second
        lsn = await connection.fetchval("SELECT pg_current_wal_lsn() - '0/0'")
        commits = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"
        return int(lsn), int(await connection.fetchval(commits))
    finally:
        await connection.close()


def _size(path: str) -> int:
    return Path(path).stat().st_size


_commits = [0]


def show_cost(name: str, fresh: Fresh, count: int) -> None:
    with _commits_counted():
        size, commits = asyncio.run(cost(fresh(), count))
    show(
        f"  {name}: {size:,.0f} bytes of write-ahead log and {commits:.4f} commits for each run, its 3 events included"
    )


@contextmanager
def _commits_counted() -> Iterator[None]:
    """On SQLite nobody counts them for us; and without checkpoints the log only grows."""
    from ostinato.store import sqlite as module

    open_file = module.connect

    def connect(path: str) -> sqlite3.Connection:
        connection = open_file(path)
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.set_trace_callback(_count)
        return connection

    module.connect = connect
    try:
        yield
    finally:
        module.connect = open_file


def _count(text: str) -> None:
    _commits[0] += text == "COMMIT"


async def grown(url: str, sizes: tuple[int, ...], count: int) -> list[float]:
    """Microseconds for each run, with so many finished ones in the table already."""
    app = Ostinato(url)

    @app.job()
    async def nothing() -> None: ...

    costs = []
    grown_to = ended = 0
    async with app:
        for size in sizes:
            await finished(app.store, size - grown_to)
            grown_to = size
            rounds = []
            for _ in range(ROUNDS):
                begin = time.perf_counter()
                await app.start_many("nothing", [{}] * count)
                ended += count
                await all_ended(app, ended)
                rounds.append((time.perf_counter() - begin) / count * 1e6)
                grown_to += count
            costs.append(statistics.median(rounds))
    return costs


def show_growth(curves: dict[str, list[float]]) -> None:
    show("\nCost of a run (µs) with so many finished runs in the table, each with its 3 events:")
    for line in text_chart(SIZES, curves):
        show("  " + line)
    out = Path(__file__).parent / "out"
    out.mkdir(exist_ok=True)
    (out / "growth.svg").write_text(svg(SIZES, curves), encoding="utf-8")
    show(f"  drawn in {out / 'growth.svg'}")


def main() -> bool:
    show("== engine: whole runs against the bare statements; medians of five interleaved rounds ==")
    show(machine("ostinato", "asyncpg", "orjson"))
    show(f"SQLite {sqlite3.sqlite_version}")
    good = True
    curves: dict[str, list[float]] = {}
    with sqlite() as fresh:
        good = ratios("SQLite (WAL, synchronous=FULL)", fresh, COUNT, 0.55) and good
        curves["SQLite"] = asyncio.run(grown(fresh(), SIZES, 2_000))
        show_cost("SQLite", fresh, COUNT)
    with postgres() as fresh:
        show(f"\nPostgreSQL: {asyncio.run(settings_of(fresh()))}")
        good = ratios("PostgreSQL", fresh, COUNT, 0.65) and good
        show_cost("PostgreSQL", fresh, COUNT)
        curves["PostgreSQL"] = asyncio.run(grown(fresh(), SIZES, 2_000))
    show_growth(curves)
    show(
        "What limits: Python's own time for each run (a task, its context, three events, its row both ways), all under"
        "\none GIL with the driver; on PostgreSQL also that the server shares these cores."
    )
    return good
