"""One peer, one round, in a process of its own: `python -m bench.peer <peer> <setting> <url> <count>`.

Prints the seconds from the first enqueue until all of them are durably finished, by the peer's own books.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC
from importlib import import_module
from typing import Any

from bench.measure import settled

logging.disable(logging.CRITICAL)


def huey(url: str, count: int, best: bool) -> float:
    """Finished: ran, and gone from the queue. Huey takes a task out before it runs, so a crash loses it."""
    from huey import SqliteHuey

    app = SqliteHuey(filename=url.removeprefix("sqlite:///"), results=not best)
    ran = 0
    over = threading.Event()

    @app.task()  # type: ignore[untyped-decorator]
    def nothing() -> None:
        nonlocal ran
        ran += 1
        if ran == count:
            over.set()

    # Best: no results kept, no pause that grows, and all enqueued before the consumer starts, because the two get in
    # each other's way on one file. More than one thread is slower.
    consumer = app.create_consumer(**({"initial_delay": 0.001, "backoff": 1.0, "periodic": False} if best else {}))
    settled()
    begin = time.perf_counter()
    if not best:
        consumer.start()
    for _ in range(count):
        nothing()
    if best:
        consumer.start()
    over.wait()
    while app.pending_count():
        time.sleep(0.001)
    seconds = time.perf_counter() - begin
    consumer.stop(graceful=True)
    return seconds


def _newer_sqlite() -> None:
    """DBOS needs SQLite 3.42. Where Python has an older one, take that of pysqlite3, if it is installed."""
    import sqlite3

    if sqlite3.sqlite_version_info < (3, 42):
        with suppress(ImportError):
            sys.modules["sqlite3"] = import_module("pysqlite3")


def dbos(url: str, count: int, best: bool) -> float:
    """Finished: its status row says SUCCESS."""
    _newer_sqlite()
    from concurrent.futures import ThreadPoolExecutor

    import sqlalchemy
    from dbos import DBOS, DBOSConfig

    config: DBOSConfig = {"name": "bench", "system_database_url": url, "log_level": "ERROR"}
    DBOS(config=config)

    @DBOS.workflow()
    def nothing() -> None: ...

    DBOS.launch()
    queue = DBOS.register_queue("bench", polling_interval_sec=0.05 if best else 1.0)
    engine = sqlalchemy.create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    table = "workflow_status" if url.startswith("sqlite") else "dbos.workflow_status"
    counted = sqlalchemy.text(f"SELECT count(*) FROM {table} WHERE status = 'SUCCESS' AND name LIKE '%nothing'")
    settled()
    begin = time.perf_counter()
    if best:
        with ThreadPoolExecutor(16) as threads:
            list(threads.map(lambda _: queue.enqueue(nothing), range(count)))
    else:
        for _ in range(count):
            queue.enqueue(nothing)
    while True:
        with engine.connect() as connection:
            if connection.execute(counted).scalar_one() >= count:
                break
        time.sleep(0.01)
    seconds = time.perf_counter() - begin
    engine.dispose()
    DBOS.destroy(workflow_completion_timeout_sec=1)
    return seconds


def dbos_steps(url: str, count: int, best: bool) -> float:
    """Workflows of twenty steps, each step's result on record. Finished: the workflow's status says SUCCESS."""
    _newer_sqlite()
    from concurrent.futures import ThreadPoolExecutor

    from dbos import DBOS, DBOSConfig

    config: DBOSConfig = {"name": "bench", "system_database_url": url, "log_level": "ERROR"}
    DBOS(config=config)

    @DBOS.step()
    def step(n: int) -> int:
        return n + 1

    @DBOS.workflow()
    def steps() -> int:
        n = 0
        for _ in range(20):
            n = step(n)
        return n

    DBOS.launch()
    settled()
    begin = time.perf_counter()
    with ThreadPoolExecutor(16 if best else 1) as threads:
        results = list(threads.map(lambda _: steps(), range(count)))
    seconds = time.perf_counter() - begin
    assert results == [20] * count
    DBOS.destroy(workflow_completion_timeout_sec=1)
    return seconds


async def pgqueuer(url: str, count: int, best: bool) -> float:
    """Finished: gone from the queue's table, and in its log."""
    import asyncpg
    from pgqueuer import PgQueuer
    from pgqueuer.models import Job
    from pgqueuer.queries import Queries
    from pgqueuer.types import QueueExecutionMode

    pool = await asyncpg.create_pool(url, min_size=2, max_size=8)
    app = PgQueuer.from_asyncpg_pool(pool)
    queries = Queries(app.connection)
    await queries.install()

    @app.entrypoint("nothing")
    async def nothing(job: Job) -> None: ...

    settled()
    begin = time.perf_counter()
    for at in range(0, count, 500):
        size = min(500, count - at)
        await queries.enqueue(["nothing"] * size, [None] * size, [0] * size)
    settings: dict[str, Any] = {"batch_size": 500} if best else {}
    await app.run(mode=QueueExecutionMode.drain, **settings)
    while await pool.fetchval("SELECT count(*) FROM pgqueuer"):
        await asyncio.sleep(0.005)
    seconds = time.perf_counter() - begin
    done = await pool.fetchval("SELECT count(*) FROM pgqueuer_log WHERE status = 'successful'")
    assert done == count, f"PgQueuer finished {done} of {count}"
    await pool.close()
    return seconds


async def procrastinate(url: str, count: int, best: bool) -> float:
    """Finished: its row says succeeded."""
    from procrastinate import App, PsycopgConnector

    app = App(connector=PsycopgConnector(conninfo=url))

    @app.task(name="nothing")
    async def nothing() -> None: ...

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        settled()
        begin = time.perf_counter()
        for at in range(0, count, 500):
            await nothing.batch_defer_async(*({} for _ in range(min(500, count - at))))
        settings: dict[str, Any] = {"concurrency": 20} if best else {}
        await app.run_worker_async(wait=False, install_signal_handlers=False, **settings)
        seconds = time.perf_counter() - begin
        row = await app.connector.execute_query_one_async(
            "SELECT count(*) AS done FROM procrastinate_jobs WHERE status = 'succeeded'"
        )
        assert row["done"] == count, row
    return seconds


def apscheduler_memory(url: str, count: int, best: bool) -> float:
    """Finished: its function ran. Nothing is kept of it."""
    return _apscheduler({}, count)


def apscheduler_sqlalchemy(url: str, count: int, best: bool) -> float:
    """Finished: its function ran, and the job's next time is stored."""
    return _apscheduler({"type": "sqlalchemy", "url": url}, count)


def _apscheduler(store: dict[str, str], count: int) -> float:
    """Jobs that are all due at the same moment, from that moment until the last has run."""
    from datetime import datetime, timedelta

    from apscheduler.schedulers.background import BackgroundScheduler

    # Its default drops what is a second late; a herd is.
    scheduler = BackgroundScheduler(timezone="UTC", job_defaults={"misfire_grace_time": None})
    if store:
        scheduler.add_jobstore(store["type"], url=store["url"])
    due = datetime.now(UTC) + timedelta(seconds=count / 100 if store else count / 4_000)
    scheduler.start(paused=True)
    for n in range(count):
        scheduler.add_job("bench.peer:noted", "interval", hours=24, id=str(n), start_date=due)
    late = (datetime.now(UTC) - due).total_seconds()
    assert late < 0, f"{count} jobs took {late:.1f} s too long to add"
    scheduler.resume()
    time.sleep(max(0.0, -(datetime.now(UTC) - due).total_seconds()))
    settled()
    begin = time.perf_counter()
    while len(_noted) < count:
        time.sleep(0.001)
    seconds = time.perf_counter() - begin
    scheduler.shutdown(wait=False)
    return seconds


_noted: list[None] = []


def noted() -> None:
    """What APScheduler's jobs call, by the name of the module: it runs as another module than this one."""
    import __main__

    __main__._noted.append(None)


PEERS: dict[str, Callable[[str, int, bool], Any]] = {
    "apscheduler_memory": apscheduler_memory,
    "apscheduler_sqlalchemy": apscheduler_sqlalchemy,
    "huey": huey,
    "dbos": dbos,
    "dbos-steps": dbos_steps,
    "pgqueuer": pgqueuer,
    "procrastinate": procrastinate,
}

if __name__ == "__main__":
    name, setting, url, count = sys.argv[1:]
    result = PEERS[name](url, int(count), setting == "best")
    sys.stdout.write(f"{asyncio.run(result) if asyncio.iscoroutine(result) else result}\n")
