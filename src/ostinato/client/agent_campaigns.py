"""`client.agents.campaigns(agent)` manages the campaigns of an agent on a server. It corresponds to
`app.agents.campaigns(agent)`."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ostinato.client.calling import Calling, Json, part, without_none
from ostinato.errors import OstinatoError
from ostinato.model import read_length
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND

_WAIT = 20.0  # seconds that the server waits in one call
_OVER = ("stopped", "done")  # statuses of campaigns that have ended
_PAUSE = 0.5  # seconds between two calls


class AgentCampaigns:
    """The campaigns of one agent. Methods that change something take an idempotency key, `key`. Without a `key`, the
    client generates one."""

    def __init__(self, calling: Calling, agent: str) -> None:
        self._calling = calling
        self._agent = agent

    async def send(
        self,
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
        """Send a campaign to a segment now. The answer has `id` and `new`.

        A campaign with an `id` that was sent before is not sent again; `new` is then false. `options` are the options
        of a campaign, such as `max_recipients`. Raises `Conflict` if the segment has more than `max_recipients` users,
        unless `confirmed=True`.
        """
        asked = without_none(flow=flow, input=input, metadata=metadata, campaign_id=campaign_id, id=id)
        body = {
            "segment": dict(segment) if isinstance(segment, Mapping) else segment,
            "allow_session_bootstrap": allow_session_bootstrap,
            "options": options,
            **asked,
        }
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
        """Send a campaign to the named users now, ignoring quiet hours, frequency caps and holdout."""
        body = without_none(users=_names(users), flow=flow, input=input, metadata=metadata, id=id, variants=variants)
        return await self._calling.one("POST", self._path("campaigns:test"), body, key=key)

    async def preview(
        self,
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
        body = {
            "segment": dict(segment) if isinstance(segment, Mapping) else segment,
            "allow_session_bootstrap": allow_session_bootstrap,
            "options": options,
            **without_none(flow=flow, input=input, metadata=metadata, campaign_id=campaign_id),
        }
        return await self._calling.one("POST", self._path("campaigns:preview"), body)

    async def get(self, id: str, *, wait: float = 0) -> Json:
        """Return a campaign with its counts.

        The server waits up to `wait` seconds, at most 20, for the campaign to end.
        """
        return await self._calling.one("GET", self._path("campaigns", id), wait=wait or None)

    async def wait(self, id: str, timeout: Length | None = None) -> Json:
        """Wait until a campaign is over, and return it. Raises `TimeoutError` if it is not over within `timeout`."""
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
        self,
        *,
        campaign_id: str | None = None,
        status: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[Json]:
        """List campaigns of the agent, the newest first. A campaign that is not done has no counts here."""
        filters = {"campaign_id": campaign_id, "status": status}
        return await self._calling.pages(self._path("campaigns"), "before", before, limit, **filters)

    async def recipients(
        self, id: str, *, outcome: str | None = None, after: str | None = None, limit: int = 100
    ) -> Sequence[Json]:
        """List the recipients of a campaign, ordered by external id. `outcome` selects those with that outcome."""
        place = self._path("campaigns", id, "recipients")
        return await self._calling.pages(place, "after", after, limit, outcome=outcome)

    async def explain(self, id: str, user: str) -> Json:
        """Return the reason why a campaign did or did not message a person."""
        return await self._calling.one("GET", self._path("campaigns", id, "explain"), user=user)

    async def pause(self, id: str, reason: str | None = None, *, key: str | None = None) -> Json:
        """Pause a campaign: it messages no further recipients until `resume` is called. Turns that have begun
        continue."""
        return await self._change(id, "pause", key, reason=reason)

    async def resume(self, id: str, *, key: str | None = None) -> Json:
        return await self._change(id, "resume", key)

    async def stop(self, id: str, reason: str | None = None, *, key: str | None = None) -> Json:
        """End a campaign. Messages that are already committed for sending are sent; other recipients are skipped."""
        return await self._change(id, "stop", key, reason=reason)

    async def _change(self, id: str, verb: str, key: str | None, **body: Any) -> Json:
        return await self._calling.one("POST", self._path("campaigns", id, verb), without_none(**body), key=key)

    # The suppression list

    async def suppress(self, users: Collection[str], reason: str, *, key: str | None = None) -> int:
        """Put people on the suppression list. Return how many of them were not on it before."""
        body = {"users": _names(users), "reason": reason}
        return int((await self._calling.one("POST", self._path("suppressions"), body, key=key))["changed"])

    async def unsuppress(self, users: Collection[str], *, key: str | None = None) -> int:
        """Remove people from the suppression list. Return how many of them were on it."""
        body = {"users": _names(users)}
        return int((await self._calling.one("POST", self._path("suppressions:remove"), body, key=key))["changed"])

    async def suppressed(self, *, after: str | None = None, limit: int = 100) -> Sequence[Json]:
        """List the people on the suppression list, ordered by external id."""
        return await self._calling.pages(self._path("suppressions"), "after", after, limit)

    def _path(self, what: str, *parts: str) -> str:
        return "/".join([f"/agents/{part(self._agent)}/{what}", *map(part, parts)])


def _names(users: Collection[str]) -> list[str]:
    if isinstance(users, str):
        raise OstinatoError(f"users {users!r} is one text; write [{users!r}]")
    return list(users)
