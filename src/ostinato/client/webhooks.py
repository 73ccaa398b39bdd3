"""Call a server about webhooks: `client.webhooks`, like `app.webhooks`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ostinato.client.calling import CallGroup, Json, path_of, without_none

_path = partial(path_of, "/webhooks")


class Webhooks(CallGroup):
    """The calls about webhooks. `key` is an idempotency key; by default, the client generates one."""

    async def list(self, *, after: str = "", limit: int = 100) -> list[Json]:
        """List the webhooks of the namespace, the oldest first."""
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
        """Create a webhook. From now on, the server sends to `url` each event whose name matches one of the patterns.
        `secret` is one or more references to signing keys on the server, such as `"secret://hook-key"`."""
        body = without_none(url=url, patterns=list(patterns), secret=secret, notes=notes)
        return await self._calling.one("POST", "/webhooks", body, key=key)

    async def update(self, /, id: str, *, key: str | None = None, **changes: Any) -> Json:
        """Change the given fields: url, patterns, secret or notes. With an empty `secret`, deliveries are sent without
        a signature."""
        return await self._calling.one("PATCH", _path(id), changes, key=key)

    async def disable(self, id: str, reason: str = "", *, key: str | None = None) -> Json:
        return await self._calling.one("POST", _path(id, "disable"), {"reason": reason}, key=key)

    async def enable(self, id: str, *, after: int | None = None, key: str | None = None) -> Json:
        """Enable a webhook again. It continues with the first event above the sequence number `after`. By default, it
        continues with the first event that was not delivered."""
        return await self._calling.one("POST", _path(id, "enable"), without_none(after=after), key=key)

    async def replay(self, id: str, after: int, *, key: str | None = None) -> Json:
        """Send all stored events with a sequence number above `after` again."""
        return await self._calling.one("POST", _path(id, "replay"), {"after": after}, key=key)

    async def delete(self, id: str, *, key: str | None = None) -> None:
        await self._calling.call("DELETE", _path(id), key=key)

    async def deliveries(
        self, id: str, *, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[Json]:
        """List the deliveries of a webhook, the newest first."""
        return await self._calling.pages(_path(id, "deliveries"), "before", before, limit, status=status)

    async def redeliver(self, id: str, delivery: str, *, key: str | None = None) -> Json:
        """Send the event of a finished delivery again. The answer has the id of the new run."""
        return await self._calling.one("POST", _path(id, "deliveries", delivery, "redeliver"), key=key)
