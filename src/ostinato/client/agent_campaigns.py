"""Call a server about an agent's campaigns: `client.agents.campaigns(agent)`, like `app.agents.campaigns(agent)`."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ostinato.client.calling import CallGroup, Calling, Json, path_of, without_none
from ostinato.errors import OstinatoError
from ostinato.model import read_length
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND

_WAIT = 20.0  # seconds that the server waits in one call
_OVER = ("stopped", "done")  # statuses of campaigns that have ended
_PAUSE = 0.5  # seconds between two calls


class AgentCampaigns(CallGroup):
    """The campaigns of one agent. `key` is an idempotency key; by default, the client generates one."""

    def __init__(self, calling: Calling, agent: str) -> None:
        super().__init__(calling)
        self._agent = agent

    async def send(
        self,
        /,
        segment: Mapping[str, Any],
        *,
        flow: str | None = None,
        input: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        campaign_id: str | None = None,
        id: str | None = None,
        allow_session_bootstrap: bool = False,
        key: str | None = None,
        **options: Any,
    ) -> Json:
        """Send a campaign to a segment of users now. The answer has `id` and `new`. `options` are the campaign's
        options, such as `max_recipients` and `confirmed`.

        - If the same campaign was sent with this `id` before, nothing is sent, and `new` is false.
        - Raises `Conflict` if a different campaign was sent with this `id`.
        - Raises `Conflict` if the segment has more than `max_recipients` users, unless `confirmed` is true.
        """
        asked = {"flow": flow, "input": input, "metadata": metadata, "campaign_id": campaign_id, "id": id}
        body = _campaign(segment, allow_session_bootstrap, options, asked)
        return await self._calling.one("POST", self._path("campaigns"), body, key=key)

    async def test(
        self,
        users: Collection[str],
        *,
        flow: str | None = None,
        input: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        id: str | None = None,
        variants: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Json:
        """Send a campaign to the named users now. Quiet hours, the frequency cap and the holdout do not apply. Users
        who have opted out or are on the suppression list still get nothing. The answer has `id` and `new`, as for
        `send`."""
        body = without_none(users=_names(users), flow=flow, input=input, metadata=metadata, id=id, variants=variants)
        return await self._calling.one("POST", self._path("campaigns:test"), body, key=key)

    async def preview(
        self,
        /,
        segment: Mapping[str, Any],
        *,
        flow: str | None = None,
        input: Mapping[str, Any] | None = None,
        metadata: Mapping[str, Any] | None = None,
        campaign_id: str | None = None,
        allow_session_bootstrap: bool = False,
        **options: Any,
    ) -> Json:
        """Return which users a campaign would reach. Nothing is stored and nothing is sent."""
        asked = {"flow": flow, "input": input, "metadata": metadata, "campaign_id": campaign_id}
        body = _campaign(segment, allow_session_bootstrap, options, asked)
        return await self._calling.one("POST", self._path("campaigns:preview"), body)

    async def get(self, id: str, *, wait: float = 0) -> Json:
        """Return a campaign with its counts. If the campaign has not ended, the server waits for its end before it
        answers, but at most `wait` seconds. `wait` must not exceed 20."""
        return await self._calling.one("GET", self._path("campaigns", id), wait=wait or None)

    async def wait(self, id: str, timeout: Length | None = None) -> Json:
        """Wait until a campaign has ended, and return it. Raises `TimeoutError` if that takes longer than `timeout`."""
        seconds = None if timeout is None else read_length(timeout, "timeout") / SECOND
        if seconds is not None and seconds < 0:
            raise OstinatoError(f"timeout {timeout!r} is negative")
        try:
            async with asyncio.timeout(seconds or None):
                campaign = await self.get(id, wait=0 if seconds == 0 else _WAIT)
                while campaign["status"] not in _OVER and seconds != 0:
                    await asyncio.sleep(_PAUSE)
                    campaign = await self.get(id, wait=_WAIT)
            if campaign["status"] in _OVER:
                return campaign
            raise TimeoutError
        except TimeoutError:
            raise TimeoutError(f"campaign {id} is not over within {timeout}") from None

    async def list(
        self, *, campaign_id: str | None = None, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> list[Json]:
        """List campaigns of the agent, the newest first. Only campaigns that have ended, with the status `done` or
        `stopped`, have counts in this list. For the counts of other campaigns, call `get`."""
        filters = {"campaign_id": campaign_id, "status": status}
        return await self._calling.pages(self._path("campaigns"), "before", before, limit, **filters)

    async def recipients(
        self, id: str, *, outcome: str | None = None, after: str | None = None, limit: int = 100
    ) -> Sequence[Json]:
        """List the recipients of a campaign, ordered by external id. If `outcome` is given, list only the recipients
        with this outcome."""
        place = self._path("campaigns", id, "recipients")
        return await self._calling.pages(place, "after", after, limit, outcome=outcome)

    async def explain(self, id: str, user: str) -> Json:
        """Return why a campaign did or did not message a user."""
        return await self._calling.one("GET", self._path("campaigns", id, "explain"), user=user)

    async def pause(self, id: str, reason: str | None = None, *, key: str | None = None) -> Json:
        """Pause a campaign. It messages no further users until `resume`. Conversations that have begun continue."""
        return await self._change(id, "pause", key, reason=reason)

    async def resume(self, id: str, *, key: str | None = None) -> Json:
        return await self._change(id, "resume", key)

    async def stop(self, id: str, reason: str | None = None, *, key: str | None = None) -> Json:
        """End a campaign. Messages that are already stored for sending are still sent. Users whose turn has not begun
        are skipped."""
        return await self._change(id, "stop", key, reason=reason)

    async def _change(self, id: str, verb: str, key: str | None, **body: Any) -> Json:
        return await self._calling.one("POST", self._path("campaigns", id, verb), without_none(**body), key=key)

    # The suppression list

    async def suppress(self, users: Collection[str], reason: str, *, key: str | None = None) -> int:
        """Put users on the suppression list. Return how many of them were not on the list before."""
        body = {"users": _names(users), "reason": reason}
        return int((await self._calling.one("POST", self._path("suppressions"), body, key=key))["changed"])

    async def unsuppress(self, users: Collection[str], *, key: str | None = None) -> int:
        """Remove users from the suppression list. Return how many of them were on the list."""
        body = {"users": _names(users)}
        return int((await self._calling.one("POST", self._path("suppressions:remove"), body, key=key))["changed"])

    async def suppressed(self, *, after: str | None = None, limit: int = 100) -> Sequence[Json]:
        """List the users on the suppression list, ordered by external id."""
        return await self._calling.pages(self._path("suppressions"), "after", after, limit)

    def _path(self, what: str, *parts: str) -> str:
        return path_of(f"{path_of('/agents', self._agent)}/{what}", *parts)


def _campaign(segment: Any, allow_session_bootstrap: bool, options: Json, asked: Json) -> Json:
    return {
        "segment": dict(segment) if isinstance(segment, Mapping) else segment,
        "allow_session_bootstrap": allow_session_bootstrap,
        "options": options,
        **without_none(**asked),
    }


def _names(users: Collection[str]) -> list[str]:
    if isinstance(users, str):
        raise OstinatoError(f"users {users!r} is one text; write [{users!r}]")
    return list(users)
