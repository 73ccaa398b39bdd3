"""A node with durable functions in a process of its own, for tests that kill it. Its steps write what they do to a file
of its own."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

from ostinato import Ostinato
from ostinato.functions import FunctionContext, StepInterrupted, step


def build(url: str, write: Callable[[str], None]) -> Ostinato:
    app = Ostinato(url, lease="1s", grace="500ms", function_cache=10)
    dice = random.Random()

    async def work(run: str, name: str) -> str:
        await asyncio.sleep(dice.random() * 0.1)
        write(f"{run}/{name}")
        await asyncio.sleep(dice.random() * 0.05)
        return name

    def in_thread(run: str, name: str) -> str:
        write(f"{run}/{name}")
        time.sleep(0.02)
        return name

    @step(at_most_once=True)
    async def once(run: str, name: str) -> str:
        return await work(run, name)

    @app.job(retry=9)
    async def square(n: int) -> int:
        return n * n

    @app.function()
    async def sub(ctx: FunctionContext, n: int) -> int:
        await ctx.step(work, ctx.run_id, "sub")
        await ctx.sleep(0.1)
        return n + 1

    @app.function()
    async def order(ctx: FunctionContext, n: int) -> dict[str, Any]:
        async def right() -> list[Any]:
            await ctx.sleep(0.1)
            return [
                await ctx.receive("item"),
                await ctx.step(in_thread, ctx.run_id, "right"),
                await ctx.receive("item"),
            ]

        first = await ctx.step(work, ctx.run_id, "first")
        await ctx.sleep(0.2)
        left, pair = await ctx.gather(ctx.step(work, ctx.run_id, "left"), right())
        try:
            await ctx.step(once, ctx.run_id, "once")
        except StepInterrupted:
            ctx.log("interrupted")
        child, job = await ctx.start("sub", {"n": n}), await ctx.start("square", {"n": n})
        results = await ctx.gather(child.result(), job.result())
        last = await ctx.step(work, ctx.run_id, "last")
        return {"steps": [first, left, last], "pair": pair, "children": results}

    return app


async def main(url: str, folder: str) -> None:
    descriptor = os.open(f"{folder}/{os.getpid()}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)

    def write(line: str) -> None:
        os.write(descriptor, f"{line}\n".encode())

    async with build(url, write):
        os.close(os.open(f"{folder}/{os.getpid()}.up", os.O_WRONLY | os.O_CREAT))
        await stop.wait()


if __name__ == "__main__":
    logging.getLogger("ostinato").setLevel(logging.CRITICAL)
    asyncio.run(main(sys.argv[1], sys.argv[2]))
