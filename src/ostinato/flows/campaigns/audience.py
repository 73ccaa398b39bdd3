"""Store the users of a segment as a campaign's recipients, before anything is sent. From then on the audience is
frozen: a user who changes later is neither added nor removed.

A campaign may need several attempts to store its audience. The id of an attempt is called `resolution`. As soon as a
later attempt has begun, the earlier attempts can store nothing more.

Each function whose name begins with `freeze`, `begin`, `end`, `drop` or `refuse` is one transaction.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from ostinato.flows.campaigns.agent_settings import CampaignsSetting
from ostinato.flows.campaigns.changes import end_with_outcome
from ostinato.flows.campaigns.definition import CampaignDefinition, definition_of
from ostinato.flows.campaigns.events import campaign_event, recipient_event
from ostinato.flows.campaigns.model import CampaignRecord
from ostinato.flows.campaigns.recipients import finish_recipient, new_recipient
from ostinato.flows.campaigns.resolver import resolve_names
from ostinato.flows.campaigns.skips import reason_to_leave_out
from ostinato.flows.campaigns.store import campaign_row, campaign_statement, lock_campaign, recipient_row
from ostinato.flows.campaigns.tally import Tally
from ostinato.flows.definition import Agent
from ostinato.flows.model import FlowOutcome, UserRecord
from ostinato.flows.segments import Segment, matches
from ostinato.flows.store import read_user, statement, write_events
from ostinato.flows.turns import TransactionContext, read_tags
from ostinato.store.contract import Operation, Store
from ostinato.when.instants import Micros

PAGE = 500  # users in one transaction of the resolution


async def read_audience(
    store: Store, place: TransactionContext, code: Agent | None, definition: CampaignDefinition, now: Micros
) -> AsyncIterator[list[tuple[str, UserRecord | None]]]:
    """Yield the users of the segment as of `now`, page by page. Nothing is stored.

    A page is a list of pairs: an external id, and the user. The user is None if the agent has no user with this id.
    """
    segment = definition.segment
    if segment.resolver is None and not segment.users:
        after: str | None = ""
        while after is not None:

            def read(_: int, after: str = after) -> Operation[tuple[list[UserRecord], str | None]]:
                return (yield from read_page(place, segment, now, now, after))

            users, after = await store.read(read)
            yield [(user.external_id, user) for user in users]
        return
    names = list(segment.users)
    if segment.resolver is not None:
        names = [name async for name in resolve_names(code, definition, place.namespace, now)]
    names = list(dict.fromkeys(names))
    for begin in range(0, len(names), PAGE):
        chunk = names[begin : begin + PAGE]
        users_by_name = await store.read(lambda _, chunk=chunk: _users_by_name(place, chunk))  # type: ignore[misc]
        yield [(name, users_by_name.get(name)) for name in chunk]


def _users_by_name(place: TransactionContext, names: Sequence[str]) -> Operation[dict[str, UserRecord]]:
    """Return a dict from external id to user, for the given external ids. Unknown users are left out."""
    rows = yield campaign_statement(
        "users_by_external", [(name,) for name in names], namespace=place.namespace, agent=place.agent
    )
    return {user.external_id: user for user in map(read_user, rows)}


def read_page(
    place: TransactionContext, segment: Segment, as_of: Micros, scheduled_for: Micros, after: str, limit: int = PAGE
) -> Operation[tuple[list[UserRecord], str | None]]:
    """Return the users on one page of a segment, and the `after` of the next page. If this is the last page, the second
    value is None. Users who were created after `as_of` are left out.

    `scheduled_for` is the due time of the campaign. `after` is the value that the call for the previous page returned.
    """
    names: dict[str, Any] = {"namespace": place.namespace, "agent": place.agent, "after": after, "limit": limit}
    if segment.type == "tag":
        rows = yield statement("agent_users_with_tag", tag=segment.tag, **names)
    elif segment.type == "active_since":
        rows = yield statement("agent_users_active_since", since=segment.since(scheduled_for), **names)
    else:
        rows = yield statement("agent_users", **names)
    users = [read_user(row) for row in rows]
    last = users[-1].external_id if len(users) == limit else None
    users = [user for user in users if user.created <= as_of]
    if segment.filter is not None:
        tags = yield from read_tags([user.id for user in users])
        users = [user for user in users if matches(segment.filter, user, tags[user.id])]
    return users, last


def begin_resolution(place: TransactionContext, campaign_id: str) -> Operation[str]:
    """Begin an attempt to store the audience. Return the attempt's id. From now on, earlier attempts store nothing."""
    campaign = yield from lock_campaign(campaign_id)
    campaign.resolution = place.new_id(place.now)
    yield campaign_statement("update_campaigns", [campaign_row(campaign)])
    return campaign.resolution


def drop_page(place: TransactionContext, campaign_id: str, resolution: str) -> Operation[bool]:
    """Delete one page of the recipients that are already stored, so that an attempt to store the audience can begin
    with no recipients. `resolution` is the id of this attempt. Return whether more recipients may be left.

    If the audience is complete, or if a later attempt has begun, delete nothing, and return False.
    """
    campaign = yield from lock_campaign(campaign_id)
    if campaign.resolved is not None or campaign.resolution != resolution:
        return False
    return len((yield campaign_statement("drop_recipients", id=campaign_id, limit=PAGE))) == PAGE


def freeze_page(
    place: TransactionContext, campaign_id: str, resolution: str, setting: CampaignsSetting, after: str
) -> Operation[tuple[int, str | None] | None]:
    """Store the users on one page of the segment as recipients. `resolution` is the id of this attempt to store the
    audience. `after` is the value that the call for the previous page returned, and '' for the first page.

    Return the number of new recipients, and the `after` of the next page. If this is the last page, the second value is
    None. If the campaign was stopped, or if a later attempt has begun, store nothing, and return None instead of the
    two values.
    """
    campaign = yield from lock_campaign(campaign_id)
    if not _may_store(campaign, resolution):
        return None
    definition = definition_of(campaign)
    scheduled_for = campaign.as_of if definition.scheduled_for is None else definition.scheduled_for
    users, last = yield from read_page(place, definition.segment, campaign.as_of, scheduled_for, after)
    count = yield from _store_recipients(
        place, campaign, definition, setting, [(user.external_id, user) for user in users]
    )
    return count, last


def freeze_named(
    place: TransactionContext, campaign_id: str, resolution: str, setting: CampaignsSetting, names: Sequence[str]
) -> Operation[int | None]:
    """Store the users with these external ids as recipients, and return the number of new recipients. `resolution` is
    the id of this attempt to store the audience.

    If the agent has no user with one of the ids, the recipient is stored as skipped, with the reason `unknown_user`. If
    the campaign was stopped, or if a later attempt has begun, store nothing, and return None.
    """
    campaign = yield from lock_campaign(campaign_id)
    if not _may_store(campaign, resolution):
        return None
    users = yield from _users_by_name(place, names)
    definition = definition_of(campaign)
    return (
        yield from _store_recipients(place, campaign, definition, setting, [(name, users.get(name)) for name in names])
    )


def _may_store(campaign: CampaignRecord, resolution: str) -> bool:
    return campaign.status == "resolving" and campaign.resolution == resolution


def _store_recipients(
    place: TransactionContext,
    campaign: CampaignRecord,
    definition: CampaignDefinition,
    setting: CampaignsSetting,
    audience: Sequence[tuple[str, UserRecord | None]],
) -> Operation[int]:
    options = definition.options
    recipients, events = [], []
    for external_id, user in audience:
        recipient = new_recipient(campaign, definition, setting, external_id, user)
        reason = reason_to_leave_out(campaign, options, recipient)
        if reason is not None:
            finish_recipient(recipient, place.now, FlowOutcome.SKIPPED, reason)
            events.append(recipient_event(place, campaign, recipient, definition))
        elif options.local_time is not None and recipient.due > place.now:
            recipient.reason = "local_time"
        recipients.append(recipient)
    if not recipients:
        return 0
    rows = yield campaign_statement("insert_recipients", [recipient_row(recipient) for recipient in recipients])
    if events:
        yield from write_events(*events)
    return len(rows)


def end_resolution(place: TransactionContext, campaign_id: str, resolution: str) -> Operation[CampaignRecord]:
    """End an attempt to store the audience, and return the campaign. `resolution` is the id of the attempt.

    - If the campaign was stopped, or if a later attempt has begun, change nothing.
    - If the audience is too large, end the campaign as failed.
    - Otherwise set the campaign's status to `sending`.
    """
    campaign = yield from lock_campaign(campaign_id)
    if not _may_store(campaign, resolution):
        return campaign
    options = definition_of(campaign).options
    ((count,),) = yield campaign_statement("count_audience", id=campaign_id)
    if count > options.max_recipients and not options.confirmed:
        words = f"more than {options.max_recipients:,}"
        yield from end_with_outcome(place, campaign, FlowOutcome.FAILED, "too_many_recipients", Tally(), words)
        return campaign
    campaign.status, campaign.total, campaign.resolved = "sending", count, place.now
    yield campaign_statement("update_campaigns", [campaign_row(campaign)])
    yield from write_events(campaign_event(place, campaign, "schedule:campaign_resolved", recipients=count))
    return campaign


def refuse_campaign(place: TransactionContext, campaign_id: str, resolution: str, reason: str) -> Operation[None]:
    """End a campaign as failed with `reason`, because its audience cannot be stored.

    `resolution` is the id of the attempt to store the audience. If a later attempt has begun, do nothing. If the
    campaign's status is neither `resolving` nor `stopping`, do nothing.
    """
    campaign = yield from lock_campaign(campaign_id)
    if campaign.status in ("resolving", "stopping") and campaign.resolution == resolution:
        yield from end_with_outcome(place, campaign, FlowOutcome.FAILED, reason, Tally())
