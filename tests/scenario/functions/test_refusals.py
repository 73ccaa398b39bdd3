"""What calls of durable functions refuse: changed code, names that are taken, wrong parameters, too many steps. And
which calls may be repeated."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import Ostinato, OstinatoError, RunFailed
from ostinato.functions import Cancelled, Changed, FunctionContext
from ostinato.testing import World

RAN: list[str] = []


async def note(name: str) -> str:
    RAN.append(name)
    return name


async def at_once(ctx: FunctionContext) -> str:
    await ctx.gather(ctx.step(note, "a"), ctx.step(note, "b"))
    await ctx.receive("go")
    return await ctx.step(note, "c")


async def in_turn(ctx: FunctionContext) -> str:
    await ctx.step(note, "a")
    await ctx.step(note, "b")
    await ctx.receive("go")
    return await ctx.step(note, "c")


async def behind_nothing(ctx: FunctionContext) -> str:
    await ctx.step(note, "a")
    await ctx.step(note, "b")
    await ctx.gather()
    await ctx.receive("go")
    return await ctx.step(note, "c")


async def broken(ctx: FunctionContext) -> str:
    await ctx.step(note, "a")
    raise ValueError("a new bug")


async def demanding(ctx: FunctionContext, must: int) -> str:
    return await in_turn(ctx)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (at_once, in_turn, "the record has receive 'go' at position 3"),
        (in_turn, at_once, "the record has receive 'go' at position 2"),
        (in_turn, behind_nothing, "the record has receive 'go' at position 2"),
        (in_turn, broken, "the function raised ValueError: a new bug"),
        (in_turn, demanding, "'must' is missing"),
    ],
)
async def test_a_change_before_a_wait_is_found_before_a_step_runs(
    world: World, before: Any, after: Any, words: str
) -> None:
    world.app.function(name="f")(before)
    await world.up()
    run = await world.app.functions.start("f")
    await world.settle()
    await world.down()
    RAN.clear()
    world.app.functions.codes._by_name.clear()
    world.app.function(name="f")(after)
    await world.up()
    with pytest.raises(Changed, match=words):
        await world.replay(run.id)
    await run.send("go")
    await world.settle()
    with pytest.raises(RunFailed, match=words if after is demanding else "changed"):
        await run.result()
    assert RAN == []


async def test_a_cancelled_function_is_given_the_reason(world: World) -> None:
    reasons: list[Any] = []

    @world.app.function()
    async def wait(ctx: FunctionContext) -> None:
        try:
            await ctx.sleep("9d")
        except Cancelled as cancelled:
            reasons.append(cancelled.args)

    await world.up()
    run = await world.app.functions.start(wait)
    await world.settle()
    await run.cancel("the order is void")
    await world.settle()
    assert reasons == [("the order is void",)]


async def test_a_start_that_is_repeated_sends_its_messages_once(world: World) -> None:
    @world.app.function()
    async def two(ctx: FunctionContext) -> list[Any]:
        return [await ctx.receive("m"), await ctx.receive("m", timeout="1m", default="none")]

    await world.up()
    for _ in range(3):
        run = await world.app.functions.start(two, id="t", send={"m": 1})
    await world.advance("2m")
    assert await run.result() == [1, "none"]
    again = await world.app.functions.start(two, id="t", send={"m": 1})
    assert (again.id, again.new) == (run.id, False)


async def test_the_result_of_what_is_over_needs_no_time(world: World) -> None:
    @world.app.function()
    async def quick(ctx: FunctionContext) -> int:
        return 7

    await world.up()
    run = await world.app.functions.start(quick)
    await world.settle()
    assert await run.result(0) == 7
    with pytest.raises(OstinatoError, match="timeout -1 is negative"):
        await run.result(-1)


async def test_names_are_of_functions_or_jobs(world: World) -> None:
    @world.app.function()
    async def quick(ctx: FunctionContext) -> int:
        return 7

    @world.app.job
    async def work() -> None: ...

    await world.up()
    with pytest.raises(OstinatoError, match="'quick' is a function; start it by"):
        await world.app.start("quick")
    with pytest.raises(OstinatoError, match="there is a function called 'quick'"):
        world.app.job(name="quick")(work)
    with pytest.raises(OstinatoError, match="there is a job called 'work'"):
        world.app.function(name="work")(quick)
    with pytest.raises(OstinatoError, match=r"send \[1\] is not an object"):
        await world.app.functions.start("quick", send=[1])  # type: ignore[call-overload]


def test_bounds_and_parameters_are_checked_where_they_are_given() -> None:
    for setting in ("function_steps", "function_cache"):
        with pytest.raises(OstinatoError, match=f"{setting} 'x' is not a whole number"):
            Ostinato("sqlite:///never.db", **{setting: "x"})  # type: ignore[arg-type]
    app = Ostinato("sqlite:///never.db")
    with pytest.raises(OstinatoError, match="'ctx' cannot be given by name"):

        @app.function()
        async def places(ctx: FunctionContext, a: int, /) -> None: ...

    with pytest.raises(OstinatoError, match="'rest' cannot be given by name"):

        @app.function()
        async def many(ctx: FunctionContext, *rest: int) -> None: ...


async def test_the_most_steps_hold_in_a_gather(world: World) -> None:
    world.app.configure(function_steps=20)

    @world.app.function()
    async def wide(ctx: FunctionContext) -> None:
        await ctx.gather(*(ctx.step(note, str(n)) for n in range(30)))

    await world.up()
    RAN.clear()
    run = await world.app.functions.start(wide)
    await world.settle()
    with pytest.raises(RunFailed, match="TooLarge"):
        await run.result()
    assert RAN == []
