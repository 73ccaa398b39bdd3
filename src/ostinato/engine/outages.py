"""Read from a store that may be unavailable for some time."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from ostinato.engine.group_commit import is_trouble
from ostinato.store.contract import Make, Store

T = TypeVar("T")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds


async def read_patiently(store: Store, make: Make[T]) -> T:
    """Read from the store. While the store is unavailable, retry: a run must not fail because of an outage."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return await store.read(make)
        except Exception as problem:
            if not is_trouble(problem):
                raise
        await asyncio.sleep(pause)
        pause = min(_LONGEST_PAUSE, 2 * pause)
