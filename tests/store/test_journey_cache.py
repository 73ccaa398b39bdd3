"""The cache of journeys on both stores."""

from __future__ import annotations

import asyncio

import pytest

from ostinato.errors import OstinatoError
from ostinato.journeys.runtime.cached_values import LARGEST, StoreCache
from ostinato.store.urls import open_url


def test_a_value_is_there_until_it_runs_out_and_only_in_its_namespace(store_url: str) -> None:
    async def main() -> None:
        store = open_url(store_url)
        await store.open()
        now = [1_000_000]
        cache, other = (StoreCache(store, lambda: now[0], one) for one in ("a", "b"))
        assert await cache.get("k") is None
        await cache.put("k", {"x": [1, None]}, 10)
        await cache.put("endless", "ü", None)
        assert (await cache.get("k"), await other.get("k")) == ({"x": [1, None]}, None)
        now[0] += 9_999_999
        await cache.put("k2", 1, 1)
        assert (await cache.get("k"), await cache.get("k2")) == ({"x": [1, None]}, 1)
        now[0] += 1
        assert (await cache.get("k"), await cache.get("endless")) == (None, "ü")
        await cache.put("k", 2, 10)
        assert await cache.get("k") == 2
        with pytest.raises(OstinatoError, match="the maximum is"):
            await cache.put("k", "x" * LARGEST, 1)
        await store.close()

    asyncio.run(main())
