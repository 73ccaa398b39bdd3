"""Real processes firing hundreds of schedules of one store while they are killed or stopped and the schedules edited:
afterwards every due time, as each schedule's own story tells them, has exactly one record."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, every
from ostinato.engine.rows import whole_run
from ostinato.schedules.rows import key_range, read_detail
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import read_spec
from ostinato.when.instants import Micros
from tests.acceptance.nodes import Nodes
from tests.support.forked_python import Popen

SCHEDULES = int(os.environ.get("OSTINATO_SCHEDULES", "300"))  # the editor, another process, reads it too
SECONDS = 12
OVER = ("succeeded", "failed", "cancelled", "terminated", "skipped", "missed", "tried again")
OVERLAPS = ("skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all")


def build(url: str) -> Ostinato:
    app = Ostinato(url, concurrency=200)
    dice = random.Random()

    @app.job()
    async def work() -> None:
        await asyncio.sleep(dice.choice([0.01, 0.1, 0.1, 2.5]))

    return app


async def node(url: str) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with build(url):
        await stop.wait()


async def editor(url: str, seed: int) -> None:
    """Change schedules at random until a signal comes."""
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    dice = random.Random(seed)
    async with build(url).connected() as app:
        while not stop.is_set():
            name = f"s{dice.randrange(SCHEDULES)}"
            match dice.randrange(4):
                case 0:
                    await app.schedules.update(name, spec=every(f"{dice.randint(2, 5)}s"))
                case 1:
                    await app.schedules.pause(name)
                case 2:
                    await app.schedules.resume(name, catchup=dice.choice([None, "latest", "all"]))
                case _:
                    await app.schedules.trigger(name, overlap=dice.choice([None, "allow_all"]))


class Firing(Nodes):
    """Nodes that fire schedules, and one process that edits them."""

    def add(self, *words: str) -> subprocess.Popen[bytes]:
        process = Popen(
            [sys.executable, "-m", "tests.acceptance.test_schedule_processes", self._url, *words],
            cwd=Path(__file__).parents[2],
        )
        if not words:
            self.processes.append(process)
        return process


async def story(app: Ostinato) -> tuple[dict[str, list[Any]], dict[str, Any]]:
    """Every schedule's own events, in their order, and when which run was put on record."""
    by_subject: dict[str, list[Any]] = {}
    created: dict[str, Any] = {}
    after = 0
    while events := await app.events(after=after, limit=5000):
        for event in events:
            if event.name.startswith("schedule:"):
                by_subject.setdefault(event.subject, []).append(event)
            elif event.name == "run:created":
                created[event.subject] = event
        after = events[-1].seq
    return by_subject, created


@dataclass(frozen=True)
class Kept:
    """A row: one due time, or a stretch of them to `last`."""

    run: str
    nominal: Micros
    last: Micros
    count: int
    auto: bool
    status: str


async def records(app: Ostinato, id: str) -> list[Kept]:
    def rows(_: int) -> Operation[list[Row]]:
        low, high = key_range(id)
        return (yield sql("history", namespace=app.namespace, low=low, high=high, limit=100_000))

    kept = []
    for run in map(whole_run, await app.store.read(rows)):
        detail = read_detail(run.detail)
        last, count = detail.get("last", detail["nominal"]), detail.get("count", 1)
        status = "tried again" if run.superseded else run.status.value
        kept.append(Kept(run.id, detail["nominal"], last, count, detail["origin"] == "auto", status))
    return kept


def due(events: list[Any], dealt_with: dict[int, Micros]) -> list[Micros]:
    """Every time that was due, by the specs that were in force, until the schedule was deleted.

    A caller's clock may be a little behind that of the beat which came before it: what was dealt with by then was due
    by the old spec, and nothing up to there is due by the new one. `dealt_with`: up to where, by event."""
    microses: list[Micros] = []
    spec, since, dealt = None, 0, 0
    for event in events:
        dealt = max(dealt, dealt_with.get(event.seq, 0))
        name = event.name.removeprefix("schedule:")
        if name not in ("created", "updated", "deleted"):
            continue
        until = max(event.instant, dealt)
        if spec is not None:
            microses += spec.compiled.between(since + 1, until)
        since = until
        spec = None if name == "deleted" else read_spec(event.data["spec"])
    return microses


def check_one(name: str, events: list[Any], created: dict[str, Any], kept: list[Kept]) -> int:
    autos = [one for one in kept if one.auto]
    dealt_with = {created[one.run].seq: one.last for one in autos if one.run in created}
    for event in events:
        if event.name in ("schedule:skipped", "schedule:missed") and event.data["origin"] == "auto":
            dealt_with[event.seq] = event.data.get("last", event.data["nominal"])
    creations = [created[one.run] for one in autos if one.run in created]
    expected = due(sorted([*events, *creations], key=lambda event: event.seq), dealt_with)
    counts: Counter[Micros] = Counter()
    for record in autos:
        stands_for = [n for n in expected if record.nominal <= n <= record.last]
        assert len(stands_for) == record.count, f"{name}: {record} represents {stands_for}"
        counts.update(stands_for)
    assert all(one.status in OVER for one in kept), f"{name}: something has no outcome"
    missing, twice = set(expected) - set(counts), [n for n, count in counts.items() if count > 1]
    assert not missing, f"{name}: no record of {sorted(missing)}"
    assert not twice, f"{name}: more than one record of {sorted(twice)}"
    triggered = Counter((e.data["nominal"], e.data["origin"]) for e in events if e.name == "schedule:triggered")
    assert max(triggered.values(), default=1) == 1, f"{name}: {triggered.most_common(1)} was let go twice"
    if OVERLAPS[int(name[1:]) % 6] != "allow_all" and all(one.auto for one in kept):
        going = 0
        for event in events:
            going += event.name == "schedule:triggered"
            going -= event.name in ("schedule:run_completed", "schedule:run_failed", "schedule:canceled")
            assert going <= 1, f"{name}: two at once at {event.seq}"
    return len(expected)


async def chaos(url: str, folder: Path) -> None:
    app = build(url)
    dice = random.Random(5)
    four = Firing(url, folder)
    async with app.connected():
        await app.schedules.create_many(
            [
                app.schedules.draft(
                    f"s{n}",
                    every(f"{(1, 2, 3, 4, 5, 5, 5)[n % 7]}s"),
                    "work",
                    overlap=OVERLAPS[n % 6],
                    catchup=("latest", "all", "skip")[n % 3],
                    max_buffer=5,
                )
                for n in range(SCHEDULES)
            ]
        )
        try:
            for _ in range(4):
                four.add()
            editing = four.add("edit")
            await at_work(app)
            deadline = asyncio.get_running_loop().time() + SECONDS
            while asyncio.get_running_loop().time() < deadline:
                await asyncio.sleep(dice.random() * 3)
                end = four.stop if dice.random() < 0.5 else four.kill
                end(dice.choice(four.processes))
                four.add()
            editing.terminate()
            assert editing.wait(timeout=30) == 0, "an edit failed"
            await close(app)
            await asyncio.to_thread(four.wait_for_stops)
        finally:
            editing.kill()
            four.close()
        stories, created = await story(app)
        assert len(stories) == SCHEDULES
        times = 0
        for id, events in stories.items():
            times += check_one(events[0].data["name"], events, created, await records(app, id))
        assert times > SCHEDULES * SECONDS / 10
        assert await app.check(repair=False) == []


async def at_work(app: Ostinato) -> None:
    """Until all of them are there, however long a busy machine takes to start them."""
    edits = ("schedule:updated", "schedule:paused", "schedule:resumed")
    edited, after = False, 0
    async with asyncio.timeout(60):
        while not edited or len(await app.nodes()) < 4:
            events = await app.events(after=after, limit=5000)
            edited = edited or any(event.name in edits for event in events)
            after = events[-1].seq if events else after
            await asyncio.sleep(0.2)


async def close(app: Ostinato) -> None:
    """Delete every schedule, which settles what is due, and wait until what it left running is over."""
    names = asyncio.Queue[str]()
    for n in range(SCHEDULES):
        names.put_nowait(f"s{n}")

    async def delete() -> None:
        while not names.empty():
            await app.schedules.delete(names.get_nowait())

    await asyncio.gather(*(delete() for _ in range(8)))
    async with asyncio.timeout(40):
        while True:
            counts = Counter(await app.counts())
            if not any(counts[status] for status in ("buffered", "ready", "active", "waiting")):
                return
            await asyncio.sleep(0.2)


def test_hundreds_of_schedules_survive_kills_stops_and_edits(tmp_path: Path, store_url: str) -> None:
    asyncio.run(chaos(store_url, tmp_path))


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_thousands_of_schedules_survive_kills_stops_and_edits(
    tmp_path: Path, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OSTINATO_SCHEDULES", "2000")
    monkeypatch.setattr(sys.modules[__name__], "SCHEDULES", 2000)
    monkeypatch.setattr(sys.modules[__name__], "SECONDS", 60)
    asyncio.run(chaos(store_url, tmp_path))


if __name__ == "__main__":
    logging.getLogger("ostinato").setLevel(logging.CRITICAL)
    asyncio.run(editor(sys.argv[1], 3) if sys.argv[2:] else node(sys.argv[1]))
