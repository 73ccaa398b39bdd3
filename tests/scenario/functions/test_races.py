"""What comes at the same time: messages, timeouts, ends, cancellations and starts. Each race has one winner on record,
and the limits of runs hold while functions are parked."""

from __future__ import annotations

import asyncio
import random
from fnmatch import fnmatchcase
from typing import Any

import pytest

from ostinato import Conflict, NotFound, RunCancelled, RunFailed
from ostinato.functions import Cancelled, FunctionContext, FunctionOver, MailboxFull
from ostinato.functions.model import MOST_MESSAGES
from ostinato.functions.store import TABLES
from ostinato.store.contract import Operation, sql
from ostinato.testing import World


async def pass_on(value: Any) -> Any:
    return value


async def all_quiet(world: World) -> None:
    assert await world.app.check(repair=False) == []


# Messages


@pytest.mark.parametrize("late", [-1, 0, 1], ids=["before", "at", "after"])
async def test_a_message_and_its_timeout_have_one_winner(world: World, late: int) -> None:
    @world.app.function()
    async def wait(ctx: FunctionContext) -> list[Any]:
        first = await ctx.receive("go", timeout="10s", default="late")
        return [first, await ctx.receive("go", timeout="1h", default="never")]

    await world.up()
    run = await world.app.functions.start(wait)
    await world.settle()
    await asyncio.sleep(10 + late / 1_000_000)
    await run.send("go", 1)
    await world.advance("2h")
    result = await run.result("1s")
    records = await world.app.functions.steps(run.id)
    assert result in ([1, "never"], ["late", 1])
    if late:
        assert result == ([1, "never"] if late < 0 else ["late", 1])
    assert [one.status for one in records] == ["done" if value == 1 else "timed_out" for value in result]
    assert await world.replay(run.id) == []


async def test_messages_race_the_park_and_none_is_lost(world: World) -> None:
    """Senders and the receiver are at work at once, in an order that changes with each message."""

    @world.app.function()
    async def collect(ctx: FunctionContext, count: int) -> list[Any]:
        values = []
        for number in range(count):
            values.append(await ctx.receive("item"))
            if number % 3 == 0:
                await ctx.step(pass_on, number)
        return values

    await world.up()
    run = await world.app.functions.start(collect, {"count": 60})
    dice = random.Random(7)

    async def sender(first: int) -> None:
        for number in range(first, 60, 4):
            for _ in range(dice.randrange(6)):
                await asyncio.sleep(0)
            await run.send("item", number, id=str(number))

    await asyncio.gather(*(sender(first) for first in range(4)))
    await world.settle()
    assert sorted(await run.result("1s")) == list(range(60))
    await all_quiet(world)


async def test_two_sends_with_one_id_are_one_message(world: World) -> None:
    @world.app.function()
    async def pair(ctx: FunctionContext) -> list[Any]:
        return [await ctx.receive("go"), await ctx.receive("go", timeout="1h", default="none")]

    await world.up()
    run = await world.app.functions.start(pair)
    await asyncio.gather(*(run.send("go", number, id="same") for number in range(5)))
    await world.advance("10m")
    await run.send("go", 9, id="same")  # long received
    await world.advance("2h")
    result = await run.result("1s")
    assert result[0] in range(5)
    assert result[1] == "none"
    await run.send("go", 9, id="same")  # taken before the end: nothing to complain about
    with pytest.raises(FunctionOver, match="is succeeded"):
        await run.send("go", 9, id="other")


async def test_a_message_and_the_end_of_its_run_have_one_winner(world: World) -> None:
    @world.app.function()
    async def brief(ctx: FunctionContext) -> Any:
        await ctx.sleep("10s")
        return await ctx.receive("go", timeout=0.000001, default="none")

    await world.up()
    for _ in range(5):
        run = await world.app.functions.start(brief)
        await world.settle()
        await asyncio.sleep(10)
        try:
            await run.send("go", 1)
        except FunctionOver:
            expected: list[Any] = ["none"]
        else:
            expected = [1, "none"]
        await world.advance("1s")
        assert await run.result("1s") in expected


async def test_a_full_mailbox_refuses_and_forgets_nothing(world: World) -> None:
    @world.app.function()
    async def sleepy(ctx: FunctionContext) -> int:
        await ctx.sleep("1h")
        total = 0
        while await ctx.receive("item", timeout=0.001, default=None):
            total += 1
        return total

    await world.up()
    run = await world.app.functions.start(sleepy)
    await world.settle()
    await asyncio.gather(*(run.send("item", True, id=str(number)) for number in range(MOST_MESSAGES)))
    with pytest.raises(MailboxFull, match="1,000 messages that it has not received"):
        await run.send("item", True)
    await run.send("item", True, id="17")  # sent before, so taken
    await world.advance("2h")
    assert await run.result("1s") == MOST_MESSAGES


async def test_a_run_that_waits_for_days_is_nothing_to_repair(world: World) -> None:
    @world.app.function()
    async def patient(ctx: FunctionContext) -> Any:
        return await ctx.receive("go")

    await world.up()
    run = await world.app.functions.start(patient)
    await world.advance("3d")
    await all_quiet(world)
    assert (await run.info()).waits_for == "a message 'go'"


# Cancelling


async def test_a_cancellation_and_the_end_have_one_winner(world: World) -> None:
    @world.app.function()
    async def brief(ctx: FunctionContext) -> str:
        await ctx.sleep("10s")
        await ctx.step(pass_on, 1)
        return "done"

    await world.up()
    for _ in range(5):
        run = await world.app.functions.start(brief)
        await world.settle()
        await asyncio.sleep(10)
        await run.cancel("enough")
        await world.advance("1s")
        info = await run.info()
        assert info.status in ("succeeded", "cancelled")
        assert (info.result == "done") == (info.status == "succeeded")
        assert await run.cancel() == info.status
    await all_quiet(world)


async def test_two_cancellations_are_heard_once(world: World) -> None:
    heard: list[str] = []

    @world.app.function()
    async def patient(ctx: FunctionContext) -> None:
        try:
            await ctx.sleep("9d")
        except Cancelled:
            heard.append("cancelled")
            await ctx.sleep("5s")
            raise

    await world.up()
    run = await world.app.functions.start(patient)
    await world.settle()
    await asyncio.gather(run.cancel("first"), run.cancel("second"))
    await world.advance("1s")
    await run.cancel("third")
    await world.advance("10s")
    with pytest.raises(RunCancelled, match=r"first|second"):
        await run.result("1s")
    assert heard == ["cancelled"]
    names = [event.name for event in await world.app.events(subject=run.id, limit=100)]
    assert names.count("run:cancel_requested") == 1


async def test_a_cancellation_races_the_park_and_is_heard(world: World) -> None:
    @world.app.function()
    async def parking(ctx: FunctionContext) -> None:
        while True:
            await ctx.receive("never", timeout="1s", default=None)
            await ctx.step(pass_on, 1)

    await world.up()
    for number in range(12):
        run = await world.app.functions.start(parking)
        await world.advance("1s")
        for _ in range(number):
            await asyncio.sleep(0)
        await run.cancel("enough")
        await world.advance("1s")
        with pytest.raises(RunCancelled, match="enough"):
            await run.result("1s")


async def test_a_run_that_has_not_begun_is_cancelled_at_once(world: World) -> None:
    @world.app.function()
    async def later(ctx: FunctionContext) -> None:
        raise AssertionError("it must not begin")

    await world.up()
    run = await world.app.functions.start(later, at="2027-01-01T00:00:00Z")
    await run.send("go", 1)
    await world.settle()
    assert await run.cancel("no") == "cancelled"
    await all_quiet(world)


# Starting


async def test_starts_with_one_id_are_one_run(world: World) -> None:
    calls: list[int] = []

    async def note(n: int) -> None:
        calls.append(n)

    @world.app.function()
    async def single(ctx: FunctionContext, n: int) -> int:
        await ctx.step(note, n)
        await ctx.receive("end")
        return n

    @world.app.function()
    async def another(ctx: FunctionContext) -> None: ...

    @world.app.job
    async def job() -> None: ...

    await world.up()
    starts = (world.app.functions.start(single, {"n": n}, id="only") for n in range(5))
    runs = await asyncio.gather(*starts)
    await world.settle()
    assert len({run.id for run in runs}) == 1
    assert [run.new for run in runs].count(True) == 1
    assert len(calls) == 1
    with pytest.raises(Conflict, match="belongs to function 'single'"):
        await world.app.functions.start(another, id="only")
    await world.app.start(job, id="taken")
    with pytest.raises(Conflict, match="belongs to job 'job'"):
        await world.app.functions.start(another, id="taken")
    await world.app.functions.start(single, {"n": 9}, id="only", send={"end": 1})
    await world.settle()
    assert await runs[0].result("1s") == calls[0]


# Children


async def test_many_children_end_with_their_parent_by_policy(world: World) -> None:
    @world.app.function()
    async def child(ctx: FunctionContext) -> None:
        await ctx.sleep("9d")

    @world.app.job
    async def job() -> None:
        await asyncio.sleep(9 * 86400)

    @world.app.function()
    async def parent(ctx: FunctionContext, count: int) -> None:
        policies: list[Any] = ["cancel", "terminate", "abandon"]
        await ctx.gather(*(ctx.start("child", on_parent_end=policies[n % 3]) for n in range(count)))
        await ctx.start("job")
        await ctx.receive("end")

    await world.up()
    run = await world.app.functions.start(parent, {"count": 240})
    await world.advance("1s")
    assert len(await world.app.functions.list(name="child", status="waiting", limit=1000)) == 240
    await run.send("end")
    await world.advance("1m")
    counts = {
        status: len(await world.app.functions.list(name="child", status=status, limit=1000))
        for status in ("cancelled", "terminated", "waiting")
    }
    assert counts == {"cancelled": 80, "terminated": 80, "waiting": 80}
    assert await world.outcomes("job") == ["cancelled: its parent ended"]
    await all_quiet(world)


@pytest.mark.parametrize("how", ["terminate", "deadline", "cancel", "fail"])
async def test_children_end_however_their_parent_ends(world: World, how: str) -> None:
    @world.app.function()
    async def child(ctx: FunctionContext) -> None:
        await ctx.sleep("9d")

    @world.app.function()
    async def parent(ctx: FunctionContext) -> None:
        await ctx.start("child")
        await ctx.receive("fail")
        raise ValueError("no")

    await world.up()
    run = await world.app.functions.start(parent, deadline="1h")
    await world.advance("1s")
    if how == "terminate":
        await world.app.functions.terminate(run.id)
    elif how == "cancel":
        await run.cancel()
    elif how == "fail":
        await run.send("fail")
    await world.advance("2h")
    expected = {"terminate": "terminated", "deadline": "timed_out", "cancel": "cancelled", "fail": "failed"}[how]
    assert (await run.info()).status == expected
    (info,) = await world.app.functions.list(name="child")
    assert (info.status, info.reason) == ("cancelled", "its parent ended")
    await all_quiet(world)


async def test_a_parent_that_parks_in_the_commit_that_ends_its_child_goes_on(world: World) -> None:
    """Parents park while their children end, in one node, so that one transaction writes both."""
    dice = random.Random(3)

    async def ticks(count: int) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    @world.app.function()
    async def child(ctx: FunctionContext, n: int) -> int:
        await ctx.step(ticks, dice.randrange(30))
        return n

    @world.app.function()
    async def parent(ctx: FunctionContext, n: int) -> int:
        started = await ctx.start(child, {"n": n})
        await ctx.step(ticks, dice.randrange(30))
        return int(await started.result())

    await world.up()
    runs = [await world.app.functions.start(parent, {"n": n}) for n in range(60)]
    await world.settle()
    assert [await run.result("1s") for run in runs] == list(range(60))
    await all_quiet(world)


async def test_a_parent_hears_of_every_end_of_its_children(world: World) -> None:
    @world.app.function()
    async def child(ctx: FunctionContext, how: str) -> str:
        await ctx.receive("go")
        if how == "fail":
            raise ValueError("no")
        return how

    @world.app.function()
    async def parent(ctx: FunctionContext) -> list[Any]:
        async def outcome(how: str, **options: Any) -> Any:
            child = await ctx.start("child", {"how": how}, **options)
            try:
                return await child.result()
            except Exception as problem:
                return getattr(problem, "status", repr(problem))

        return await ctx.gather(
            outcome("fine"), outcome("fail"), outcome("cancel"), outcome("terminate"), outcome("late", deadline="1h")
        )

    await world.up()
    run = await world.app.functions.start(parent)
    await world.settle()
    children = {info.input["how"]: info.id for info in await world.app.functions.list(name="child")}
    await asyncio.gather(
        world.app.functions.send(children["fine"], "go"),
        world.app.functions.send(children["fail"], "go"),
        world.app.functions.cancel(children["cancel"]),
        world.app.functions.terminate(children["terminate"]),
    )
    await world.advance("2h")
    assert await run.result("1s") == ["fine", "failed", "cancelled", "terminated", "timed_out"]
    await all_quiet(world)


# Limits


@pytest.mark.parametrize(
    ("overlap", "outcomes"),
    [
        ("skip", ["succeeded", "skipped: overlap", "succeeded"]),
        ("buffer_one", ["succeeded", "succeeded", "skipped: paused"]),
        ("cancel_other", ["cancelled: *", "cancelled: *", "succeeded"]),
        ("allow_all", ["succeeded", "succeeded", "succeeded"]),
    ],
)
async def test_a_parked_function_counts_as_running_for_its_schedule(
    world: World, overlap: Any, outcomes: list[str]
) -> None:
    @world.app.function()
    async def report(ctx: FunctionContext) -> None:
        await ctx.sleep("90m")

    await world.up()
    await world.app.schedules.create("hourly", "every 1h", {"function": "report"}, overlap=overlap)
    await world.advance("3h1m")
    await world.app.schedules.pause("hourly")
    await world.advance("9h")
    history = await world.occurrences("hourly")
    assert len(history) == 3
    assert all(map(fnmatchcase, history, outcomes)), history
    await all_quiet(world)


@pytest.mark.parametrize("key", [{"serial_key": "k"}, {"concurrency": {"key": "k", "most": 1}}])
async def test_keys_are_passed_on_while_functions_are_parked(world: World, key: dict[str, Any]) -> None:
    """A serial key is held for the whole run, the slot of a limit only while it is at work."""
    inside: list[int] = []
    overlaps: list[list[int]] = []

    async def work(n: int) -> int:
        inside.append(n)
        if len(inside) > 1:
            overlaps.append(list(inside))
        await asyncio.sleep(1)
        inside.remove(n)
        return n

    @world.app.function(**key)
    async def keyed(ctx: FunctionContext, n: int) -> list[int]:
        first = await ctx.step(work, n)
        await ctx.sleep("10s")
        second = await ctx.step(work, n)
        await ctx.receive("go", timeout="10s", default=None)
        return [first, second, await ctx.step(work, n)]

    await world.up()
    begin = world.now
    runs = [await world.app.functions.start(keyed, {"n": n}) for n in range(4)]
    await world.advance("5s")
    await runs[0].send("go")
    await runs[3].cancel("enough")
    await runs[2].cancel("enough")
    await world.advance("5m")
    for n in (0, 1):
        assert await runs[n].result("1s") == [n] * 3
    for n in (2, 3):
        with pytest.raises(RunCancelled):
            await runs[n].result("1s")
    assert overlaps == []
    assert (world.now - begin).total_seconds() < 400
    await all_quiet(world)


async def test_a_deadline_ends_a_parked_function(world: World) -> None:
    @world.app.function()
    async def slow(ctx: FunctionContext) -> None:
        await ctx.sleep("9d")

    await world.up()
    run = await world.app.functions.start(slow, deadline="1h")
    await world.advance("2h")
    with pytest.raises(RunFailed, match="deadline"):
        await run.result("1s")
    await all_quiet(world)


# Deleting


async def left(world: World) -> dict[str, int]:
    """How many rows each table of functions has, without those of the code."""

    def read(_: int) -> Operation[dict[str, int]]:
        counts = {}
        for name in TABLES:
            ((counts[name],),) = yield sql(f"test_count_{name}")
        return counts

    return await world.app.store.read(read)


@pytest.fixture(autouse=True)
def counts(add_statement: Any) -> None:
    for name, table in TABLES.items():
        add_statement(f"test_count_{name}", f"SELECT count(*) FROM {table.name}")


async def test_retention_deletes_all_that_is_kept_of_a_run(world: World) -> None:
    world.app.configure(keep_runs="1d")

    @world.app.function()
    async def child(ctx: FunctionContext) -> None: ...

    @world.app.function()
    async def busy(ctx: FunctionContext) -> Any:
        await ctx.start("child")
        await ctx.step(pass_on, 1)
        return await ctx.receive("go")

    await world.up()
    run = await world.app.functions.start(busy)
    await run.send("go", 1)
    await run.send("unread", 1)
    await world.settle()
    assert await run.result("1s") == 1
    assert all((await left(world)).values())
    await world.advance("3d")
    assert await world.app.functions.list() == []
    assert await left(world) == {"function": 0, "step": 0, "message": 0}


async def test_a_namespace_is_deleted_when_its_functions_are_gone(world: World) -> None:
    world.app.configure(keep_runs="1d")

    @world.app.function()
    async def child(ctx: FunctionContext) -> None:
        await ctx.sleep("9d")

    @world.app.function()
    async def busy(ctx: FunctionContext) -> Any:
        await ctx.start("child")
        await ctx.step(pass_on, 1)
        return await ctx.receive("never")

    await world.up()
    await world.app.create_namespace("shop")
    shop = world.app.within("shop")
    run = await shop.functions.start(busy)
    await shop.functions.send(run.id, "early", 1)
    await world.settle()
    with pytest.raises(Conflict, match="still has runs"):
        await world.app.delete_namespace("shop")
    with pytest.raises(NotFound):
        await world.app.functions.get(run.id)
    await shop.functions.terminate(run.id)
    await world.advance("3d")
    await world.app.delete_namespace("shop")
    assert await left(world) == {"function": 0, "step": 0, "message": 0}
    await all_quiet(world)
