"""A node with little to do: how late a lone timer is, and what a million sleeping ones cost."""

from __future__ import annotations

import asyncio
import random
import resource
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime

from bench.measure import machine, show
from bench.stores import Fresh, postgres, settings_of, sqlite
from ostinato import Ostinato
from ostinato.engine.rows import event_row, insert_row, timer_row
from ostinato.engine.runs import wake_timer
from ostinato.ids import Ids
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.when.instants import SECOND, Micros

TIMERS = 200
DORMANT = 1_000_000
IDLE = 10.0  # seconds


async def latencies(url: str) -> list[float]:
    """Milliseconds from due to the first line of the handler, for lone timers 15 to 35 ms apart."""
    app = Ostinato(url)
    late: list[float] = []

    @app.job()
    async def stamp(due: int) -> None:
        late.append((app.engine.clock.now() - due) / 1000)

    dice = random.Random(7)
    async with app:
        at = app.engine.clock.now() + 2 * SECOND
        dues = []
        for _ in range(TIMERS):
            at += dice.randrange(15_000, 35_000)
            dues.append(at)
        await asyncio.gather(*(app.start("stamp", {"due": due}, at=_moment(due)) for due in dues))
        while len(late) < TIMERS:
            await asyncio.sleep(0.1)
    return late


def _moment(at: Micros) -> datetime:
    return datetime.fromtimestamp(at / SECOND, UTC)


def show_latency(name: str, fresh: Fresh, rounds: int = 5) -> bool:
    p50s, p99s, worst = [], [], 0.0
    for _ in range(rounds):
        late = sorted(asyncio.run(latencies(fresh())))
        p50s.append(late[len(late) // 2])
        p99s.append(late[int(len(late) * 0.99)])
        worst = max(worst, late[-1])
    p50, p99 = statistics.median(p50s), statistics.median(p99s)
    met = p50 <= 5 and p99 <= 20
    show(
        f"  {name:10} due to handler: p50 {p50:.1f} ms, p99 {p99:.1f} ms, worst of {rounds} rounds {worst:.1f} ms"
        f"   bar p50 5 ms, p99 20 ms: {'met' if met else 'MISSED'}"
    )
    return met


async def fill(store: Store, count: int) -> None:
    """Waiting runs, each with its timer, a year and more ahead."""
    now = time.time_ns() // 1000
    ids = Ids()

    def some(number: int) -> Operation[None]:
        runs = []
        for n in range(number):
            id = ids.new(now)
            due = now + 366 * 86_400 * SECOND + n
            runs.append(Run(id=id, root_id=id, name="sleeper", due=due, created=now, status=Status.WAITING))
        rows: list[Row] = [insert_row(run) for run in runs]
        yield sql("insert_runs", rows)
        yield sql("set_timers", [timer_row(wake_timer(run, run.due)) for run in runs])

    for at in range(0, count, 5_000):
        await store.run(lambda _, at=at: some(min(5_000, count - at)))  # type: ignore[misc]


async def finished(store: Store, count: int) -> None:
    """Runs that ended long ago by our clock, but not by housekeeping's, each with the three events of its life."""
    now = time.time_ns() // 1000 - 3600 * SECOND
    ids = Ids()

    def some(number: int) -> Operation[None]:
        runs = []
        for _ in range(number):
            id = ids.new(now)
            runs.append(Run(id=id, root_id=id, name="nothing", due=now, created=now, status=Status.SUCCEEDED))
        yield sql("insert_runs", [insert_row(run) for run in runs])
        names = ("run:created", "run:started", "run:succeeded")
        yield sql("insert_events", [event_row(now, run, name) for name in names for run in runs])

    for at in range(0, count, 5_000):
        await store.run(lambda _, at=at: some(min(5_000, count - at)))  # type: ignore[misc]


def _next_due() -> Operation[int]:
    return int((yield sql("next_due"))[0][0])


async def next_wake(store: Store) -> float:
    """Milliseconds of a look for the next timer."""
    taken = []
    for _ in range(200):
        begin = time.perf_counter()
        await store.read(lambda _: _next_due())
        taken.append((time.perf_counter() - begin) * 1000)
    return statistics.median(taken)


async def asleep() -> tuple[float, int]:
    """Percent of a processor, and bytes of memory, that a process takes while nothing happens."""
    memory, cpu = _resident(), time.process_time()
    begin = time.perf_counter()
    await asyncio.sleep(IDLE)
    idle = (time.process_time() - cpu) / (time.perf_counter() - begin) * 100
    return idle, _resident() - memory


async def dormant(name: str, url: str) -> bool:
    """The cost of a million sleepers, for a node that has nothing else."""
    app = Ostinato(url)

    @app.job()
    async def sleeper() -> None: ...

    async with app.connected():
        begin = time.perf_counter()
        await fill(app.store, DORMANT)
        filled = time.perf_counter() - begin
    async with app:
        await asyncio.sleep(2)  # the first round of everything
        look, memory = await next_wake(app.store), _resident()
        idle, grown = await asleep()
    met = look < 1 and idle < 1 and grown < 1 << 20
    show(
        f"  {name:10} {DORMANT:,} waiting runs with timers (written in {filled:.0f} s): next wake {look:.2f} ms,"
        f" idle CPU {idle:.2f} %, memory {memory >> 20} MiB {grown / 1024:+,.0f} KiB in {IDLE:.0f} s"
        f"   bar 1 ms, 1 %, flat: {'met' if met else 'MISSED'}"
    )
    return met


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def _stores() -> Iterator[tuple[str, Fresh]]:
    with sqlite() as fresh:
        yield "SQLite", fresh
    with postgres() as fresh:
        show(f"  PostgreSQL: {asyncio.run(settings_of(fresh()))}")
        yield "PostgreSQL", fresh


def main() -> bool:
    show(f"== idle: {TIMERS} lone timers, and {DORMANT:,} that sleep; medians of five rounds ==")
    show(machine("ostinato", "asyncpg"))
    good = True
    for name, fresh in _stores():
        good = show_latency(name, fresh) and good
        good = asyncio.run(dormant(name, fresh())) and good
    show("  What limits: two commits (fire, claim) between due and handler, and how exactly the loop wakes up.")
    return good
