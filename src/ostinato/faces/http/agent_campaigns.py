"""Answer HTTP calls about campaigns of agents, and about suppression lists. No campaign writes to people on the
suppression list of its agent."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import Annotated

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.errors import RunCancelled, RunFailed
from ostinato.faces.auth import Who
from ostinato.faces.http.agent_parameters import LONGEST_WAIT, AgentName, CampaignId
from ostinato.faces.http.authentication import Operator, Reader, requires
from ostinato.faces.http.idempotency import Key, answer_once, change_id
from ostinato.faces.http.mistake_places import naming_definition_places
from ostinato.faces.http.pagination import After, Before, Limit, list_after, list_before
from ostinato.faces.http.routing import Body, HttpAnswer, Query, Router
from ostinato.faces.http.shapes.agent_campaigns import (
    CampaignSent,
    CampaignShown,
    CampaignsShown,
    CampaignStatus,
    ChangeCampaign,
    ExplanationOfCampaign,
    PreviewCampaign,
    PreviewShown,
    RecipientOutcome,
    RecipientShown,
    RecipientsShown,
    SendCampaign,
    SendTest,
    Suppress,
    SuppressionsChanged,
    SuppressionShown,
    SuppressionsShown,
    Unsuppress,
)
from ostinato.faces.http.shapes.common import NO_NUL, EmptyBody
from ostinato.flows.campaigns.api import CampaignHandle, Campaigns

router = Router(tags=["agents"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
ChangeBody = Annotated[ChangeCampaign, Body(default_factory=ChangeCampaign)]


def _calls(who: Who, agent: str) -> Campaigns:
    calls: Campaigns = who.app.agents.campaigns(agent)
    return calls


# Sending


@router.post("/agents/{agent}/campaigns", status_code=201, **WRITE)
async def send_campaign(who: Operator, agent: AgentName, body: SendCampaign, key: Key = None) -> CampaignSent:
    """Send a campaign to a segment now. The response says that the campaign is stored; its messages are sent after the
    response. If the segment has more than `max_recipients` users, `confirmed` must be true; otherwise the call is a
    conflict (409)."""
    asked = body.arguments()

    async def send() -> CampaignHandle:
        with naming_definition_places(body.model_dump(exclude_unset=True)):
            return await _calls(who, agent).send(**asked, request_id=change_id("send", key))

    return await answer_once(who.app, key, f"send campaign {digest(agent, asked)}", CampaignSent, send)


@router.post("/agents/{agent}/campaigns:test", status_code=201, **WRITE)
async def send_test_campaign(who: Operator, agent: AgentName, body: SendTest, key: Key = None) -> CampaignSent:
    """Send a campaign to named users now. Quiet hours, caps and holdout do not apply. People who have opted out get
    nothing."""
    asked = body.model_dump()

    async def send() -> CampaignHandle:
        with naming_definition_places(asked, options=()):
            return await _calls(who, agent).test(**asked, request_id=change_id("test", key))

    return await answer_once(who.app, key, f"send test campaign {digest(agent, asked)}", CampaignSent, send)


@router.post("/agents/{agent}/campaigns:preview", **WRITE)
async def preview_campaign(who: Operator, agent: AgentName, body: PreviewCampaign) -> PreviewShown:
    """Return whom a campaign would reach as of now. Nothing is stored or sent, but the segment's resolver is called."""
    with naming_definition_places(body.model_dump(exclude_unset=True)):
        preview = await _calls(who, agent).preview(**body.arguments())
    return PreviewShown.model_validate(preview)


# Watching


@router.get("/agents/{agent}/campaigns", response_model=CampaignsShown, **READ)
async def list_campaigns(
    who: Reader,
    agent: AgentName,
    campaign_id: Annotated[str | None, Query(min_length=1, max_length=512, pattern=NO_NUL)] = None,
    status: CampaignStatus | None = None,
    before: Before = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List campaigns of an agent, the newest first. Only campaigns that are over have counts, reasons and variants."""
    await who.app.agents.get(agent)
    fetch = partial(_calls(who, agent).list, campaign_id=campaign_id or "", status=status or "")
    return await list_before(who, before, limit, fetch, lambda campaign: campaign.id, CampaignShown.model_validate)


@router.get("/agents/{agent}/campaigns/{id}", **READ)
async def read_campaign(
    who: Reader,
    agent: AgentName,
    id: CampaignId,
    wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="How many seconds to wait for its end.")] = 0,
) -> CampaignShown:
    """Read a campaign: its status, and the number of recipients for each outcome."""
    calls = _calls(who, agent)
    if wait:
        with suppress(TimeoutError, RunFailed, RunCancelled):  # the answer shows the status
            await calls.wait(id, wait)
    return CampaignShown.model_validate(await calls.get(id))


@router.get("/agents/{agent}/campaigns/{id}/recipients", response_model=RecipientsShown, **READ)
async def list_recipients(
    who: Reader,
    agent: AgentName,
    id: CampaignId,
    outcome: RecipientOutcome | None = None,
    after: After = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List the recipients of a campaign, ordered by external id: what became of each, and why."""
    fetch = partial(_calls(who, agent).recipients, id, outcome=outcome or "")
    return await list_after(who, after, limit, fetch, lambda recipient: recipient.user, RecipientShown.model_validate)


@router.get("/agents/{agent}/campaigns/{id}/explain", **READ)
async def explain_campaign(
    who: Reader,
    agent: AgentName,
    id: CampaignId,
    user: Annotated[str, Query(min_length=1, max_length=200, pattern=NO_NUL, description="Their external id.")],
) -> ExplanationOfCampaign:
    """Explain why a person was or was not messaged by a campaign."""
    return ExplanationOfCampaign.model_validate(await _calls(who, agent).explain(id, user))


# Controlling


@router.post("/agents/{agent}/campaigns/{id}/pause", **WRITE)
async def pause_campaign(
    who: Operator, agent: AgentName, id: CampaignId, body: ChangeBody, key: Key = None
) -> CampaignShown:
    """Pause a campaign: no more turns begin. Turns that have begun are completed."""
    what = f"pause campaign {digest(agent, id, body.reason)}"
    pause = partial(_calls(who, agent).pause, id, body.reason, request_id=change_id("pause", key))
    return await answer_once(who.app, key, what, CampaignShown, pause)


@router.post("/agents/{agent}/campaigns/{id}/resume", **WRITE)
async def resume_campaign(
    who: Operator, agent: AgentName, id: CampaignId, body: EmptyBody, key: Key = None
) -> CampaignShown:
    """Resume a paused campaign."""
    what = f"resume campaign {digest(agent, id)}"
    resume = partial(_calls(who, agent).resume, id, request_id=change_id("resume", key))
    return await answer_once(who.app, key, what, CampaignShown, resume)


@router.post("/agents/{agent}/campaigns/{id}/stop", **WRITE)
async def stop_campaign(
    who: Operator, agent: AgentName, id: CampaignId, body: ChangeBody, key: Key = None
) -> CampaignShown:
    """Stop a campaign for good. Messages that are committed for sending are still sent; the remaining recipients are
    skipped."""
    what = f"stop campaign {digest(agent, id, body.reason)}"
    stop = partial(_calls(who, agent).stop, id, body.reason, request_id=change_id("stop", key))
    return await answer_once(who.app, key, what, CampaignShown, stop)


# The suppression list


@router.get("/agents/{agent}/suppressions", response_model=SuppressionsShown, **READ)
async def list_suppressions(who: Reader, agent: AgentName, after: After = None, limit: Limit = 100) -> HttpAnswer:
    """List the suppressed people of an agent, ordered by external id. No campaign of the agent writes to them."""
    await who.app.agents.get(agent)

    def show(suppression: tuple[str, str]) -> SuppressionShown:
        return SuppressionShown(user=suppression[0], reason=suppression[1])

    fetch = _calls(who, agent).suppressed
    return await list_after(who, after, limit, fetch, lambda suppression: suppression[0], show)


@router.post("/agents/{agent}/suppressions", **WRITE)
async def suppress_users(who: Operator, agent: AgentName, body: Suppress, key: Key = None) -> SuppressionsChanged:
    """Put people on the suppression list. Doing it again changes nothing."""
    asked = body.model_dump()

    async def add() -> SuppressionsChanged:
        return SuppressionsChanged(changed=await _calls(who, agent).suppress(**asked, request_id=change_id("add", key)))

    return await answer_once(who.app, key, f"suppress {digest(agent, asked)}", SuppressionsChanged, add)


@router.post("/agents/{agent}/suppressions:remove", **WRITE)
async def unsuppress_users(who: Operator, agent: AgentName, body: Unsuppress, key: Key = None) -> SuppressionsChanged:
    """Take people from the suppression list. Doing it again changes nothing."""
    asked = body.model_dump()

    async def remove() -> SuppressionsChanged:
        calls = _calls(who, agent)
        return SuppressionsChanged(changed=await calls.unsuppress(**asked, request_id=change_id("remove", key)))

    return await answer_once(who.app, key, f"unsuppress {digest(agent, asked)}", SuppressionsChanged, remove)
