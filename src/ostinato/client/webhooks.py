"""`client.webhooks`: the calls of `app.webhooks`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ostinato.client.calling import Calling, Json, part, without_none


class Webhooks:
    """Changes take `key`, the idempotency key, where the caller would rather make it."""

    def __init__(self, calling: Calling) -> None:
        self._calling = calling

    async def list(self, *, after: str = "", limit: int = 100) -> list[Json]:
        """The webhooks of the namespace, oldest first."""
        return await self._calling.pages("/webhooks", "after", after, limit)

    async def get(self, id: str) -> Json:
        return await self._calling.one("GET", _path(id))

    async def create(
        self,
        url: str,
        patterns: Sequence[str] = ("*",),
        *,
        secret: str | Sequence[str] | None = None,
        notes: str = "",
        key: str | None = None,
    ) -> Json:
        """Send events whose names fit one of the patterns to a URL, from now on. `secret` is a reference such as
        `"secret://hook-key"` to what the server signs with, or several."""
        body = without_none(url=url, patterns=list(patterns), secret=secret, notes=notes)
        return await self._calling.one("POST", "/webhooks", body, key=key)

    async def update(self, id: str, *, key: str | None = None, **changes: Any) -> Json:
        """Change what is given of url, patterns, secret and notes; an empty `secret` takes the signature away."""
        return await self._calling.one("PATCH", _path(id), changes, key=key)

    async def disable(self, id: str, reason: str = "", *, key: str | None = None) -> Json:
        return await self._calling.one("POST", _path(id, "disable"), {"reason": reason}, key=key)

    async def enable(self, id: str, *, after: int | None = None, key: str | None = None) -> Json:
        """Send there again: from the first event on that could not be delivered, or from the one after `after`."""
        return await self._calling.one("POST", _path(id, "enable"), without_none(after=after), key=key)

    async def replay(self, id: str, after: int, *, key: str | None = None) -> Json:
        """Send everything after an event once more, as far as events are kept."""
        return await self._calling.one("POST", _path(id, "replay"), {"after": after}, key=key)

    async def delete(self, id: str, *, key: str | None = None) -> None:
        await self._calling.call("DELETE", _path(id), key=key)

    async def deliveries(
        self, id: str, *, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[Json]:
        """The runs that bring, or brought, events there, newest first."""
        return await self._calling.pages(_path(id, "deliveries"), "before", before, limit, status=status)

    async def redeliver(self, id: str, delivery: str, *, key: str | None = None) -> Json:
        """Send the event of a delivery that is over once more; the answer has the new run's id."""
        return await self._calling.one("POST", _path(id, "deliveries", delivery, "redeliver"), key=key)


def _path(*parts: str) -> str:
    return "/".join(["/webhooks", *map(part, parts)])
