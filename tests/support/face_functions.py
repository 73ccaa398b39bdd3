"""A durable function for tests of its faces: steps, a step that fails, a gather, a child, and a message to wait for."""

from __future__ import annotations

import asyncio
from typing import Any

from ostinato import Ostinato
from ostinato.functions import FunctionContext, StepFailed


async def double(n: int) -> int:
    return 2 * n


async def refuse(n: int) -> None:
    raise ValueError(f"not <{n}>")


def declare_functions(app: Ostinato, *, version: int = 1, pinned: bool = False) -> None:
    """Declare `onboard` and `report`."""

    @app.function(version=version, pinned=pinned)
    async def onboard(ctx: FunctionContext, user: str, n: int = 1) -> dict[str, Any]:
        ctx.set_state({"asking": user})
        await ctx.step(double, n)
        await ctx.sleep("10ms")
        try:
            await ctx.step(refuse, n)
        except StepFailed:
            await ctx.gather(_branch(ctx, 1), _branch(ctx, 2))
        return {"user": user, "answer": await ctx.receive("reply", timeout="2d")}

    @app.function()
    async def report(ctx: FunctionContext) -> int:
        return await ctx.step(double, 21)


async def _branch(ctx: FunctionContext, n: int) -> int:
    return await ctx.step(double, n)


async def start_onboard(app: Ostinato, user: str = "ada", **options: Any) -> str:
    """Start `onboard` on a node, and return its id once it waits for the reply."""
    run = await app.functions.start("onboard", {"user": user}, **options)
    async with asyncio.timeout(20):
        while not ((await run.info()).waits_for or "").startswith("a message 'reply' or the time"):
            await asyncio.sleep(0.01)
    return run.id
