"""The most that the store could do: the engine's own statements, the same rows in the same batches, in a bare loop.

Every row is made before the clock starts, and every statement is written out before: what is timed is the driver and
the database, nothing of ours. What the engine reads back (RETURNING) is read back here too, and thrown away.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import asyncpg

from bench.measure import settled
from bench.stores import path_of
from ostinato.engine.claims import claim
from ostinato.engine.kinds import Kinds
from ostinato.engine.membership import NodeInfo, join
from ostinato.engine.runs import End, end, start
from ostinato.ids import Ids
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, Rows, Statement
from ostinato.store.postgres import SETTINGS, PostgresStore
from ostinato.store.sql import queries
from ostinato.store.sqlite import SqliteStore, calls, connect
from ostinato.when.instants import Micros

STARTS = 500  # runs that start_many puts into one transaction
NODE = "node"
KINDS = '["job"]'  # of runs that it claims


Call: TypeAlias = tuple[str, list[Any]]  # a text for the driver, and its values


@dataclass(frozen=True)
class Work:
    """The statements of every transaction, as the engine's own operations yield them."""

    starts: list[list[Statement]]
    claims: list[list[Statement]]
    ends: list[list[Statement]]
    count: int


def prepare(count: int, batch: int) -> Work:
    """Drive the engine's operations without a store, and keep what they would have said to it."""
    now: Micros = time.time_ns() // 1000
    ids = Ids()
    runs = []
    for _ in range(count):
        id = ids.new(now)
        runs.append(Run(id=id, root_id=id, name="nothing", due=now, created=now))
    starts = [_drive(start(part, now), part) for part in _parts(runs, STARTS)]
    claims, ends = [], []
    for token, part in enumerate(_parts(runs, batch)):
        claims.append(_drive(claim(NODE, token, "default", batch, now, KINDS, frozenset(), 0), part))
        for run in part:
            run.claim = 1
        ends.append(_drive(end([End(run, Status.SUCCEEDED) for run in part], NODE, now, Kinds()), part))
    return Work(starts, claims, ends, count)


def _parts(runs: Sequence[Run], size: int) -> list[list[Run]]:
    return [list(runs[at : at + size]) for at in range(0, len(runs), size)]


def _drive(operation: Operation[Any], runs: list[Run]) -> list[Statement]:
    """What an operation yields when everything goes as it should."""
    said: list[Statement] = []
    answer: Rows | None = None
    try:
        while True:
            statement = next(operation) if answer is None else operation.send(answer)
            said.append(statement)
            answer = _answer(statement, runs)
    except StopIteration:
        return said


def _answer(statement: Statement, runs: list[Run]) -> Rows:
    match statement.name:
        case "start_runs" | "finish_runs":
            return [(run.id,) for run in runs]
        case "claim_ready":
            return [_claimed(run) for run in runs]
        case _:
            return []


def _claimed(run: Run) -> Row:
    return (
        *(run.id, run.name, run.kind, run.namespace, run.queue, run.priority, run.due, run.created, run.root_id),
        *(run.number, run.parent_id, 1, run.serial_key, run.serial_hold, run.concurrency_key, run.options, run.input),
        *(run.checkpoint, run.crashes, run.actor, run.key, run.schedule_id, run.detail),
    )


async def _new_store(store: SqliteStore | PostgresStore) -> None:
    await store.open()
    await store.run(lambda _: join(NodeInfo(NODE, NODE, 0, 1 << 60, ("default",), ("nothing",), "", "")))
    await store.close()


def sqlite_ceiling(url: str, count: int, batch: int) -> float:
    """Seconds for `count` runs: one connection, one transaction after the other."""
    asyncio.run(_new_store(SqliteStore(path_of(url))))
    work, named = prepare(count, batch), queries("sqlite")

    def prepare_calls(said: list[list[Statement]]) -> list[list[Call]]:
        return [[call for one in part for call in calls(named[one.name], one)] for part in said]

    starts, claims, ends = prepare_calls(work.starts), prepare_calls(work.claims), prepare_calls(work.ends)
    connection = connect(path_of(url))
    settled()
    begin = time.perf_counter()
    for transaction in starts:
        _transact(connection.execute, transaction)
    for claimed, ended in zip(claims, ends, strict=True):
        _transact(connection.execute, claimed)
        _transact(connection.execute, ended)
    seconds = time.perf_counter() - begin
    (done,) = connection.execute("SELECT count(*) FROM ostinato_runs WHERE status = 'succeeded'").fetchone()
    connection.close()
    assert done == count, f"the ceiling finished {done} of {count}"
    return seconds


def _transact(execute: Any, transaction: list[Call]) -> None:
    execute("BEGIN IMMEDIATE")
    for text, values in transaction:
        execute(text, values).fetchall()
    execute("COMMIT")


async def postgres_ceiling(url: str, count: int, batch: int) -> float:
    """Seconds for `count` runs on three connections, as the engine has them: one starts, one claims, one ends."""
    await _new_store(PostgresStore(url))
    work, named = prepare(count, batch), queries("postgres")

    def prepare_calls(said: list[list[Statement]]) -> list[list[Call]]:
        return [
            [named[one.name].render("dollar", one.params, one.rows) for one in part if named[one.name].text]
            for part in said
        ]

    starts, claims, ends = prepare_calls(work.starts), prepare_calls(work.claims), prepare_calls(work.ends)
    lanes = [await asyncpg.connect(url, server_settings=SETTINGS) for _ in range(3)]
    # As many as are started and not claimed, and claimed and not ended.
    started, claimed = asyncio.Semaphore(0), asyncio.Semaphore(0)

    async def start_all() -> None:
        for transaction in starts:
            await _transact_postgres(lanes[0], transaction)
            for _ in range(STARTS // batch):
                started.release()

    async def claim_all() -> None:
        for transaction in claims:
            await started.acquire()
            await _transact_postgres(lanes[1], transaction)
            claimed.release()

    async def end_all() -> None:
        for transaction in ends:
            await claimed.acquire()
            await _transact_postgres(lanes[2], transaction)

    settled()
    begin = time.perf_counter()
    await asyncio.gather(start_all(), claim_all(), end_all())
    seconds = time.perf_counter() - begin
    done = await lanes[0].fetchval("SELECT count(*) FROM ostinato_runs WHERE status = 'succeeded'")
    for lane in lanes:
        await lane.close()
    assert done == count, f"the ceiling finished {done} of {count}"
    return seconds


async def _transact_postgres(connection: Any, transaction: list[Call]) -> None:
    if len(transaction) == 1:
        await connection.fetch(transaction[0][0], *transaction[0][1])
        return
    async with connection.transaction():
        for text, values in transaction:
            await connection.fetch(text, *values)
