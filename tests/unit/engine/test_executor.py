"""A node has so many slots for jobs in threads. Whatever becomes of a run, its slot is free afterwards."""

from __future__ import annotations

import asyncio
import threading

import pytest

from ostinato.clock import SystemClock
from ostinato.declare_job import make_handler
from ostinato.engine.context import Context
from ostinato.engine.executor import Executor, Outcome
from ostinato.model import Run, Status


def test_a_run_that_is_stopped_before_a_thread_takes_it_gives_its_slot_back() -> None:
    busy = threading.Event()

    def work() -> str:
        return "done"

    async def main() -> None:
        executor, handler, clock = Executor(1), make_handler(work, {}), SystemClock()

        async def save(*_: object) -> None: ...

        def start(id: str) -> asyncio.Task[Outcome]:
            run = Run(id=id, root_id=id, name="work", due=0, created=0)
            return asyncio.create_task(executor.execute(run, handler, Context(run, clock, save), None, lambda _: None))

        free = executor._threads.free
        executor._threads.submit(busy.wait, 30)  # the only thread is busy
        stopped = start("stopped")
        await asyncio.sleep(0)
        assert free.locked()
        stopped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopped
        await asyncio.sleep(0)
        assert not free.locked()
        busy.set()
        async with asyncio.timeout(30):
            outcome = await start("next")
        assert outcome.status is Status.SUCCEEDED
        executor.close()

    asyncio.run(main())


def test_a_job_that_python_drops_has_no_outcome() -> None:
    """Python raises `GeneratorExit` in a coroutine that it closes, for example at the end of the process."""
    outcomes: list[Outcome] = []

    async def work() -> None:
        await asyncio.sleep(600)

    async def main() -> None:
        executor, handler, clock = Executor(1), make_handler(work, {}), SystemClock()

        async def save(*_: object) -> None: ...

        async def call() -> None:
            run = Run(id="dropped", root_id="dropped", name="work", due=0, created=0)
            outcomes.append(await executor.execute(run, handler, Context(run, clock, save), None, lambda _: None))

        coroutine = call()
        task = asyncio.create_task(coroutine)
        await asyncio.sleep(0)
        coroutine.close()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        executor.close()

    asyncio.run(main())
    assert outcomes == []
