"""Call the code of users: handlers, mutators and fixers.

Each call is a task of its own. Whatever the code raises, including `SystemExit` and `CancelledError`, is returned as
the end of the call. Only the node can cancel a run. It does so by cancelling the task that awaits `call_in_task`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from ostinato.when.instants import SECOND, Micros

_PATIENCE = 10.0  # seconds for code that was cancelled to end


@dataclass(frozen=True, slots=True)
class Called:
    """The end of a call: its result, or its exception. `late` means that the call was cancelled because it took too
    long."""

    returned: Any = None
    problem: BaseException | None = None
    late: bool = False


async def call_in_task(
    call: Callable[[], Awaitable[Any]], timeout: Micros, begun: Callable[[asyncio.Task[Any]], None]
) -> Called:
    """Call a function in a task, with a time limit. `begun` is called with the task before the task runs. After the
    limit the task is cancelled. If the code ignores the cancellation, the task is abandoned after a while, so that it
    cannot delay its workflow."""
    task = asyncio.get_running_loop().create_task(_capture(call))
    begun(task)
    try:
        await asyncio.wait({task}, timeout=timeout / SECOND)
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_PATIENCE)
            return Called(late=True)
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
