"""Waiting for a run that nobody does: it is said, and what it waits for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, SyncOstinato
from ostinato.functions import FunctionContext
from ostinato.testing import World
from tests.support.journey_parts import text


async def test_a_timeout_says_what_the_run_waits_for(world: World) -> None:
    @world.app.job(concurrency=1)
    async def slow() -> None:
        await asyncio.sleep(1000)

    running = await world.start("slow")
    line = await world.start("slow")
    unknown = await world.start("unknown")
    later = await world.app.start("slow", at="2030-01-01T00:00:00Z")
    elsewhere = await world.start("slow", queue="other")
    messages = {}
    for run in (running, line, unknown, later, elsewhere):
        with pytest.raises(TimeoutError) as problem:
            await run.result(timeout=5)
        messages[run.id] = str(problem.value)
    assert messages[running.id].startswith(f"run {running.id} is not over: it is running on node ")
    assert "it is queued: limit" in messages[line.id]
    assert messages[unknown.id].endswith("it waits: no node knows the job 'unknown'")
    assert messages[later.id].endswith("it waits until 2030-01-01T00:00:00Z")
    assert "is queued" in messages[elsewhere.id] or "no node serves queue 'other'" in messages[elsewhere.id]


async def test_a_queue_that_nobody_serves_is_named(world: World) -> None:
    @world.app.job(queue="other")
    async def work() -> None: ...

    run = await world.start("work")
    with pytest.raises(TimeoutError, match="no node serves queue 'other'; there are nodes for default"):
        await run.result(timeout=5)


async def test_waiting_without_a_node_is_a_warning_at_once(world: World, caplog: pytest.LogCaptureFixture) -> None:
    @world.app.job()
    async def work() -> int:
        return 42

    done = await world.start("work")
    await done.result()
    await world.down()
    caplog.clear()
    async with world.app.connected():
        run = await world.app.start("work")
        with pytest.raises(TimeoutError, match="it is ready, and no node is running on this store; start one"):
            await run.result(timeout=5)
        (line,) = [record for record in caplog.records if record.name == "ostinato"]
        assert "waiting for a run of job 'work', and no node is running on this store" in line.getMessage()
        caplog.clear()
        assert await done.result() == 42  # what is over needs no node
        assert not caplog.records


def test_the_sync_facade_runs_a_node_unless_it_only_connects(tmp_path: Path) -> None:
    app = Ostinato(f"sqlite:///{tmp_path}/s.db")

    @app.job()
    def add(a: int, b: int) -> int:
        return a + b

    with SyncOstinato(app) as sync:
        assert sync.start("add", {"a": 40, "b": 2}).result(timeout=30) == 42
    with SyncOstinato(app).connected() as sync:
        with pytest.raises(TimeoutError, match="no node is running on this store"):
            sync.start("add", {"a": 1, "b": 1}).result(timeout=0.2)
        assert sync.call(app.nodes()) == ()


def no_node_lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage() for record in caplog.records if getattr(record, "values", {}).get("action") == "no_node"
    ]


async def test_waiting_for_a_function_without_a_node_is_a_warning(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    @world.app.function()
    async def order(ctx: FunctionContext) -> Any:
        return await ctx.receive("reply")

    await world.up()
    waiting = await world.app.functions.start("order")
    await world.settle()
    with pytest.raises(TimeoutError, match=r"it is waiting: a message 'reply'$"):
        await waiting.result("3s")
    await world.down()
    assert no_node_lines(caplog) == []
    async with world.app.connected():
        run = await world.app.functions.start("order")
        with pytest.raises(TimeoutError, match="is not over: it is ready, and no node is running on this store; start"):
            await run.result("3s")
    (line,) = no_node_lines(caplog)
    assert line.startswith("waiting for a run of function 'order', and no node is running on this store; start one")


async def test_waiting_for_a_journey_without_a_node_is_a_warning(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    await world.up()
    await world.app.journeys.deploy(
        text(
            "ask: {type: wait, wait: {channel: manual, input: {schema: {}}}, next: done}\ndone: {type: succeed}",
            name="tea",
            start="ask",
        )
    )
    started = await world.app.journeys.start("tea", {})
    with pytest.raises(TimeoutError, match=f"^journey {started.id} is not over: it is waiting: an input$"):
        await world.app.journeys.wait(started.id, "2s")
    await world.down()
    async with world.app.connected():
        with pytest.raises(TimeoutError, match="it is waiting: an input, and no node is running on this store; start"):
            await world.app.journeys.wait(started.id, "2s")
    (line,) = no_node_lines(caplog)
    assert line.startswith("waiting for a run of journey 'tea', and no node is running on this store; start one")
