"""Explain why a campaign sent a message to a user or sent none. The reasons of skips are in `skips.REASONS`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from ostinato.flows.campaigns.agent_settings import CampaignsSetting
from ostinato.flows.campaigns.definition import definition_of
from ostinato.flows.campaigns.model import CampaignRecord, RecipientRecord
from ostinato.flows.campaigns.skips import REASONS, foresee_due
from ostinato.flows.campaigns.store import campaign_statement, read_recipient
from ostinato.flows.model import UserRecord
from ostinato.flows.segments import matches
from ostinato.flows.store import read_user, statement
from ostinato.flows.turns import TransactionContext, read_tags
from ostinato.store.contract import Operation
from ostinato.when.instants import to_datetime

_UNKNOWN = ("delivery_unknown", "campaign_lost")  # reasons of recipients who may have been messaged


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a campaign sent a message to a user, or why it sent none. `words` is the explanation as a text.

    `messaged` is "unknown" if it is not known whether a message was delivered. `due` is when the turn of a pending
    recipient may begin. It is None for other users.
    """

    user: str
    campaign: str
    messaged: bool | Literal["unknown"]
    outcome: str | None
    reason: str | None
    words: str
    due: datetime | None = None


def explain(
    place: TransactionContext, campaign: CampaignRecord, setting: CampaignsSetting, external_id: str
) -> Operation[Explanation]:
    users = yield statement("agent_user", namespace=campaign.namespace, agent=campaign.agent, user=external_id)
    user = read_user(users[0]) if users else None
    rows = yield campaign_statement("recipient", id=campaign.id, user=external_id)
    if not rows:
        words = yield from _why_not_in_segment(campaign, user)
        return Explanation(external_id, campaign.id, False, None, "not_in_segment", words)
    recipient = read_recipient(rows[0])
    skip = None
    if recipient.status == "pending":
        users_by_name = {} if user is None else {external_id: user}
        copy = [replace(recipient)]
        skips = yield from foresee_due(place, campaign, definition_of(campaign), setting, copy, users_by_name)
        skip = skips.get(external_id)
    return _explain_recipient(campaign, recipient, skip)


def _explain_recipient(campaign: CampaignRecord, recipient: RecipientRecord, skip: str | None) -> Explanation:
    """Explain what became of a recipient. `skip` is why a pending recipient would be skipped now, or None."""
    reason = recipient.reason
    messaged: bool | Literal["unknown"] = recipient.delivered > 0
    if not messaged and reason in _UNKNOWN:
        messaged = "unknown"
    if messaged is True:
        words = "they were messaged"
    elif recipient.outcome == "canceled_hitl":
        words = f"people have their conversation ({reason})"
    elif recipient.status == "started":
        words = "their turn is going on"
    elif recipient.status == "pending" and skip is not None:
        words = f"their turn has not come; if it came now, they would be skipped: {REASONS.get(skip, skip)} ({skip})"
    elif recipient.status == "pending" and reason is None:
        words = f"their turn has not come; the campaign is {campaign.status}"
    elif recipient.status == "pending" and reason == "local_time":
        words = f"{REASONS[reason]}; their turn comes at {to_datetime(recipient.due).isoformat()}"
    elif recipient.outcome == "success" and reason not in REASONS:
        words = f"their turn said nothing{f' ({reason})' if reason else ''}"
    else:
        words = REASONS.get(reason or "", f"their turn ended with {recipient.outcome}: {reason}")
    due = to_datetime(recipient.due) if recipient.status == "pending" else None
    return Explanation(recipient.external_id, campaign.id, messaged, recipient.outcome, reason, words, due)


def _why_not_in_segment(campaign: CampaignRecord, user: UserRecord | None) -> Operation[str]:
    """Return why a user is not a recipient, according to the user's present data, which may have changed."""
    definition = definition_of(campaign)
    segment, as_of = definition.segment, to_datetime(campaign.as_of).isoformat()
    if campaign.resolved is None:
        return f"the audience is not frozen: the campaign is {campaign.status}"
    if user is None:
        return "the agent has no such user"
    if user.created > campaign.as_of:
        return f"they became a user after the audience was frozen, at {as_of}"
    if segment.filter is not None:
        tags = yield from read_tags([user.id])
        if matches(segment.filter, user, tags[user.id]):
            return f"they did not fit the query {segment.query!r} at {as_of}; they do now"
        return f"they do not fit the query {segment.query!r}"
    return f"they were not in the segment {segment.as_json()} at {as_of}"
