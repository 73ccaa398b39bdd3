"""Begin, pause, resume, stop, end and abandon campaigns."""

from __future__ import annotations

from typing import Literal

import orjson

from ostinato.errors import Conflict, NotFound
from ostinato.flows.campaigns.definition import CampaignDefinition, definition_of
from ostinato.flows.campaigns.events import campaign_event, recipient_event
from ostinato.flows.campaigns.model import CampaignRecord
from ostinato.flows.campaigns.outcomes import SLOW, aggregate, collect_ended_turns
from ostinato.flows.campaigns.recipients import CHUNK, finish_recipient, write_recipients
from ostinato.flows.campaigns.skips import skip_rest
from ostinato.flows.campaigns.store import (
    campaign_row,
    campaign_statement,
    lock_campaign,
    read_campaign,
    read_recipient,
)
from ostinato.flows.campaigns.tally import Tally, tally_recipients
from ostinato.flows.model import FlowOutcome
from ostinato.flows.store import write_events
from ostinato.flows.turns import TransactionContext
from ostinato.store.contract import Operation

_CHANGES = {
    "pause": ("paused", "campaign:paused", ("sending",)),
    "resume": ("sending", "campaign:resumed", ("paused",)),
    "stop": ("stopping", "campaign:stopped", ("resolving", "sending", "paused")),
}
_ABANDONED = (
    ("pending", FlowOutcome.SKIPPED, "campaign_stopped"),
    ("started", FlowOutcome.FAILED, "campaign_lost"),
)


def begin_campaign(
    place: TransactionContext, run_id: str, definition: CampaignDefinition, sent_id: str | None = None
) -> Operation[CampaignRecord]:
    """Store a new campaign, and return it. `sent_id` is the id that a caller chose for the campaign, or None.

    `CampaignDefinition.occurrence` identifies a campaign. If a campaign with the same occurrence is already stored, for
    example by another run, store nothing, and return the stored campaign.
    """
    campaign = CampaignRecord(
        run_id,
        place.namespace,
        place.agent,
        definition.occurrence(run_id),
        definition.campaign_id,
        definition.schedule_id,
        definition.scheduled_for,
        orjson.dumps(dict(definition.given)).decode(),
        as_of=place.now,
        created=place.now,
        actor=place.actor,
        sent_id=sent_id,
    )
    rows = yield campaign_statement("insert_campaigns", [campaign_row(campaign)])
    if rows:
        yield from write_events(campaign_event(place, campaign, "campaign:started"))
        return campaign
    names = {"namespace": place.namespace, "agent": place.agent, "occurrence": campaign.occurrence}
    return read_campaign((yield campaign_statement("campaign_by_occurrence", **names))[0])


def change_campaign(
    place: TransactionContext, campaign_id: str, change: str, reason: str | None
) -> Operation[CampaignRecord]:
    """Pause, resume or stop a campaign, and return the campaign. `change` is `pause`, `resume` or `stop`.

    After a pause or a stop, no further turn begins. After a stop, only messages that were already committed are still
    sent. Raises `NotFound` if the agent has no such campaign, or `Conflict` if the campaign's status does not allow the
    change.
    """
    rows = yield campaign_statement("lock_campaign", id=campaign_id)
    if not rows or (campaign := read_campaign(rows[0])).namespace != place.namespace or campaign.agent != place.agent:
        raise NotFound(f"agent {place.agent!r} has no campaign {campaign_id!r}")
    status, event, allowed = _CHANGES[change]
    if campaign.status == status or (change == "stop" and campaign.status == "stopped"):
        return campaign
    if campaign.status not in allowed:
        raise Conflict(
            f"campaign {campaign_id!r} is {campaign.status}; only one that is {' or '.join(allowed)} can {change}"
        )
    campaign.status, campaign.reason = status, reason
    yield campaign_statement("update_campaigns", [campaign_row(campaign)])
    yield from write_events(campaign_event(place, campaign, event, reason=reason))
    return campaign


def stop_for_cancel(place: TransactionContext, campaign_id: str) -> Operation[None]:
    """Stop a campaign because its run is being canceled."""
    campaign = yield from lock_campaign(campaign_id)
    if not campaign.over:
        yield from change_campaign(place, campaign_id, "stop", "canceled")


def end_campaign(place: TransactionContext, campaign_id: str) -> Operation[CampaignRecord]:
    """Count the outcomes of the recipients, and write the outcome of the campaign. Return the campaign."""
    campaign = yield from lock_campaign(campaign_id)
    if not campaign.over:
        tally = yield from tally_recipients(campaign_id)
        outcome, reason = aggregate(tally.counts)
        yield from end_with_outcome(place, campaign, outcome, reason, tally)
    return campaign


def end_with_outcome(
    place: TransactionContext,
    campaign: CampaignRecord,
    outcome: FlowOutcome,
    reason: str | None,
    tally: Tally,
    words: str | None = None,
) -> Operation[None]:
    """End a campaign: store `outcome`, `reason` and `tally`, and write an event.

    `words` is a text that explains `reason`, such as "more than 1,000". Only the event contains it. If the campaign was
    being stopped, the reason of the stop is kept, and `reason` is ignored.
    """
    stopped = campaign.status == "stopping"
    campaign.status, campaign.finished = "stopped" if stopped else "done", place.now
    campaign.outcome = outcome.value
    campaign.reason = reason = (campaign.reason or "stopped") if stopped else reason
    tally.store_in(campaign)
    yield campaign_statement("update_campaigns", [campaign_row(campaign)])
    more = {
        "status": campaign.status,
        "outcome": outcome.value,
        "reason": reason,
        "counts": dict(tally.counts),
        "words": words,
    }
    yield from write_events(campaign_event(place, campaign, "campaign:completed", **more))


def abandon_chunk(place: TransactionContext, campaign_id: str) -> Operation[CampaignRecord]:
    """Give an outcome to some recipients that have none, without waiting for their turns. Return the campaign.

    A recipient whose turn has not begun is skipped. A recipient whose turn is in progress counts as failed; the turn
    continues, but the campaign ignores its outcome. If all recipients already have an outcome, end the campaign.
    """
    campaign = yield from lock_campaign(campaign_id)
    if campaign.over:
        return campaign
    definition = definition_of(campaign)
    for status, outcome, reason in _ABANDONED:
        names = {"id": campaign_id, "after": "", "outcome": "", "status": status, "limit": CHUNK}
        recipients = [read_recipient(row) for row in (yield campaign_statement("list_recipients", **names))]
        if recipients:
            for recipient in recipients:
                finish_recipient(recipient, place.now, outcome, reason)
            events = [recipient_event(place, campaign, recipient, definition) for recipient in recipients]
            yield from write_recipients(recipients, events)
            return campaign
    return (yield from end_campaign(place, campaign_id))


def end_lost_campaign(
    place: TransactionContext, campaign_id: str, status: str
) -> Operation[Literal["over", "again", "wait"]]:
    """Take one step to end a campaign whose run is over. `status` is the status of that run.

    - Return `over` if the campaign has ended.
    - Return `again` if the caller must call this again at once.
    - Return `wait` if the caller must call this again later, because turns in progress still have time to end.
    """
    campaign = yield from lock_campaign(campaign_id)
    if campaign.over:
        return "over"
    if campaign.status != "stopping":
        campaign = yield from change_campaign(place, campaign_id, "stop", f"run_{status}")
    definition = definition_of(campaign)
    changed = yield from collect_ended_turns(place, campaign, definition)
    changed += yield from skip_rest(place, campaign, definition)
    ((_, fresh),) = yield campaign_statement("started_recipients", id=campaign.id, since=place.now - SLOW)
    if changed or fresh:
        return "again" if changed else "wait"
    campaign = yield from abandon_chunk(place, campaign_id)
    return "over" if campaign.over else "again"
