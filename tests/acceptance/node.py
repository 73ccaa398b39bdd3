"""A node in a process of its own, for tests that kill it. Writes what its bodies do to a file of its own."""

from __future__ import annotations

import asyncio
import logging
import os
import random
import signal
import sys
from typing import Any

from ostinato import Ostinato
from tests.acceptance.bodies import child_that_sleeps


def build(url: str, write: Any) -> Ostinato:
    app = Ostinato(url, concurrency=20)
    dice = random.Random()

    @app.job(retry=3, serial_key="{key}")
    async def serial(ctx: Any, key: str) -> None:
        write("begin", ctx, key)
        await asyncio.sleep(dice.random() * 0.02)
        await ctx.checkpoint({"by": os.getpid()})
        write("end", ctx, key)

    @app.job(retry=3)
    async def plain(ctx: Any) -> None:
        write("begin", ctx, "-")
        await asyncio.sleep(dice.random() * 0.05)
        write("end", ctx, "-")

    @app.job()
    async def long(ctx: Any) -> int:
        write("begin", ctx, "-")
        if ctx.attempt == 1:
            await asyncio.sleep(600)
        return os.getpid()

    app.job(process=True)(child_that_sleeps)
    return app


async def main(url: str, folder: str) -> None:
    descriptor = os.open(f"{folder}/{os.getpid()}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(what: str, ctx: Any, key: str) -> None:
        os.write(descriptor, f"{what} {ctx.run_id} {ctx.attempt} {key}\n".encode())

    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with build(url, write):
        os.close(os.open(f"{folder}/{os.getpid()}.up", os.O_WRONLY | os.O_CREAT))
        await stop.wait()


if __name__ == "__main__":
    logging.getLogger("ostinato").setLevel(logging.CRITICAL)
    asyncio.run(main(sys.argv[1], sys.argv[2]))
