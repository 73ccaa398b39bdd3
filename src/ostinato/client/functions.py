"""Manage the durable functions of a server. `client.functions` has the methods of `app.functions`, except those that
need the code of a function."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from ostinato.client.calling import ALL, CallGroup, Json, Moment, path_of, without_none

_path = partial(path_of, "/functions")


class Functions(CallGroup):
    """The calls about durable functions. `id` is a run's id, or the id that was given when the run was started. `key`
    is an idempotency key; by default, the client generates one."""

    async def start(
        self,
        /,
        function: str,
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: Moment | None = None,
        send: Mapping[str, Any] | None = None,
        key: str | None = None,
        **options: Any,
    ) -> Json:
        """Start a function, now or at the time `at`. The answer has the id of the run. `send` maps message names to
        payloads; these messages are in the run's mailbox from the beginning. `options` are queue, priority, deadline,
        serial_key, concurrency and parent."""
        body = without_none(
            function=function, input=dict(input or {}), id=id, at=at, send=dict(send) if send else None, **options
        )
        return await self._calling.one("POST", "/functions", body, key=key)

    async def send(
        self, id: str, name: str, payload: Any = None, *, message_id: str | None = None, key: str | None = None
    ) -> Json:
        """Send a message to a run. A message with a `message_id` that was used before is not sent again. Raises
        `Conflict` if the run has ended, or if its mailbox is full of unread messages."""
        body = without_none(name=name, payload=payload, id=message_id)
        return await self._calling.one("POST", _path(id, "messages"), body, key=key)

    async def get(self, id: str) -> Json:
        return await self._calling.one("GET", _path(id))

    async def result(self, id: str, *, wait: float = 0) -> Json:
        """Return how a run ended, as a dict with `status`, `result` and `error`. The server waits up to `wait` seconds,
        at most 20, for the run to end. Raises `Conflict` if the run has not ended by then."""
        return await self._calling.one("GET", _path(id, "result"), wait=wait or None)

    async def steps(self, id: str, *, after: int | None = None, limit: int = ALL) -> list[Json]:
        """List the recorded operations of a run, in the order in which they began."""
        return await self._calling.pages(_path(id, "steps"), "after", after, limit)

    async def draw(self, id: str) -> str:
        """Return a timeline of the steps of a run, as the text of an SVG document."""
        return (await self._calling.ask("GET", _path(id, "timeline.svg"))).text

    async def declared(self) -> list[Json]:
        """List the functions that nodes have declared, by name and version."""
        return await self._calling.all("/functions/declared")

    async def drain(self) -> list[Json]:
        """List the versions of code that unfinished runs need, with the number of runs for each version."""
        return await self._calling.all("/functions/drain")

    async def cancel(self, id: str, reason: str = "", *, key: str | None = None) -> str:
        """Request that a run stops, and return the status of the run after the request."""
        return str((await self._calling.one("POST", _path(id, "cancel"), {"reason": reason}, key=key))["status"])

    async def terminate(self, id: str, reason: str = "", *, key: str | None = None) -> str:
        """End a run at once, and return the status of the run after that."""
        return str((await self._calling.one("POST", _path(id, "terminate"), {"reason": reason}, key=key))["status"])

    async def list(
        self, *, name: str | None = None, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> list[Json]:
        """List runs of functions, the newest first."""
        return await self._calling.pages("/functions", "before", before, limit, name=name, status=status)
