"""Define `SyncClient`, the client for code that does not await."""

from __future__ import annotations

from typing import Any, Self

from ostinato.blocking import BlockingCalls, LoopThread
from ostinato.client.client import DEFAULT_SERVER, Client


class SyncClient:
    """The calls of `Client` for code that does not await: `with SyncClient(…) as client: client.schedules.pause("a")`.
    Each call blocks until it is done. `follow` returns a plain iterator."""

    def __init__(self, server: str = DEFAULT_SERVER, **options: Any) -> None:
        self._client = Client(server, **options)
        self._loop = LoopThread("ostinato-client", "the client is not open; use `with SyncClient(…) as client:`")

    def __enter__(self) -> Self:
        self._loop.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call(self._client.__aexit__())
        self._loop.stop()

    def __getattr__(self, name: str) -> Any:
        if name == "agents":
            return _BlockingAgents(self._client.agents, self._loop.call)
        if name in ("schedules", "webhooks", "journeys", "workflows", "functions"):
            return BlockingCalls(getattr(self._client, name), self._loop.call)
        return getattr(BlockingCalls(self._client, self._loop.call), name)


class _BlockingAgents(BlockingCalls):
    def schedules(self, agent: str) -> BlockingCalls:
        return BlockingCalls(self._target.schedules(agent), self._wait)

    def campaigns(self, agent: str) -> BlockingCalls:
        return BlockingCalls(self._target.campaigns(agent), self._wait)
