"""Code that misbehaves: a function or a step that asks for what cannot be done gets a clear error, and its node and
every other run go on."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import ostinato
from ostinato import RunCancelled, RunFailed
from ostinato.errors import OstinatoError
from ostinato.functions import Cancelled, FunctionContext, NotDeterministic, StepFailed, step
from ostinato.testing import World


@pytest.fixture
def world() -> World:
    """On SQLite alone: nothing here depends on the store."""
    return World()


async def double(n: int) -> int:
    return 2 * n


async def fail() -> None:
    raise ValueError("broken")


async def test_a_step_that_raises_a_cancelled_error_has_failed(world: World) -> None:
    async def cancelled_inside() -> None:
        raise asyncio.CancelledError

    @world.app.function()
    async def odd(ctx: FunctionContext) -> str:
        try:
            await ctx.step(cancelled_inside)
        except StepFailed as failed:
            return failed.type
        return "fine"

    await world.up()
    run = await world.app.functions.start(odd)
    await world.advance("1m")
    assert await run.result("1s") == "CancelledError"


@pytest.mark.filterwarnings("ignore::ostinato.functions.NotDeterministic")
async def test_timeouts_of_asyncio_are_refused_where_they_would_stop_the_node(world: World) -> None:
    async def slow() -> str:
        await asyncio.sleep(10)
        return "slow"

    @world.app.function()
    async def scoped(ctx: FunctionContext) -> str:
        async with asyncio.timeout(1):
            return await ctx.step(slow)

    @world.app.function()
    async def waited(ctx: FunctionContext) -> Any:
        return await asyncio.wait_for(ctx.step(slow), 1)

    await world.up()
    for function in (scoped, waited):
        run = await world.app.functions.start(function)
        await world.advance("1m")
        with pytest.raises(RunFailed, match=r"is not recorded|inside a task|outside of its function"):
            await run.result("1s")


@pytest.mark.filterwarnings("ignore::ostinato.functions.NotDeterministic")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_tasks_of_asyncio_are_refused(world: World) -> None:
    @world.app.function()
    async def gathers(ctx: FunctionContext) -> Any:
        return await asyncio.gather(ctx.step(double, 1), ctx.step(double, 2))

    @world.app.function()
    async def creates(ctx: FunctionContext) -> Any:
        async def inner() -> int:
            return await ctx.step(double, 1)

        return await asyncio.create_task(inner())

    @world.app.function()
    async def sleeps(ctx: FunctionContext) -> None:
        await asyncio.sleep(0)

    await world.up()
    for function in (gathers, creates, sleeps):
        run = await world.app.functions.start(function)
        await world.advance("1s")
        with pytest.raises(RunFailed, match=r"NotDurable: the function waits for .* not recorded.*ctx.gather"):
            await run.result("1s")


async def test_a_child_whose_input_does_not_fit_is_an_error_where_it_is_started(world: World) -> None:
    @world.app.job
    async def charge(user: str) -> str:
        return user

    @world.app.function()
    async def child(ctx: FunctionContext, n: int) -> int:
        return n

    @world.app.function()
    async def parent(ctx: FunctionContext) -> list[str]:
        problems = []
        for name, input in (("charge", {"wrong": 1}), ("child", {"n": "x"}), ("nobody", {})):
            try:
                await ctx.start(name, input)
            except OstinatoError as problem:
                problems.append(str(problem))
        return problems

    await world.up()
    run = await world.app.functions.start(parent)
    await world.settle()
    first, second, third = await run.result("1s")
    assert "wrong" in first
    assert "n" in second
    assert "there is no function or job 'nobody'" in third


async def test_a_terminated_run_does_not_go_on_with_its_step(world: World) -> None:
    seen: list[str] = []

    async def long() -> None:
        try:
            await asyncio.sleep(3600)
            seen.append("ended")
        except asyncio.CancelledError:
            seen.append("stopped")
            raise

    @world.app.function()
    async def slow(ctx: FunctionContext) -> None:
        await ctx.step(long)

    await world.up()
    run = await world.app.functions.start(slow)
    await world.advance("1m")
    await world.app.functions.terminate(run.id, "enough")
    await world.advance("10s")
    assert seen == ["stopped"]
    with pytest.raises(RunCancelled, match="enough"):
        await run.result("1s")


async def test_a_step_that_ends_while_its_run_is_cancelled_keeps_its_result(world: World) -> None:
    async def careful() -> str:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return "paid"
        return "never"

    @world.app.function()
    async def pay(ctx: FunctionContext) -> str:
        paid = await ctx.step(careful)
        try:
            await ctx.sleep("1d")
        except Cancelled:
            return f"{paid}, then cancelled"
        return "never"

    await world.up()
    run = await world.app.functions.start(pay)
    await world.advance("1m")
    await run.cancel()
    await world.advance("1s")
    assert await run.result("1s") == "paid, then cancelled"
    steps = await world.app.functions.steps(run.id)
    assert [(one.kind, one.status) for one in steps] == [("step", "done"), ("sleep", "cancelled")]


async def test_continuing_from_a_branch_stops_the_steps_of_the_others(world: World) -> None:
    begun: list[int] = []
    stopped: list[int] = []

    async def long(n: int) -> str:
        begun.append(n)
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            stopped.append(n)
            raise
        return "late"

    @world.app.function()
    async def restarting(ctx: FunctionContext, n: int = 0) -> int:
        async def leave() -> None:
            await ctx.step(double, n)
            ctx.continue_as({"n": n + 1})

        if n == 2:
            return await ctx.step(double, n)
        await ctx.gather(ctx.step(long, n), leave())
        return -1

    await world.up()
    run = await world.app.functions.start(restarting)
    await world.advance("1m")
    assert await run.result("1s") == 4
    assert begun == stopped == [0, 1]


async def test_a_cancellation_is_not_hidden_by_a_branch_that_failed_before(world: World) -> None:
    @world.app.function()
    async def both(ctx: FunctionContext) -> str:
        try:
            await ctx.gather(ctx.step(fail), ctx.sleep("1d"))
        except StepFailed:
            await ctx.sleep("9d")
        return "never"

    await world.up()
    run = await world.app.functions.start(both)
    await world.advance("1m")
    await run.cancel("enough")
    await world.settle()
    with pytest.raises(RunCancelled, match="enough"):
        await run.result("1s")


@pytest.mark.parametrize("value", ["\ud800", {"a": "\x00"}, float("nan"), object(), [[]] * 3])
async def test_results_that_cannot_be_kept_fail_their_step_alone(world: World, value: Any) -> None:
    async def odd() -> Any:
        return value

    @world.app.function()
    async def keeps(ctx: FunctionContext) -> Any:
        try:
            return await ctx.step(odd)
        except StepFailed as failed:
            return failed.error["message"]

    await world.up()
    run = await world.app.functions.start(keeps)
    await world.settle()
    result = await run.result("1s")
    assert result == value or "is not JSON" in result


@pytest.mark.parametrize("words", ["\ud800", "a\x00b"])
async def test_errors_with_characters_that_stores_refuse_are_kept(world: World, words: str) -> None:
    async def odd() -> None:
        raise ValueError(words)

    @world.app.function()
    async def direct(ctx: FunctionContext) -> None:
        raise ValueError(words)

    @world.app.function()
    async def through(ctx: FunctionContext) -> None:
        ctx.log(words)
        await ctx.step(odd)

    await world.up()
    for function in (direct, through):
        run = await world.app.functions.start(function)
        await world.settle()
        with pytest.raises(RunFailed, match="ValueError"):
            await run.result("1s")


async def test_steps_take_arguments_that_are_not_json(world: World) -> None:
    thing = object()

    async def use(thing: Any) -> str:
        return type(thing).__name__

    @world.app.function()
    async def passes(ctx: FunctionContext) -> str:
        return await ctx.step(use, thing)

    await world.up()
    run = await world.app.functions.start(passes)
    await world.settle()
    assert await run.result("1s") == "object"


async def test_a_function_that_raises_anything_has_failed_and_its_children_end(world: World) -> None:
    @world.app.function()
    async def child(ctx: FunctionContext) -> None:
        await ctx.sleep("9d")

    @world.app.function()
    async def exits(ctx: FunctionContext, how: str) -> None:
        await ctx.start("child")
        raise {"exit": SystemExit(1), "interrupt": KeyboardInterrupt(), "cancel": asyncio.CancelledError()}[how]

    await world.up()
    for how in ("exit", "interrupt", "cancel"):
        run = await world.app.functions.start(exits, {"how": how})
        await world.advance("10s")
        with pytest.raises(RunFailed):
            await run.result("1s")
    assert {info.status for info in await world.app.functions.list(name="child")} == {"cancelled"}


@pytest.mark.parametrize("form", ["async", "def"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration])
async def test_a_step_that_raises_anything_has_failed(world: World, kind: type[BaseException], form: str) -> None:
    def plain() -> None:
        raise kind("enough")

    async def coroutine() -> None:
        raise kind("enough")

    @world.app.function()
    async def works(ctx: FunctionContext) -> list[str]:
        try:
            await ctx.step(step(plain if form == "def" else coroutine, retry={"attempts": 1}))
        except StepFailed as problem:
            return [problem.type, problem.error["message"]]
        return []

    await world.up()
    run = await world.app.functions.start(works)
    await world.settle()
    assert await run.result("5s") == [kind.__name__, "enough"]


class Unwritable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


async def test_an_error_whose_text_cannot_be_written_fails_its_step_and_its_function(world: World) -> None:
    calls: list[int] = []

    async def fails() -> None:
        calls.append(1)
        raise Unwritable

    @world.app.function()
    async def works(ctx: FunctionContext) -> None:
        try:
            await ctx.step(step(fails, retry={"attempts": 2, "delay": "1s"}))
        except StepFailed as problem:
            ctx.log(str(problem))
            raise Unwritable from None

    await world.up()
    run = await world.app.functions.start(works)
    await world.advance("10s")
    with pytest.raises(RunFailed, match="Unwritable: its text cannot be written: __str__ raised RuntimeError"):
        await run.result("1s")
    assert len(calls) == 2


async def test_a_step_in_a_thread_that_times_out_is_tried_again(world: World) -> None:
    calls: list[int] = []

    def slow() -> str:
        calls.append(1)
        if len(calls) == 1:
            time.sleep(0.05)
        return "done"

    @world.app.function()
    async def threaded(ctx: FunctionContext) -> str:
        return await ctx.step(step(slow, retry=2, timeout="1h"))

    await world.up()
    run = await world.app.functions.start(threaded)
    await world.settle()
    assert await run.result("1s") == "done"


async def test_messages_that_a_clock_ahead_has_sent_are_received(world: World) -> None:
    """A sender's clock may be ahead of the node's by more than the timeout."""

    @world.app.function()
    async def wait(ctx: FunctionContext) -> Any:
        return await ctx.receive("go", timeout="10s", default="late")

    await world.up()
    run = await world.app.functions.start(wait)
    await world.settle()
    functions = world.app.functions
    ahead = functions._message(run.id, "go", 1, "x", world.clock.now() + 60_000_000)
    await functions._send(ahead)
    await world.settle()
    assert await run.result("1s") == 1


def test_the_warning_is_a_user_warning() -> None:
    assert issubclass(NotDeterministic, UserWarning)


def formatted(caplog: pytest.LogCaptureFixture, action: str) -> list[str]:
    records = [one for one in caplog.records if getattr(one, "values", {}).get("action") == action]
    return [logging.Formatter("%(message)s").format(one) for one in records]


@pytest.mark.parametrize("threaded", [False, True])
async def test_a_failure_is_shown_down_to_the_failing_line_of_the_users_code(
    world: World, caplog: pytest.LogCaptureFixture, threaded: bool
) -> None:
    def charge_in_thread() -> None:
        raise ValueError("no money")

    async def charge_card() -> None:
        await asyncio.sleep(0)
        charge_in_thread()

    @world.app.function()
    async def order(ctx: FunctionContext) -> None:
        await ctx.gather(ctx.step(charge_in_thread if threaded else charge_card), ctx.sleep("1s"))

    await world.up()
    run = await world.app.functions.start(order)
    await world.advance("1m")
    with pytest.raises(RunFailed) as failed:
        await run.result("1s")
    line = 'raise ValueError("no money")'
    (warning,) = formatted(caplog, "step_failed")
    (ending,) = formatted(caplog, "run_failed")
    recorded, _ = await world.app.functions.steps(run.id)
    error: Any = failed.value.error
    shown = [warning, ending, error["traceback"], recorded.error["traceback"]]
    for text in shown:
        assert line in text
        assert f"{Path(ostinato.__file__).parent}{os.sep}" not in text
    assert "await ctx.gather(" in ending


async def test_a_step_that_took_too_long_is_shown_where_it_waited(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    @step(timeout="2s")
    async def slow() -> None:
        await asyncio.sleep(60)  # here

    @world.app.function()
    async def order(ctx: FunctionContext) -> None:
        await ctx.step(slow)

    await world.up()
    run = await world.app.functions.start(order)
    await world.advance("1m")
    with pytest.raises(RunFailed):
        await run.result("1s")
    (warning,) = formatted(caplog, "step_failed")
    assert "it took longer than its timeout of 2 s; not tried again" in warning
    assert "await asyncio.sleep(60)  # here" in warning


async def test_standard_logging_of_a_functions_body_is_kept_once(world: World) -> None:
    @world.app.function()
    async def order(ctx: FunctionContext) -> None:
        ctx.log("begin")
        logging.getLogger("shop").warning("%s is ordered", "tea")
        await ctx.step(double, 2)
        await ctx.sleep("1h")
        logging.getLogger("shop").error("it is late")
        await ctx.sleep("1h")

    await world.up()
    run = await world.app.functions.start(order)
    await world.advance("1m")
    await world.crash()
    await world.up()  # the code is replayed
    await world.advance("3h")
    await run.result("1s")
    kept = [(line.level, line.message) for line in await world.app.logs(run.id)]
    assert kept == [("info", "begin"), ("warning", "tea is ordered"), ("error", "it is late")]


async def test_a_step_that_ignores_the_end_of_its_time_has_failed_ten_seconds_later(world: World) -> None:
    async def stubborn() -> str:
        for _ in range(10):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(10)
        return "too late"

    @world.app.function()
    async def works(ctx: FunctionContext) -> str:
        try:
            return str(await ctx.step(step(stubborn, timeout="5s")))
        except StepFailed as problem:
            return str(problem)

    await world.up()
    run = await world.app.functions.start("works")
    await world.advance("16s")
    assert "longer than its timeout of 5 s, and goes on" in await run.result("1s")
    await world.advance("2m")
    assert (await run.info()).status == "succeeded"


async def test_a_step_that_was_stopped_and_ignores_it_changes_nothing_later(world: World) -> None:
    calls: list[tuple[int, float]] = []

    @step(timeout="40s", retry=1)
    async def stubborn(generation: int) -> int:
        loop = asyncio.get_running_loop()
        calls.append((generation, round(loop.time())))
        end = loop.time() + (300 if generation == 0 else 20)
        while loop.time() < end:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(10)
        return generation

    @world.app.function()
    async def works(ctx: FunctionContext, generation: int = 0) -> list[int]:
        async def again() -> None:
            await ctx.sleep("1s")
            ctx.continue_as({"generation": generation + 1})

        more = [again()] if generation == 0 else []
        return list(await ctx.gather(ctx.step(stubborn, generation), *more))

    await world.up()
    run = await world.app.functions.start("works")
    await world.advance("10m")
    assert await run.result("1s") == [1]
    assert [generation for generation, _ in calls] == [0, 1]


def test_a_long_line_in_the_traceback_of_a_step_is_cut() -> None:
    (note,) = StepFailed("s", {"type": "E", "message": "m", "traceback": "x" * 9_000}).__notes__
    assert 2_900 < len(note) < 3_100
    (note,) = StepFailed("s", {"type": "E", "message": "m", "traceback": "line\n" * 2_000}).__notes__
    assert note.startswith("In step 's':\n…\nline\n")
