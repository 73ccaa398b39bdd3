"""A node that is shut down: short work finishes, the rest is handed back."""

from __future__ import annotations

import asyncio

from ostinato import Ostinato
from tests.support.polling import wait_until


def test_shutting_down_lets_short_work_finish_and_hands_back_the_rest(store_url: str) -> None:
    log: list[str] = []

    def build() -> Ostinato:
        app = Ostinato(store_url, grace="300ms")

        @app.job()
        async def short() -> None:
            await asyncio.sleep(0.1)
            log.append("short")

        @app.job()
        async def long() -> str:
            log.append("long")
            if log.count("long") == 1:
                await asyncio.sleep(60)
            return "second time"

        @app.job(at_most_once=True)
        async def careful() -> None:
            log.append("careful")
            await asyncio.sleep(60)

        return app

    async def main() -> None:
        first = build()
        async with first:
            await first.start("careful", id="careful")
            await first.start("short", id="short")
            await first.start("long", id="long")
            await wait_until(lambda: "long" in log)
        second = build()
        async with second:
            assert (await second.get("short")).status == "succeeded"
            careful = await second.get("careful")
            assert (careful.status, log.count("careful")) == ("failed", 1)
            assert "at most once" in (careful.reason or "")
            run = await second.start("long", id="long")
            assert await run.result(timeout=30) == "second time"
            attempts = await second.attempts(run.id)
            assert [(a.attempt, a.status) for a in attempts] == [(1, "succeeded")]
            names = [e.name for e in await second.events(subject=run.id)]
            assert names == ["run:created", "run:started", "run:handed_back", "run:started", "run:succeeded"]

    asyncio.run(main())
