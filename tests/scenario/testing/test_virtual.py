"""Virtual time itself: a test that waits for what cannot come ends, and a world refuses a loop of another clock."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ostinato.testing import SkewedClock, Stuck, VirtualClock, VirtualLoop, World, run_virtual
from ostinato.when.instants import SECOND


def run_impatiently(main: Coroutine[Any, Any, Any], world: World) -> Any:
    """As run_virtual, with a patience of months instead of years, and of a moment for threads."""
    loop = VirtualLoop(world.clock)
    loop.patience.years, loop.patience.silent_s = 0.2, 0.1
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        try:
            return runner.run(loop.watch(main))
        finally:
            runner.run(world.close())


@pytest.mark.parametrize(
    ("skew", "seconds"), [("5s", 5), ("-1m", -60), (timedelta(seconds=-2), -2), (0.5, 0.5), (-3, -3)]
)
def test_the_skew_of_a_clock_is_a_length(skew: Any, seconds: float) -> None:
    clock = VirtualClock("2026-03-02T08:30Z")
    assert clock.now() == VirtualClock(datetime(2026, 3, 2, 8, 30, tzinfo=UTC)).now()
    skewed = SkewedClock(clock, skew)
    assert skewed.skew == timedelta(seconds=seconds)
    assert skewed.now() - clock.now() == seconds * SECOND
    assert skewed.ticks() == clock.ticks()


def test_waiting_for_an_event_that_nobody_sets_ends_and_says_where() -> None:
    async def main() -> None:
        await asyncio.Event().wait()

    with pytest.raises(Stuck, match=r"test_virtual\.py:\d+ in main: nothing is scheduled") as caught:
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
            with pytest.raises(RuntimeError, match=r"uses real time.*run_virtual"):
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


@pytest.mark.parametrize("world", ["sqlite"], indirect=True)  # years of leases take minutes over a connection
async def test_a_thousand_odd_lengths_add_up_exactly(world: World) -> None:
    lengths = [1, 3, 333_333, 999_999, 1_000_001, 86_399_999_999, 12_345_678_901]
    expected = world.clock.now()
    for n in range(1000):
        length = lengths[n % len(lengths)]
        await world.advance(f"{length}us")
        expected += length
        assert world.clock.now() == expected


async def test_an_advance_ends_at_its_moment_with_all_that_is_due_then_done(world: World) -> None:
    seen: list[datetime] = []

    @world.app.job()
    async def note() -> None:
        seen.append(world.now)

    await world.up()
    await world.app.schedules.create("daily", "0 0 * * *", "note")
    begin = world.now
    await world.advance("1d")
    assert (world.now, seen) == (begin + timedelta(days=1), [begin + timedelta(days=1)])
    assert await world.outcomes("note") == ["succeeded"]
    await world.settle()
    assert world.now == begin + timedelta(days=1)
    await world.advance_to(begin + timedelta(days=2, microseconds=-1))
    assert len(seen) == 1
    await world.advance("1us")
    assert seen[1:] == [begin + timedelta(days=2)]


def test_every_timer_runs_at_its_own_microsecond_for_decades() -> None:
    """Sums of floats are off by a part of a microsecond; none may run a timer early, late or never."""
    clock = VirtualClock()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        ran: list[int] = []
        for n in range(3000):
            length = 333_333_333_333 * (n % 3) + n % 7 + 1
            expected = clock.now() + length
            ran.clear()
            for near in (0, 1, 2):
                loop.call_later((length + near) / SECOND, lambda: ran.append(clock.now()))
            await asyncio.sleep((length + 2) / SECOND)
            assert ran == [expected, expected + 1, expected + 2]
        assert clock.now() - clock.begin > 30 * 366 * 86_400 * SECOND

    run_virtual(main(), clock)


def test_a_loop_that_waits_until_a_deadline_ends_at_it() -> None:
    """Also where the deadline is a sum of floats that lies between two microseconds."""
    clock = VirtualClock()

    async def main() -> None:
        loop, never = asyncio.get_running_loop(), asyncio.Event()
        for n in range(2000):
            length = 0.1 + n * 0.000_000_1 + n * n * 0.001
            begin, deadline, rounds = clock.now(), loop.time() + length, 0
            while loop.time() < deadline:
                rounds += 1
                assert rounds < 5
                waiting = asyncio.ensure_future(never.wait())
                await asyncio.wait([waiting], timeout=deadline - loop.time())
                waiting.cancel()
            assert abs(clock.now() - begin - length * SECOND) <= 1

    run_virtual(main(), clock)
