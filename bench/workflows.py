"""Workflows: events per second from produce to next, how that grows, the way from publish to prepare, and idle ones."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import time
from contextlib import closing
from typing import Any

import asyncpg

from bench.idle import asleep
from bench.measure import machine, settled, show
from bench.stores import Fresh, postgres, settings_of, sqlite
from ostinato import Ostinato, every
from ostinato.workflows import Prepared, WorkflowCode

WORKFLOWS = int(os.environ.get("OSTINATO_BENCH_WORKFLOWS", "20"))  # each has one run at a time
BATCH = 50  # events that one run takes
EVENTS = int(os.environ.get("OSTINATO_BENCH_EVENTS", "10000"))
SMALLEST = 1000  # events that a topic has consumed before
LARGEST = int(os.environ.get("OSTINATO_BENCH_LARGEST", "1000000"))
GROWN = int(os.environ.get("OSTINATO_BENCH_GROWN", "2000"))  # events that go through one workflow with such a past
ROUNDS = int(os.environ.get("OSTINATO_BENCH_ROUNDS", "5"))
GROWTH_BAR, P50_BAR, P99_BAR, CPU_BAR = 1.25, 10.0, 40.0, 1.0
WAKES = int(os.environ.get("OSTINATO_BENCH_WAKES", "200"))
IDLE = int(os.environ.get("OSTINATO_BENCH_IDLE", "10000"))


def declare(app: Ostinato, name: str, events: int, batch: int) -> None:
    """A workflow that publishes so many events once, and sends them `batch` at a time."""
    code: WorkflowCode = app.workflow(name)
    incoming, done = code.topic("incoming"), code.topic("done")

    @code.producer(every("1h"), publishes=incoming)
    async def produce(ctx: Any, state: Any) -> int:
        input = ctx.register_input("bench", "batch", "1")
        for number in range(0 if state == events else events):
            ctx.publish(incoming, str(number), number, input=input)
        return events

    @code.consumer(incoming, publishes=done)
    class Send:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            pending = await ctx.peek(incoming, limit=batch)
            return Prepared(reserve=pending, data=len(pending))

        async def mutate(self, ctx: Any, prepared: Any) -> None:
            await ctx.mutate("count", number=prepared.data)

        async def next(self, ctx: Any, prepared: Any, outcome: Any) -> None:
            if prepared.events:
                ctx.publish(done, prepared.events[0].id)

    @code.consumer(done)
    class Finish:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            return Prepared(reserve=await ctx.peek(done, limit=batch))


async def through(url: str, events: int) -> float:
    """Events per second through produce, prepare, mutate and next."""
    app = Ostinato(url)
    each = max(1, events // WORKFLOWS)
    sent = 0
    over = asyncio.Event()

    @app.workflows.mutator("count")
    async def count(call: Any, number: int) -> None:
        nonlocal sent
        sent += number
        if sent >= each * WORKFLOWS:
            over.set()

    for number in range(WORKFLOWS):
        declare(app, f"w{number}", each, BATCH)
    settled()
    begin = time.perf_counter()
    async with app:
        await over.wait()
        rate = sent / (time.perf_counter() - begin)
        pending = [(await app.workflows.get(f"w{number}")).pending.get("incoming", 0) for number in range(WORKFLOWS)]
    assert sum(pending) == 0, pending
    return rate


async def deploy(url: str, name: str) -> None:
    """Deploy a workflow, and let its first runs pass: it has nothing to publish yet."""
    app = Ostinato(url)

    @app.workflows.mutator("count")
    async def count(call: Any, number: int) -> None: ...

    declare(app, name, 0, BATCH)
    async with app:
        while (await app.workflows.get(name, recent=0)).status != "Idle":
            await asyncio.sleep(0.01)


# A past: events of the topic `incoming`, each with its cause, in runs of 50 with an effect each. The ids are older than
# any that is made now.
_NUMBERS = {
    "sqlite": "WITH RECURSIVE s(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM s WHERE n < {last}) ",
    "postgres": "WITH s(n) AS (SELECT generate_series({first}, {last})) ",
}
_IDS = {"sqlite": "printf('0%024d', {n})", "postgres": "'0' || lpad(({n})::text, 24, '0')"}
_PAST = """
INSERT INTO ostinato_workflow_events (id, workflow_id, topic, message_id, payload, status, reserved_by, created_by,
    attempt, created, updated)
{events} SELECT {id}, '{workflow}', 'incoming', 'old-' || n, '1', 'consumed', {run}, 'r', 1, n, n FROM s;
INSERT INTO ostinato_workflow_causes (event_id, input_id) {events} SELECT {id}, 'old' FROM s;
INSERT INTO ostinato_workflow_run_events (run_id, event_id, attempt) {events} SELECT {run}, {id}, 1 FROM s;
INSERT INTO ostinato_workflow_runs (run_id, workflow_id, handler, type, version, repairs, phase, status, failures,
    crashes, created, updated)
{runs} SELECT {id}, '{workflow}', 'Send', 'consumer', 1, 0, 'committed', 'committed', 0, 0, n, n FROM s;
INSERT INTO ostinato_workflow_mutations (id, workflow_id, origin_run, run_id, mutator, params, key, status, attempts,
    created, updated)
{runs} SELECT {id}, '{workflow}', {id}, {id}, 'count', '{{}}', {id}, 'applied', 0, n, n FROM s
"""


async def age(url: str, size: int) -> None:
    """Give every workflow of a store so many consumed events, and have the store look at its tables."""
    kind = "sqlite" if url.startswith("sqlite") else "postgres"
    numbers, ids = _NUMBERS[kind], _IDS[kind]

    def statements(workflow: str) -> list[str]:
        text = _PAST.format(
            workflow=workflow,
            events=numbers.format(first=0, last=size - 1),
            runs=numbers.format(first=0, last=(size - 1) // BATCH),
            id=ids.format(n="n"),
            run=ids.format(n=f"n / {BATCH}"),
        )
        return [statement for statement in text.split(";") if statement.strip()]

    find = "SELECT id FROM ostinato_workflow_definitions"
    if kind == "sqlite":
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            for statement in statements(connection.execute(find).fetchone()[0]):
                connection.execute(statement)
            connection.commit()
            connection.execute("ANALYZE")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return
    remote = await asyncpg.connect(url)
    try:
        for statement in statements(await remote.fetchval(find)):
            await remote.execute(statement)
        await remote.execute("VACUUM ANALYZE")
        await remote.execute("CHECKPOINT")
    finally:
        await remote.close()


async def with_past(url: str) -> float:
    """Seconds for `GROWN` events through a workflow whose past is in the store already: from "run now" to the last
    effect."""
    app = Ostinato(url)
    sent, done = 0, 0.0
    over = asyncio.Event()

    @app.workflows.mutator("count")
    async def count(call: Any, number: int) -> None:
        nonlocal sent, done
        sent += number
        if sent >= GROWN:
            done = time.perf_counter()
            over.set()

    declare(app, "aged", GROWN, BATCH)
    settled()
    async with app:
        while (await app.workflows.get("aged", recent=0)).status != "Idle":
            await asyncio.sleep(0.01)
        begun = time.perf_counter()
        await app.workflows.run_now("aged")
        await over.wait()
    return done - begun


def growth(fresh: Fresh) -> tuple[float, float]:
    """The median seconds after a short past and after a long one, in turn."""
    seconds: dict[int, list[float]] = {SMALLEST: [], LARGEST: []}
    for _ in range(ROUNDS):
        for size, measured in seconds.items():
            url = fresh()
            asyncio.run(deploy(url, "aged"))
            asyncio.run(age(url, size))
            measured.append(asyncio.run(with_past(url)))
    return statistics.median(seconds[SMALLEST]), statistics.median(seconds[LARGEST])


async def wakes(url: str, count: int) -> list[float]:
    """Milliseconds from the end of a producer's function to the first line of `prepare`: a commit, and a claim."""
    app = Ostinato(url)
    code: WorkflowCode = app.workflow("wakes")
    ticks = code.topic("ticks")
    taken: list[float] = []
    published = 0.0

    @code.producer(every("1h"), publishes=ticks)
    async def tick(ctx: Any, state: Any) -> int:
        nonlocal published
        number = (state or 0) + 1
        ctx.publish(ticks, str(number), input=ctx.register_input("bench", "tick", str(number)))
        published = time.perf_counter()
        return number

    @code.consumer(ticks)
    class Take:
        async def prepare(self, ctx: Any, state: Any) -> Prepared:
            at = time.perf_counter()
            events = await ctx.peek(ticks)
            if events:
                taken.append((at - published) * 1000)
            return Prepared(reserve=events)

    async with app:
        for number in range(1, count + 1):
            while len(taken) < number or (await app.workflows.get("wakes")).status != "Idle":
                await asyncio.sleep(0.001)
            if number < count:
                await app.workflows.run_now("wakes")
    return taken


async def idle_workflows(url: str, count: int) -> tuple[float, float]:
    """Seconds to deploy so many workflows, and the percentage of a processor that they take when nothing is due."""
    app = Ostinato(url)
    for number in range(count):
        code = app.workflow(f"idle{number}")
        topic = code.topic("t")

        @code.producer(every("1d"), publishes=topic)
        async def produce(ctx: Any, state: Any) -> None: ...

        @code.consumer(topic)
        class Take:
            async def prepare(self, ctx: Any, state: Any) -> None: ...

    begin = time.perf_counter()
    async with app:
        seconds = time.perf_counter() - begin
        while (await app.counts()).get("succeeded", 0) < 2 * count:
            await asyncio.sleep(0.5)
        cpu, _ = await asleep()
    return seconds, cpu


def measure(name: str, fresh: Fresh) -> bool:
    rates = [asyncio.run(through(fresh(), EVENTS)) for _ in range(3)]
    rate = statistics.median(rates)
    show(f"\n{name}: {EVENTS:,} events, {BATCH} in a run, {WORKFLOWS} workflows: {rate:,.0f} events/s")
    short, long = growth(fresh)
    words = f"{GROWN:,} events after {SMALLEST:,} consumed {short:.2f} s, after {LARGEST:,} {long:.2f} s"
    met = [_judge(f"{words}: {long / short:.2f} times", f"{GROWTH_BAR} times", long / short <= GROWTH_BAR)]
    late = sorted(asyncio.run(wakes(fresh(), WAKES)))
    p50, p99 = late[len(late) // 2], late[int(len(late) * 0.99)]
    words = f"publish to prepare: p50 {p50:.1f} ms, p99 {p99:.1f} ms"
    met.append(_judge(words, f"p50 {P50_BAR:.0f} ms, p99 {P99_BAR:.0f} ms", p50 <= P50_BAR and p99 <= P99_BAR))
    seconds, cpu = asyncio.run(idle_workflows(fresh(), IDLE))
    words = f"{IDLE:,} idle workflows: deployed in {seconds:.1f} s, then {cpu:.2f} % of a processor"
    met.append(_judge(words, f"{CPU_BAR:.0f} %", cpu < CPU_BAR))
    return all(met)


def _judge(words: str, bar: str, met: bool) -> bool:
    show(f"  {words}   bar {bar}: {'met' if met else 'MISSED'}")
    return met


def main() -> bool:
    show("== workflows: produce, prepare, mutate, next ==")
    show(machine("ostinato", "asyncpg"))
    with sqlite() as fresh:
        met = measure("SQLite", fresh)
    with postgres() as fresh:
        show(f"  PostgreSQL: {asyncio.run(settings_of(fresh()))}")
        met = measure("PostgreSQL", fresh) and met
    show("  What limits: four commits for each run of a consumer; runs of one workflow follow one another.")
    return met
