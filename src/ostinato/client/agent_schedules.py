"""Call a server about the schedules of an agent: `client.agents.schedules(agent)`, like `app.agents.schedules(agent)`.

The client lacks one method of the app: `app.agents.schedules(agent).store()`. A program needs this method if it claims
due occurrences itself. Such a program must use `app`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ostinato.client.calling import CallGroup, Calling, Json, path_of, without_none


class AgentSchedules(CallGroup):
    """The calls about the schedules of one agent. The parameter `key` of a method is the idempotency key of the call:
    the server acts only once on calls with the same key. By default, the client generates a key."""

    def __init__(self, calling: Calling, agent: str) -> None:
        super().__init__(calling)
        self._agent = agent

    async def create(
        self,
        /,
        *,
        flow: str,
        trigger: Mapping[str, Any],
        target: Mapping[str, Any],
        id: str | None = None,
        key: str | None = None,
        **settings: Any,
    ) -> Json:
        """Create a schedule. The answer has `schedule_id`, `warnings` and `record`. Calls with the same `id` create
        only one schedule. `settings` may be allow_session_bootstrap, on_missed, metadata, input and on_active_flow."""
        body = without_none(flow=flow, trigger=dict(trigger), target=dict(target), id=id, **settings)
        return await self._calling.one("POST", self._path(), body, key=key)

    async def list(
        self,
        *,
        flow: str | None = None,
        status: str | None = None,
        target_kind: str | None = None,
        user_external_id: str | None = None,
        campaign_id: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[Json]:
        """List the schedules of the agent, ordered by id."""
        filters = {
            "flow": flow,
            "status": status,
            "target_kind": target_kind,
            "user": user_external_id,
            "campaign_id": campaign_id,
        }
        return await self._calling.pages(self._path(), "after", after, limit, **filters)

    async def get(self, id: str) -> Json:
        return await self._calling.one("GET", self._path(id))

    async def update(self, /, id: str, *, version: int | None = None, key: str | None = None, **patch: Any) -> Json:
        """Change only the given fields. Raises `Conflict` if a given `version` is not the current version."""
        return await self._calling.one("PATCH", self._path(id), patch, if_match=version, key=key)

    async def cancel(self, id: str, reason: str = "", *, key: str | None = None) -> Json:
        """Cancel a schedule: it never fires again."""
        return await self._calling.one("POST", self._path(id, "cancel"), {"reason": reason}, key=key)

    async def pause(self, id: str, note: str = "", *, key: str | None = None) -> Json:
        """Pause a schedule. It does not run at its due times until `resume`."""
        return await self._calling.one("POST", self._path(id, "pause"), {"note": note}, key=key)

    async def resume(self, id: str, note: str = "", *, key: str | None = None) -> Json:
        """Resume a schedule. Due times within the pause run only if the schedule's `on_missed` policy is `catch_up`."""
        return await self._calling.one("POST", self._path(id, "resume"), {"note": note}, key=key)

    async def trigger(self, id: str, *, key: str | None = None) -> Json:
        """Run a schedule now. The answer has `run_id`, `status` and `reason`. `status` says whether the run was
        started, must wait, or was skipped."""
        return await self._calling.one("POST", self._path(id, "trigger"), key=key)

    async def runs(self, id: str, *, before: str | None = None, limit: int = 100) -> Sequence[Json]:
        """List the occurrences of a schedule with their outcomes, the newest first."""
        return await self._calling.pages(self._path(id, "runs"), "before", before, limit)

    def _path(self, *parts: str) -> str:
        return path_of("/agents", self._agent, "schedules", *parts)
