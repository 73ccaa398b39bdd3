"""Schedules under faults: dying before and after every statement, and commits of which nobody knows whether they were
made. Whatever happens, every due time has its one record and every acknowledged call was done once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, every
from ostinato.ids import Ids
from ostinato.schedules.model import OverlapName
from ostinato.store.contract import Store
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, run_virtual
from tests.simulation.schedule_records import due_by, records_of
from tests.support.crash_walks import ALL_THE_TIME, each_statement, each_transaction, play_until_crash, walk
from tests.support.faults import DroppingStore, FaultyStore, When

LEASE = 8.0
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
OVERLAPS: tuple[OverlapName, ...] = ("skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all")


def declare(app: Ostinato) -> None:
    @app.job()
    async def work(seconds: float = 0.0) -> None:
        await asyncio.sleep(seconds)


# Every call that changes a schedule, with the request id it keeps however often it is tried.
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("create", ("buffered", every("5s"), "work"), {"overlap": "buffer_all", "input": {"seconds": 7.7}}),
    ("create", ("stopping", every("5s"), "work"), {"overlap": "cancel_other", "input": {"seconds": 7.7}}),
    ("create", ("plain", every("5s"), "work"), {"input": {"seconds": 0.7}, "catchup": "all"}),
    ("trigger", ("plain",), {"overlap": "allow_all"}),
    ("backfill", ("plain", BEGIN - timedelta(seconds=15), BEGIN - timedelta(seconds=5)), {"overlap": "allow_all"}),
    ("pause", ("buffered",), {}),
    ("update", ("plain",), {"spec": every("7s"), "input": {"seconds": 0.6}}),
    ("resume", ("buffered",), {"catchup": "all"}),
    ("trigger", ("stopping",), {"overlap": "buffer_all"}),
    ("delete", ("stopping",), {}),
]
# What a node does all the time, and what tests/simulation/test_crash_points.py walks through already.
QUIET = ALL_THE_TIME | {"hold_node"}
PAUSE = 2.3  # between two calls


async def ask(app: Ostinato, number: int) -> Any:
    verb, args, options = CALLS[number]
    return await getattr(app.schedules, verb)(*args, **options, request_id=f"call-{number}")


async def story(dropping: DroppingStore, store: Store, clock: VirtualClock) -> None:
    """One node serves calls and fires until its connection drops; another takes over, and the caller asks again for
    everything, what was acknowledged too."""
    first = Ostinato(dropping, clock=clock, lease=LEASE)
    declare(first)
    acknowledged: dict[int, Any] = {}
    begin = asyncio.get_running_loop().time()

    async def call() -> None:
        for number in range(len(CALLS)):
            await asyncio.sleep(PAUSE)
            acknowledged[number] = await ask(first, number)
        await asyncio.sleep(15)

    await play_until_crash(first, dropping, call())
    await store.close()
    second = Ostinato(store, clock=clock, lease=LEASE)
    declare(second)
    async with second:
        for number in range(len(CALLS)):
            await asyncio.sleep(max(0.0, begin + (number + 1) * PAUSE - asyncio.get_running_loop().time()))
            answer = await ask(second, number)
            if number in acknowledged:
                assert answer == acknowledged[number], "what was acknowledged was done again"
        await asyncio.sleep(2.5 * LEASE)
        await check(second, clock)


async def check(app: Ostinato, clock: VirtualClock) -> None:
    events = await app.events(limit=100_000)
    counts = Counter(event.name.removeprefix("schedule:") for event in events if event.name.startswith("schedule:"))
    asked = Counter(verb for verb, _, _ in CALLS)
    assert counts["created"] == asked["create"]
    assert counts["backfill_started"] == counts["backfill_completed"] == asked["backfill"]
    assert (counts["paused"], counts["resumed"]) == (asked["pause"], asked["resume"])
    assert (counts["updated"], counts["deleted"]) == (asked["update"], asked["delete"])
    subjects = {event.data["name"]: event.subject for event in events if event.name == "schedule:created"}
    for name, id in subjects.items():
        of_schedule = [event for event in events if event.subject == id]
        records = Counter(one[:2] for one in await records_of(app, id))
        passed = Counter(
            (e.data["nominal"], e.data["origin"])
            for e in of_schedule
            if e.name in ("schedule:triggered", "schedule:skipped", "schedule:missed")
        )
        assert passed <= records, "an event came twice"
        autos = sorted(nominal for nominal, origin in records if origin == "auto")
        assert autos == due_by(of_schedule, clock.now()), name
        assert max(records.values()) == 1, (name, records)
        triggers = {origin for _, origin in records if origin.startswith("trigger-")}
        assert len(triggers) == sum(verb == "trigger" and args[0] == name for verb, args, _ in CALLS)
        backfilled = [origin for _, origin in records if origin.startswith("backfill-")]
        assert len(backfilled) == (3 if name == "plain" else 0)
    assert await app.check(repair=False) == []


@each_transaction
def test_crash_points_of_schedules_on_sqlite(sqlite_url: str, when: When) -> None:
    assert walk(sqlite_url, story, when, step=2, uncounted=QUIET) > 70


@each_transaction
def test_crash_points_of_schedules_on_postgres(postgres_url: str, when: When) -> None:
    """Each point takes a while here, so a few."""
    assert walk(postgres_url, story, when, first=7, step=17, uncounted=QUIET) > 70


@pytest.mark.soak
@pytest.mark.timeout(7200)
@each_statement
def test_every_statement_of_schedules(store_url: str, when: When) -> None:
    assert walk(store_url, story, when, uncounted=QUIET) > 70


async def ambiguous(path: Path, clock: VirtualClock, seed: int, rate: float) -> tuple[list[Any], Counter[Any], int]:
    """A minute of schedules of every overlap policy and of calls, with and without writes that are applied and then
    reported as failed."""
    store = FaultyStore(SqliteStore(str(path), inline=True, durable=False), random.Random(seed), ambiguous=rate)
    app = Ostinato(store, clock=clock, ids=Ids(random.Random(7).getrandbits), dice=random.Random(3), lease=LEASE)
    declare(app)
    async with app:
        for overlap in OVERLAPS:
            await app.schedules.create(
                overlap, every("5s"), "work", overlap=overlap, input={"seconds": 7.3}, max_buffer=3, remaining=9
            )
        for step in range(12):
            await asyncio.sleep(4.7)
            name = OVERLAPS[step % 6]
            if step % 3 == 0:
                await app.schedules.trigger(name)
            elif step % 3 == 1:
                await app.schedules.update(name, spec=every("6s"))
            else:
                await app.schedules.pause(name)
                await app.schedules.resume(name)
        await app.schedules.backfill("skip", BEGIN, BEGIN + timedelta(seconds=30), overlap="allow_all")
        await asyncio.sleep(60)
        records: list[Any] = []
        for name in OVERLAPS:
            info = await app.schedules.get(name)
            rows = sorted((n, o.split("-")[0], s) for n, o, s in await records_of(app, info.id))
            records.append((name, info.state, info.remaining, info.waiting, sorted(info.counts.items()), rows))
        events = await app.events(limit=100_000)
    return records, Counter(event.name for event in events), store.faults


def test_ambiguous_commits_change_nothing_about_schedules(tmp_path: Path) -> None:
    clean = run_virtual(ambiguous(tmp_path / "clean.db", (clock := VirtualClock()), 1, 0.0), clock)
    assert clean[2] == 0
    for seed in range(8):
        clock = VirtualClock()
        faulty = run_virtual(ambiguous(tmp_path / f"{seed}.db", clock, seed, 0.05), clock)
        assert faulty[2] > 5
        assert faulty[:2] == clean[:2]
