"""Read while the store may be unavailable."""

from __future__ import annotations

import asyncio
from typing import TypeVar

from ostinato.engine.group_commit import is_trouble
from ostinato.store.contract import Make, Store

T = TypeVar("T")
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 2.0  # seconds


async def read_patiently(store: Store, make: Make[T]) -> T:
    """Read from the store. Retries while the store is unavailable, because an outage must not fail a run."""
    pause = _FIRST_PAUSE
    while True:
        try:
            return await store.read(make)
        except Exception as problem:
            if not is_trouble(problem):
                raise
        await asyncio.sleep(pause)
        pause = min(_LONGEST_PAUSE, 2 * pause)
