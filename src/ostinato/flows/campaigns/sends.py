"""Begin the due turns of a campaign in the sessions of its recipients, as fast as the rates allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ostinato.engine.runs import start
from ostinato.flows.campaigns.agent_settings import CampaignsSetting
from ostinato.flows.campaigns.definition import CampaignDefinition, definition_of
from ostinato.flows.campaigns.events import recipient_event
from ostinato.flows.campaigns.model import KEY, OVER, PRIORITY, CampaignRecord, RecipientRecord
from ostinato.flows.campaigns.outcomes import SLOW, collect_ended_turns
from ostinato.flows.campaigns.recipients import finish_recipient, write_recipients
from ostinato.flows.campaigns.skips import lacks_session, skip_or_postpone, skip_rest
from ostinato.flows.campaigns.store import campaign_row, campaign_statement, lock_campaign, read_recipient
from ostinato.flows.direct_writes import BegunTurn, DirectRoom
from ostinato.flows.model import CLASSIC, FlowOutcome, SessionRecord, SessionStatus, TurnInput, TurnRecord, UserRecord
from ostinato.flows.store import read_session, read_user, session_row, statement, turn_row
from ostinato.flows.turns import (
    TransactionContext,
    end_session,
    mail_to,
    new_session,
    new_turn,
    session_event,
    turn_event,
    why_lost,
)
from ostinato.functions.operations import Sending, send
from ostinato.functions.store import message_row
from ostinato.functions.store import statement as function_statement
from ostinato.model import Run
from ostinato.store.contract import Operation, Row
from ostinato.when.instants import Micros

BATCH = 100  # turns that one transaction begins


@dataclass(frozen=True, slots=True)
class Progress:
    """The state of a campaign after a transaction that may have begun turns.

    - `flying`: the number of turns in progress
    - `fresh`: how many of these turns began less than `SLOW` microseconds ago
    - `next`: when the next turn may begin, in microseconds since 1970, or None, if no turn is left to begin
    - `changed`: whether the transaction has changed anything
    - `begun`: the new turns that this node must handle itself
    - `mailed`: whether other new turns were sent to the runs of their sessions
    """

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


def advance(
    place: TransactionContext, campaign_id: str, setting: CampaignsSetting, direct: DirectRoom | None = None
) -> Operation[Progress]:
    """Collect the turns of a campaign that are over, and begin new turns. Return the progress of the campaign.

    If `direct` is given, at most `direct.room` turns begin. The function adds some of these turns to `direct.begun`,
    and this node must handle them itself. The runs of the sessions handle the other turns.
    """
    campaign = yield from lock_campaign(campaign_id)
    if campaign.over:
        return Progress(campaign.status, 0, 0, None, False)
    definition = definition_of(campaign)
    changed = yield from collect_ended_turns(place, campaign, definition)
    if campaign.status == "stopping":
        changed += yield from skip_rest(place, campaign, definition)
    wait: Micros | None = None
    started = 0
    ((flying, fresh),) = yield campaign_statement("started_recipients", id=campaign.id, since=place.now - SLOW)
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


def _send(
    place: TransactionContext,
    campaign: CampaignRecord,
    definition: CampaignDefinition,
    setting: CampaignsSetting,
    room: int,
    direct: DirectRoom | None,
) -> Operation[tuple[int, int, Micros | None]]:
    """Begin the turns of due recipients. Begin at most `room` turns, and at most as many as the campaign's rate and the
    agent's rate allow. Return three values:

    - the number of recipients that were processed: their turn was begun, or they were skipped or postponed
    - the number of begun turns
    - the time when the next turn may begin, if a limit allows no turn now; otherwise None

    If the agent's rate allows no turn now, the third value is the time when both rates allow the next turn. If `room`
    or the campaign's rate allows none, the third value is the time when the campaign's rate allows the next turn, or
    None if the campaign has no rate.
    """
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
    ready, events = yield from skip_or_postpone(place, campaign, definition, setting, recipients, users)
    events += yield from _accept(place, campaign, definition, ready, users, direct)
    yield from write_recipients(recipients, events)
    sent = sum(recipient.status == "started" for recipient in recipients)
    if options.rate is not None and sent:
        campaign.arrival = options.rate.take(campaign.arrival, now, sent)
        yield campaign_statement("update_campaigns", [campaign_row(campaign)])
    if setting.rate is not None and sent:
        arrival = setting.rate.take(arrival, now, sent)
        yield campaign_statement("put_throttle", namespace=place.namespace, agent=place.agent, arrival=arrival)
    return len(recipients), sent, None


def _lock_users(place: TransactionContext, recipients: Sequence[RecipientRecord]) -> Operation[dict[str, UserRecord]]:
    names = [(recipient.external_id,) for recipient in recipients]
    rows = yield campaign_statement("lock_agent_users", names, namespace=place.namespace, agent=place.agent)
    return {user.external_id: user for user in map(read_user, rows)}


def _accept(
    place: TransactionContext,
    campaign: CampaignRecord,
    definition: CampaignDefinition,
    recipients: Sequence[RecipientRecord],
    users: Mapping[str, UserRecord],
    direct: DirectRoom | None,
) -> Operation[list[Row]]:
    """Begin a turn in the session of each recipient, as `turns.accept_turn` does for one user. If a turn cannot begin,
    the recipient gets the outcome `skipped` or `failed`.

    Return event rows. The caller must insert these rows, and must write the records in `recipients`, which are changed.

    If `direct` is given, this node itself handles each turn that opens a session and has no flow. The runs of the
    sessions handle all other turns. If this node is no longer in the table of nodes, ignore `direct`.
    """
    if not recipients:
        return []
    if direct is not None and not (yield from direct.is_known()):
        direct = None
    ids = [(users[recipient.external_id].id,) for recipient in recipients]
    rows = yield campaign_statement("open_sessions_of", ids)
    sessions = {session.user_id: session for session in map(read_session, rows)}
    events: list[Row] = []
    turns: dict[str, TurnRecord] = {}

    def finish(recipient: RecipientRecord, outcome: FlowOutcome, reason: str) -> None:
        finish_recipient(recipient, place.now, outcome, reason)
        events.append(recipient_event(place, campaign, recipient, definition))

    for recipient in recipients:
        user = users[recipient.external_id]
        session = sessions.get(user.id)
        if lacks_session(definition, session):
            finish(recipient, FlowOutcome.SKIPPED, "bootstrap_disabled")
        else:
            turns[recipient.external_id] = new_turn(place, _turn_input(campaign, definition, recipient), user)
    waiting = [recipient for recipient in recipients if recipient.external_id in turns]
    lost = yield from _mail_sessions(place, waiting, users, sessions, turns)
    for recipient in [recipient for recipient in waiting if lost.get(recipient.external_id) == "full"]:
        finish(recipient, FlowOutcome.FAILED, "mailbox_full")
        waiting.remove(recipient)
    for recipient in [recipient for recipient in waiting if recipient.external_id in lost]:  # the session was lost
        if lacks_session(definition, None):
            finish(recipient, FlowOutcome.SKIPPED, "bootstrap_disabled")
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


def _open(place: TransactionContext, opened: Sequence[tuple[SessionRecord, Run, str]]) -> Operation[None]:
    """Insert new sessions, and start their runs with one turn in each mailbox.

    Each item of `opened` is a session, the session's run, and the id of the turn.
    """
    if not opened:
        return
    yield statement("insert_sessions", [session_row(session) for session, _, _ in opened])
    yield from start([run for _, run, _ in opened], place.now)
    messages = [message_row(mail_to(place, run.id, turn_id)) for _, run, turn_id in opened]
    yield function_statement("insert_messages", messages)


def _mail_sessions(
    place: TransactionContext,
    recipients: Sequence[RecipientRecord],
    users: Mapping[str, UserRecord],
    sessions: dict[str, SessionRecord],
    turns: Mapping[str, TurnRecord],
) -> Operation[dict[str, str]]:
    """Send turns to the mailboxes of open sessions.

    Return a dict from external id to the reason why the recipient's turn was not accepted. Accepted turns are not in
    the dict. If the run of a session is over, end the session and remove it from `sessions`.
    """
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


def _turn_input(campaign: CampaignRecord, definition: CampaignDefinition, recipient: RecipientRecord) -> TurnInput:
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
