"""The bounds of functions: each is an error that says which, and never a run that hangs or a store that fills up."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import OstinatoError, RunFailed
from ostinato.functions import FunctionContext, StepFailed, TooLarge, step
from ostinato.functions.model import DEEPEST
from ostinato.testing import World

LARGE = "x" * (1 << 20)


@pytest.fixture
def world() -> World:
    """On SQLite alone: nothing here depends on the store."""
    return World()


async def pass_on(value: Any) -> Any:
    return value


async def test_a_result_of_a_step_that_is_too_large_fails_the_step_once(world: World) -> None:
    calls: list[int] = []

    async def large() -> str:
        calls.append(1)
        return LARGE

    @world.app.function()
    async def keeps(ctx: FunctionContext) -> str:
        try:
            await ctx.step(step(large, retry=5))
        except StepFailed as failed:
            return str(failed.error["message"])
        return "fine"

    await world.up()
    run = await world.app.functions.start(keeps)
    await world.advance("1h")
    assert "the result of step" in await run.result("1s")
    assert "at most 1,048,576 are kept" in await run.result("1s")
    assert calls == [1], "the step has ended; what it returned is the same next time"


async def test_results_states_and_inputs_that_are_too_large_are_refused(world: World) -> None:
    @world.app.function()
    async def returns(ctx: FunctionContext) -> str:
        return LARGE

    @world.app.function()
    async def shows(ctx: FunctionContext) -> str:
        try:
            ctx.set_state(LARGE)
        except OstinatoError as problem:
            return str(problem)
        return "fine"

    @world.app.function()
    async def continues(ctx: FunctionContext, text: str = "") -> str:
        try:
            ctx.continue_as({"text": LARGE})
        except OstinatoError as problem:
            return str(problem)

    await world.up()
    runs = [await world.app.functions.start(function) for function in (returns, shows, continues)]
    await world.settle()
    with pytest.raises(RunFailed, match="the result is 1,048,578 bytes"):
        await runs[0].result("1s")
    assert "the state is 1,048,578 bytes" in await runs[1].result("1s")
    assert "the input is" in await runs[2].result("1s")


async def test_a_message_that_is_too_large_is_refused(world: World) -> None:
    @world.app.function()
    async def wait(ctx: FunctionContext) -> Any:
        return await ctx.receive("go")

    await world.up()
    run = await world.app.functions.start(wait)
    with pytest.raises(OstinatoError, match="the message is 1,048,578 bytes"):
        await run.send("go", LARGE)
    with pytest.raises(OstinatoError, match="the message is not JSON"):
        await run.send("go", object())
    with pytest.raises(OstinatoError, match="text of 1 to 200"):
        await run.send("go", 1, id="x" * 201)
    for name in ("", "a\x00b", 5):
        with pytest.raises(OstinatoError, match="the message's name"):
            await run.send(name, 1)  # type: ignore[arg-type]


async def test_a_history_is_full_after_the_most_steps(world: World) -> None:
    world.app.configure(function_steps=5)

    @world.app.function()
    async def endless(ctx: FunctionContext) -> None:
        while True:
            await ctx.step(pass_on, 1)

    @world.app.function()
    async def continuing(ctx: FunctionContext, n: int = 0) -> int:
        try:
            while n < 12:
                n = await ctx.step(pass_on, n + 1)
        except TooLarge:
            ctx.continue_as({"n": n})
        return n

    await world.up()
    first = await world.app.functions.start(endless)
    second = await world.app.functions.start(continuing)
    await world.settle()
    with pytest.raises(RunFailed, match=r"TooLarge.*5 recorded steps.*ctx.continue_as"):
        await first.result("1s")
    assert await second.result("1s") == 12
    assert (await second.info()).generation == 2


async def test_code_that_ignores_the_bound_does_not_hang_its_node(world: World) -> None:
    world.app.configure(function_steps=5)

    @world.app.function()
    async def deaf(ctx: FunctionContext) -> None:
        while True:
            try:
                await ctx.step(pass_on, 1)
            except Exception as problem:
                ctx.log(str(problem))

    await world.up()
    run = await world.app.functions.start(deaf)
    await world.settle()
    with pytest.raises(RunFailed, match="5 recorded steps"):
        await run.result("1s")


async def test_functions_are_not_nested_without_end(world: World) -> None:
    @world.app.function()
    async def below(ctx: FunctionContext) -> int:
        try:
            return 1 + int(await (await ctx.start("below")).result())
        except Exception:
            return 0

    await world.up()
    run = await world.app.functions.start(below)
    await world.advance("1m")
    assert await run.result("1s") == DEEPEST
    (deepest,) = await world.app.functions.list(name="below", status="failed")
    assert deepest.reason == "too_deep"


async def test_log_lines_are_kept_up_to_a_number_and_a_length(world: World) -> None:
    @world.app.function()
    async def talks(ctx: FunctionContext) -> None:
        for number in range(1500):
            ctx.log(f"{number} " + "y" * 5000)
        await ctx.sleep("1h")
        ctx.log("after")

    await world.up()
    run = await world.app.functions.start(talks)
    await world.advance("2h")
    lines = await world.app.logs(run.id)
    assert len(lines) == 1000
    assert max(len(line.message) for line in lines) == 4096


async def test_log_lines_are_not_repeated_by_a_replay(world: World) -> None:
    world.app.configure(lease="1m")

    @world.app.function()
    async def talks(ctx: FunctionContext) -> None:
        ctx.log("begin")
        await ctx.step(pass_on, 1)
        ctx.log("middle")
        await ctx.sleep("1h")
        ctx.log("end")

    await world.up()
    run = await world.app.functions.start(talks)
    await world.advance("1s")
    await world.crash()
    await world.up()
    await world.advance("2h")
    assert [line.message for line in await world.app.logs(run.id)] == ["begin", "middle", "end"]


@pytest.mark.parametrize(
    ("wait", "words"),
    [
        (lambda ctx: ctx.sleep(-1), "is negative"),
        (lambda ctx: ctx.sleep("soon"), "soon"),
        (lambda ctx: ctx.sleep_until("2027-01-01"), "is not a datetime with a time zone"),
        (lambda ctx: ctx.receive(""), "the message's name"),
        (lambda ctx: ctx.receive("m", timeout=0), "timeout"),
        (lambda ctx: ctx.receive("m", default=1), "needs a timeout"),
        (lambda ctx: ctx.receive("m", wait=1), "has no 'wait'"),
        (lambda ctx: ctx.step(5), "names no function"),
        (lambda ctx: ctx.step(pass_on(1)), "takes the function and its arguments"),
        (lambda ctx: ctx.start("below", on_parent_end="never"), "is none of cancel, terminate, abandon"),
        (lambda ctx: ctx.start("below", retry=3), "a function has no 'retry'"),
        (lambda ctx: ctx.start("x", kind="holiday"), "there is function, job"),
        (lambda ctx: ctx.continue_as([1]), "the input is not an object"),
    ],
)
async def test_what_cannot_be_asked_for_is_an_error_with_words(world: World, wait: Any, words: str) -> None:
    @world.app.function()
    async def below(ctx: FunctionContext) -> None: ...

    @world.app.function()
    async def asks(ctx: FunctionContext) -> str:
        try:
            await wait(ctx)
        except Exception as problem:
            return str(problem)
        return "fine"

    await world.up()
    run = await world.app.functions.start(asks)
    await world.settle()
    assert words in await run.result("1s")
