"""Read from a store that may be unavailable for some time."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TypeVar

from ostinato.backoff import backoff
from ostinato.engine.group_commit import is_trouble
from ostinato.engine.log import log
from ostinato.store.contract import Make, Store

T = TypeVar("T")


async def read_patiently(store: Store, make: Make[T]) -> T:
    """Read from the store. While the store is unavailable, retry: a run must not fail because of an outage. The first
    failure is logged, and then about one each minute."""
    for failures in count(1):
        try:
            return await store.read(make)
        except Exception as problem:
            if not is_trouble(problem):
                raise
            if failures % 30 == 1:
                log.warning("the store is in trouble", action="store_trouble", problem=str(problem))
        await asyncio.sleep(backoff(failures, 0.05, 2.0))
    raise AssertionError
