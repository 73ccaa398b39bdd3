"""Threads that cannot be stopped."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from ostinato import Ostinato, RunFailed
from tests.support.polling import wait_until


def test_a_thread_that_is_too_late_is_refused_and_counted_until_it_ends(store_url: str) -> None:
    release = threading.Event()

    async def main() -> None:
        app = Ostinato(store_url)

        @app.job(timeout="50ms")
        def stuck() -> str:
            release.wait(30)
            return "too late"

        async with app:
            run = await app.start("stuck")
            with pytest.raises(RunFailed, match="timed out"):
                await run.result(timeout=30)
            assert app.engine.bodies.executor.threads_busy == 1
            release.set()
            await wait_until(lambda: app.engine.bodies.executor.threads_busy == 0)
            info = await run.info()
            assert (info.status, info.result) == ("timed_out", None)

    asyncio.run(main())


def test_a_thread_that_outlives_its_node_has_crashed(store_url: str) -> None:
    release, attempts = threading.Event(), []

    async def main() -> None:
        def stuck(ctx: Any) -> None:
            attempts.append(ctx.attempt)
            if ctx.attempt == 1:
                release.wait(30)

        first = Ostinato(store_url, grace="10ms")
        first.job(stuck)
        first.job(at_most_once=True, name="once")(stuck)
        async with first:
            run, once = await first.start("stuck"), await first.start("once")
            await wait_until(lambda: len(attempts) == 2)
        second = Ostinato(store_url)
        second.job(stuck)
        async with second:
            await wait_until(lambda: len(attempts) == 3)
            assert attempts == [1, 1, 2]
            crashed, *_ = await second.attempts(run.id)
            assert crashed.status == "crashed"
            assert crashed.reason == "it was still in its thread when its node stopped, after the grace"
            assert [one.status for one in await second.attempts(once.id)] == ["failed"]
        release.set()

    asyncio.run(main())
