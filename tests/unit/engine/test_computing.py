"""What is computed for callers ends, leaves the loop alone, and is shared."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from itertools import count, islice

import pytest

from ostinato import FileError, parse_schedules
from ostinato.engine import computing as module
from ostinato.engine.computing import Busy, Computing, TooMuch, Turns
from ostinato.errors import SpecError
from ostinato.when import read_spec


def endless(_: int) -> int:
    return sum(1 for _ in count())


def much(size: int) -> int:
    return len(bytes(size))


def large(size: int) -> bytes:
    return bytes(size)


def test_a_function_is_called_in_another_process() -> None:
    async def main() -> None:
        computing = Computing()
        assert await computing.call("a", os.getpid) in computing.pids()
        assert await computing.call("a", os.getpid) != os.getpid()
        assert len(computing.pids()) == 1  # the one that is there is taken again
        with pytest.raises(SpecError, match="17") as refused:
            await computing.call("a", read_spec, {"cron": ["17 x * * *"]})
        assert refused.value.field == "cron[0].hour"
        with pytest.raises(FileError) as wrong:
            await computing.call("a", parse_schedules, "schedules: {a: 1}", "s.yaml")
        assert [str(one.place) for one in wrong.value.problems] == ["Place(line=1, column=16)"]
        computing.close()
        assert computing.pids() == []

    asyncio.run(main())


@pytest.mark.parametrize(("function", "amount"), [(endless, 0), (much, 4 << 30), (large, module.LARGEST_ANSWER + 1)])
def test_what_takes_too_long_or_too_much_is_ended(function: object, amount: int) -> None:
    async def main() -> None:
        computing = Computing(deadline_s=0.5)
        with pytest.raises(TooMuch):
            await computing.call("a", function, amount)  # type: ignore[arg-type]
        assert await computing.call("a", len, "abc") == 3
        computing.close()

    asyncio.run(main())


def test_a_child_that_is_killed_costs_only_what_it_worked_on() -> None:
    async def main() -> None:
        computing = Computing()
        pid = await computing.call("a", os.getpid)
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(TooMuch):
            await computing.call("a", len, "abc")
        assert await computing.call("a", len, "abc") == 3
        computing.close()

    asyncio.run(main())


def test_no_caller_keeps_the_others_out() -> None:
    async def main() -> None:
        turns, order = Turns(places=2, waiting_each=3), list[str]()
        release = asyncio.Event()

        async def work(caller: str, name: str) -> None:
            async with turns.turn(caller):
                order.append(name)
                await release.wait()

        greedy = [asyncio.create_task(work("greedy", f"greedy {number}")) for number in range(4)]
        await asyncio.sleep(0)
        assert order == ["greedy 0"]
        with pytest.raises(Busy):
            await work("greedy", "one too many")
        modest = asyncio.create_task(work("modest", "modest"))
        await asyncio.sleep(0)
        assert order == ["greedy 0", "modest"]  # there was a place left for them
        greedy[1].cancel()
        release.set()
        await asyncio.gather(*greedy, modest, return_exceptions=True)
        assert order == ["greedy 0", "modest", "greedy 2", "greedy 3"]
        async with turns.turn("greedy"), turns.turn("modest"):
            pass  # every place was given back

    asyncio.run(main())


def slow(items: int, seconds: float) -> Iterator[int]:
    for number in range(items):
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            pass
        yield number


def test_the_loop_goes_on_while_something_is_worked_out_on_it() -> None:
    async def main() -> None:
        computing, turns = Computing(), 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        watching = asyncio.create_task(others())
        assert await computing.each("a", slow(50, 0.002)) == list(range(50))
        assert turns > 10
        watching.cancel()

    asyncio.run(main())


def test_what_is_short_waits_for_nobody() -> None:
    async def main() -> None:
        computing = Computing()
        long = [asyncio.create_task(computing.each(caller, slow(100, 0.003))) for caller in ("a", "b")]
        await asyncio.sleep(0)
        assert await computing.each("a", range(10)) == list(range(10))
        assert not any(task.done() for task in long)
        await asyncio.gather(*long)

    asyncio.run(main())


def test_working_on_the_loop_has_a_deadline_too() -> None:
    async def main() -> None:
        with pytest.raises(TooMuch, match=r"longer than 0\.1 s"):
            await Computing(deadline_s=0.1).each("a", slow(1000, 0.002))

    asyncio.run(main())


def test_who_is_alone_needs_no_process() -> None:
    async def main() -> None:
        computing = Computing()
        computing.alone = True
        assert await computing.call("a", os.getpid) == os.getpid()
        assert await computing.each("a", islice(count(), 3)) == [0, 1, 2]
        assert computing.pids() == []

    asyncio.run(main())
