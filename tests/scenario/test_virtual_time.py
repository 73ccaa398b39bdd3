"""Virtual time itself: a test that waits for what cannot come ends, and a world refuses a loop of another clock."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import pytest

from ostinato.testing import Stuck, VirtualClock, VirtualLoop, World, run_virtual


def run_impatiently(main: Coroutine[Any, Any, Any], world: World) -> Any:
    """As run_virtual, with a patience of months instead of years, and of a moment for threads."""
    loop = VirtualLoop(world.clock)
    loop.patience.years, loop.patience.silent_s = 0.2, 0.1
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        try:
            return runner.run(loop.watch(main))
        finally:
            runner.run(world.close())


def test_waiting_for_an_event_that_nobody_sets_ends_and_says_where() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stuck, match=r"test_virtual_time\.py:\d+ in main: nothing is scheduled") as caught:
        run_impatiently(main(), World())
    assert isinstance(caught.value.__cause__, asyncio.CancelledError)


def test_a_wait_beside_a_node_that_runs_ends_too() -> None:
    world = World()

    async def main() -> None:
        await world.up()
        await asyncio.Event().wait()

    with pytest.raises(Stuck, match=r"0\.2 years of virtual time did not wake it"):
        run_impatiently(main(), world)


def test_a_test_that_is_given_up_cleans_up_after_itself() -> None:
    cleaned = []

    async def main() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(3600)
            cleaned.append(True)

    with pytest.raises(Stuck):
        run_impatiently(main(), World())
    assert cleaned == [True]


def test_time_that_the_test_asked_for_is_no_wait() -> None:
    world = World()

    async def main() -> str:
        await world.advance("100d")
        try:
            async with asyncio.timeout(100 * 86_400):
                await asyncio.Event().wait()
        except TimeoutError:
            return f"{world.now:%Y-%m-%d}"
        return "never"

    assert run_impatiently(main(), world) == "2026-07-20"


def test_a_thread_that_asyncio_does_not_know_may_wake_the_loop() -> None:
    async def main() -> str:
        loop, future = asyncio.get_running_loop(), asyncio.get_running_loop().create_future()
        threading.Timer(0.01, lambda: loop.call_soon_threadsafe(future.set_result, "woken")).start()
        return str(await future)

    assert run_virtual(main()) == "woken"


def test_threads_are_joined_by_real_time() -> None:
    """A runner of Python 3.12 and later joins them with a timeout, which is no matter of the virtual clock."""
    ended = threading.Event()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        begun = threading.Event()

        def work() -> None:
            begun.set()
            ended.wait(10)

        loop.run_in_executor(None, work)
        await asyncio.to_thread(begun.wait, 10)
        threading.Timer(0.05, ended.set).start()

    run_virtual(main())
    assert ended.is_set()


def test_a_world_refuses_a_loop_that_goes_by_real_time() -> None:
    world = World()

    async def main() -> None:
        for call in (world.up, world.settle, lambda: world.advance("1h"), lambda: world.start("job"), world.runs):
            with pytest.raises(RuntimeError, match=r"goes by real time.*run_virtual"):
                await call()
        await world.close()

    asyncio.run(main())


def test_a_world_refuses_a_loop_on_the_clock_of_another() -> None:
    world = World()

    async def main() -> None:
        with pytest.raises(RuntimeError, match="another world's clock"):
            await world.up()
        await world.close()

    run_virtual(main(), VirtualClock())
