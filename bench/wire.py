"""Temporal's wire, by its own client, against the Python face, in one run: creating, describing and listing schedules
among many, in calls a second and the slowest of a hundred."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

from temporalio.api.workflowservice.v1 import DescribeScheduleRequest, ListSchedulesRequest
from temporalio.client import Client, Schedule, ScheduleActionStartWorkflow, ScheduleSpec, ScheduleState

from bench.http import AT_ONCE, CALLS, PAGE, ROUNDS, Figure, fill, in_python, measure, name, tell
from bench.measure import machine, show
from bench.stores import sqlite
from ostinato import Ostinato
from ostinato.faces.auth import Door
from ostinato.faces.http.server import Listening
from ostinato.faces.temporal.server import WireServer

SCHEDULES = int(os.environ.get("OSTINATO_BENCH_WIRE_SCHEDULES", "100000"))


def over_the_wire(client: Client) -> dict[str, Callable[[int], Awaitable[None]]]:
    action = ScheduleActionStartWorkflow("nothing", id="nothing", task_queue="default", run_timeout=timedelta(hours=1))
    spec = ScheduleSpec(cron_expressions=["0 9 * * *"])

    async def create(n: int) -> None:
        schedule = Schedule(action, spec=spec, state=ScheduleState(paused=True))
        await client.create_schedule(f"wire-{n}", schedule)

    async def some(n: int) -> None:
        after = name(n * 7919, SCHEDULES).encode()
        request = ListSchedulesRequest(namespace="default", maximum_page_size=PAGE, next_page_token=after)
        await client.workflow_service.list_schedules(request)

    async def describe(n: int) -> None:
        request = DescribeScheduleRequest(namespace="default", schedule_id=name(n * 7919, SCHEDULES))
        await client.workflow_service.describe_schedule(request)

    return {"create": create, "list": some, "describe": describe}


async def compare(url: str) -> None:
    app = Ostinato(url)

    @app.job()
    async def nothing() -> None: ...

    async with app:
        begin = time.perf_counter()
        await fill(app, SCHEDULES)
        show(f"  {SCHEDULES:,} schedules written in {time.perf_counter() - begin:.0f} s")
        server = WireServer(Door(app, open_on_loopback=True), Listening(port=0))
        async with server.serving() as address:
            client = await Client.connect(address)
            await rounds(app, client)


async def rounds(app: Ostinato, client: Client) -> None:
    figures: dict[tuple[str, str], list[Figure]] = {}
    calls = over_the_wire(client)
    first = 0
    for _ in range(ROUNDS):
        for what in calls:
            numbers = range(first, first + (CALLS // 5 if what == "list" else CALLS))
            figures.setdefault((what, "wire"), []).append(await measure(calls[what], numbers))
            direct = await measure(lambda n, what=what: in_python(app, what, n, SCHEDULES), numbers)  # type: ignore[misc]
            figures.setdefault((what, "Python"), []).append(direct)
            first = numbers.stop
    tell(figures, "wire")


def main() -> bool:
    show(f"== wire: {SCHEDULES:,} schedules, {AT_ONCE} calls at once; medians of {ROUNDS} rounds, faces in turn ==")
    show(machine("ostinato", "temporalio", "grpcio", "protobuf"))
    with sqlite() as fresh:
        asyncio.run(compare(fresh()))
    show(
        "  What limits: client, server, engine and writer share one process here; messages are made and read both ways."
    )
    return True
