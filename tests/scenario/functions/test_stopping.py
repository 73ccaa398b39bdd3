"""Nodes that stop or crash in the middle of a function: what is at work goes on elsewhere, at most once where that was
asked for, and code that kills its nodes is given up."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, RunFailed
from ostinato.functions import FunctionContext, StepInterrupted, step
from ostinato.testing import World
from tests.support.faults import SharedStore


@pytest.fixture
def world() -> World:
    """On SQLite alone: on virtual time, nodes of another store do not hear of one another."""
    return World()


class Steps:
    """Steps that say when they begin and end, and are slow until `quick`."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.quick = False

    async def work(self, name: str) -> str:
        self.seen.append(f"begin {name}")
        if not self.quick:
            await asyncio.sleep(60)
        self.seen.append(f"end {name}")
        return name

    def declare(self, app: Ostinato) -> None:
        @app.function()
        async def three(ctx: FunctionContext) -> list[str]:
            first = await ctx.step(_name, "a")
            middle = await ctx.step(self.work, "b")
            return [first, middle, await ctx.step(_name, "c")]

        @app.function()
        async def once(ctx: FunctionContext) -> str:
            try:
                return await ctx.step(step(self.work, at_most_once=True), "pay")
            except StepInterrupted as interrupted:
                return f"{interrupted.step} {interrupted.type}"


async def _name(name: str) -> str:
    return name


async def test_a_step_that_ends_within_the_grace_is_done_once(world: World) -> None:
    steps = Steps()
    world.app.configure(grace="2m")
    steps.declare(world.app)
    await world.up()
    run = await world.app.functions.start("three")
    await world.advance("1s")
    await world.down()
    assert steps.seen == ["begin b", "end b"]
    await world.up()
    await world.settle()
    assert await run.result("1s") == ["a", "b", "c"]
    assert steps.seen == ["begin b", "end b"]
    assert "run:handed_back" in [event.name for event in await world.app.events(limit=100)]


async def test_a_step_beyond_the_grace_is_interrupted_and_done_again(world: World) -> None:
    steps = Steps()
    world.app.configure(grace="1s")
    steps.declare(world.app)
    await world.up()
    run = await world.app.functions.start("three")
    await world.advance("1s")
    await world.down()
    steps.quick = True
    await world.up()
    await world.settle()
    assert await run.result("1s") == ["a", "b", "c"]
    assert steps.seen == ["begin b", "begin b", "end b"]
    assert await world.app.check(repair=False) == []


@pytest.mark.parametrize("end", ["crash", "stop"])
async def test_a_step_that_must_be_tried_once_is_not_tried_again(world: World, end: str) -> None:
    steps = Steps()
    world.app.configure(grace="1s", lease="1m")
    steps.declare(world.app)
    await world.up()
    run = await world.app.functions.start("once")
    await world.advance("1s")
    await (world.crash() if end == "crash" else world.down())
    steps.quick = True
    await world.up()
    await world.advance("3m")
    assert await run.result("1s") == "Steps.work interrupted"
    assert steps.seen == ["begin pay"]
    (record,) = await world.app.functions.steps(run.id)
    assert (record.status, record.attempts) == ("failed", 1)


async def test_a_step_that_must_be_tried_once_keeps_its_result_over_a_crash(world: World) -> None:
    steps = Steps()
    steps.quick = True
    world.app.configure(lease="1m")

    @world.app.function()
    async def pays(ctx: FunctionContext) -> str:
        paid = await ctx.step(step(steps.work, at_most_once=True), "pay")
        await ctx.sleep("1h")
        return paid

    await world.up()
    run = await world.app.functions.start(pays)
    await world.advance("1s")
    await world.crash()
    await world.up()
    await world.advance("2h")
    assert await run.result("1s") == "pay"
    assert steps.seen == ["begin pay", "end pay"]


async def test_code_that_kills_its_nodes_is_given_up(world: World) -> None:
    steps = Steps()
    world.app.configure(lease="10s")

    @world.app.function()
    async def child(ctx: FunctionContext) -> None:
        await ctx.sleep("9d")

    @world.app.function()
    async def deadly(ctx: FunctionContext) -> None:
        await ctx.start("child")
        ctx.now()
        await ctx.step(steps.work, "x")

    await world.up()
    run = await world.app.functions.start(deadly)
    for _ in range(3):
        await world.advance("30s")
        assert not (await run.info()).over
        await world.crash()
        await world.up()
    await world.advance("1m")
    with pytest.raises(RunFailed, match="crash_loop"):
        await run.result("1s")
    assert steps.seen == ["begin x"] * 3
    assert {info.status for info in await world.app.functions.list(name="child")} == {"cancelled"}
    assert await world.app.check(repair=False) == []


async def test_a_step_in_between_makes_up_for_crashes(world: World) -> None:
    steps = Steps()
    world.app.configure(lease="5s")

    @world.app.function()
    async def unlucky(ctx: FunctionContext) -> list[str]:
        return [await ctx.step(steps.work, str(number)) for number in range(5)]

    await world.up()
    run = await world.app.functions.start(unlucky)
    for number in range(8):  # two crashes in each step, and then it ends
        await world.advance("20s")
        await world.crash()
        await world.up()
        if number % 2:
            await world.advance("80s")
    await world.advance("10m")
    assert await run.result("1s") == ["0", "1", "2", "3", "4"]
    assert (await world.app.events(subject=run.id, limit=100))[0].name


async def test_a_step_in_a_thread_is_waited_for(world: World) -> None:
    seen: list[str] = []

    def work() -> str:
        seen.append("thread")
        threading.Event().wait(0.2)
        return "done"

    @world.app.function()
    async def threaded(ctx: FunctionContext) -> str:
        return await ctx.step(work)

    await world.up()
    run = await world.app.functions.start(threaded)
    await asyncio.sleep(0)
    await world.down()
    await world.up()
    await world.settle()
    assert await run.result("1s") == "done"
    assert seen == ["thread"]


async def test_what_a_step_may_depend_on_is_on_record_before_it_begins(world: World) -> None:
    seen: list[list[tuple[str, str]]] = []

    async def look(run_id: str) -> None:
        info = await world.app.functions.get(run_id)
        records = await world.app.functions.steps(run_id)
        seen.append([(info.state, ""), *((record.kind, record.status) for record in records)])

    @world.app.function()
    async def child(ctx: FunctionContext) -> None: ...

    @world.app.function()
    async def careful(ctx: FunctionContext) -> None:
        ctx.set_state("first")
        ctx.uuid()
        await ctx.step(look, ctx.run_id)
        ctx.set_state("second")
        await ctx.start("child")
        await ctx.receive("go")
        await ctx.step(look, ctx.run_id)

    await world.up()
    run = await world.app.functions.start(careful, send={"go": 1})
    await world.settle()
    await run.result("1s")
    first = [("first", ""), ("uuid", "done")]
    assert seen == [
        first,
        [("second", ""), ("uuid", "done"), ("step", "done"), ("start", "done"), ("receive", "done")],
    ]
    assert len(await world.app.functions.list(name="child")) == 1


async def test_code_in_memory_is_not_used_after_another_node_has_gone_on(world: World) -> None:
    @world.app.function()
    async def parked(ctx: FunctionContext) -> Any:
        return await ctx.receive("go")

    await world.up()
    run = await world.app.functions.start(parked)
    await world.settle()
    body = world.app.functions._context.body
    assert body is not None
    live = body._parked[run.id]
    assert body._from_cache(replace(live.run, claim=live.run.claim + 2)) is None
    assert not body._parked
    await run.send("go", 1)
    await world.settle()
    assert await run.result("1s") == 1


# Two nodes


async def test_a_node_that_stops_hands_its_functions_to_the_other(world: World) -> None:
    """Parked in the memory of one, at work on the other, and back again."""
    nodes: list[Ostinato] = []
    executed: list[str] = []
    shared = SharedStore(world._store)

    def make(name: str) -> Ostinato:
        app = Ostinato(shared, clock=world.clock, lease=10, grace=1)

        async def work(step: str) -> str:
            executed.append(f"{name}: {step}")
            await asyncio.sleep(5.5)
            return step

        @app.function()
        async def travel(ctx: FunctionContext) -> list[Any]:
            seen = []
            for number in range(4):
                seen.append(await ctx.step(work, str(number)))
                seen.append(await ctx.receive("go", timeout="1h", default="late"))
            return seen

        nodes.append(app)
        return app

    first, second = make("first"), make("second")
    await world._store.open()
    await first._open(node=True)
    run = await first.functions.start("travel")
    await asyncio.sleep(6)
    await second._open(node=True)
    await first._close()
    await second.functions.send(run.id, "go", 1)
    await asyncio.sleep(4)
    await first._open(node=True)
    await second._close()  # in the middle of a step
    await asyncio.sleep(12)
    await first.functions.send(run.id, "go", 2)
    await asyncio.sleep(4)
    await second._open(node=True)
    await first.engine.kill()
    await first._close_after_crash()
    await asyncio.sleep(60)
    await second.functions.send(run.id, "go", 3)
    await asyncio.sleep(10)
    await second.functions.send(run.id, "go", 4)
    assert await second.functions.result(run.id, "10s") == ["0", 1, "1", 2, "2", 3, "3", 4]
    assert await second.functions.replay(run.id) == []
    assert executed == ["first: 0", "second: 1", "first: 1", "first: 2", "second: 2", "second: 3"]
    assert await second.check(repair=False) == []
    await second._close()


def test_a_thread_that_outlasts_the_grace_leaves_its_step_to_others(tmp_path: Path) -> None:
    """In real time, because virtual time stops while a thread works."""
    begun: list[str] = []
    may_end = threading.Event()

    def work(name: str) -> str:
        begun.append(name)
        if begun.count(name) == 1:
            may_end.wait(30)
            return f"late {name}"
        return name

    def make() -> Ostinato:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db", grace=0.2)

        @app.function()
        async def threaded(ctx: FunctionContext) -> Any:
            again = await ctx.step(work, "again")
            try:
                return [again, await ctx.step(step(work, at_most_once=True), "once")]
            except StepInterrupted:
                return [again, "interrupted"]

        return app

    async def until_begun(name: str) -> None:
        while name not in begun:
            await asyncio.sleep(0.01)

    async def main() -> None:
        async with make() as first:
            run = await first.functions.start("threaded")
            await until_begun("again")
        async with make():
            await until_begun("once")
        async with make() as third:
            assert await third.functions.result(run.id, "20s") == ["again", "interrupted"]
            assert begun == ["again", "again", "once"]
            assert await third.check(repair=False) == []
        may_end.set()

    try:
        asyncio.run(main())
    finally:
        may_end.set()
