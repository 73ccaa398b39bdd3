"""A function that does everything, and a record of what its steps did, for the proofs of durable functions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from ostinato import Ostinato, RunCancelled
from ostinato.errors import StoreUnavailable
from ostinato.functions import FunctionContext, step

RESULT = {
    "reserved": "reserve",
    "reply": {"ok": True},
    "both": ["left", [1, 2, "right"]],
    "paid": "paid ada",
    "sub": "sub ada hello",
    "flaky": "flaky",
    "late": None,
}


class Effects:
    """Counts how often steps took effect. `slow` is how long each takes."""

    def __init__(self, slow: float = 0.3) -> None:
        self.calls: Counter[str] = Counter()
        self.slow = slow

    async def take(self, name: str) -> str:
        await asyncio.sleep(self.slow / 2)
        self.calls[name] += 1
        await asyncio.sleep(self.slow / 2)
        return name

    async def fail_once(self, name: str) -> str:
        await self.take(name)
        if self.calls[name] == 1:
            raise ValueError("not yet")
        return name


def declare_order(app: Ostinato, effects: Effects) -> None:
    """Declare `order`, which uses all that `ctx` has, its children, and `tidy`, which is to be cancelled."""

    @app.job
    async def pay(user: str) -> str:
        await asyncio.sleep(0.2)
        return f"paid {user}"

    @app.function()
    async def sub(ctx: FunctionContext, user: str) -> str:
        await ctx.step(effects.take, f"sub {user}")
        await ctx.sleep("2s")
        return f"sub {user} hello"

    @app.function()
    async def forgotten(ctx: FunctionContext) -> None:
        await ctx.sleep("9d")

    @app.function()
    async def order(ctx: FunctionContext, user: str) -> dict[str, Any]:
        async def right() -> list[Any]:
            items = [await ctx.receive("item"), await ctx.receive("item")]
            return [*items, await ctx.step(effects.take, "right")]

        ctx.set_state("reserving")
        ctx.now()
        reserved = await ctx.step(effects.take, "reserve")
        await ctx.sleep("5s")
        ctx.set_state("asking")
        reply = await ctx.receive("reply", timeout="1h")
        both = await ctx.gather(ctx.step(effects.take, "left"), right())
        await ctx.start("forgotten")
        job = await ctx.start("pay", {"user": user})
        child = await ctx.start("sub", {"user": user})
        flaky = ctx.step(step(effects.fail_once, retry={"attempts": 3, "delay": "1s", "jitter": 0}), "flaky")
        paid, sub, tried = await ctx.gather(job.result(), child.result(), flaky)
        late = await ctx.receive("never", timeout="2s", default=None)
        ctx.log("done")
        return {
            "reserved": reserved, "reply": reply, "both": both, "paid": paid, "sub": sub, "flaky": tried, "late": late,
        }  # fmt: skip

    @app.function()
    async def tidy(ctx: FunctionContext) -> None:
        try:
            await ctx.gather(ctx.receive("never"), ctx.step(effects.take, "work"))
        finally:
            await ctx.step(effects.take, "clean")


async def patiently(call: Callable[[], Awaitable[Any]]) -> None:
    """Call again until the store is there."""
    while True:
        try:
            await call()
            return
        except StoreUnavailable:
            await asyncio.sleep(0.1)


async def play_order(app: Ostinato, begin: float) -> None:
    """Start both functions and send all they need; whatever was done before is not done again. `begin` is the time on
    the loop's clock at which this began at first."""
    loop = asyncio.get_running_loop()

    async def until(seconds: float) -> None:
        await asyncio.sleep(max(0.0, begin + seconds - loop.time()))

    functions = app.functions
    await patiently(lambda: functions.start("order", {"user": "ada"}, id="order"))
    await patiently(lambda: functions.start("tidy", id="tidy"))
    await until(1)
    await patiently(lambda: functions.send("order", "item", 1, id="first"))
    await until(3)
    await patiently(lambda: functions.cancel("tidy", "enough"))
    await until(6.1)
    await patiently(lambda: functions.send("order", "reply", {"ok": True}, id="reply"))
    await until(7)
    await patiently(lambda: functions.send("order", "item", 2, id="second"))
    assert await functions.result("order") == RESULT
    try:
        await functions.result("tidy")
        raise AssertionError("it was not cancelled")
    except RunCancelled as cancelled:
        assert cancelled.reason == "enough"
    for _ in range(60):  # the children that end with their parents
        if all(info.over for info in await functions.list()):
            break
        await asyncio.sleep(0.5)


async def recorded(app: Ostinato) -> set[str]:
    """The steps that have ended, by name of their effect."""
    names = set()
    for info in await app.functions.list():
        for done in await app.functions.steps(info.id):
            if done.kind == "step" and done.status == "done" and isinstance(done.result, str):
                names.add(done.result)
    return names


async def check_order(app: Ostinato) -> None:
    """What must hold at the end, whatever happened on the way."""
    infos = await app.functions.list()
    assert sorted((info.name, info.status) for info in infos) == [
        ("forgotten", "cancelled"),
        ("order", "succeeded"),
        ("sub", "succeeded"),
        ("tidy", "cancelled"),
    ]
    assert [(run.status) for run in await app.runs(name="pay", limit=10)] == ["succeeded"]
    for info in infos:
        steps = await app.functions.steps(info.id)
        assert {one.status for one in steps} <= {"done", "cancelled", "timed_out"}
        seqs = sorted(one.seq for one in steps if one.seq is not None)
        assert seqs == list(range(1, len(seqs) + 1)), "outcomes have one order, without gaps"
        if info.name != "forgotten" and info.version is not None:  # its code has begun
            assert await app.functions.replay(info.id) == []
    assert await app.check(repair=False) == []
