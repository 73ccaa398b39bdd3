"""Schedules: a herd that is due in the same second, against the ceiling of its own statements and against APScheduler;
a million that sleep; what one occurrence costs among few and among many."""

from __future__ import annotations

import asyncio
import resource
import secrets
import shutil
import sqlite3
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from bench.chart import text_chart
from bench.engine import all_ended
from bench.idle import asleep, next_wake
from bench.measure import machine, settled, show
from bench.replay import Hearing, say_again_postgres, say_again_sqlite
from bench.stores import Fresh, path_of, postgres, settings_of, sqlite
from ostinato import Ostinato, every
from ostinato.engine.rows import timer_row, whole_run
from ostinato.engine.run_queries import list_runs
from ostinato.schedules.model import Schedule, ScheduleAction
from ostinato.schedules.operations.search import relabel
from ostinato.schedules.operations.write import next_timer
from ostinato.schedules.rows import insert_schedule_row
from ostinato.store.contract import Operation, Store, sql
from ostinato.store.urls import open_url
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros

ROUNDS = 3
CONCURRENCY = 100  # bodies at once: the default
ROOM = 1_000  # for comparison with a peer whose executor takes whatever comes
HERDS = (10_000, 100_000)
STORED = 1_000_000
FILLED = 100_000
SIZES = (1_000, 10_000, 100_000, 1_000_000)
DAY: Micros = 86_400 * SECOND
NOON: Micros = 20_000 * DAY + DAY // 2
SPEC = every("24h", phase="12h")


class Shifted:
    """A clock that goes as the machine's does, and shows another time."""

    virtual = False

    def __init__(self) -> None:
        self.offset: Micros = 0
        self.origin = secrets.token_hex(8)  # not to be compared with that of another

    def set(self, now: Micros) -> None:
        self.offset = now - time.time_ns() // 1000

    def now(self) -> Micros:
        return time.time_ns() // 1000 + self.offset

    def ticks(self) -> Micros:
        return time.monotonic_ns() // 1000


async def store_schedules(store: Store, first: int, count: int, due: Micros) -> None:
    """Schedules that run a job `nothing` every day at noon, put on record as their creation would."""
    rules, action = rules_in_force().version, ScheduleAction("nothing")
    for begin in range(first, first + count, 1000):
        schedules = [
            Schedule(
                f"{n:026d}",
                f"schedule {n}",
                SPEC,
                action=action,
                reached=due - DAY,
                next=due,
                updated=due - DAY,
                created=due - DAY,
                zone_rules=rules,
            )
            for n in range(begin, min(begin + 1000, first + count))
        ]

        def put(_: int, schedules: list[Schedule] = schedules) -> Operation[None]:
            yield sql("insert_schedules", [insert_schedule_row(one) for one in schedules])
            yield sql("label_schedules", [row for one in schedules for row in relabel(None, one)[1]])
            yield sql("set_timers", [timer_row(next_timer(one, due)) for one in schedules])

        await store.run(put)


@dataclass
class Herd:
    seconds: float
    ceiling: float
    fired_p99: float
    began_p99: float
    beat: float


async def run_herd(url: str, count: int, concurrency: int) -> tuple[float, Hearing, float, float, float, float]:
    clock = Shifted()
    clock.set(NOON - SECOND)
    heard = Hearing(open_url(url))
    app = Ostinato(heard, clock=clock, concurrency=concurrency)

    @app.job()
    async def nothing() -> None: ...

    async with app:
        settled()
        while clock.now() < NOON:
            await asyncio.sleep(0.0005)
        begin = time.perf_counter()
        await all_ended(app, count)
        seconds = time.perf_counter() - begin
        registry = app.engine.metrics.registry
        lag = registry.get_sample_value("ostinato_beat_lag_seconds_sum") or 0
        counts = await app.counts()
        assert counts == {"succeeded": count}, counts

        def lateness(_: int) -> Operation[list[tuple[int, int]]]:
            delays = []
            after = ""
            while True:
                rows = yield from list_runs("default", before=after or None, limit=5000)
                runs = list(map(whole_run, rows))
                delays += [(run.created - run.due, (run.started or run.due) - run.due) for run in runs]
                if len(rows) < 5000:
                    return delays
                after = runs[-1].id

        late = await app.store.read(lateness)
    fired = sorted(one for one, _ in late)[int(len(late) * 0.99)] / SECOND
    began = sorted(one for _, one in late)[int(len(late) * 0.99)] / SECOND
    return seconds, heard, begin, fired, began, lag


def herd(fresh: Fresh, count: int, concurrency: int) -> Herd:
    url = fresh()

    async def prepare() -> None:
        store = open_url(url)
        await store.open()
        await store_schedules(store, 0, count, NOON)
        await store.close()

    asyncio.run(prepare())
    copy = asyncio.run(copied(url))
    seconds, heard, begin, fired, began, lag = asyncio.run(run_herd(url, count, concurrency))
    said = heard.said
    if url.startswith("sqlite"):
        ceiling = say_again_sqlite(copy, said, begin)
    else:
        ceiling = asyncio.run(say_again_postgres(copy, said, begin))
    return Herd(seconds, ceiling, fired, began, lag)


async def copied(url: str) -> str:
    """The store as it is, once more."""
    if url.startswith("sqlite"):
        shutil.copy(path_of(url), path_of(url) + ".copy")
        return url + ".copy"
    parts = urlsplit(url)
    name = parts.path.strip("/")
    admin = await asyncpg.connect(urlunsplit(parts._replace(path="/postgres")))
    try:
        await admin.execute(f"CREATE DATABASE {name}_copy TEMPLATE {name}")
    finally:
        await admin.close()
    return urlunsplit(parts._replace(path=f"/{name}_copy"))


def apscheduler(kind: str, count: int, folder_url: str) -> float:
    command = [sys.executable, "-m", "bench.peer", f"apscheduler_{kind}", "default", folder_url, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"apscheduler ({kind}) failed: {done.stderr[-2000:]}")
    return count / float(done.stdout.split()[-1])


def herds(name: str, fresh: Fresh, files: Fresh, count: int, *, peers: bool) -> bool:
    measured: list[Herd] = []
    roomy: list[Herd] = []
    memory: list[float] = []
    stored: list[float] = []
    for _ in range(ROUNDS):
        measured.append(herd(fresh, count, CONCURRENCY))
        roomy.append(herd(fresh, count, ROOM))
        if peers:
            memory.append(apscheduler("memory", count, files()))
            stored.append(apscheduler("sqlalchemy", 1_000, files()))
    ours = [count / one.seconds for one in measured]
    with_room = [count / one.seconds for one in roomy]
    ratio = statistics.median(one.ceiling / one.seconds for one in measured)
    show(f"\n{name}: {count:,} schedules due in the same second, fired, run and completed")
    show(
        f"  all done in {statistics.median(one.seconds for one in measured):.2f} s, {statistics.median(ours):,.0f}/s"
        f"   ratio to its own statements {ratio:.2f}   bar 0.6: {'met' if ratio >= 0.6 else 'MISSED'}"
    )
    show(
        f"  p99 lateness: fired {statistics.median(one.fired_p99 for one in measured):.2f} s,"
        f" begun {statistics.median(one.began_p99 for one in measured):.2f} s after it was due"
    )
    show(
        f"  with room for {ROOM:,} at once {statistics.median(with_room):,.0f}/s, ratio to its own statements"
        f" {statistics.median(one.ceiling / one.seconds for one in roomy):.2f}"
    )
    good = ratio >= 0.6
    if peers:
        for what, rates, bar in (("memory store", memory, 1.0), ("SQLAlchemy store on SQLite", stored, 20.0)):
            rate = statistics.median(rates)
            times, roomier = (
                statistics.median(mine / theirs for mine, theirs in zip(herd, rates, strict=True))
                for herd in (ours, with_room)
            )
            met = times >= bar
            good = good and met
            show(
                f"  APScheduler 3, {what}: {rate:,.0f}/s   ostinato {times:.1f} times (with room {roomier:.1f})"
                f"   bar {bar:g}: {'met' if met else 'MISSED'}"
            )
    return good


async def filling(url: str, count: int) -> tuple[float, float, int]:
    """Seconds for a backfill of so many times; meanwhile the p99 lateness of a hundred schedules that run every second;
    and how many of the backfill's times have no run that succeeded."""
    app = Ostinato(url)
    late: list[float] = []

    @app.job()
    async def live(ctx: Any) -> None:
        late.append((ctx.now() - ctx.due).total_seconds())

    @app.job()
    async def nothing() -> None: ...

    async with app:
        await app.schedules.create_many(
            [app.schedules.draft(f"live {n}", every("1s"), "live", overlap="allow_all") for n in range(100)]
        )
        last = datetime(2026, 1, 1, tzinfo=UTC)
        await app.schedules.create("filled", every("1m"), "nothing", paused=True)
        begin = time.perf_counter()
        first = last - timedelta(minutes=count - 1)
        await app.schedules.backfill("filled", first, last, overlap="allow_all")
        while not (done := (await app.schedules.backfills("filled"))[0]).finished:
            await asyncio.sleep(0.1)
        while (await app.schedules.get("filled")).running:
            await asyncio.sleep(0.1)
        seconds = time.perf_counter() - begin
        missing = 0
        for at in range(0, count, 1000):
            part = await app.schedules.history(
                "filled", first=first + timedelta(minutes=at), last=first + timedelta(minutes=at + 999), limit=2000
            )
            missing += min(1000, count - at) - sum(one.status == "succeeded" for one in part)
    assert done.made == count
    return seconds, sorted(late)[int(len(late) * 0.99)], missing


def fill(name: str, fresh: Fresh, count: int) -> bool:
    seconds, late, missing = asyncio.run(filling(fresh(), count))
    met = late < 1 and missing == 0
    show(
        f"\n{name}: a backfill of {count:,} times in {seconds:.0f} s, {missing} without a run; 100 live schedules"
        f" meanwhile, each every second: p99 lateness {late * 1000:.0f} ms"
        f"   bar 1 s, none missing: {'met' if met else 'MISSED'}"
    )
    return met


async def growing(url: str, sizes: tuple[int, ...], count: int) -> tuple[list[float], list[float]]:
    """Microseconds for each occurrence with so many schedules stored; and milliseconds of the next-wake query."""
    store = open_url(url)
    await store.open()
    costs, wakes = [], []
    size_now = 0
    far = NOON + 300 * DAY
    for size in sizes:
        await store_schedules(store, size_now, size - size_now, far)
        size_now = size
        rounds = []
        for turn in range(ROUNDS):
            base = 10_000_000 + size * 10 + turn * count
            await store_schedules(store, base, count, NOON)
            rounds.append(await _timed(url, count))
        costs.append(statistics.median(rounds))
        wakes.append(await next_wake(store))
    await store.close()
    return costs, wakes


async def _timed(url: str, count: int) -> float:
    clock = Shifted()
    clock.set(NOON - SECOND // 2)
    app = Ostinato(Hearing(open_url(url)), clock=clock)  # which does not ask the server what time it is

    @app.job()
    async def nothing() -> None: ...

    async with app:
        while clock.now() < NOON:
            await asyncio.sleep(0.0005)
        begin = time.perf_counter()
        await all_ended(app, count)
        return (time.perf_counter() - begin) / count * 1e6


async def _idle(url: str) -> float:
    clock = Shifted()
    clock.set(NOON + 3600 * SECOND)  # those of the herd are done, all the others are far away
    async with Ostinato(Hearing(open_url(url)), clock=clock):
        await asyncio.sleep(2)  # the first round of everything
        return (await asleep())[0]


def growth(name: str, fresh: Fresh) -> tuple[bool, list[float]]:
    url = fresh()
    costs, wakes = asyncio.run(growing(url, SIZES, 2_000))
    spread = max(costs) / min(costs)
    cpu = asyncio.run(_idle(url))
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    met = costs[-1] <= 1.25 * costs[0]
    show(
        f"\n{name}: {STORED:,} schedules stored: next wake {wakes[-1]:.2f} ms, idle CPU {cpu:.1f} %, this process at"
        f" most {size} MiB; an occurrence costs {costs[0]:.0f} µs among {SIZES[0]:,} and {costs[-1]:.0f} µs among"
        f" {SIZES[-1]:,} ({costs[-1] / costs[0]:.2f} times, most {spread:.2f})   bar 1.25: {'met' if met else 'MISSED'}"
    )
    return met, costs


def main() -> bool:
    show("== schedules: medians of three interleaved rounds ==")
    show(machine("ostinato", "apscheduler", "sqlalchemy", "asyncpg", "orjson"))
    show(f"SQLite {sqlite3.sqlite_version}; every commit durable on both stores; APScheduler with its defaults")
    good = True
    curves: dict[str, list[float]] = {}
    with sqlite() as files:
        for count in HERDS:
            good = herds("SQLite", files, files, count, peers=True) and good
        good = fill("SQLite", files, FILLED) and good
        met, curves["SQLite"] = growth("SQLite", files)
        good = good and met
        with postgres() as fresh:
            show(f"\nPostgreSQL: {asyncio.run(settings_of(fresh()))}")
            for count in HERDS:
                good = herds("PostgreSQL", fresh, files, count, peers=False) and good
            good = fill("PostgreSQL", fresh, FILLED) and good
            met, curves["PostgreSQL"] = growth("PostgreSQL", fresh)
            good = good and met
    show("\nCost of an occurrence (µs), with so many schedules stored:")
    for line in text_chart(SIZES, curves):
        show("  " + line)
    return good
