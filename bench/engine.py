"""Whole runs per second, start to committed end, against the ceiling of the store; what a run costs; how that grows."""

from __future__ import annotations

import asyncio
import statistics
import time

from bench.ceiling import postgres_ceiling, sqlite_ceiling
from bench.measure import machine, show
from bench.stores import Fresh, postgres, settings_of, sqlite
from ostinato import Ostinato

BATCHES = (100, 500)  # 100 runs at once are the default of an app
ROUNDS = 5


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
    found: dict[tuple[str, int], list[float]] = {}
    for _ in range(ROUNDS):
        for batch in BATCHES:
            found.setdefault(("ceiling", batch), []).append(count / ceiling(fresh(), count, batch))
            found.setdefault(("engine", batch), []).append(count / asyncio.run(whole(fresh(), count, batch)))
    good = True
    for batch in BATCHES:
        best, ours = (statistics.median(found[who, batch]) for who in ("ceiling", "engine"))
        met = ours / best >= bar
        good = good and met
        show(
            f"  {batch} at once: ceiling {best:8,.0f}/s   engine {ours:8,.0f}/s   ratio {ours / best:.2f}"
            f"   bar {bar}: {'met' if met else 'MISSED'}"
        )
    return good


def main() -> bool:
    show("== engine: whole runs against the bare statements; medians of five interleaved rounds ==")
    show(machine("ostinato", "asyncpg", "orjson"))
    good = True
    with sqlite() as fresh:
        good = ratios("SQLite (WAL, synchronous=FULL)", fresh, 10_000, 0.55) and good
    with postgres() as fresh:
        show(f"\nPostgreSQL: {asyncio.run(settings_of(fresh()))}")
        good = ratios("PostgreSQL", fresh, 10_000, 0.65) and good
    return good
