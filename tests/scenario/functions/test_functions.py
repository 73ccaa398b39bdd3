"""Durable functions from start to end, on both stores: steps, waits, children, cancellation, bounds."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from ostinato import OstinatoError, RetryLater, RunCancelled, RunFailed, every, manual
from ostinato.engine.http.egress import EgressPolicy
from ostinato.functions import (
    Cancelled,
    ChildFailed,
    FunctionContext,
    FunctionOver,
    MailboxFull,
    ReceiveTimedOut,
    StepFailed,
    step,
)
from ostinato.functions.model import Message
from ostinato.functions.store import message_row, statement
from ostinato.store.contract import Operation
from ostinato.testing import World
from ostinato.workflows import HandlerContext, Prepared


async def double(n: int) -> int:
    return 2 * n


def triple(n: int) -> int:
    return 3 * n


async def test_a_function_goes_through_steps_sleep_messages_and_children(world: World) -> None:
    @world.app.job
    async def charge(user: str) -> str:
        return f"charged {user}"

    @world.app.function()
    async def onboard(ctx: FunctionContext, user: str) -> dict[str, Any]:
        account = await ctx.step(double, 21)
        await ctx.sleep("3d")
        ctx.set_state("asking")
        answer = await ctx.receive("reply", timeout="2d")
        both = await ctx.gather(ctx.step(double, 1), ctx.step(triple, 1))
        child = await ctx.start("charge", {"user": user})
        return {"account": account, "answer": answer, "both": both, "child": await child.result()}

    await world.up()
    run = await world.app.functions.start(onboard, {"user": "ada"}, id="onboard-ada")
    await world.advance("3d")
    info = await world.app.functions.get("onboard-ada")
    until = f"{world.now + timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}"
    assert (info.status, info.state) == ("waiting", "asking")
    assert info.waits_for == f"a message 'reply' or the time {until}"
    await run.send("reply", {"ok": True})
    await world.settle()
    assert await run.result() == {"account": 42, "answer": {"ok": True}, "both": [2, 3], "child": "charged ada"}
    kinds = [(one.kind, one.name, one.status) for one in await world.app.functions.steps(run.id)]
    assert kinds == [
        ("step", "double", "done"),
        ("sleep", "", "done"),
        ("receive", "reply", "done"),
        ("step", "double", "done"),
        ("step", "triple", "done"),
        ("start", "charge", "done"),
        ("child", "charge", "done"),
    ]


async def test_a_crash_repeats_no_step_that_has_ended(world: World) -> None:
    calls: list[str] = []

    async def note(name: str) -> str:
        calls.append(name)
        return name

    async def interrupted(name: str) -> str:
        calls.append(name)
        await asyncio.sleep(60)
        return name

    @world.app.function()
    async def three(ctx: FunctionContext) -> list[str]:
        return [await ctx.step(note, "a"), await ctx.step(interrupted, "b"), await ctx.step(note, "c")]

    world.app.configure(lease="1m")
    await world.up()
    run = await world.app.functions.start(three)
    await world.advance("10s")
    await world.crash()
    await world.up()
    await world.advance("4m")
    assert await run.result() == ["a", "b", "c"]
    assert calls == ["a", "b", "b", "c"]


async def test_a_message_that_comes_early_waits_and_each_is_received_once(world: World) -> None:
    @world.app.function()
    async def collect(ctx: FunctionContext) -> list[Any]:
        await ctx.sleep("1h")
        return [await ctx.receive("item") for _ in range(3)]

    await world.up()
    run = await world.app.functions.start(collect)
    await world.settle()
    for number in range(2):
        await run.send("item", number)
    await run.send("item", 1, id="same")
    await run.send("item", 1, id="same")
    await world.advance("2h")
    assert await run.result() == [0, 1, 1]
    with pytest.raises(FunctionOver, match="is succeeded; nothing receives messages"):
        await run.send("item", 4)
    await run.send("item", 1, id="same")  # it was received: a sender that got no answer asks again


async def test_messages_of_one_moment_are_received_in_the_order_in_which_they_came(world: World) -> None:
    @world.app.function()
    async def collect(ctx: FunctionContext) -> list[Any]:
        await ctx.sleep("1h")
        return [await ctx.receive("item") for _ in range(6)]

    await world.up()
    run = await world.app.functions.start(collect)
    await world.settle()
    for number in range(3):
        await run.send("item", number, id=f"id-{9 - number}")
    await asyncio.gather(*(run.send("item", number, id=f"id-{9 - number}") for number in range(3, 6)))
    await world.advance("2h")
    assert await run.result() == [0, 1, 2, 3, 4, 5]


async def test_a_full_mailbox_takes_what_it_has(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    @world.app.function()
    async def collect(ctx: FunctionContext) -> list[Any]:
        await ctx.sleep("1h")
        return [await ctx.receive("item") for _ in range(2)]

    monkeypatch.setattr("ostinato.functions.operations.MOST_MESSAGES", 2)
    await world.up()
    run = await world.app.functions.start(collect)
    await world.settle()
    for number in range(2):
        await run.send("item", number, id=f"n{number}")
    with pytest.raises(MailboxFull):
        await run.send("item", 2, id="n2")
    await run.send("item", 1, id="n1")
    await world.advance("2h")
    assert await run.result() == [0, 1]


async def test_a_run_that_is_terminated_at_work_leaves_no_code_behind(world: World) -> None:
    seen: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            seen.append("step stopped")

    @world.app.function()
    async def long(ctx: FunctionContext) -> None:
        try:
            await ctx.step(work)
        finally:
            seen.append("code dropped")
            await ctx.step(double, 1)
            seen.append("never")

    await world.up()
    run = await world.app.functions.start(long)
    await world.settle()
    assert await world.app.terminate(run.id) == "terminated"
    await world.settle()
    assert seen == ["code dropped", "step stopped"]


async def test_a_schedule_gives_a_function_a_deadline(world: World) -> None:
    @world.app.function()
    async def wait(ctx: FunctionContext) -> None:
        await ctx.receive("never")

    await world.up()
    action = {"function": "wait", "deadline": "2h"}
    await world.app.schedules.create("waits", every("1d"), action, trigger=True)
    await world.advance("1h")
    (waiting,) = await world.app.functions.list()
    assert waiting.status == "waiting"
    await world.advance("1h")
    assert [one.status for one in await world.app.functions.list()] == ["timed_out"]


async def test_a_schedule_gives_functions_a_serial_key(world: World) -> None:
    seen: list[str] = []

    @world.app.function()
    async def visit(ctx: FunctionContext, user: str) -> None:
        seen.append(f"{user} begins")
        await ctx.sleep("10m")
        seen.append(f"{user} ends")

    await world.up()
    action = {"function": "visit", "input": {"user": "ada"}, "serial_key": "user-{user}"}
    for name in ("first", "second"):
        await world.app.schedules.create(name, manual(), action, trigger=True)
    await world.advance("15m")
    assert seen == ["ada begins", "ada ends", "ada begins"]
    await world.advance("6m")
    assert [run.status for run in await world.app.functions.list()] == ["succeeded"] * 2


async def test_a_receive_that_times_out_raises_or_returns_its_default(world: World) -> None:
    @world.app.function()
    async def wait(ctx: FunctionContext) -> Any:
        try:
            await ctx.receive("never", timeout="1h")
        except ReceiveTimedOut as late:
            return [str(late), await ctx.receive("never", timeout="1h", default="nothing")]

    await world.up()
    run = await world.app.functions.start(wait)
    await world.advance("2h")
    assert await run.result() == ["no message 'never' came in time", "nothing"]


async def test_a_step_is_tried_again_as_its_policy_says(world: World) -> None:
    moments: list[float] = []

    @step(retry={"attempts": 3, "delay": "10s", "jitter": 0})
    async def flaky() -> str:
        moments.append((world.now - start).total_seconds())
        if len(moments) < 3:
            raise ValueError("not yet")
        return "done"

    @world.app.function()
    async def persistent(ctx: FunctionContext) -> str:
        return await ctx.step(flaky)

    @world.app.function()
    async def hopeless(ctx: FunctionContext) -> Any:
        try:
            await ctx.step(step(_fail, retry=2))
        except StepFailed as failed:
            return [failed.step, failed.type, failed.error["message"]]

    await world.up()
    start = world.now
    run = await world.app.functions.start(persistent)
    other = await world.app.functions.start(hopeless)
    await world.advance("1m")
    assert await run.result() == "done"
    assert moments == [0, 10, 30]
    assert await other.result() == ["_fail", "ValueError", "broken"]
    (record,) = await world.app.functions.steps(run.id)
    assert (record.attempts, record.status) == (3, "done")


async def _fail() -> None:
    raise ValueError("broken")


async def test_cancelling_lets_the_code_clean_up(world: World) -> None:
    cleaned: list[str] = []

    async def clean(what: str) -> None:
        cleaned.append(what)

    @world.app.function()
    async def tidy(ctx: FunctionContext) -> None:
        try:
            await ctx.gather(ctx.receive("never"), ctx.sleep("9d"))
        finally:
            await ctx.step(clean, "table")

    await world.up()
    run = await world.app.functions.start(tidy)
    await world.advance("1h")
    await run.cancel("enough")
    await world.settle()
    with pytest.raises(RunCancelled, match="enough"):
        await run.result()
    assert cleaned == ["table"]


async def test_a_clean_up_that_takes_too_long_is_ended(world: World) -> None:
    @world.app.function()
    async def stubborn(ctx: FunctionContext) -> None:
        try:
            await ctx.sleep("9d")
        except Cancelled:
            await ctx.sleep("9d")

    await world.up()
    run = await world.app.functions.start(stubborn)
    await world.advance("1h")
    await run.cancel()
    await world.advance("1m")
    with pytest.raises(RunCancelled, match="longer than the grace"):
        await run.result()


async def test_children_end_with_their_parent_by_policy(world: World) -> None:
    @world.app.function()
    async def child(ctx: FunctionContext) -> None:
        await ctx.sleep("9d")

    @world.app.function()
    async def parent(ctx: FunctionContext) -> list[str]:
        policies: list[Any] = ["cancel", "terminate", "abandon"]
        return [(await ctx.start("child", on_parent_end=policy)).id for policy in policies]

    await world.up()
    run = await world.app.functions.start(parent)
    await world.advance("1m")
    statuses = [(await world.app.functions.get(id)).status for id in await run.result()]
    assert statuses == ["cancelled", "terminated", "waiting"]


async def test_a_child_that_fails_is_an_error_of_its_parent(world: World) -> None:
    @world.app.job
    async def broken() -> None:
        raise ValueError("no")

    @world.app.function()
    async def parent(ctx: FunctionContext) -> str:
        child = await ctx.start("broken")
        try:
            await child.result()
        except ChildFailed as failed:
            return failed.status
        return "fine"

    await world.up()
    run = await world.app.functions.start(parent)
    await world.settle()
    assert await run.result() == "failed"


async def test_a_function_may_continue_with_an_empty_history(world: World) -> None:
    @world.app.function()
    async def count(ctx: FunctionContext, n: int = 0) -> int:
        n = await ctx.step(lambda n: n + 1, n)
        if n < 5:
            ctx.continue_as({"n": n})
        return n

    await world.up()
    run = await world.app.functions.start(count)
    await world.settle()
    assert await run.result() == 5
    info = await run.info()
    assert (info.generation, len(await world.app.functions.steps(run.id))) == (4, 1)


async def test_recorded_values_are_the_same_after_a_crash(world: World) -> None:
    seen: list[Any] = []

    @world.app.function()
    async def values(ctx: FunctionContext) -> list[str]:
        recorded = [str(ctx.now()), str(ctx.random()), str(ctx.uuid())]
        seen.append(recorded)
        await ctx.sleep("1d")
        return recorded

    await world.up()
    run = await world.app.functions.start(values)
    await world.advance("1h")
    await world.crash()
    await world.up()
    await world.advance("2d")
    assert await run.result() == seen[0] == seen[-1]
    assert len(seen) == 2


async def test_waiting_for_something_that_is_not_recorded_is_an_error(world: World) -> None:
    @world.app.function()
    async def forgetful(ctx: FunctionContext) -> None:
        event = asyncio.Event()
        await event.wait()

    await world.up()
    run = await world.app.functions.start(forgetful)
    await world.settle()
    with pytest.raises(RunFailed, match="which is not recorded"):
        await run.result()


async def test_a_schedule_starts_functions(world: World) -> None:
    @world.app.function()
    async def report(ctx: FunctionContext, kind: str) -> str:
        await ctx.sleep("1m")
        return kind

    await world.up()
    await world.app.schedules.create("nightly", "every 1h", {"function": "report", "input": {"kind": "sales"}})
    await world.advance("1h")
    await world.advance("2m")
    (info,) = await world.app.functions.list(name="report")
    assert (info.status, info.result) == ("succeeded", "sales")


async def test_what_was_declared_survives_other_settings(world: World) -> None:
    app = world.app
    mail = app.workflow("mail")
    letters = mail.topic("letters")

    @app.function()
    async def greet(ctx: FunctionContext) -> str:
        return "hello"

    @mail.producer(every("5m"), publishes=letters)
    async def poll(ctx: HandlerContext, state: Any) -> None:
        ctx.publish(letters, "1", await ctx.read("post"), input=ctx.register_input("post", "letter", "1"))

    @mail.consumer(letters)
    class Read:
        async def prepare(self, ctx: HandlerContext, state: Any) -> Prepared:
            return Prepared(reserve=await ctx.peek(letters))

    @app.workflows.reader("post")
    async def post() -> str:
        return "a letter"

    app.configure(egress=EgressPolicy(allow_private=True), function_cache=10)
    await world.up()
    run = await app.functions.start(greet)
    await world.settle()
    assert await run.result() == "hello"
    (event,) = await app.workflows.events("mail")
    assert (event.payload, event.status) == ("a letter", "consumed")


async def test_a_repeated_start_sends_its_messages_once(world: World) -> None:
    @world.app.function()
    async def collect(ctx: FunctionContext) -> list[Any]:
        first = await ctx.receive("item")
        return [first, await ctx.receive("item", timeout="1h", default="nothing")]

    await world.up()
    run = await world.app.functions.start(collect, id="once")
    for _ in range(2):  # the run exists already, and the answer to the first call was lost
        await world.app.functions.start(collect, id="once", send={"item": 1}, request_id="r")
    await world.advance("2h")
    assert await run.result() == [1, "nothing"]


async def test_steps_are_listed_in_the_order_of_the_code_also_if_they_began_together(world: World) -> None:
    @world.app.function()
    async def values(ctx: FunctionContext) -> None:
        await ctx.step(double, 1)
        ctx.now()
        await ctx.gather(ctx.step(double, 2), ctx.step(triple, 2))
        await ctx.sleep("1h")

    await world.up()
    run = await world.app.functions.start(values)
    await world.settle()
    kinds = [one.kind for one in await world.app.functions.steps(run.id)]
    assert kinds == ["step", "now", "step", "step", "sleep"]


async def test_a_step_may_say_when_it_is_tried_again(world: World) -> None:
    moments: list[float] = []

    @step(retry=2)
    async def busy() -> None:
        moments.append((world.now - start).total_seconds())
        raise RetryLater("5m")

    @world.app.function()
    async def patient(ctx: FunctionContext) -> str:
        try:
            await ctx.step(busy)
        except StepFailed as failed:
            return failed.type
        return "done"

    await world.up()
    start = world.now
    run = await world.app.functions.start(patient)
    await world.advance("1h")
    assert (await run.result(), moments) == ("RetryLater", [0, 300])
    with pytest.raises(OstinatoError, match="RetryLater 'soon'"):
        RetryLater("soon")


async def test_the_scanner_wakes_a_run_that_was_forgotten(world: World) -> None:
    @world.app.function()
    async def wait(ctx: FunctionContext) -> Any:
        return await ctx.receive("reply")

    await world.up()
    run = await world.app.functions.start(wait)
    await world.settle()
    message = Message(run.id, "m1", "reply", '"hello"', world.clock.now())

    def lose_the_wake_up(_: int) -> Operation[None]:
        yield statement("insert_messages", [message_row(message)])

    await world.app.store.run(lose_the_wake_up)
    assert await world.app.check() == []
    await world.advance("2m")
    (finding,) = await world.app.check()
    assert (finding.rule, finding.subject, finding.repaired) == ("function_not_woken", run.id, True)
    assert finding.words == "waits for receive 'reply', which has come"
    await world.settle()
    assert await run.result() == "hello"
    assert await world.app.check() == []
