"""Skip recipients of a campaign, postpone them during quiet hours, and foresee skips for a preview.

The rules apply in three places. When the audience is stored, `reason_to_leave_out` applies. When a recipient's turn is
due, `skip_or_postpone` and then `lacks_session` apply. When the campaign is stopped, `skip_rest` applies. A session may
still skip a turn that has begun, for example because a flow is active (`flows/session.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ostinato.flows.campaigns.agent_settings import CampaignsSetting
from ostinato.flows.campaigns.definition import CampaignDefinition
from ostinato.flows.campaigns.events import recipient_event
from ostinato.flows.campaigns.model import CampaignRecord, RecipientRecord
from ostinato.flows.campaigns.options import CampaignOptions
from ostinato.flows.campaigns.recipients import CHUNK, finish_recipient, new_recipient, write_recipients, zone_of
from ostinato.flows.campaigns.store import campaign_statement, read_recipient
from ostinato.flows.campaigns.variants import HOLDOUT
from ostinato.flows.model import FlowOutcome, SessionRecord, SessionStatus, UserRecord
from ostinato.flows.store import read_session
from ostinato.flows.turns import TransactionContext
from ostinato.store.contract import Operation, Row

# Why a recipient was not messaged, for `explain`.
REASONS: Mapping[str, str] = {
    "holdout": "they are in the holdout group, which gets no message",
    "unknown_user": "the agent has no such user",
    "opted_out": "they have opted out",
    "no_consent": "the campaign requires an opt-in, and they have not opted in",
    "suppressed": "they are on the suppression list",
    "replied": "they have written since the campaign began, and it is canceled by a reply",
    "frequency_cap": "they have had as many messages of campaigns as the frequency cap allows",
    "expired": "their time did not come before the campaign expired",
    "bootstrap_disabled": "they had no active session, and the campaign must not open one",
    "flow_active": "a flow was waiting for their answer",
    "campaign_stopped": "the campaign was stopped before their turn",
    "policy_end": "the hook before_llm has ended the turn",
    "policy_cancel": "the hook before_response has canceled the message",
    "local_time": "it is not yet the campaign's local_time where they are",
    "quiet_hours": "it is night where they are; their turn comes when quiet hours are over",
    "delivery_failed": "the transport did not deliver the message",
    "campaign_lost": "their turn was going on when the run of the campaign was stopped",
    "delivery_unknown": "nobody knows whether the message was delivered; it is not sent again",
}


def reason_to_leave_out(campaign: CampaignRecord, options: CampaignOptions, recipient: RecipientRecord) -> str | None:
    """Return why a recipient is skipped when the audience is stored: `unknown_user`, `HOLDOUT` or `expired`.

    Return None if the recipient is not skipped.
    """
    if recipient.user_id is None:
        return "unknown_user"
    if recipient.variant == HOLDOUT:
        return HOLDOUT
    return "expired" if recipient.due > campaign.as_of + options.expires_after else None


def skip_or_postpone(
    place: TransactionContext,
    campaign: CampaignRecord,
    definition: CampaignDefinition,
    setting: CampaignsSetting,
    recipients: Sequence[RecipientRecord],
    users: Mapping[str, UserRecord],
) -> Operation[tuple[list[RecipientRecord], list[Row]]]:
    """Skip recipients who must get no message, and postpone recipients who have quiet hours now.

    Return the other recipients, and event rows. The caller must insert these rows, and must write the records in
    `recipients`, which are changed.
    """
    options = definition.options
    names = [(recipient.external_id,) for recipient in recipients]
    rows = yield campaign_statement("suppressed_of", names, namespace=place.namespace, agent=place.agent)
    suppressed = {name for (name,) in rows}
    recent: dict[str, int] = {}
    if options.frequency_cap is not None and users:
        since = place.now - options.frequency_cap[1]
        ids = [(user.id,) for user in users.values()]
        recent = {id: int(count) for id, count in (yield campaign_statement("recent_recipients", ids, since=since))}
    ready, events = [], []
    expiry = campaign.as_of + options.expires_after
    for recipient in recipients:
        user = users.get(recipient.external_id)
        reason = _reason_to_skip(campaign, definition, user, suppressed, recent)
        held = None
        if reason is None and options.quiet_hours is not None:
            held = options.quiet_hours.until(place.now, zone_of(user, setting))
        if reason is None and max(place.now, held or 0) > expiry:
            reason = "expired"
        if reason is not None:
            finish_recipient(recipient, place.now, FlowOutcome.SKIPPED, reason)
            events.append(recipient_event(place, campaign, recipient, definition))
        elif held is not None:
            recipient.due, recipient.reason = held, "quiet_hours"
        else:
            ready.append(recipient)
    return ready, events


def _reason_to_skip(
    campaign: CampaignRecord,
    definition: CampaignDefinition,
    user: UserRecord | None,
    suppressed: set[str],
    recent: Mapping[str, int],
) -> str | None:
    """Return the reason to skip a user whose turn is due. Return None if the user is not skipped.

    - `suppressed`: the external ids on the suppression list
    - `recent`: a dict from user id to the number of messages that the user got in the period of the frequency cap
    """
    options = definition.options
    if user is None:
        return "unknown_user"
    if user.consent == "opted_out":
        return "opted_out"
    if user.external_id in suppressed:
        return "suppressed"
    if options.require_opt_in and user.consent != "opted_in":
        return "no_consent"
    if options.cancel_on_reply and user.active is not None and user.active > campaign.as_of:
        return "replied"
    if options.frequency_cap is not None and recent.get(user.id, 0) >= options.frequency_cap[0]:
        return "frequency_cap"
    return None


def lacks_session(definition: CampaignDefinition, session: SessionRecord | None) -> bool:
    """Return whether a campaign skips a recipient because the recipient has no active session and the campaign may not
    open one. `session` is the recipient's open session, if there is one."""
    usable = session is not None and session.status is SessionStatus.ACTIVE
    return not usable and not definition.allow_session_bootstrap


def skip_rest(place: TransactionContext, campaign: CampaignRecord, definition: CampaignDefinition) -> Operation[int]:
    """Skip up to `CHUNK` pending recipients of a campaign that was stopped. Return how many were skipped."""
    far = 1 << 62
    rows = yield campaign_statement("due_recipients", id=campaign.id, now=far, limit=CHUNK)
    recipients = [read_recipient(row) for row in rows]
    for recipient in recipients:
        finish_recipient(recipient, place.now, FlowOutcome.SKIPPED, "campaign_stopped")
    yield from write_recipients(
        recipients, [recipient_event(place, campaign, recipient, definition) for recipient in recipients]
    )
    return len(recipients)


def foresee_skips(
    place: TransactionContext,
    campaign: CampaignRecord,
    definition: CampaignDefinition,
    setting: CampaignsSetting,
    audience: Sequence[tuple[str, UserRecord | None]],
) -> Operation[dict[str, str]]:
    """Return a dict from external id to reason, for the users whom a campaign would skip now. Nothing is changed."""
    skips: dict[str, str] = {}
    recipients = []
    for name, user in audience:
        recipient = new_recipient(campaign, definition, setting, name, user)
        reason = reason_to_leave_out(campaign, definition.options, recipient)
        if reason is None:
            recipients.append(recipient)
        else:
            skips[name] = reason
    users = {name: user for name, user in audience if user is not None}
    return {**skips, **(yield from foresee_due(place, campaign, definition, setting, recipients, users))}


def foresee_due(
    place: TransactionContext,
    campaign: CampaignRecord,
    definition: CampaignDefinition,
    setting: CampaignsSetting,
    recipients: Sequence[RecipientRecord],
    users: Mapping[str, UserRecord],
) -> Operation[dict[str, str]]:
    """Return which recipients would be skipped if their turns were due now, as a dict from external id to reason.

    Nothing is stored, but the records in `recipients` are changed: some of them get an outcome or a later due time.
    """
    options = definition.options
    ids = [(user.id,) for user in users.values()]
    rows = (yield campaign_statement("open_sessions_of", ids)) if ids else ()
    sessions = {session.user_id: session for session in map(read_session, rows)}
    skips: dict[str, str] = {}
    ready, _ = yield from skip_or_postpone(place, campaign, definition, setting, recipients, users)
    for recipient in recipients:
        if recipient.outcome is not None:
            skips[recipient.external_id] = str(recipient.reason)
    for recipient in ready:
        session = sessions.get(users[recipient.external_id].id)
        if lacks_session(definition, session):
            skips.setdefault(recipient.external_id, "bootstrap_disabled")
        elif session is not None and session.hitl_state.active:
            skips.setdefault(recipient.external_id, f"hitl_{session.hitl_state.value}")
        elif session is not None and session.flow is not None and options.on_active_flow == "skip":
            skips.setdefault(recipient.external_id, "flow_active")
    return skips
