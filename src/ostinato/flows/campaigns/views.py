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
from ostinato.flows.segments import check_segment
from ostinato.when.instants import Micros, to_datetime


@dataclass(frozen=True, slots=True)
class CampaignInfo:
    """A campaign. `status` is resolving, sending, paused or stopping, and at the end done or stopped. `reason` explains
    a pause, a stop or the outcome of the campaign. `counts` has the numbers of recipients by outcome; recipients
    without an outcome are counted as `pending` or `started`. At the end, `partial` is true if some recipients succeeded
    and some failed. `reasons` and `variants` have the numbers of recipients by reason and by variant."""

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


def campaign_info(
    campaign: CampaignRecord, counts: Mapping[str, int], reasons: Mapping[str, int], variants: Mapping[str, int]
) -> CampaignInfo:
    """Return a campaign as users see it. `counts`, `reasons` and `variants` become fields of the `CampaignInfo`."""
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
        campaign.outcome == "success" and bool(counts.get("failed")),
        campaign.total,
        counts,
        reasons,
        variants,
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
