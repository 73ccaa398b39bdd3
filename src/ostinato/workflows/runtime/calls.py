"""Call the code of users: handlers, mutators and fixers. Each call runs in its own task.

If the code raises an exception, even `SystemExit` or `CancelledError`, the exception is returned. To cancel a run, the
node cancels the task that awaits `call_in_task`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ostinato.engine.executor import PATIENCE
from ostinato.when.instants import SECOND, Micros


@dataclass(frozen=True, slots=True)
class Called:
    """The result or the exception of a call. `late` means that the call was cancelled at its time limit."""

    returned: Any = None
    problem: BaseException | None = None
    late: bool = False


async def call_in_task(
    call: Callable[[], Awaitable[Any]], timeout: Micros, begun: Callable[[asyncio.Task[Any]], None]
) -> Called:
    """Call a function in a task, with a time limit. `begun` is called with the task before the task runs. At the time
    limit, the task is cancelled. If the task still runs `PATIENCE` seconds later, it is abandoned, so that it cannot
    delay its workflow. If the caller is cancelled, the task is cancelled, too, and this function waits until the task
    has ended."""
    task = asyncio.get_running_loop().create_task(_capture(call))
    begun(task)
    try:
        await asyncio.wait({task}, timeout=timeout / SECOND)
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=PATIENCE)
            return Called(problem=TimeoutError(), late=True)
    except asyncio.CancelledError:
        task.cancel()
        await asyncio.wait({task})
        raise
    if task.cancelled():  # before its first step
        return Called(problem=asyncio.CancelledError())
    return task.result()


async def _capture(call: Callable[[], Awaitable[Any]]) -> Called:
    try:
        return Called(await call())
    except BaseException as problem:
        return Called(problem=problem)
