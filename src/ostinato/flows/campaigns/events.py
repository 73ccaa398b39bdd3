"""Build the rows of events about campaigns and their recipients."""

from __future__ import annotations

from typing import Any

from ostinato.engine.rows import audit
from ostinato.flows.campaigns.definition import CampaignDefinition
from ostinato.flows.campaigns.model import CampaignRecord, RecipientRecord
from ostinato.flows.model import FlowOutcome
from ostinato.flows.turns import TransactionContext
from ostinato.store.contract import Row

_EVENTS = {
    FlowOutcome.SUCCESS.value: "schedule:recipient_run_completed",
    FlowOutcome.FAILED.value: "schedule:recipient_run_failed",
    FlowOutcome.SKIPPED.value: "schedule:skipped",
    FlowOutcome.CANCELED_HITL.value: "schedule:run_canceled_hitl",
}


def campaign_event(place: TransactionContext, campaign: CampaignRecord, name: str, **data: Any) -> Row:
    """Return the row of an event about a campaign. The subject of the event is the campaign's run."""
    body = {
        "agent": campaign.agent,
        "target_kind": "segment",
        "source": "scheduled",
        "campaign_id": campaign.campaign_id,
        "schedule_id": campaign.schedule_id,
        "scheduled_for": campaign.scheduled_for,
        **data,
    }
    body = {key: value for key, value in body.items() if value is not None}
    return audit(place.now, campaign.namespace, name, campaign.id, place.actor or campaign.actor, **body)


def recipient_event(
    place: TransactionContext,
    campaign: CampaignRecord,
    recipient: RecipientRecord,
    definition: CampaignDefinition,
    **data: Any,
) -> Row:
    """Return the row of an event about a recipient: the recipient's turn has begun, or the recipient has an outcome."""
    name = "schedule:recipient_run_started" if recipient.outcome is None else _EVENTS[recipient.outcome]
    body = {
        "flow": definition.flow,
        "segment_id": definition.segment_id,
        "recipient_user_external_id": recipient.external_id,
        "session_id": recipient.session_id,
        "request_id": recipient.turn_id,
        "attempt": definition.run_attempt,
        "trigger_type": definition.trigger_type,
        "variant": recipient.variant,
        "outcome": recipient.outcome,
        "reason": recipient.reason,
    }
    return campaign_event(place, campaign, name, **{**body, **{k: v for k, v in data.items() if v is not None}})
