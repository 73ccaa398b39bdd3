"""Provide the service `cache`, which stores values by key. The journeys of a namespace share these values."""

from __future__ import annotations

from collections.abc import Callable

import orjson

from ostinato.errors import OstinatoError
from ostinato.journeys.store import statement
from ostinato.model import Json
from ostinato.store.contract import Operation, Row, Store
from ostinato.when.instants import SECOND, Micros

LARGEST = 1 << 20  # bytes of one value
_BITE = 100


class StoreCache:
    def __init__(self, store: Store, now: Callable[[], Micros], namespace: str) -> None:
        self._store = store
        self._now = now
        self._namespace = namespace

    async def get(self, key: str) -> Json:
        now = self._now()

        def read(_: int) -> Operation[list[Row]]:
            return (yield statement("cached", [(key,)], namespace=self._namespace, now=now))

        rows = await self._store.read(read)
        return orjson.loads(rows[0][1]) if rows else None

    async def put(self, key: str, value: Json, ttl_s: int | None) -> None:
        """Store a value, and remove up to 100 expired values. Raise `OstinatoError` if the value is too large."""
        now = self._now()
        written = orjson.dumps(value).decode()
        if len(written) > LARGEST:
            raise OstinatoError(f"the value has {len(written):,} bytes; the maximum is {LARGEST:,}")
        row = (self._namespace, key, written, None if ttl_s is None else now + ttl_s * SECOND)

        def put(_: int) -> Operation[None]:
            yield statement("cache", [row])
            yield statement("forget_cached", now=now, limit=_BITE)

        await self._store.run(put)
