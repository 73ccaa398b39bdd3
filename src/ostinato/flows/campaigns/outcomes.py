"""Collect the outcomes of recipients, and aggregate them into the outcome of their campaign."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from ostinato.flows.campaigns.definition import CampaignDefinition
from ostinato.flows.campaigns.events import recipient_event
from ostinato.flows.campaigns.model import CampaignRecord
from ostinato.flows.campaigns.recipients import CHUNK, finish_recipient, write_recipients
from ostinato.flows.campaigns.store import RECIPIENT_COLUMNS, campaign_statement, read_recipient
from ostinato.flows.model import FlowOutcome
from ostinato.flows.runner import look_at_turn
from ostinato.flows.turns import TransactionContext
from ostinato.store.contract import Operation
from ostinato.when.instants import SECOND

SLOW = 300 * SECOND  # a turn that lasts longer no longer counts as in flight; its session may be lost
_LOOK = 10  # slow turns that one transaction checks


def collect_ended_turns(
    place: TransactionContext, campaign: CampaignRecord, definition: CampaignDefinition
) -> Operation[int]:
    """Copy the outcomes of ended turns into the rows of their recipients. Return the number of these recipients."""
    slow = yield campaign_statement("slow_recipients", id=campaign.id, before=place.now - SLOW, limit=_LOOK)
    for (turn_id,) in slow:  # rare: if the run of a session is lost, its turns never end by themselves
        yield from look_at_turn(place, turn_id)
    rows = yield campaign_statement("ended_recipients", id=campaign.id, limit=CHUNK)
    recipients, events = [], []
    width = len(RECIPIENT_COLUMNS)
    for row in rows:
        recipient = read_recipient(row[:width])
        outcome, reason, session_id, finished, delivered, flow = row[width:]
        recipient.session_id, recipient.delivered = session_id, delivered
        finish_recipient(recipient, finished, FlowOutcome(outcome), reason)
        recipients.append(recipient)
        events.append(recipient_event(place, campaign, recipient, definition, delivered=delivered, flow=flow))
    yield from write_recipients(recipients, events)
    return len(recipients)


def aggregate(counts: Mapping[str, int]) -> tuple[FlowOutcome, str | None]:
    """Return the outcome of a campaign, and the reason. `counts` has the number of recipients for each outcome.

    If some recipients succeeded and some failed, the campaign is a success with the reason `partial`.
    """
    if not sum(counts.values()):
        return FlowOutcome.SKIPPED, "empty_segment"
    if counts.get("success"):
        return FlowOutcome.SUCCESS, "partial" if counts.get("failed") else None
    if counts.get("failed"):
        return FlowOutcome.FAILED, "no_recipient_succeeded"
    if counts.get("canceled_hitl") == sum(counts.values()):
        return FlowOutcome.CANCELED_HITL, "hitl"
    return FlowOutcome.SKIPPED, "all_skipped"


def outcome_json(campaign: CampaignRecord) -> dict[str, Any]:
    """Return the outcome of a campaign as the dict that its run returns."""
    counts = orjson.loads(campaign.counts)
    return {
        "outcome": campaign.outcome,
        "reason": campaign.reason,
        "partial": campaign.outcome == "success" and bool(counts.get("failed")),
        "campaign": campaign.id,
        "recipients": campaign.total,
        "counts": counts,
    }
