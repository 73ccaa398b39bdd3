"""`client.agents.schedules(agent)` manages the schedules of an agent on a server.

It corresponds to `app.agents.schedules(agent)`, but has no `store`. A program that claims due occurrences itself needs
`store`, and so uses `app`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ostinato.client.calling import Calling, Json, part, without_none


class AgentSchedules:
    """The schedules of one agent. Methods that change something take an idempotency key, `key`. Without a `key`, the
    client generates one."""

    def __init__(self, calling: Calling, agent: str) -> None:
        self._calling = calling
        self._agent = agent

    async def create(
        self,
        *,
        flow: str,
        trigger: Mapping[str, Any],
        target: Mapping[str, Any],
        id: str | None = None,
        key: str | None = None,
        **settings: Any,
    ) -> Json:
        """Create a schedule. The answer has `schedule_id`, `warnings` and `record`.

        `**settings` may contain allow_session_bootstrap, on_missed, metadata, input and on_active_flow. Calls with the
        same `id` create one schedule.
        """
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

    async def update(self, id: str, *, version: int | None = None, key: str | None = None, **patch: Any) -> Json:
        """Change the given fields, and leave the other fields as they are.

        If `version` is given, raises `Conflict` when the schedule has another version.
        """
        return await self._calling.one("PATCH", self._path(id), patch, if_match=version, key=key)

    async def cancel(self, id: str, reason: str = "", *, key: str | None = None) -> Json:
        """Cancel a schedule: it never fires again."""
        return await self._calling.one("POST", self._path(id, "cancel"), {"reason": reason}, key=key)

    async def pause(self, id: str, note: str = "", *, key: str | None = None) -> Json:
        """Pause a schedule. It does not run at its due times until `resume` is called."""
        return await self._calling.one("POST", self._path(id, "pause"), {"note": note}, key=key)

    async def resume(self, id: str, note: str = "", *, key: str | None = None) -> Json:
        """Resume a schedule. Due times that passed during the pause run now only if the `on_missed` policy is
        `catch_up`."""
        return await self._calling.one("POST", self._path(id, "resume"), {"note": note}, key=key)

    async def trigger(self, id: str, *, key: str | None = None) -> str:
        """Run a schedule now, and return the id of the run."""
        return str((await self._calling.one("POST", self._path(id, "trigger"), key=key))["run_id"])

    async def runs(self, id: str, *, before: str | None = None, limit: int = 100) -> Sequence[Json]:
        """List the occurrences of a schedule with their outcomes, the newest first."""
        return await self._calling.pages(self._path(id, "runs"), "before", before, limit)

    def _path(self, *parts: str) -> str:
        return "/".join([f"/agents/{part(self._agent)}/schedules", *map(part, parts)])
