"""Define `CampaignInfo` and `RecipientInfo`, which describe campaigns and recipients to callers of the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from ostinato.flows.campaigns.model import CampaignRecord, RecipientRecord
from ostinato.flows.campaigns.tally import Tally
from ostinato.flows.segments import check_segment
from ostinato.flows.views import make_view


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
    """A recipient of a campaign, as callers see it.

    For a pending recipient, `reason` is why the recipient's turn has not begun, and `due` is when it may begin.
    """

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
    definition = orjson.loads(campaign.definition)
    return make_view(
        CampaignInfo,
        campaign,
        segment=check_segment(definition["segment"]).as_json(),
        flow=definition.get("flow"),
        partial=campaign.outcome == "success" and bool(tally.counts.get("failed")),
        recipients=campaign.total,
        counts=dict(tally.counts),
        reasons=dict(tally.reasons),
        variants=dict(tally.variants),
    )


def recipient_info(recipient: RecipientRecord) -> RecipientInfo:
    return make_view(RecipientInfo, recipient, user=recipient.external_id)
