"""Code that changes under runs that are not over: what is recorded decides, and what does not fit is an error that says
where."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ostinato import Ostinato, RunFailed
from ostinato.functions import Changed, FunctionContext
from ostinato.testing import World
from tests.support.faults import SharedStore


@pytest.fixture
def world() -> World:
    """On SQLite alone: nothing here depends on the store."""
    return World()


async def charge(n: int) -> int:
    return n


async def refund(n: int) -> int:
    return -n


async def deploy(world: World, function: Any, **options: Any) -> None:
    """Stop the node, and start one that has this code instead."""
    await world.down()
    world.app = Ostinato(world._store, clock=world.clock, **world._settings)
    world.app.function(name="pay", **options)(function)
    await world.up()
    await world.settle()


async def first(ctx: FunctionContext) -> list[Any]:
    paid = await ctx.step(charge, 1)
    await ctx.sleep("1h")
    return [paid, await ctx.step(charge, 2)]


async def begun(world: World, **options: Any) -> Any:
    """A run of the first code, in its sleep."""
    world.app.function(name="pay", **options)(first)
    await world.up()
    run = await world.app.functions.start("pay")
    await world.settle()
    return run.id


async def test_a_change_fails_the_run_and_says_where(world: World) -> None:
    id = await begun(world)

    async def second(ctx: FunctionContext) -> Any:
        return await ctx.step(refund, 1)  # another step

    await deploy(world, second)
    with pytest.raises(Changed, match="the code asks for step 'refund' at position 0"):
        await world.replay(id)
    await world.advance("2h")
    with pytest.raises(RunFailed, match="changed") as caught:
        await world.app.functions.result(id)
    line = second.__code__.co_firstlineno + 1
    error: Any = caught.value.error
    assert error["place"] == f"{__file__}:{line}"
    assert (error["expected"], error["actual"], error["position"]) == ("step 'charge'", "step 'refund'", "0")
    info = await world.app.functions.get(id)
    assert (info.status, info.reason) == ("failed", "changed")
    steps = await world.app.functions.steps(id)
    assert [(one.position, one.name, one.status) for one in steps] == [("0", "charge", "done"), ("1", "", "pending")]
    assert await world.app.check(repair=False) == []


async def test_what_runs_wait_for_may_not_be_removed(world: World) -> None:
    id = await begun(world)

    async def second(ctx: FunctionContext) -> Any:
        return await ctx.step(charge, 1)

    await deploy(world, second)
    await world.advance("2h")
    with pytest.raises(RunFailed, match="changed") as caught:
        await world.app.functions.result(id)
    error: Any = caught.value.error
    assert error["expected"] == "sleep"


async def test_code_may_change_behind_what_is_recorded(world: World) -> None:
    id = await begun(world)

    async def second(ctx: FunctionContext) -> Any:
        paid = await ctx.step(charge, 100)  # other arguments: the record answers
        await ctx.sleep("9h")  # another length: the one that began goes on
        return [paid, await ctx.step(refund, 2)]

    await deploy(world, second)
    assert [(one.kind, one.status) for one in await world.replay(id)] == [("sleep", "pending")]
    await world.advance("2h")
    assert await world.app.functions.result(id, "1s") == [1, -2]


async def test_old_and_new_runs_take_their_branch_of_a_versioned_change(world: World) -> None:
    id = await begun(world)

    async def second(ctx: FunctionContext) -> list[Any]:
        paid = await ctx.step(charge if ctx.version("refunds", 2) == 1 else refund, 1)
        await ctx.sleep("1h")
        later = ctx.version("later", 3)
        return [paid, later, await ctx.step(charge if later == 1 else refund, 2)]

    await deploy(world, second)
    new = await world.app.functions.start("pay")
    await world.advance("10m")
    assert await world.replay(id)
    await deploy(world, second)  # a restart changes nothing
    await world.advance("2h")
    assert await world.app.functions.result(id, "1s") == [1, 3, -2]
    assert await world.app.functions.result(new.id, "1s") == [-1, 3, -2]
    assert await world.replay(id) == await world.replay(new.id) == []


async def second_version(ctx: FunctionContext) -> str:
    await ctx.sleep("1h")
    await ctx.step(refund, 1)
    return "second"


async def test_pinned_runs_go_on_with_their_version_in_one_app(world: World) -> None:
    world.app.function(name="pay", version=2, pinned=True)(second_version)
    id = await begun(world, version=1, pinned=True)
    assert (await world.app.functions.get(id)).version == 2

    await world.down()
    old = Ostinato(world._store, clock=world.clock, **world._settings)
    old.function(name="pay", version=1, pinned=True)(first)
    world.app = old
    await world.up()
    older = await old.functions.start("pay")
    await world.advance("10m")
    waits = await old.functions.get(id)
    drained = {info.version: (info.runs, info.pinned, info.current) for info in await old.functions.drain()}
    assert drained == {1: (1, True, False), 2: (1, True, True)}
    await world.down()

    world.app = Ostinato(world._store, clock=world.clock, **world._settings)
    world.app.function(name="pay", version=1, pinned=True)(first)
    world.app.function(name="pay", version=2, pinned=True)(second_version)
    await world.up()
    await world.advance("2h")
    assert await world.app.functions.result(older.id, "1s") == [1, 2]
    assert await world.app.functions.result(id, "1s") == "second"
    assert await world.app.functions.drain() == ()
    assert waits.status == "waiting"


async def test_pinned_runs_go_on_at_the_node_that_has_their_version(world: World) -> None:
    shared = SharedStore(world._store)
    await world._store.open()

    def make(version: int, code: Any) -> Ostinato:
        app = Ostinato(shared, clock=world.clock, lease=10)
        app.function(name="pay", version=version, pinned=True)(code)
        return app

    older, newer = make(1, first), make(2, second_version)
    async with older, newer:
        runs = []
        for number in range(6):
            runs.append(await (older, newer)[number % 2].functions.start("pay"))
        async with asyncio.timeout(3 * 3600):
            results = [await run.result() for run in runs]
    versions = {str(result) for result in results}
    assert versions <= {"[1, 2]", "second"}


@pytest.mark.parametrize("pinned", [False, True])
async def test_a_node_with_older_code_leaves_a_run_to_others(world: World, pinned: bool) -> None:
    """While a new version is rolled out, nodes of both share a store: the old one must not fail the new one's runs."""
    shared = SharedStore(world._store)
    await world._store.open()

    def make(version: int, code: Any) -> Ostinato:
        app = Ostinato(shared, clock=world.clock, lease=10)
        app.function(name="pay", version=version, pinned=pinned)(code)
        return app

    new, old = make(2, second_version), make(1, first)
    await new._open(node=True)
    run = await new.functions.start("pay")
    await world._sleep_to(world.clock.now() + 1_000_000)
    await new._close()
    async with old:
        await world._sleep_to(world.clock.now() + 2 * 3_600_000_000)
        info = await old.functions.get(run.id)
        assert (info.status, info.waits_for) == ("waiting", "no node with function 'pay', version 2")
    async with make(2, second_version) as newer:
        assert await newer.functions.result(run.id, "1m") == "second"


async def test_a_function_that_no_node_has_waits_for_one(world: World) -> None:
    id = await begun(world)
    await world.down()
    world.app = Ostinato(world._store, clock=world.clock, **world._settings)
    await world.up()
    await world.advance("3h")
    info = await world.app.functions.get(id)
    assert (info.status, info.waits_for) == ("waiting", "no node with function 'pay'")
    await deploy(world, first)
    await world.advance("1m")
    assert await world.app.functions.result(id, "1s") == [1, 2]


async def test_replays_know_children_by_the_name_they_were_declared_with(world: World) -> None:
    @world.app.job(name="billing.charge")
    async def bill() -> int:
        return 1

    @world.app.function(name="billing.sub")
    async def sub(ctx: FunctionContext) -> int:
        return 2

    @world.app.function()
    async def parent(ctx: FunctionContext) -> Any:
        children = [await ctx.start(bill), await ctx.start(sub)]
        return [await child.result() for child in children]

    await world.up()
    run = await world.app.functions.start(parent)
    await world.advance("1s")
    assert await run.result("1s") == [1, 2]
    assert await world.replay(run.id) == []
