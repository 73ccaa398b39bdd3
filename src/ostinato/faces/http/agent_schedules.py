"""Answer HTTP calls about the schedules of agents.

The version of a schedule is its ETag. An update with `If-Match` is refused if the schedule has another version.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.faces.auth import Who
from ostinato.faces.http.agent_parameters import AgentName
from ostinato.faces.http.authentication import Operator, Reader, requires
from ostinato.faces.http.etags import Match, set_etag, token_of
from ostinato.faces.http.idempotency import Key, answer_once, change_id
from ostinato.faces.http.mistake_places import naming_definition_places
from ostinato.faces.http.pagination import After, Before, Limit, list_after, list_before
from ostinato.faces.http.routing import HttpAnswer, Path, Query, Router
from ostinato.faces.http.shapes.agent_schedules import (
    AgentScheduleCreated,
    AgentScheduleRunShown,
    AgentScheduleRunsShown,
    AgentScheduleShown,
    AgentSchedulesShown,
    AgentScheduleTriggered,
    ChangeAgentSchedule,
    NewAgentSchedule,
    ScheduleStatus,
    TargetKind,
)
from ostinato.faces.http.shapes.common import NO_NUL, EmptyBody, StopBody
from ostinato.faces.http.shapes.schedules import NoteBody
from ostinato.flows.schedules.api import AgentSchedules, CreatedSchedule
from ostinato.flows.schedules.rows import ScheduleRecord

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Response

router = Router(tags=["agents"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
ScheduleId = Annotated[str, Path(min_length=1, max_length=300, pattern=NO_NUL, description="The schedule's id.")]
Filter = Annotated[str | None, Query(min_length=1, max_length=512, pattern=NO_NUL)]


def _calls(who: Who, agent: str) -> AgentSchedules:
    calls: AgentSchedules = who.app.agents.schedules(agent)
    return calls


@router.get("/agents/{agent}/schedules", response_model=AgentSchedulesShown, **READ)
async def list_agent_schedules(
    who: Reader,
    agent: AgentName,
    flow: Filter = None,
    status: ScheduleStatus | None = None,
    target_kind: TargetKind | None = None,
    user: Annotated[
        str | None, Query(min_length=1, max_length=200, pattern=NO_NUL, description="For this user, by external id.")
    ] = None,
    campaign_id: Filter = None,
    after: After = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List the schedules of an agent, ordered by id. The agent's code has declared them, a caller of the API has
    created them, or the agent has created them for a user."""
    calls = _calls(who, agent)
    fetch = partial(
        calls.list, flow=flow, status=status, target_kind=target_kind, user_external_id=user, campaign_id=campaign_id
    )
    return await list_after(who, after, limit, fetch, lambda record: record.id, AgentScheduleShown.model_validate)


@router.post("/agents/{agent}/schedules", status_code=201, **WRITE)
async def create_agent_schedule(
    who: Operator, agent: AgentName, body: NewAgentSchedule, response: Response, key: Key = None
) -> AgentScheduleCreated:
    """Create a schedule that begins turns of an agent, for a user or a segment. Repeating the call with the same `id`
    changes nothing. Another definition with the same `id` is a conflict (409)."""
    asked = body.arguments()

    async def create() -> CreatedSchedule:
        with naming_definition_places(body.model_dump(exclude_unset=True), options=("target", "options")):
            return await _calls(who, agent).create(**asked, request_id=change_id("create", key))

    what = f"create agent schedule {digest(agent, asked)}"
    created = await answer_once(who.app, key, what, AgentScheduleCreated, create)
    set_etag(response, created.record.version)
    return created


@router.get("/agents/{agent}/schedules/{id}", **READ)
async def read_agent_schedule(who: Reader, agent: AgentName, id: ScheduleId, response: Response) -> AgentScheduleShown:
    """Read a schedule of an agent, with its version as the ETag."""
    record = await _calls(who, agent).get(id)
    set_etag(response, record.version)
    return AgentScheduleShown.model_validate(record)


@router.patch("/agents/{agent}/schedules/{id}", **WRITE)
async def update_agent_schedule(
    who: Operator,
    agent: AgentName,
    id: ScheduleId,
    body: ChangeAgentSchedule,
    response: Response,
    key: Key = None,
    match: Match = None,
) -> AgentScheduleShown:
    """Change the given fields of a schedule. No due time is lost or repeated. A schedule that the code declares cannot
    be updated (409)."""
    patch, version = body.patch(), token_of(match)
    what = f"update agent schedule {digest(agent, id, version, patch)}"

    async def update() -> ScheduleRecord:
        with naming_definition_places(body.model_dump(exclude_unset=True), options=("target", "options")):
            return await _calls(who, agent).update(id, version=version, request_id=change_id("update", key), **patch)

    return await _changed(who, response, key, what, update)


@router.post("/agents/{agent}/schedules/{id}/cancel", **WRITE)
async def cancel_agent_schedule(
    who: Operator, agent: AgentName, id: ScheduleId, body: StopBody, response: Response, key: Key = None
) -> AgentScheduleShown:
    """Cancel a schedule: it never fires again. A turn in progress is completed; a campaign stops before its next
    recipient. Doing it again changes nothing."""
    return await _set_state(who, response, key, agent, id, "cancel", body.reason)


@router.post("/agents/{agent}/schedules/{id}/pause", **WRITE)
async def pause_agent_schedule(
    who: Operator, agent: AgentName, id: ScheduleId, body: NoteBody, response: Response, key: Key = None
) -> AgentScheduleShown:
    """Pause a schedule: no scheduled run starts until it is resumed."""
    return await _set_state(who, response, key, agent, id, "pause", body.note)


@router.post("/agents/{agent}/schedules/{id}/resume", **WRITE)
async def resume_agent_schedule(
    who: Operator, agent: AgentName, id: ScheduleId, body: NoteBody, response: Response, key: Key = None
) -> AgentScheduleShown:
    """Resume a schedule. Due times within the pause run only if the schedule's `on_missed` policy is `catch_up`."""
    return await _set_state(who, response, key, agent, id, "resume", body.note)


@router.post("/agents/{agent}/schedules/{id}/trigger", **WRITE)
async def trigger_agent_schedule(
    who: Operator, agent: AgentName, id: ScheduleId, body: EmptyBody, key: Key = None
) -> AgentScheduleTriggered:
    """Run a schedule now. The schedule may be paused, completed, or declared in the agent's code."""

    async def trigger() -> AgentScheduleTriggered:
        triggered = await _calls(who, agent).trigger(id, request_id=change_id("trigger", key))
        return AgentScheduleTriggered.model_validate(triggered)

    what = f"trigger agent schedule {digest(agent, id)}"
    return await answer_once(who.app, key, what, AgentScheduleTriggered, trigger)


@router.get("/agents/{agent}/schedules/{id}/runs", response_model=AgentScheduleRunsShown, **READ)
async def list_agent_schedule_runs(
    who: Reader, agent: AgentName, id: ScheduleId, before: Before = None, limit: Limit = 100
) -> HttpAnswer:
    """List a schedule's due times and their outcomes, the newest first."""
    fetch = partial(_calls(who, agent).runs, id)
    return await list_before(who, before, limit, fetch, lambda run: run.cursor, AgentScheduleRunShown.model_validate)


async def _set_state(
    who: Who,
    response: Response,
    key: str | None,
    agent: str,
    id: str,
    verb: Literal["cancel", "pause", "resume"],
    reason: str,
) -> AgentScheduleShown:
    change = getattr(_calls(who, agent), verb)
    what = f"{verb} agent schedule {digest(agent, id, reason)}"
    return await _changed(who, response, key, what, lambda: change(id, reason, request_id=change_id(verb, key)))


async def _changed(
    who: Who, response: Response, key: str | None, what: str, change: Callable[[], Awaitable[ScheduleRecord]]
) -> AgentScheduleShown:
    shown = await answer_once(who.app, key, what, AgentScheduleShown, change)
    set_etag(response, shown.version)
    return shown
