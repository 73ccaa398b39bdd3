"""The HTTP API against the Python face, in one run: calls in a second and the slowest of a hundred, for creating,
listing and describing schedules among many.

The caller over HTTP is a process of its own, as it would be; the caller of the Python face is in the process of the
engine, as it would be."""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from bench.caller import Caller
from bench.measure import machine, show
from bench.stores import sqlite
from ostinato import Ostinato, cron
from ostinato.faces.http.server import Listening, api, make_server

SCHEDULES = int(os.environ.get("OSTINATO_BENCH_SCHEDULES", "1000000"))
CALLS = int(os.environ.get("OSTINATO_BENCH_CALLS", "2000"))
AT_ONCE = 16
ROUNDS = 5
PAGE = 100
BATCH = 5_000
SPEC = {"cron": ["0 9 * * *"]}
Ask = tuple[str, str, str]  # method, path, body
WHAT = ("create", "list", "by prefix", "by job", "describe")


@dataclass(frozen=True)
class Figure:
    rate: float  # calls in a second
    p99: float  # milliseconds


def figure(seconds: float, taken: list[float]) -> Figure:
    return Figure(len(taken) / seconds, sorted(taken)[int(len(taken) * 0.99)])


async def fill(app: Ostinato, schedules: int = SCHEDULES) -> None:
    """Paused, so that what is measured is the API and not the beat. One in a thousand starts another job."""
    spec = cron(SPEC["cron"][0])  # read once
    for begin in range(0, schedules, BATCH):
        numbers = range(begin, min(begin + BATCH, schedules))
        await app.schedules.create_many([app.schedules.draft(name(n), spec, job(n), paused=True) for n in numbers])
        if begin and begin % 200_000 == 0:
            show(f"  … {begin:,}")


def name(n: int, among: int = SCHEDULES) -> str:
    return f"s-{n % among:07}"


def job(n: int) -> str:
    return "nothing" if n % 1000 else "rare"


def over_http(what: str, n: int) -> Ask:
    at = n * 7919
    match what:
        case "create":
            body = {"name": f"http-{n}", "spec": SPEC, "action": "nothing", "paused": True}
            return "POST", "/api/v1/schedules", json.dumps(body)
        case "list":
            return "GET", f"/api/v1/schedules?after={name(at)}&limit={PAGE}", ""
        case "by prefix":
            return "GET", f"/api/v1/schedules?match={name(at)[:-1]}*&limit={PAGE}", ""
        case "by job":
            return "GET", f"/api/v1/schedules?job=rare&after={name(at)}&limit=5", ""
        case _:
            return "GET", f"/api/v1/schedules/{name(at)}", ""


async def in_python(app: Ostinato, what: str, n: int, among: int = SCHEDULES) -> None:
    calls, at = app.schedules, n * 7919
    match what:
        case "create":
            await calls.create(f"python-{n}", SPEC, "nothing", paused=True)
        case "list":
            await calls.list(after=name(at, among), limit=PAGE)
        case "by prefix":
            await calls.list(match=f"{name(at, among)[:-1]}*", limit=PAGE)
        case "by job":
            await calls.list(job="rare", after=name(at, among), limit=5)
        case _:
            await calls.get(name(at, among))


async def measure(call: Callable[[int], Awaitable[object]], numbers: range) -> Figure:
    """So many calls, some at once."""
    rest = iter(numbers)
    taken: list[float] = []

    async def worker() -> None:
        for number in rest:
            begin = time.perf_counter()
            await call(number)
            taken.append((time.perf_counter() - begin) * 1000)

    begin = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return figure(time.perf_counter() - begin, taken)


async def compare(url: str) -> None:
    app = Ostinato(url)

    @app.job()
    async def nothing() -> None: ...

    async with app:
        begin = time.perf_counter()
        await fill(app)
        show(f"  {SCHEDULES:,} schedules written in {time.perf_counter() - begin:.0f} s")
        where = Listening(port=0)
        server = make_server(api(app, where), where)
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        with Caller(server.servers[0].sockets[0].getsockname()[1], AT_ONCE) as caller:
            await rounds(app, caller)
        server.should_exit = True
        await serving


async def rounds(app: Ostinato, caller: Caller) -> None:
    """Faces take turns within a round, so that a busy moment of the machine hits both."""
    figures: dict[tuple[str, str], list[Figure]] = {}
    first = 0
    for _ in range(ROUNDS):
        for what in WHAT:
            count = {"create": CALLS, "describe": CALLS}.get(what, CALLS // 5)
            numbers = range(first, first + count)
            over_the_wire = await asyncio.to_thread(caller.measure, [over_http(what, n) for n in numbers])
            figures.setdefault((what, "HTTP"), []).append(figure(over_the_wire["seconds"], over_the_wire["taken"]))
            direct = await measure(lambda n, what=what: in_python(app, what, n), numbers)  # type: ignore[misc]
            figures.setdefault((what, "Python"), []).append(direct)
            first += count
    tell(figures, "HTTP")


def tell(figures: dict[tuple[str, str], list[Figure]], face: str) -> None:
    """Medians of the rounds, a line for each kind of call."""
    for what in dict.fromkeys(what for what, _ in figures):
        rate = {one: statistics.median(each.rate for each in figures[what, one]) for one in (face, "Python")}
        p99 = {one: statistics.median(each.p99 for each in figures[what, one]) for one in (face, "Python")}
        show(
            f"  {what:10} {face} {rate[face]:8,.0f}/s, p99 {p99[face]:6.1f} ms"
            f"   Python {rate['Python']:8,.0f}/s, p99 {p99['Python']:6.1f} ms"
            f"   {face} is {rate[face] / rate['Python']:.2f} of it"
        )


def main() -> bool:
    show(f"== http: {SCHEDULES:,} schedules, {AT_ONCE} calls at once; medians of {ROUNDS} rounds, faces in turn ==")
    show(machine("ostinato", "fastapi", "uvicorn", "httptools", "pydantic"))
    with sqlite() as fresh:
        asyncio.run(compare(fresh()))
    show(f"  list, by prefix: pages of up to {PAGE}; by job: the next 5 of one in a thousand.")
    show("  What limits: server, engine and writer share one process and its lock; JSON and checks both ways.")
    return True
