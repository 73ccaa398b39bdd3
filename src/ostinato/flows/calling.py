"""Call what an agent's author wrote, async or not, and write to a store that may be away."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ostinato.engine.group_commit import is_trouble
from ostinato.engine.ways import Host
from ostinato.store.contract import Operation

T = TypeVar("T")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds


async def call(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a function. One that is not async runs in a thread, so that it does not block the node."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        return await function(*arguments, **keywords)
    result = await asyncio.to_thread(function, *arguments, **keywords)
    return await result if inspect.isawaitable(result) else result


async def write_patiently(host: Host, make: Callable[[], Operation[T]]) -> T:
    """Do one transaction. While the store is unavailable, try again: an outage is no failure of a turn."""
    pause = _FIRST_PAUSE
    while True:
        try:
            written = await host.store.run(lambda _: make())
        except Exception as problem:
            if not is_trouble(problem):
                raise
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, 2 * pause)
        else:
            host.engine().nudge()
            return written
