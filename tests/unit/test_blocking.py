"""An event loop in a thread of its own ends without leaving a caller behind."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

import pytest

from ostinato import blocking
from ostinato.blocking import LoopThread
from ostinato.errors import OstinatoError


def test_a_call_of_another_thread_ends_when_the_loop_is_stopped() -> None:
    loop = LoopThread("test", "it is closed")
    loop.start()
    begun, cancelled = threading.Event(), threading.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(loop.call, wait())
        assert begun.wait(10)
        loop.stop()
        with pytest.raises(OstinatoError, match="it is closed"):
            waiting.result(10)
    assert cancelled.is_set()
    with pytest.raises(OstinatoError, match="it is closed"):
        loop.call(wait())
    loop.stop()


def test_calls_that_come_while_the_loop_is_stopped_all_end() -> None:
    for _ in range(50):
        loop = LoopThread("test", "it is closed")
        loop.start()
        with ThreadPoolExecutor(4) as pool:
            barrier = threading.Barrier(5)

            def call(loop: LoopThread = loop, barrier: threading.Barrier = barrier) -> str:
                barrier.wait()
                try:
                    loop.call(asyncio.sleep(0))
                except OstinatoError as problem:
                    return str(problem)
                return "done"

            calls = [pool.submit(call) for _ in range(4)]
            barrier.wait()
            loop.stop()
            assert {one.result(10) for one in calls} <= {"done", "it is closed"}


def test_a_task_that_refuses_to_end_does_not_keep_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocking, "_PATIENCE", 0.01)
    loop = LoopThread("test", "it is closed")
    loop.start()
    tasks: list[Any] = []
    refused = asyncio.Event()

    async def refuse() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await refused.wait()

    async def begin() -> None:
        tasks.append(asyncio.create_task(refuse()))
        await asyncio.sleep(0)

    loop.call(begin())
    loop.stop()
    assert not tasks[0].done()
    tasks[0]._log_destroy_pending = False  # the test is over, and so is the task


def test_a_coroutine_that_is_cancelled_by_itself_raises_so() -> None:
    loop = LoopThread("test", "it is closed")
    loop.start()

    async def cancel() -> None:
        raise asyncio.CancelledError

    with pytest.raises(CancelledError):
        loop.call(cancel())
    loop.stop()
