"""`client.functions`: the calls of `app.functions`, except those that need their code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ostinato.client.calling import Calling, Json, Moment, part, without_none

_ALL = 1_000_000


class Functions:
    """The calls about durable functions. Changes take an idempotency key, `key`; without it a new one is generated.
    `id` is a run's id, or the id that its start gave."""

    def __init__(self, calling: Calling) -> None:
        self._calling = calling

    async def start(
        self,
        function: str,
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: Moment | None = None,
        send: Mapping[str, Any] | None = None,
        key: str | None = None,
        **options: Any,
    ) -> Json:
        """Start a function, now or `at` a moment; the answer has its id. `send` are messages, by name, that are in its
        mailbox from the beginning. `options`: queue, priority, deadline, serial_key, concurrency, parent."""
        body = without_none(
            function=function, input=dict(input or {}), id=id, at=at, send=dict(send) if send else None, **options
        )
        return await self._calling.one("POST", "/functions", body, key=key)

    async def send(
        self, id: str, name: str, payload: Any = None, *, message_id: str | None = None, key: str | None = None
    ) -> Json:
        """Send a message to a run. With a `message_id`, a message that was sent before is not sent again. Raises
        `Conflict` if the run has ended, or has too many messages that it has not received."""
        body = without_none(name=name, payload=payload, id=message_id)
        return await self._calling.one("POST", _path(id, "messages"), body, key=key)

    async def get(self, id: str) -> Json:
        return await self._calling.one("GET", _path(id))

    async def result(self, id: str, *, wait: float = 0) -> Json:
        """Read how a run ended: `status`, `result`, `error`. Waits for its end for up to `wait` seconds, 20 at most;
        raises `Conflict` if it is not over then."""
        return await self._calling.one("GET", _path(id, "result"), wait=wait or None)

    async def steps(self, id: str, *, after: int | None = None, limit: int = _ALL) -> list[Json]:
        """List the recorded operations of a run, in the order in which they began."""
        return await self._calling.pages(_path(id, "steps"), "after", after, limit)

    async def draw(self, id: str) -> str:
        """Draw the steps of a run as a timeline, an SVG picture."""
        return (await self._calling.ask("GET", _path(id, "timeline.svg"))).text

    async def declared(self) -> list[Json]:
        """List the functions that nodes have declared, by name and version."""
        return await self._calling.pages("/functions/declared", "after", None, _ALL)

    async def drain(self) -> list[Json]:
        """List the code that runs which are not over began with."""
        return await self._calling.pages("/functions/drain", "after", None, _ALL)

    async def cancel(self, id: str, reason: str = "", *, key: str | None = None) -> str:
        """Ask a run to stop, and return its status after that."""
        return str((await self._calling.one("POST", _path(id, "cancel"), {"reason": reason}, key=key))["status"])

    async def terminate(self, id: str, reason: str = "", *, key: str | None = None) -> str:
        """End a run at once, and return its status after that."""
        return str((await self._calling.one("POST", _path(id, "terminate"), {"reason": reason}, key=key))["status"])

    async def list(
        self, *, name: str | None = None, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> list[Json]:
        """List runs of functions, the newest first."""
        return await self._calling.pages("/functions", "before", before, limit, name=name, status=status)


def _path(*parts: str) -> str:
    return "/".join(["/functions", *map(part, parts)])
