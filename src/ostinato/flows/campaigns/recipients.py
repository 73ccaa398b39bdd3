"""Make, finish and store the records of a campaign's recipients. A record says when the recipient's turn is due."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.flows.campaigns.agent_settings import CampaignsSetting
from ostinato.flows.campaigns.definition import CampaignDefinition
from ostinato.flows.campaigns.local_time import next_clock
from ostinato.flows.campaigns.model import CampaignRecord, RecipientRecord
from ostinato.flows.campaigns.store import campaign_statement, recipient_row
from ostinato.flows.model import FlowOutcome, UserRecord
from ostinato.flows.store import write_events
from ostinato.store.contract import Operation, Row
from ostinato.when import zones
from ostinato.when.instants import SECOND, Micros

CHUNK = 500  # recipients that are read and changed together
_LATE = 3_600 * SECOND


def new_recipient(
    campaign: CampaignRecord,
    definition: CampaignDefinition,
    setting: CampaignsSetting,
    external_id: str,
    user: UserRecord | None,
) -> RecipientRecord:
    return RecipientRecord(
        campaign.id,
        external_id,
        campaign.namespace,
        None if user is None else user.id,
        due=_due(campaign, definition, setting, user),
        variant=definition.options.assign(campaign.salt, external_id),
    )


def _due(
    campaign: CampaignRecord, definition: CampaignDefinition, setting: CampaignsSetting, user: UserRecord | None
) -> Micros:
    """Return when a recipient's turn is due. This depends on the start of the campaign:

    - If the campaign has a schedule, the campaign starts at the schedule's due time. If that was more than an hour
      before `campaign.as_of`, the campaign starts one hour before `as_of`.
    - If the campaign has no schedule, it starts at `campaign.as_of`.

    If the option `local_time` is not set, return the start. If it is set to a time of day, return the first instant, at
    the start or later, with this time of day in the recipient's zone.
    """
    scheduled_for = definition.scheduled_for if definition.scheduled_for is not None else campaign.as_of
    begin = max(scheduled_for, campaign.as_of - _LATE)  # starting up to `_LATE` late changes no due time
    if definition.options.local_time is None:
        return begin
    return next_clock(begin, definition.options.local_time, zone_of(user, setting))


def zone_of(user: UserRecord | None, setting: CampaignsSetting) -> zones.Zone:
    """Return the zone of a user. If the user has no zone, or an unknown one, return the agent's zone."""
    if user is not None and user.zone:
        try:
            return zones.zone(user.zone)
        except ValueError:
            pass
    return zones.zone(setting.zone)


def finish_recipient(recipient: RecipientRecord, now: Micros, outcome: FlowOutcome, reason: str | None) -> None:
    """Set the outcome of a recipient in the record. The record is not stored until `write_recipients` is called."""
    recipient.status, recipient.outcome, recipient.reason = "done", outcome.value, reason
    recipient.finished = now


def write_recipients(recipients: Sequence[RecipientRecord], events: Sequence[Row]) -> Operation[None]:
    if recipients:
        yield campaign_statement("update_recipients", [recipient_row(recipient) for recipient in recipients])
    if events:
        yield from write_events(*events)
