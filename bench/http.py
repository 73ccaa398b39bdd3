"""The HTTP API against the Python face, in one run: requests in a second and the slowest of a hundred, for creating,
listing and describing schedules among many."""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import httpx

from bench.measure import machine, show
from bench.stores import sqlite
from ostinato import Ostinato
from ostinato.faces.http.server import Listening, api, make_server

SCHEDULES = int(os.environ.get("OSTINATO_BENCH_SCHEDULES", "1000000"))
CALLS = int(os.environ.get("OSTINATO_BENCH_CALLS", "2000"))
AT_ONCE = 16
ROUNDS = 5
PAGE = 100
SPEC = {"cron": ["0 9 * * *"]}
Call = Callable[[int], Awaitable[object]]


@dataclass(frozen=True)
class Figure:
    rate: float  # calls in a second
    p99: float  # milliseconds


async def measure(call: Call, count: int, first: int) -> Figure:
    """So many calls, some at once."""
    numbers = iter(range(first, first + count))
    taken: list[float] = []

    async def worker() -> None:
        for number in numbers:
            begin = time.perf_counter()
            await call(number)
            taken.append((time.perf_counter() - begin) * 1000)

    begin = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    whole = time.perf_counter() - begin
    return Figure(count / whole, sorted(taken)[int(len(taken) * 0.99)])


async def fill(app: Ostinato) -> None:
    """Paused, so that what is measured is the API and not the beat."""
    for begin in range(0, SCHEDULES, 5_000):
        names = [f"s-{n:07}" for n in range(begin, min(begin + 5_000, SCHEDULES))]
        await app.schedules.create_many([app.schedules.draft(name, SPEC, "nothing", paused=True) for name in names])


def over_http(client: httpx.AsyncClient) -> dict[str, Call]:
    async def create(n: int) -> None:
        body = {"name": f"http-{n}", "spec": SPEC, "action": "nothing", "paused": True}
        (await client.post("/schedules", json=body)).raise_for_status()

    async def some(n: int) -> None:
        after = f"s-{n * 7919 % SCHEDULES:07}"
        (await client.get("/schedules", params={"after": after, "limit": PAGE})).raise_for_status()

    async def describe(n: int) -> None:
        (await client.get(f"/schedules/s-{n * 7919 % SCHEDULES:07}")).raise_for_status()

    return {"create": create, f"list {PAGE}": some, "describe": describe}


def in_python(app: Ostinato) -> dict[str, Call]:
    async def create(n: int) -> None:
        await app.schedules.create(f"python-{n}", SPEC, "nothing", paused=True)

    async def some(n: int) -> None:
        await app.schedules.find(after=f"s-{n * 7919 % SCHEDULES:07}", limit=PAGE)

    async def describe(n: int) -> None:
        await app.schedules.get(f"s-{n * 7919 % SCHEDULES:07}")

    return {"create": create, f"list {PAGE}": some, "describe": describe}


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
        port = server.servers[0].sockets[0].getsockname()[1]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=60) as client:
            await rounds({"HTTP": over_http(client), "Python": in_python(app)})
        server.should_exit = True
        await serving


async def rounds(faces: dict[str, dict[str, Call]]) -> None:
    """Faces take turns within a round, so that a busy moment of the machine hits both."""
    found: dict[tuple[str, str], list[Figure]] = {}
    first = 0
    for _ in range(ROUNDS):
        for what in next(iter(faces.values())):
            count = CALLS // (5 if what.startswith("list") else 1)
            for face, calls in faces.items():
                found.setdefault((what, face), []).append(await measure(calls[what], count, first))
            first += count
    for what in dict.fromkeys(what for what, _ in found):
        rate = {face: statistics.median(one.rate for one in found[what, face]) for face in faces}
        p99 = {face: statistics.median(one.p99 for one in found[what, face]) for face in faces}
        show(
            f"  {what:10} HTTP {rate['HTTP']:8,.0f}/s, p99 {p99['HTTP']:6.1f} ms"
            f"   Python {rate['Python']:8,.0f}/s, p99 {p99['Python']:6.1f} ms"
            f"   HTTP is {rate['HTTP'] / rate['Python']:.2f} of it"
        )


def main() -> bool:
    show(f"== http: {SCHEDULES:,} schedules, {AT_ONCE} calls at once; medians of {ROUNDS} rounds, faces in turn ==")
    show(machine("ostinato", "fastapi", "uvicorn", "pydantic", "httpx"))
    with sqlite() as fresh:
        asyncio.run(compare(fresh()))
    show("  What limits: client, server, engine and writer share one process here; JSON and checks both ways.")
    return True
