"""Resolve the audience of campaigns, send, and record outcomes. Each function is one transaction, or a part of one.

All of a campaign's state is in its row and in the rows of its recipients, so every transaction can be repeated after a
crash. A transaction locks the campaign first, then users in the order of their ids, and then runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from ostinato.engine.rows import audit
from ostinato.engine.runs import start
from ostinato.errors import Conflict, NotFound
from ostinato.flows.campaigns.model import (
    HOLDOUT,
    KEY,
    OVER,
    PRIORITY,
    CampaignOptions,
    CampaignRecord,
    Definition,
    Rate,
    RecipientRecord,
    aggregate,
    next_clock,
    read_definition,
)
from ostinato.flows.campaigns.store import (
    RECIPIENT_COLUMNS,
    campaign_row,
    campaign_statement,
    read_campaign,
    read_recipient,
    recipient_row,
)
from ostinato.flows.direct_writes import BegunTurn, DirectRoom
from ostinato.flows.model import CLASSIC, Outcome, SessionRecord, SessionStatus, TurnInput, TurnRecord, UserRecord
from ostinato.flows.runner import look_at_turn
from ostinato.flows.segments import Segment, matches
from ostinato.flows.store import read_session, read_user, session_row, statement, turn_row
from ostinato.flows.turns import (
    Place,
    end_session,
    mail_to,
    new_session,
    new_turn,
    read_tags,
    session_event,
    turn_event,
    why_lost,
)
from ostinato.functions.operations import Sending, send
from ostinato.functions.store import message_row
from ostinato.functions.store import statement as function_statement
from ostinato.model import Run
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import zones
from ostinato.when.instants import SECOND, Micros

PAGE = 500  # users in one transaction of the resolution
BATCH = 100  # turns that one transaction begins
_COLLECT = 500  # turns that one transaction collects
_SLOW = 300 * SECOND  # a turn that lasts longer no longer counts as in flight; its session may be lost
_LATE = 3_600 * SECOND
_LOOK = 10  # slow turns that one transaction checks


@dataclass(frozen=True, slots=True)
class Setting:
    """What a campaign needs to know about its agent: the default zone, and the rate limit for all of its campaigns."""

    zone: str
    rate: Rate | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a campaign is. `flying` is the number of turns that are not over; `fresh` is the number of those that
    began less than `_SLOW` ago. `next` is when the next turn is due, or None if no turn is left to begin. `changed`
    says whether this transaction has changed anything. `begun` are the turns that this node must handle directly.
    `mailed` says whether turns were sent to the runs of sessions."""

    status: str
    flying: int
    fresh: int
    next: Micros | None
    changed: bool
    begun: Sequence[BegunTurn] = ()
    mailed: bool = False

    @property
    def over(self) -> bool:
        return self.status in OVER or (self.next is None and not self.flying)


# Beginning and resolving


def begin_campaign(place: Place, run_id: str, definition: Definition) -> Operation[CampaignRecord]:
    """Store a campaign, once for each occurrence. Return the stored campaign, which may belong to another run."""
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
    )
    rows = yield campaign_statement("insert_campaigns", [campaign_row(campaign)])
    if rows:
        yield sql("notify")
        yield sql("insert_events", [campaign_event(place, campaign, "campaign:started")])
        return campaign
    names = {"namespace": place.namespace, "agent": place.agent, "occurrence": campaign.occurrence}
    return read_campaign((yield campaign_statement("campaign_by_occurrence", **names))[0])


def begin_resolution(place: Place, campaign_id: str) -> Operation[str]:
    """Begin an attempt to resolve the audience, and return its id. Earlier attempts, whose node may still be running,
    can store nothing from now on."""
    campaign = yield from _locked(campaign_id)
    campaign.resolution = place.new_id(place.now)
    yield campaign_statement("update_campaigns", [campaign_row(campaign)])
    return campaign.resolution


def drop_page(place: Place, campaign_id: str, resolution: str) -> Operation[bool]:
    """Delete some recipients that an interrupted or refused attempt has stored. Return whether more may be left."""
    campaign = yield from _locked(campaign_id)
    if campaign.resolved is not None or campaign.resolution != resolution:
        return False
    return len((yield campaign_statement("drop_recipients", id=campaign_id, limit=PAGE))) == PAGE


def read_page(
    place: Place, segment: Segment, as_of: Micros, scheduled_for: Micros, after: str, limit: int = PAGE
) -> Operation[tuple[list[UserRecord], str | None]]:
    """Return the users on the next page of a segment, and the `after` of the following page. On the last page, this
    `after` is None."""
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


def freeze_page(
    place: Place, campaign_id: str, resolution: str, setting: Setting, after: str
) -> Operation[tuple[int, str | None] | None]:
    """Store the next page of the audience. Return the number of recipients stored and the `after` of the following
    page, or None if the campaign was stopped or another attempt has begun meanwhile."""
    campaign = yield from _locked(campaign_id)
    if not _may_store(campaign, resolution):
        return None
    definition = definition_of(campaign)
    users, last = yield from read_page(
        place, definition.segment, campaign.as_of, definition.scheduled_for or campaign.as_of, after
    )
    count = yield from _store_recipients(
        place, campaign, definition, setting, [(user.external_id, user) for user in users]
    )
    return count, last


def freeze_named(
    place: Place, campaign_id: str, resolution: str, setting: Setting, names: Sequence[str]
) -> Operation[int | None]:
    """Store users as recipients by their external ids, which a resolver or a caller has named. Users that the agent
    does not have are stored with the reason `unknown_user`. Return the number of recipients stored, or None if the
    campaign was stopped or another attempt has begun meanwhile."""
    campaign = yield from _locked(campaign_id)
    if not _may_store(campaign, resolution):
        return None
    rows = yield campaign_statement(
        "users_by_external", [(name,) for name in names], namespace=place.namespace, agent=place.agent
    )
    users = {user.external_id: user for user in map(read_user, rows)}
    definition = definition_of(campaign)
    return (
        yield from _store_recipients(place, campaign, definition, setting, [(name, users.get(name)) for name in names])
    )


def _may_store(campaign: CampaignRecord, resolution: str) -> bool:
    """Whether an attempt may still store the audience: the campaign was not stopped, and no later attempt has begun."""
    return campaign.status == "resolving" and campaign.resolution == resolution


def _store_recipients(
    place: Place,
    campaign: CampaignRecord,
    definition: Definition,
    setting: Setting,
    audience: Sequence[tuple[str, UserRecord | None]],
) -> Operation[int]:
    options = definition.options
    recipients, events = [], []
    for external_id, user in audience:
        recipient = _new_recipient(campaign, definition, setting, external_id, user)
        reason = _reason_to_leave_out(campaign, options, recipient)
        if reason is not None:
            _finish(recipient, place.now, Outcome.SKIPPED, reason)
            events.append(recipient_event(place, campaign, recipient, definition))
        elif options.local_time is not None and recipient.due > place.now:
            recipient.reason = "local_time"
        recipients.append(recipient)
    if not recipients:
        return 0
    rows = yield campaign_statement("insert_recipients", [recipient_row(recipient) for recipient in recipients])
    if events:
        yield sql("notify")
        yield sql("insert_events", events)
    return len(rows)


def _new_recipient(
    campaign: CampaignRecord, definition: Definition, setting: Setting, external_id: str, user: UserRecord | None
) -> RecipientRecord:
    """Return the record of a recipient whose turn has not begun. `user` is None if the agent has no such user."""
    return RecipientRecord(
        campaign.id,
        external_id,
        campaign.namespace,
        None if user is None else user.id,
        due=_due(campaign, definition, setting, user),
        variant=definition.options.assign(campaign.salt, external_id),
    )


def _reason_to_leave_out(campaign: CampaignRecord, options: CampaignOptions, recipient: RecipientRecord) -> str | None:
    """Return why a recipient is skipped as soon as the audience is stored, or None. The agent has no such user, the
    user is in the holdout group, or the recipient's local time comes after the campaign has expired."""
    if recipient.user_id is None:
        return "unknown_user"
    if recipient.variant == HOLDOUT:
        return HOLDOUT
    return "expired" if recipient.due > campaign.as_of + options.expires_after else None


def _due(campaign: CampaignRecord, definition: Definition, setting: Setting, user: UserRecord | None) -> Micros:
    """Return when the turn of a recipient is due: at once, or at the option `local_time` in the recipient's zone."""
    scheduled_for = definition.scheduled_for if definition.scheduled_for is not None else campaign.as_of
    begin = max(scheduled_for, campaign.as_of - _LATE)  # starting up to `_LATE` late changes no due time
    if definition.options.local_time is None:
        return begin
    return next_clock(begin, definition.options.local_time, zone_of(user, setting))


def zone_of(user: UserRecord | None, setting: Setting) -> zones.Zone:
    """Return the zone of a user, or the agent's zone if the user has none or has one that this node does not know."""
    if user is not None and user.zone:
        try:
            return zones.zone(user.zone)
        except ValueError:
            pass
    return zones.zone(setting.zone)


def end_resolution(place: Place, campaign_id: str, resolution: str) -> Operation[CampaignRecord]:
    """Begin sending, because the audience is complete, or end the campaign because the audience is too large. Do
    nothing if the campaign was stopped or another attempt has begun meanwhile. Return the campaign."""
    campaign = yield from _locked(campaign_id)
    if not _may_store(campaign, resolution):
        return campaign
    options = definition_of(campaign).options
    count = sum(row[-1] for row in (yield campaign_statement("count_recipients", id=campaign_id)))
    if count > options.max_recipients and not options.confirmed:
        reason = "too_many_recipients"
        yield from _end(place, campaign, Outcome.FAILED, reason, {}, f"more than {options.max_recipients:,}")
        return campaign
    campaign.status, campaign.total, campaign.resolved = "sending", count, place.now
    yield campaign_statement("update_campaigns", [campaign_row(campaign)])
    yield sql("notify")
    event = campaign_event(place, campaign, "schedule:campaign_resolved", recipients=count)
    yield sql("insert_events", [event])
    return campaign


def refuse_campaign(place: Place, campaign_id: str, resolution: str, reason: str) -> Operation[CampaignRecord]:
    """End a campaign whose audience cannot be resolved, before any message was sent. Do nothing if another attempt to
    resolve it has begun meanwhile. Return the campaign."""
    campaign = yield from _locked(campaign_id)
    if campaign.status in ("resolving", "stopping") and campaign.resolution == resolution:
        yield from _end(place, campaign, Outcome.FAILED, reason, {})
    return campaign


# Sending


def advance(place: Place, campaign_id: str, setting: Setting, direct: DirectRoom | None = None) -> Operation[Progress]:
    """Collect the turns that are over, and begin more. With `direct`, begin at most as many as it has room for."""
    campaign = yield from _locked(campaign_id)
    if campaign.over:
        return Progress(campaign.status, 0, 0, None, False)
    definition = definition_of(campaign)
    changed = yield from _collect(place, campaign, definition)
    if campaign.status == "stopping":
        changed += yield from _skip_rest(place, campaign, definition)
    wait: Micros | None = None
    started = 0
    ((flying, fresh),) = yield campaign_statement("started_recipients", id=campaign.id, since=place.now - _SLOW)
    if campaign.status == "sending":
        room = definition.options.in_flight - fresh
        if direct is not None:
            room = min(room, direct.room)
        seen, started, wait = yield from _send(place, campaign, definition, setting, min(BATCH, room), direct)
        changed += seen
    flying, fresh = flying + started, fresh + started
    rows = yield campaign_statement("next_recipient", id=campaign.id)
    due = max(rows[0][0], wait or 0) if rows else None
    begun = () if direct is None else direct.begun
    return Progress(campaign.status, flying, fresh, due, bool(changed), begun, started > len(begun))


def _collect(place: Place, campaign: CampaignRecord, definition: Definition) -> Operation[int]:
    """Copy the outcomes of turns that are over into the rows of their recipients. Return the number of those
    recipients."""
    slow = yield campaign_statement("slow_recipients", id=campaign.id, before=place.now - _SLOW, limit=_LOOK)
    for (turn_id,) in slow:  # rare: if the run of a session is lost, its turns never end by themselves
        yield from look_at_turn(place, turn_id)
    rows = yield campaign_statement("ended_recipients", id=campaign.id, limit=_COLLECT)
    recipients, events = [], []
    width = len(RECIPIENT_COLUMNS)
    for row in rows:
        recipient = read_recipient(row[:width])
        outcome, reason, session_id, finished, delivered, flow = row[width:]
        recipient.session_id, recipient.delivered = session_id, delivered
        _finish(recipient, finished, Outcome(outcome), reason)
        recipients.append(recipient)
        events.append(recipient_event(place, campaign, recipient, definition, delivered=delivered, flow=flow))
    yield from _write(recipients, events)
    return len(recipients)


def _skip_rest(place: Place, campaign: CampaignRecord, definition: Definition) -> Operation[int]:
    """Skip up to `_COLLECT` pending recipients of a campaign that was stopped. Return how many were skipped."""
    far = 1 << 62
    rows = yield campaign_statement("due_recipients", id=campaign.id, now=far, limit=_COLLECT)
    recipients = [read_recipient(row) for row in rows]
    for recipient in recipients:
        _finish(recipient, place.now, Outcome.SKIPPED, "campaign_stopped")
    yield from _write(recipients, [recipient_event(place, campaign, recipient, definition) for recipient in recipients])
    return len(recipients)


def _send(
    place: Place,
    campaign: CampaignRecord,
    definition: Definition,
    setting: Setting,
    room: int,
    direct: DirectRoom | None,
) -> Operation[tuple[int, int, Micros | None]]:
    """Begin the turns of recipients that are due, as far as `room` and the rates allow. Return the number of changed
    recipients, the number of begun turns, and the time until which a rate delays the rest, or None if no rate does."""
    options, now = definition.options, place.now
    wait: Micros | None = None
    if options.rate is not None:
        room = min(room, options.rate.room(campaign.arrival, now))
        wait = options.rate.next(campaign.arrival, now)
    if room <= 0:
        return 0, 0, wait
    arrival = 0
    if setting.rate is not None:
        names = {"namespace": place.namespace, "agent": place.agent}
        rows = yield campaign_statement("lock_throttle", **names)
        if not rows:  # a row that does not exist cannot be locked
            yield campaign_statement("begin_throttle", **names)
            rows = yield campaign_statement("lock_throttle", **names)
        arrival = rows[0][0]
        room = min(room, setting.rate.room(arrival, now))
        wait = max(wait or 0, setting.rate.next(arrival, now))
        if room <= 0:
            return 0, 0, wait
    rows = yield campaign_statement("due_recipients", id=campaign.id, now=now, limit=room)
    recipients = [read_recipient(row) for row in rows]
    if not recipients:
        return 0, 0, None
    users = yield from _lock_users(place, recipients)
    ready, events = yield from _decide(place, campaign, definition, setting, recipients, users)
    events += yield from _accept(place, campaign, definition, ready, users, direct)
    yield from _write(recipients, events)
    sent = sum(recipient.status == "started" for recipient in recipients)
    if options.rate is not None and sent:
        campaign.arrival = options.rate.take(campaign.arrival, now, sent)
        yield campaign_statement("update_campaigns", [campaign_row(campaign)])
    if setting.rate is not None and sent:
        arrival = setting.rate.take(arrival, now, sent)
        yield campaign_statement("put_throttle", namespace=place.namespace, agent=place.agent, arrival=arrival)
    return len(recipients), sent, None


def _lock_users(place: Place, recipients: Sequence[RecipientRecord]) -> Operation[dict[str, UserRecord]]:
    names = [(recipient.external_id,) for recipient in recipients]
    rows = yield campaign_statement("lock_agent_users", names, namespace=place.namespace, agent=place.agent)
    return {user.external_id: user for user in map(read_user, rows)}


def _decide(
    place: Place,
    campaign: CampaignRecord,
    definition: Definition,
    setting: Setting,
    recipients: Sequence[RecipientRecord],
    users: Mapping[str, UserRecord],
) -> Operation[tuple[list[RecipientRecord], list[Row]]]:
    """Skip recipients who must not be messaged, and postpone those who must not be messaged now. Return the other
    recipients, and the rows of events to insert."""
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
            _finish(recipient, place.now, Outcome.SKIPPED, reason)
            events.append(recipient_event(place, campaign, recipient, definition))
        elif held is not None:
            recipient.due, recipient.reason = held, "quiet_hours"
        else:
            ready.append(recipient)
    return ready, events


def _reason_to_skip(
    campaign: CampaignRecord,
    definition: Definition,
    user: UserRecord | None,
    suppressed: set[str],
    recent: Mapping[str, int],
) -> str | None:
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


def foresee_skips(
    place: Place,
    campaign: CampaignRecord,
    definition: Definition,
    setting: Setting,
    audience: Sequence[tuple[str, UserRecord | None]],
) -> Operation[dict[str, str]]:
    """Return a dict from external id to reason, for those users of an audience whom a campaign would skip if it began
    now. Changes nothing."""
    options = definition.options
    users = {name: user for name, user in audience if user is not None}
    ids = [(user.id,) for user in users.values()]
    rows = (yield campaign_statement("open_sessions_of", ids)) if ids else ()
    sessions = {session.user_id: session for session in map(read_session, rows)}
    skips: dict[str, str] = {}
    recipients = []
    for name, user in audience:
        recipient = _new_recipient(campaign, definition, setting, name, user)
        reason = _reason_to_leave_out(campaign, options, recipient)
        if reason is None:
            recipients.append(recipient)
        else:
            skips[name] = reason
    ready, _ = yield from _decide(place, campaign, definition, setting, recipients, users)
    for recipient in recipients:
        if recipient.outcome is not None:
            skips[recipient.external_id] = str(recipient.reason)
    for recipient in ready:
        session = sessions.get(users[recipient.external_id].id)
        if not definition.allow_session_bootstrap and (session is None or session.status is not SessionStatus.ACTIVE):
            skips.setdefault(recipient.external_id, "bootstrap_disabled")
        elif session is not None and session.hitl_state.active:
            skips.setdefault(recipient.external_id, f"hitl_{session.hitl_state.value}")
        elif session is not None and session.flow is not None and options.on_active_flow == "skip":
            skips.setdefault(recipient.external_id, "flow_active")
    return skips


def _accept(
    place: Place,
    campaign: CampaignRecord,
    definition: Definition,
    recipients: Sequence[RecipientRecord],
    users: Mapping[str, UserRecord],
    direct: DirectRoom | None,
) -> Operation[list[Row]]:
    """Give each recipient's session a turn, as `turns.accept_turn` does for one user. The caller has locked the users.
    With `direct`, this node itself handles the turns that open a session and have no flow. Return the rows of events to
    insert."""
    if not recipients:
        return []
    if direct is not None and not (yield from direct.is_known()):
        direct = None
    ids = [(users[recipient.external_id].id,) for recipient in recipients]
    rows = yield campaign_statement("open_sessions_of", ids)
    sessions = {session.user_id: session for session in map(read_session, rows)}
    events: list[Row] = []
    turns: dict[str, TurnRecord] = {}
    for recipient in recipients:
        user = users[recipient.external_id]
        session = sessions.get(user.id)
        usable = session is not None and session.status is SessionStatus.ACTIVE
        if not usable and not definition.allow_session_bootstrap:
            _finish(recipient, place.now, Outcome.SKIPPED, "bootstrap_disabled")
            events.append(recipient_event(place, campaign, recipient, definition))
        else:
            turns[recipient.external_id] = new_turn(place, _turn_input(campaign, definition, recipient), user)
    waiting = [recipient for recipient in recipients if recipient.external_id in turns]
    lost = yield from _mail_sessions(place, waiting, users, sessions, turns)
    for recipient in [recipient for recipient in waiting if lost.get(recipient.external_id) == "full"]:
        _finish(recipient, place.now, Outcome.FAILED, "mailbox_full")
        events.append(recipient_event(place, campaign, recipient, definition))
        waiting.remove(recipient)
    changed: list[SessionRecord] = []
    opened: list[tuple[SessionRecord, Run, str]] = []
    begun: list[BegunTurn] = []
    for recipient in waiting:
        user, turn = users[recipient.external_id], turns[recipient.external_id]
        session = sessions.get(user.id)
        if session is None:
            if direct is not None and turn.flow in (None, CLASSIC):
                session, run = new_session(place, user, PRIORITY, place.now)
                begun.append(BegunTurn(run, session, turn, user))
            else:
                session, run = new_session(place, user, PRIORITY)
                opened.append((session, run, turn.id))
            events.append(session_event(place, session, "flow:session_started"))
        else:
            session.status, session.active = SessionStatus.ACTIVE, place.now
            changed.append(session)
        turn.session_id = session.id
        recipient.status, recipient.turn_id, recipient.session_id = "started", turn.id, session.id
        recipient.user_id, recipient.started, recipient.reason = user.id, place.now, None
        events.append(turn_event(place, turn, "flow:turn_accepted", session))
        events.append(recipient_event(place, campaign, recipient, definition, flow=turn.flow))
    if changed:
        yield statement("update_sessions", [session_row(session) for session in changed])
    if begun and direct is not None:
        events += yield from direct.begin(place, begun)
    if waiting:
        yield statement("insert_turns", [turn_row(turns[recipient.external_id]) for recipient in waiting])
    yield from _open(place, opened)
    return events


def _open(place: Place, opened: Sequence[tuple[SessionRecord, Run, str]]) -> Operation[None]:
    """Insert sessions, and start their runs with one turn in each mailbox. `opened` has the session, its run and the id
    of the turn."""
    if not opened:
        return
    yield statement("insert_sessions", [session_row(session) for session, _, _ in opened])
    yield from start([run for _, run, _ in opened], place.now)
    messages = [message_row(mail_to(place, run.id, turn_id)) for _, run, turn_id in opened]
    yield function_statement("insert_messages", messages)


def _mail_sessions(
    place: Place,
    recipients: Sequence[RecipientRecord],
    users: Mapping[str, UserRecord],
    sessions: dict[str, SessionRecord],
    turns: Mapping[str, TurnRecord],
) -> Operation[dict[str, str]]:
    """Send turns to the mailboxes of the runs of open sessions. A session whose run is over is ended and removed from
    `sessions`. Return a dict from external id to the reason why the mailbox did not accept the turn."""
    addressed = [recipient for recipient in recipients if users[recipient.external_id].id in sessions]
    if not addressed:
        return {}
    sendings = []
    for recipient in addressed:
        session, turn = sessions[users[recipient.external_id].id], turns[recipient.external_id]
        sendings.append(Sending(mail_to(place, session.run_id, turn.id), place.namespace))
    answers = yield from send(sendings, place.now)
    refused = {recipient.external_id: answer for recipient, answer in zip(addressed, answers, strict=True) if answer}
    for name, answer in refused.items():
        if answer != "full":
            session = sessions.pop(users[name].id)
            yield from end_session(place, session, (yield from why_lost(session)) or "lost")
    return refused


def _turn_input(campaign: CampaignRecord, definition: Definition, recipient: RecipientRecord) -> TurnInput:
    variant = definition.options.variant(recipient.variant)
    metadata = {**definition.metadata, "recipient_user_external_id": recipient.external_id}
    if variant is not None:
        metadata["variant"] = variant.name
    return TurnInput(
        user=recipient.external_id,
        source="scheduled",
        key=f"{KEY}{campaign.id}",
        flow=variant.flow if variant is not None and variant.flow is not None else definition.flow,
        input={**(definition.input or {}), **(variant.input or {})} if variant is not None else definition.input,
        bootstrap=definition.allow_session_bootstrap,
        on_active_flow=definition.options.on_active_flow,
        metadata=metadata,
        schedule_id=definition.schedule_id,
        scheduled_for=definition.scheduled_for,
        trigger_type=definition.trigger_type,
        run_attempt=definition.run_attempt,
        campaign_id=definition.campaign_id or campaign.id,
        segment_id=definition.segment_id,
    )


def _finish(recipient: RecipientRecord, now: Micros, outcome: Outcome, reason: str | None) -> None:
    recipient.status, recipient.outcome, recipient.reason = "done", outcome.value, reason
    recipient.finished = now


def _write(recipients: Sequence[RecipientRecord], events: Sequence[Row]) -> Operation[None]:
    if recipients:
        yield campaign_statement("update_recipients", [recipient_row(recipient) for recipient in recipients])
    if events:
        yield sql("notify")
        yield sql("insert_events", list(events))


# Ending and controlling


def end_campaign(place: Place, campaign_id: str) -> Operation[CampaignRecord]:
    """Count the outcomes of the recipients, and write the outcome of the campaign. Return the campaign."""
    campaign = yield from _locked(campaign_id)
    if not campaign.over:
        counts = yield from count_outcomes(campaign_id)
        outcome, reason = aggregate(counts)
        yield from _end(place, campaign, outcome, reason, counts)
    return campaign


def abandon_campaign(place: Place, campaign_id: str) -> Operation[CampaignRecord]:
    """End a campaign whose run is being canceled, even if turns are in progress. The rows of those turns still get
    their own outcomes. Return the campaign."""
    campaign = yield from _locked(campaign_id)
    if campaign.over:
        return campaign
    definition = definition_of(campaign)
    for status in ("pending", "started"):
        while True:
            rows = yield campaign_statement(
                "list_recipients", id=campaign_id, after="", outcome="", status=status, limit=_COLLECT
            )
            recipients = [read_recipient(row) for row in rows]
            if not recipients:
                break
            for recipient in recipients:
                outcome = Outcome.SKIPPED if status == "pending" else Outcome.FAILED
                _finish(recipient, place.now, outcome, "campaign_stopped" if status == "pending" else "campaign_lost")
            events = [recipient_event(place, campaign, recipient, definition) for recipient in recipients]
            yield from _write(recipients, events)
    return (yield from end_campaign(place, campaign_id))


def count_outcomes(campaign_id: str) -> Operation[dict[str, int]]:
    """Return a dict from outcome to number of recipients. Recipients without an outcome are counted as `pending` or
    `started`."""
    counts: Counter[str] = Counter()
    for status, outcome, _, _, count in (yield campaign_statement("count_recipients", id=campaign_id)):
        counts[outcome if status == "done" else status] += count
    return dict(counts)


def _end(
    place: Place,
    campaign: CampaignRecord,
    outcome: Outcome,
    reason: str | None,
    counts: Mapping[str, int],
    words: str | None = None,
) -> Operation[None]:
    """Write the outcome of a campaign. A campaign that was stopped keeps the reason for which it was stopped."""
    stopped = campaign.status == "stopping"
    campaign.status, campaign.finished = "stopped" if stopped else "done", place.now
    campaign.outcome = outcome.value
    campaign.reason = reason = (campaign.reason or "stopped") if stopped else reason
    campaign.counts, campaign.total = orjson.dumps(dict(counts)).decode(), sum(counts.values())
    yield campaign_statement("update_campaigns", [campaign_row(campaign)])
    yield sql("notify")
    more = {
        "status": campaign.status,
        "outcome": outcome.value,
        "reason": reason,
        "counts": dict(counts),
        "words": words,
    }
    yield sql("insert_events", [campaign_event(place, campaign, "campaign:completed", **more)])


_CHANGES = {
    "pause": ("paused", "campaign:paused", ("sending",)),
    "resume": ("sending", "campaign:resumed", ("paused",)),
    "stop": ("stopping", "campaign:stopped", ("resolving", "sending", "paused")),
}


def change_campaign(place: Place, campaign_id: str, change: str, reason: str | None) -> Operation[CampaignRecord]:
    """Pause, resume or stop a campaign, and return it. After the commit of a pause or a stop, no further turn begins.
    After a stop, messages that were not yet committed for sending are not sent, either. Raises `NotFound` if the agent
    has no such campaign, or `Conflict` if the campaign's status does not allow the change."""
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
    yield sql("notify")
    yield sql("insert_events", [campaign_event(place, campaign, event, reason=reason)])
    return campaign


def stop_for_cancel(place: Place, campaign_id: str) -> Operation[None]:
    """Stop a campaign because its run is being canceled."""
    campaign = yield from _locked(campaign_id)
    if not campaign.over:
        yield from change_campaign(place, campaign_id, "stop", "canceled")


def end_lost_campaign(place: Place, campaign_id: str, reason: str) -> Operation[Literal["over", "again", "wait"]]:
    """Stop a campaign whose run has ended before the campaign, as a call of `stop` would. Return `over` if the campaign
    has ended, `again` if there is more to do at once, or `wait` if turns are in progress and have some time left to
    end."""
    campaign = yield from _locked(campaign_id)
    if campaign.over:
        return "over"
    if campaign.status != "stopping":
        campaign = yield from change_campaign(place, campaign_id, "stop", reason)
    definition = definition_of(campaign)
    changed = yield from _collect(place, campaign, definition)
    changed += yield from _skip_rest(place, campaign, definition)
    ((_, fresh),) = yield campaign_statement("started_recipients", id=campaign.id, since=place.now - _SLOW)
    if changed or fresh:
        return "again" if changed else "wait"
    yield from abandon_campaign(place, campaign_id)
    return "over"


def _locked(campaign_id: str) -> Operation[CampaignRecord]:
    rows = yield campaign_statement("lock_campaign", id=campaign_id)
    if not rows:
        raise NotFound(f"there is no campaign {campaign_id!r}")
    return read_campaign(rows[0])


def definition_of(campaign: CampaignRecord) -> Definition:
    return read_definition(orjson.loads(campaign.definition))


# Events

_EVENTS = {
    Outcome.SUCCESS.value: "schedule:recipient_run_completed",
    Outcome.FAILED.value: "schedule:recipient_run_failed",
    Outcome.SKIPPED.value: "schedule:skipped",
    Outcome.CANCELED_HITL.value: "schedule:run_canceled_hitl",
}


def campaign_event(place: Place, campaign: CampaignRecord, name: str, **data: Any) -> Row:
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
    place: Place, campaign: CampaignRecord, recipient: RecipientRecord, definition: Definition, **data: Any
) -> Row:
    """Return the row of an event about a recipient. The event says that the recipient's turn has begun, or how it
    ended."""
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
