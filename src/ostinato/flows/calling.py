"""Call functions that an agent's author wrote, whether they are async or not."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any

from ostinato.engine.executor import RaisedInThread, call_in_thread


async def call(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Call a function and return its result. A function that is not async runs in a thread."""
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__):
        return await function(*arguments, **keywords)
    try:
        result = await asyncio.to_thread(call_in_thread, function, *arguments, **keywords)
    except RaisedInThread as carrier:
        raise carrier.problem from None
    return await result if inspect.isawaitable(result) else result
