"""A program with a declared schedule, in a process of its own, for the test that starts many at once."""

from __future__ import annotations

import asyncio
import logging
import sys

from ostinato import Ostinato, every


async def main(url: str, period: str) -> None:
    app = Ostinato(url, name="program")

    @app.schedule(every(period))
    @app.schedule(every(period), name="second")
    async def first() -> None: ...

    print("ready", flush=True)
    sys.stdin.readline()
    async with app:
        print("started", flush=True)


if __name__ == "__main__":
    logging.getLogger("ostinato").setLevel(logging.CRITICAL)
    asyncio.run(main(sys.argv[1], sys.argv[2]))
