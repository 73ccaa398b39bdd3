"""Functions whose histories are on record beside this file. Their code never changes: a replay must find the same steps
at the same positions in every later version of Ostinato. New functions go into a new file."""

from __future__ import annotations

from typing import Any

from ostinato import Ostinato
from ostinato.functions import Cancelled, ChildFailed, FunctionContext, ReceiveTimedOut, StepFailed, step


async def double(n: int) -> int:
    return 2 * n


async def broken() -> None:
    raise ValueError("broken")


@step(retry={"attempts": 2, "delay": "1s", "jitter": 0}, name="hopeless")
async def hopeless() -> None:
    raise KeyError("hopeless")


async def everything(ctx: FunctionContext, user: str, times: int = 2) -> dict[str, Any]:
    """All kinds of operations, one after the other and at once."""
    seen: dict[str, Any] = {"user": user, "version": ctx.version("first", 2)}
    ctx.set_state("begun")
    seen["values"] = [str(ctx.now()), ctx.random(), str(ctx.uuid())]
    seen["doubles"] = [await ctx.step(double, n) for n in range(times)]
    try:
        await ctx.step(hopeless)
    except StepFailed as failed:
        seen["failed"] = [failed.step, failed.type]
    await ctx.sleep("1h")
    seen["reply"] = await ctx.receive("reply", timeout="1d")
    try:
        await ctx.receive("never", timeout="1m")
    except ReceiveTimedOut as late:
        seen["late"] = str(late)
    seen["default"] = await ctx.receive("never", timeout="1m", default="nothing")

    async def branch(n: int) -> list[Any]:
        first = await ctx.step(double, n)
        inner = await ctx.gather(ctx.step(double, first), ctx.sleep(n))
        return [*inner, await ctx.receive(f"item{n}"), ctx.version(f"branch{n}", 1)]

    seen["branches"] = await ctx.gather(branch(1), branch(2), ctx.step(double, 100))
    job = await ctx.start("square", {"n": 7})
    child = await ctx.start("counting", {"n": 3})
    bad = await ctx.start("failing")
    seen["job"], seen["child"] = await ctx.gather(job.result(), child.result())
    try:
        await bad.result()
    except ChildFailed as failed:
        seen["bad"] = failed.status
    kept = ctx.step(double, 21)
    await ctx.sleep("1s")
    seen["kept"] = await kept
    ctx.set_state("done")
    return seen


async def counting(ctx: FunctionContext, n: int) -> int:
    n = await ctx.step(double, n)
    if n < 20:
        ctx.continue_as({"n": n})
    await ctx.sleep("1m")
    return n


async def failing(ctx: FunctionContext) -> None:
    await ctx.gather(ctx.sleep(1), ctx.step(broken))


async def tidy(ctx: FunctionContext) -> None:
    """It is cancelled in its gather, and cleans up."""
    try:
        await ctx.gather(ctx.receive("never"), ctx.sleep("9d"), ctx.step(double, 1))
    except Cancelled:
        await ctx.step(double, 2)
        raise


def declare(app: Ostinato) -> None:
    for function in (everything, counting, failing, tidy):
        app.function(function)

    @app.job
    async def square(n: int) -> int:
        return n * n
