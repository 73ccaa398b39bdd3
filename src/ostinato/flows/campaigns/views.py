"""Show campaigns and recipients to users as `CampaignInfo` and `RecipientInfo`.

Both are made from the stored records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from ostinato.flows.campaigns.model import CampaignRecord, RecipientRecord
from ostinato.flows.campaigns.tally import Tally
from ostinato.flows.segments import check_segment
from ostinato.when.instants import Micros, to_datetime


@dataclass(frozen=True, slots=True)
class CampaignInfo:
    """A campaign, as callers see it.

    - `status`: `resolving`, `sending`, `paused` or `stopping`; at the end `done` or `stopped`
    - `reason`: the reason for a pause, a stop or the outcome, or None, if there is none
    - `partial`: at the end, whether some recipients succeeded and some failed
    - `counts`: a dict from outcome to number of recipients; those without an outcome count as `pending` or `started`
    - `reasons`: a dict from reason to number of recipients
    - `variants`: a dict from variant to number of recipients
    """

    id: str
    agent: str
    campaign_id: str | None
    schedule_id: str | None
    scheduled_for: datetime | None
    segment: Mapping[str, Any]
    flow: str | None
    status: str
    outcome: str | None
    reason: str | None
    partial: bool
    recipients: int
    counts: Mapping[str, int]
    reasons: Mapping[str, int]
    variants: Mapping[str, int]
    as_of: datetime
    created: datetime
    resolved: datetime | None
    finished: datetime | None
    actor: str | None


@dataclass(frozen=True, slots=True)
class RecipientInfo:
    """A recipient of a campaign. While the recipient is pending, `reason` says why they wait, and `due` says until
    when."""

    user: str
    status: str
    outcome: str | None
    reason: str | None
    variant: str | None
    due: datetime
    turn_id: str | None
    session_id: str | None
    started: datetime | None
    finished: datetime | None
    delivered: int


def campaign_info(campaign: CampaignRecord, tally: Tally) -> CampaignInfo:
    """Return a campaign as users see it."""
    definition = orjson.loads(campaign.definition)
    return CampaignInfo(
        campaign.id,
        campaign.agent,
        campaign.campaign_id,
        campaign.schedule_id,
        _moment(campaign.scheduled_for),
        check_segment(definition["segment"]).as_json(),
        definition.get("flow"),
        campaign.status,
        campaign.outcome,
        campaign.reason,
        campaign.outcome == "success" and bool(tally.counts.get("failed")),
        campaign.total,
        dict(tally.counts),
        dict(tally.reasons),
        dict(tally.variants),
        to_datetime(campaign.as_of),
        to_datetime(campaign.created),
        _moment(campaign.resolved),
        _moment(campaign.finished),
        campaign.actor,
    )


def recipient_info(recipient: RecipientRecord) -> RecipientInfo:
    """Return a recipient as users see it."""
    return RecipientInfo(
        recipient.external_id,
        recipient.status,
        recipient.outcome,
        recipient.reason,
        recipient.variant,
        to_datetime(recipient.due),
        recipient.turn_id,
        recipient.session_id,
        _moment(recipient.started),
        _moment(recipient.finished),
        recipient.delivered,
    )


def _moment(instant: Micros | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)
