"""Journeys: transitions per second with and without expressions, against DBOS steps in the same run; and what it costs
to keep instances on timers, and to fire them.

A transition is a state that was entered, done and left, on record: an instance is a chain of such states, many run at
once, and the time is from the first start to the last end. A DBOS step is a function within a workflow whose result is
on record. How many are parked: `OSTINATO_BENCH_PARKED` (default 10,000).
"""

from __future__ import annotations

import asyncio
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.measure import machine, settled, show
from bench.stores import Fresh, postgres, settings_of, sqlite
from ostinato import Ostinato
from ostinato.clock import SystemClock
from ostinato.journeys.expressions.languages import languages
from ostinato.journeys.language import Definition
from ostinato.journeys.task_kind import Fault, Plugins, TaskCall, TaskProblem, TaskResult
from ostinato.when.instants import SECOND, Micros

ROUNDS = 3
STATES = 20
INSTANCES = 100
PARKED = int(os.environ.get("OSTINATO_BENCH_PARKED", "10000"))
BAR = 10.0
_AT_ONCE = 200
_HEAD = "apiVersion: v1\nkind: Journey\nmetadata: {{name: {name}, version: 1.0.0}}\nspec:\n  start: s0\n  states:\n"
_STATES = {
    "tasks": "{type: task, task: {kind: 'nothing:v1'}",
    "plain": "{type: transform, transform: {mapper: {lang: dataweave, expr: context.a}, target: {kind: var}, "
    "resultVar: b}",
    "dataweave": "{type: transform, transform: {mapper: {lang: dataweave, expr: 'context.n + sizeOf([1])'}, "
    "target: {kind: var}, resultVar: n}",
    "jq": "{type: transform, transform: {mapper: {lang: jq, expr: .context.n + 1}, target: {kind: var}, resultVar: n}",
}
WORDS = {
    "tasks": "task states",
    "plain": "transforms, a plain path",
    "dataweave": "transforms, DataWeave's runtime",
    "jq": "transforms, jq",
}


class Nothing:
    """`nothing:v1`: a task that does nothing."""

    name, major = "nothing", 1

    def check(self, settings: Mapping[str, Any], definition: Definition) -> Iterable[Fault]:
        return ()

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        return TaskResult(call.context)


class Jumping(SystemClock):
    """The system's, and as much later as the bench says."""

    later: Micros = 0

    def now(self) -> Micros:
        return super().now() + self.later


def chain(name: str) -> str:
    states = [f"    s{n}: {_STATES[name]}, next: s{n + 1}}}" for n in range(STATES)]
    return _HEAD.format(name=name) + "\n".join([*states, f"    s{STATES}: {{type: succeed}}"])


def app_at(url: str, plugins: Plugins, clock: SystemClock | None = None) -> Ostinato:
    return Ostinato(url, journey_plugins=plugins, clock=clock)


async def start_all(app: Ostinato, name: str, count: int, input: Mapping[str, Any]) -> list[str]:
    """As many at once as a few callers would."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def one() -> str:
        async with room:
            return (await app.journeys.start(name, input, mode="async")).id

    return list(await asyncio.gather(*(one() for _ in range(count))))


async def transitions(url: str, name: str, plugins: Plugins) -> float:
    """Transitions per second."""
    async with app_at(url, plugins) as app:
        await app.journeys.deploy(chain(name))
        settled()
        begin = time.perf_counter()
        ids = await start_all(app, name, INSTANCES, {"n": 0, "a": 1})
        outcomes = await asyncio.gather(*(app.journeys.wait(id) for id in ids))
        seconds = time.perf_counter() - begin
    assert all(one.succeeded for one in outcomes), outcomes[0]
    return INSTANCES * STATES / seconds


def steps(url: str, setting: str) -> float:
    """DBOS steps per second, in a process of its own."""
    command = [sys.executable, "-m", "bench.peer", "dbos-steps", setting, url, str(INSTANCES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise RuntimeError(f"dbos failed: {done.stderr[-2000:]}")
    return INSTANCES * STATES / float(done.stdout.split()[-1])


def against(store: str, fresh: Fresh, plugins: Plugins) -> bool:
    ours: dict[str, list[float]] = {name: [] for name in _STATES}
    theirs: list[float] = []
    for _ in range(ROUNDS):
        for name in _STATES:
            ours[name].append(asyncio.run(transitions(fresh(), name, plugins)))
        theirs.append(steps(fresh(), "best"))
    peer = statistics.median(theirs)
    show(f"\n{store}\n  {'DBOS steps, 16 threads start workflows':44}{peer:9,.0f}/s")
    good = True
    for name, rates in ours.items():
        rate = statistics.median(rates)
        times = rate / peer
        met = times >= BAR
        good = good and met
        show(f"  {WORDS[name]:44}{rate:9,.0f}/s  {times:6.1f} times   bar {BAR:.0f}: {'met' if met else 'MISSED'}")
    return good


async def parked(url: str, plugins: Plugins, size: Path | None) -> None:
    """Instances that wait for a timer, an hour away; then the hour is over."""
    clock = Jumping()
    text = (
        _HEAD.format(name="park") + "    s0: {type: timer, timer: {duration: PT1H}, next: s1}\n    s1: {type: succeed}"
    )
    app = app_at(url, plugins, clock)
    setattr(app.store, "clock_probe", _unasked)  # noqa: B010
    async with app:
        await app.journeys.deploy(text)
        before = _bytes(size)
        settled()
        begin = time.perf_counter()
        await start_all(app, "park", PARKED, {"n": 1})
        while await app.journeys.list(phase="RUNNING", limit=1) and await _ready(app):
            await asyncio.sleep(0.05)
        show(f"  {'started and parked':44}{PARKED / (time.perf_counter() - begin):9,.0f}/s")
        if size is not None:
            show(f"  {'kept, a piece':44}{(_bytes(size) - before) / PARKED:9,.0f} bytes of the file")
        used, begin = _processor(), time.perf_counter()
        await asyncio.sleep(5)
        share = (_processor() - used) / (time.perf_counter() - begin)
        show(f"  {'the node meanwhile':44}{share * 100:9.2f} % of a core")
        clock.later = 3700 * SECOND
        app.engine.attend()
        app.engine.nudge()
        settled()
        begin = time.perf_counter()
        while await app.journeys.list(phase="RUNNING", limit=1) or await _ready(app):
            await asyncio.sleep(0.1)
        show(f"  {'fired and over':44}{PARKED / (time.perf_counter() - begin):9,.0f}/s")


async def _unasked() -> None:
    """No clock of the database's: it would set ours right."""


def _bytes(file: Path | None) -> int:
    if file is None:
        return 0
    return sum(one.stat().st_size for one in (file, Path(f"{file}-wal")) if one.exists())


async def _ready(app: Ostinato) -> bool:
    return any([await app.runs(status=status, limit=1) for status in ("ready", "active")])


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> bool:
    show(f"== journeys: chains of {STATES} states, {INSTANCES} at once; medians of {ROUNDS} interleaved rounds ==")
    show(machine("ostinato", "dbos", "dataweave-native", "jq", "asyncpg", "psycopg", "sqlalchemy"))
    spoken = languages()
    plugins = Plugins([Nothing()], spoken.values())
    try:
        with sqlite() as fresh:
            good = against("SQLite (WAL, synchronous=FULL)", fresh, plugins)
            show(f"\n{PARKED:,} on timers, SQLite")
            url = fresh()
            asyncio.run(parked(url, plugins, Path(url.removeprefix("sqlite:///"))))
        with postgres() as fresh:
            good = against(f"PostgreSQL: {asyncio.run(settings_of(fresh()))}", fresh, plugins) and good
            show(f"\n{PARKED:,} on timers, PostgreSQL")
            asyncio.run(parked(fresh(), plugins, None))
    finally:
        for language in spoken.values():
            language.close()
    return good
