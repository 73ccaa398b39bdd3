"""Accept, begin and finish turns. Each function is one transaction, or a part of one.

Every transaction locks the user first, then changes sessions and turns, and then puts messages into the mailboxes of
runs. Because the user is locked first, two inputs of one user are accepted one after the other. Because the order is
always the same, there are no deadlocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import orjson

from ostinato.engine.rows import audit, write_options
from ostinato.errors import NotFound
from ostinato.flows.definition import session_function
from ostinato.flows.model import (
    CHANGE,
    DEFER_MAX,
    MAIL,
    OPTED_OUT,
    OUTCOME,
    EscalationRecord,
    FlowOutcome,
    Hitl,
    MessageRecord,
    SessionRecord,
    SessionStatus,
    TurnInput,
    TurnOutcome,
    TurnRecord,
    UserRecord,
)
from ostinato.flows.schedules.rows import find_refusal
from ostinato.flows.store import (
    TURN_WIDTH,
    escalation_row,
    message_row,
    read_escalation,
    read_session,
    read_turn,
    read_user,
    session_row,
    statement,
    turn_row,
    user_row,
    write_events,
)
from ostinato.functions.model import KIND as FUNCTION
from ostinato.functions.model import Message
from ostinato.functions.operations import Sending, refusal, send, start_with_messages
from ostinato.model import Options, Run, Status, read_length
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

ASKED_FOR = "escalation/"  # prefix of `takeover` while a flow has asked for a takeover and no person has taken over yet


@dataclass(frozen=True, slots=True)
class TransactionContext:
    """The context of a transaction. `queue` is the agent's queue. `new_id` makes ids that sort by time."""

    namespace: str
    agent: str
    queue: str
    now: Micros
    new_id: Callable[[Micros], str]
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """A user's display name and address, from a transport. If a field is None, the stored value is kept."""

    name: str | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A stored turn. `new` is false if the same input was accepted before. `outcome` is None if the turn is not over.
    If a scheduled turn names an unknown user, no turn is stored, and `turn_id` is ''."""

    turn_id: str
    new: bool
    outcome: TurnOutcome | None = None


# Accepting


def accept_turn(
    place: TransactionContext, turn_input: TurnInput, profile: Profile | None = None
) -> Operation[Accepted]:
    """Store an input as a turn, and send the turn to the user's session.

    - If the user already has a turn with the same key, return that turn.
    - A message creates the user and the session if they do not exist.
    - A scheduled turn never creates a user. It opens a session only if `turn_input.bootstrap` is true.

    Raises `MailboxFull` if the session cannot accept a message now. The transport may try again later.
    """
    user = yield from _user(place, turn_input, profile or Profile())
    if user is None:
        return Accepted("", True, TurnOutcome(FlowOutcome.SKIPPED, "unknown_user"))
    rows = yield statement("turn_by_key", user=user.id, key=turn_input.key)
    if rows:
        turn = read_turn(rows[0])
        return Accepted(turn.id, False, None if turn.outcome is None else outcome_of(turn))
    if turn_input.source == "inbound":
        yield from _note_inbound(place, user, profile or Profile())
    turn = new_turn(place, turn_input, user)
    session = yield from open_session(place, user)
    reason = _refusal(turn_input, user, session) if turn_input.source == "scheduled" else None
    if reason is not None:
        refused = replace(turn, session_id=None)
        yield statement("insert_turns", [turn_row(refused)])
        outcome = yield from finish_turn(place, refused, None, FlowOutcome.SKIPPED, reason)
        return Accepted(turn.id, True, outcome)
    yield from hand_over(place, user, session, turn)
    return Accepted(turn.id, True)


def _refusal(turn_input: TurnInput, user: UserRecord, session: SessionRecord | None) -> str | None:
    """Return why a scheduled turn is skipped, or None if it is not skipped. A turn is skipped in these cases:

    - The user has opted out.
    - `turn_input.bootstrap` is false, and the user has no active session.
    - `turn_input.bootstrap` is false, and `turn_input.session_id` is set and is not the user's active session.
    """
    if user.consent == OPTED_OUT:
        return OPTED_OUT
    active = session is not None and session.status is SessionStatus.ACTIVE
    if turn_input.session_id is not None:
        active = active and session is not None and session.id == turn_input.session_id
    return None if active or turn_input.bootstrap else "bootstrap_disabled"


def _user(place: TransactionContext, turn_input: TurnInput, profile: Profile) -> Operation[UserRecord | None]:
    """Lock and return the user of an input. If the user is unknown and the input is a message of the user, create the
    user. If the user is unknown and the input is something else, for example a scheduled turn, return None."""
    user = yield from lock_user(place, turn_input.user)
    if user is not None or turn_input.source != "inbound":
        return user
    return (yield from create_user(place, turn_input.user, profile, active=place.now))


def lock_user(place: TransactionContext, external_id: str) -> Operation[UserRecord | None]:
    """Lock and return a user, or return None if the agent has no such user."""
    rows = yield statement("lock_agent_user", namespace=place.namespace, agent=place.agent, user=external_id)
    return read_user(rows[0]) if rows else None


def lock_known_user(place: TransactionContext, external_id: str) -> Operation[UserRecord]:
    """Lock and return a user. Raises `NotFound` if the agent has no such user."""
    user = yield from lock_user(place, external_id)
    if user is None:
        raise NotFound(f"agent {place.agent!r} has no user {external_id!r}")
    return user


def create_user(
    place: TransactionContext, external_id: str, profile: Profile, *, active: Micros | None = None
) -> Operation[UserRecord]:
    """Insert, lock and return a user. If another transaction has just inserted the same user, lock and return that
    user."""
    new = UserRecord(
        place.new_id(place.now),
        place.namespace,
        place.agent,
        external_id,
        profile.address or external_id,
        profile.name,
        created=place.now,
        updated=place.now,
        active=active,
    )
    yield statement("insert_agent_users", [user_row(new)])
    return (yield from lock_known_user(place, external_id))


def _note_inbound(place: TransactionContext, user: UserRecord, profile: Profile) -> Operation[None]:
    """Store the time of a user's message, and the name and address from `profile`."""
    name, address = profile.name or user.name, profile.address or user.address
    if (name, address) != (user.name, user.address):
        user.name, user.address, user.updated = name, address, place.now
        user.active = max(place.now, user.active or 0)
        yield statement("update_agent_users", [user_row(user)])
    else:
        yield statement("touch_agent_user", id=user.id, now=place.now)


def new_turn(place: TransactionContext, turn_input: TurnInput, user: UserRecord) -> TurnRecord:
    correlation = {
        "schedule_id": turn_input.schedule_id,
        "scheduled_for": turn_input.scheduled_for,
        "trigger_type": turn_input.trigger_type,
        "run_attempt": turn_input.run_attempt,
        "campaign_id": turn_input.campaign_id,
        "segment_id": turn_input.segment_id,
    }
    deferred = read_length(turn_input.defer_max, "defer_max") if turn_input.defer_max is not None else None
    stored = {
        "given": dict(turn_input.metadata),
        **({} if deferred is None else {"defer_max": deferred}),
        **{name: value for name, value in correlation.items() if value is not None},
    }
    return TurnRecord(
        place.new_id(place.now),
        place.namespace,
        place.agent,
        user.id,
        None,
        turn_input.key,
        turn_input.source,
        turn_input.text,
        turn_input.flow,
        None if turn_input.input is None else orjson.dumps(dict(turn_input.input)).decode(),
        orjson.dumps(stored).decode(),
        turn_input.on_active_flow,
        turn_input.reply_to,
        turn_input.schedule_id,
        turn_input.scheduled_for,
        turn_input.campaign_id,
        created=place.now,
        actor=place.actor,
    )


def open_session(place: TransactionContext, user: UserRecord) -> Operation[SessionRecord | None]:
    """Return the user's open session. Return None if there is none. If the run of the session is over, end the session
    and return None. The caller must have locked the user."""
    rows = yield statement("open_session", user=user.id)
    if not rows:
        return None
    session, reason = read_session(rows[0][:-1]), _reason_of_loss(rows[0][-1])
    if reason is None:
        return session
    yield from end_session(place, session, reason)
    return None


def hand_over(
    place: TransactionContext, user: UserRecord, session: SessionRecord | None, turn: TurnRecord
) -> Operation[SessionRecord]:
    """Send a turn to the run of `session`, and return the session that got the turn.

    - If the run's mailbox is full and the turn is a message, raise `MailboxFull`. The message may be the user's, or one
      of a person who has taken over the conversation.
    - If the run's mailbox is full and the turn is scheduled or resumed, store the turn as failed.
    - If `session` is None or its run is over, a new session gets the turn.
    """
    if session is not None:
        (refused,) = yield from send([Sending(mail_to(place, session.run_id, turn.id), place.namespace)], place.now)
        if refused == "full":
            if turn.source in ("inbound", "human"):  # the sender gets an error and can send it again
                raise refusal(session.run_id, refused)
            turn.session_id = session.id
            yield statement("insert_turns", [turn_row(turn)])
            yield from finish_turn(place, turn, session, FlowOutcome.FAILED, "mailbox_full")
            return session
        if refused:  # its run has failed, or was stopped from outside
            yield from end_session(place, session, (yield from why_lost(session)) or "lost")
            session = None
    if session is None:
        session = yield from _begin_session(place, user, turn)
    else:
        yield statement("raise_priority", id=session.run_id)
    session.status, session.active = SessionStatus.ACTIVE, place.now
    turn.session_id = session.id
    yield statement("insert_turns", [turn_row(turn)])
    if turn.source == "inbound":
        said = MessageRecord(f"{turn.id}0", session.id, turn.id, "user", turn.text or "", created=place.now)
        yield statement("insert_said", [message_row(said)])
        session.messages += 1
    yield statement("update_sessions", [session_row(session)])
    yield from write_events(turn_event(place, turn, "flow:turn_accepted", session))
    return session


def _begin_session(place: TransactionContext, user: UserRecord, turn: TurnRecord) -> Operation[SessionRecord]:
    session, run = new_session(place, user)
    yield statement("insert_sessions", [session_row(session)])
    yield from start_with_messages(run, None, [mail_to(place, run.id, turn.id)], place.now)
    yield sql("insert_events", [session_event(place, session, "flow:session_started")])
    return session


# A call of the agent's code that crashes nodes fails after three crashes (see `SessionActor.bounded`), and its turn
# with it. So the session itself fails only if something else crashes nodes.
_PATIENT = write_options(Options(crashes=10))


def new_session(
    place: TransactionContext, user: UserRecord, priority: int = 0, active: Micros | None = None
) -> tuple[SessionRecord, Run]:
    """Return the records of a new session and of its run.

    If the run handles the first turn, `active` is None. If this node handles the first turn itself, `active` is the
    time of that turn. The run then measures from this time how long the session has been idle.
    """
    session_id, run_id = place.new_id(place.now), place.new_id(place.now)
    session = SessionRecord(
        session_id, place.namespace, place.agent, user.id, run_id, started=place.now, active=place.now
    )
    run = Run(
        id=run_id,
        root_id=run_id,
        name=session_function(place.agent),
        kind=FUNCTION,
        namespace=place.namespace,
        key=f"session/{session_id}",
        queue=place.queue,
        priority=priority,
        due=place.now,
        created=place.now,
        input=orjson.dumps({"session": session_id, **({} if active is None else {"active": active})}).decode(),
        options=_PATIENT,
        actor=place.actor,
    )
    return session, run


def mail_to(place: TransactionContext, run_id: str, turn_id: str) -> Message:
    """Return the message that brings a turn to the run of a session."""
    return Message(run_id, turn_id, MAIL, orjson.dumps({"turn": turn_id}).decode(), place.now, place.actor)


def end_session(place: TransactionContext, session: SessionRecord, reason: str) -> Operation[None]:
    """End a session. Its unfinished turns fail."""
    session.status, session.ended, session.reason = SessionStatus.ENDED, place.now, reason
    session.flow = session.flow_version = session.waits = session.takeover = session.escalation_id = None
    session.hitl = Hitl.NONE
    yield statement("update_sessions", [session_row(session)])
    yield from cancel_escalations(place, session)
    for turn in map(read_turn, (yield statement("open_turns", session=session.id))):
        yield from finish_turn(place, turn, session, FlowOutcome.FAILED, f"session_{reason}")
    yield sql("insert_events", [session_event(place, session, "flow:session_ended", reason=reason)])


def why_lost(session: SessionRecord) -> Operation[str | None]:
    """Return why a session must end because its run is over: `canceled` or `lost`. Return None if the run is not
    over."""
    states = {id: status for id, status, *_ in (yield sql("states_of", [(session.run_id,)]))}
    return _reason_of_loss(states.get(session.run_id))


def _reason_of_loss(status: str | None) -> str | None:
    """Return why a session must end if its run has this status. `status` is None if the run does not exist.

    - If the run was cancelled, return `canceled`.
    - If the run is over for another reason, or does not exist, return `lost`.
    - If the run is not over, return None: the session need not end.
    """
    if status == Status.CANCELLED:
        return "canceled"
    return "lost" if status is None or Status(status).over else None


def end_if_lost(session_id: str, user_id: str, now: Micros, new_id: Callable[[Micros], str]) -> Operation[bool]:
    """End a session if its run is over. Return whether this call ended the session."""
    yield statement("lock_agent_user_id", id=user_id)
    rows = yield statement("session_by_id", id=session_id)
    session = read_session(rows[0]) if rows else None
    if session is None or session.ended is not None or (reason := (yield from why_lost(session))) is None:
        return False
    yield from end_session(TransactionContext(session.namespace, session.agent, "", now, new_id), session, reason)
    yield sql("notify")
    return True


def has_person(session: SessionRecord) -> bool:
    """Return whether a person has taken over. A takeover that a flow has only asked for does not count."""
    return session.takeover is not None and not session.takeover.startswith(ASKED_FOR)


def cancel_escalations(place: TransactionContext, session: SessionRecord) -> Operation[None]:
    pending = [read_escalation(row) for row in (yield statement("pending_escalations", session=session.id))]
    if not pending:
        return
    for escalation in pending:
        escalation.status, escalation.resolved = "canceled", place.now
    yield statement("update_escalations", [escalation_row(escalation) for escalation in pending])
    yield from write_events(*[escalation_event(place, escalation, "hitl:canceled") for escalation in pending])


# What the run of a session does


def load_turn(turn_id: str) -> Operation[tuple[UserRecord, SessionRecord, TurnRecord]]:
    """Lock a turn's user. Return the user, the session and the turn. Raises `NotFound` if there is no such turn."""
    rows = yield statement("lock_user_of_turn", id=turn_id)
    if not rows:
        raise NotFound(f"there is no turn {turn_id!r}")
    user = read_user(rows[0])
    (row,) = yield statement("turn_with_session", id=turn_id)
    return user, read_session(row[TURN_WIDTH:]), read_turn(row[:TURN_WIDTH])


def lock_session(session_id: str) -> Operation[SessionRecord]:
    """Lock the user of a session, and return the session."""
    session = read_session((yield statement("session_by_id", id=session_id))[0])
    yield statement("lock_agent_user_id", id=session.user_id)
    return read_session((yield statement("session_by_id", id=session_id))[0])  # as it is after the wait for the lock


def begin_turn(place: TransactionContext, turn_id: str) -> Operation[tuple[TurnRecord, TurnOutcome | None]]:
    """Begin a turn. Return the turn and its outcome. The outcome is None if the turn must still be handled.

    - If the user has opted out, a scheduled turn is skipped.
    - If a turn's schedule was canceled or paused after the turn was accepted, the turn is skipped.
    - If a person is involved in the session at present (`Hitl.active`), a scheduled turn is canceled.
    - If a person has taken over, or if a flow has asked for a takeover, a message of the user is forwarded to people.
      The turn is then over, unless the message has changed the user's consent. The agent must still confirm such a
      change.
    """
    user, session, turn = yield from load_turn(turn_id)
    if turn.outcome is not None:
        return turn, outcome_of(turn)
    state = session.hitl_state
    if turn.source == "scheduled" and user.consent == OPTED_OUT:
        return turn, (yield from finish_turn(place, turn, session, FlowOutcome.SKIPPED, OPTED_OUT))
    if turn.source == "scheduled" and (refused := (yield from _schedule_refusal(turn))) is not None:
        return turn, (yield from finish_turn(place, turn, session, FlowOutcome.SKIPPED, refused))
    if turn.source == "scheduled" and state.active:
        return turn, (yield from finish_turn(place, turn, session, FlowOutcome.CANCELED_HITL, f"hitl_{state.value}"))
    if turn.source == "inbound" and session.takeover is not None:
        event = turn_event(place, turn, "hitl:forwarded", session, to=session.takeover, text=turn.text)
        yield sql("notify")
        if turn.status == "queued":
            yield sql("insert_events", [event])
        if not _is_to_be_confirmed(turn):
            return turn, (yield from finish_turn(place, turn, session, FlowOutcome.SUCCESS, "forwarded"))
    if turn.status == "queued":
        turn.status, turn.started, turn.hitl = "running", place.now, state
        yield statement("update_turns", [turn_row(turn)])
    if session.status is not SessionStatus.ACTIVE:
        session.status = SessionStatus.ACTIVE
        yield statement("update_sessions", [session_row(session)])
    return turn, None


def _is_to_be_confirmed(turn: TurnRecord) -> bool:
    """Return whether the turn's message has changed the user's consent. If it has, the agent sends the user a
    confirmation, even during a takeover."""
    change = orjson.loads(turn.metadata).get("given", {}).get(CHANGE)
    return isinstance(change, Mapping) and bool(change.get("new"))


def _schedule_refusal(turn: TurnRecord) -> Operation[str | None]:
    """Return why the schedule of a turn does not allow the turn to begin: `schedule_canceled` or `schedule_paused`.
    Return None if the turn may begin. Turns of campaigns and turns without a schedule may always begin."""
    prefix = f"schedule/{turn.schedule_id}/"
    if turn.schedule_id is None or not turn.key.startswith(prefix):
        return None
    asked = "/" in turn.key.removeprefix(prefix)  # the key of a triggered run ends with its origin
    return (yield from find_refusal(turn.namespace, turn.agent, turn.schedule_id, asked=asked))


def resume_turn(place: TransactionContext, session_id: str, key: str, cause: str) -> Operation[TurnRecord]:
    """Begin a turn because the wait of a flow is over. Repeated calls with the same key return the same turn."""
    session = yield from lock_session(session_id)
    rows = yield statement("turn_by_key", user=session.user_id, key=key)
    if rows:
        return read_turn(rows[0])
    turn = TurnRecord(
        place.new_id(place.now),
        place.namespace,
        place.agent,
        session.user_id,
        session.id,
        key,
        "resumed",
        flow=session.flow,
        metadata=orjson.dumps({"given": {"cause": cause}}).decode(),
        status="running",
        hitl=session.hitl_state,
        created=place.now,
        started=place.now,
    )
    session.waits = None
    yield statement("insert_turns", [turn_row(turn)])
    yield statement("update_sessions", [session_row(session)])
    yield from write_events(turn_event(place, turn, "flow:turn_accepted", session))
    return turn


@dataclass(frozen=True, slots=True)
class Spent:
    """What a turn has used and produced.

    - `producer`: what wrote the response, such as "flow" or "command"
    - `policy`: the decisions of the hooks and the router
    - `delivered`: the number of delivered messages
    - `model_calls`, `tokens_in`, `tokens_out`, `cost`: sums over the calls of the model; `cost` is in millionths of the
      currency
    - `flow`: the name of the flow; None if no flow ran
    """

    producer: str | None = None
    policy: Mapping[str, Any] | None = None
    delivered: int = 0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0
    flow: str | None = None


def complete_turn(
    place: TransactionContext,
    turn_id: str,
    outcome: FlowOutcome,
    reason: str | None,
    spent: Spent,
    waits: str | None = None,
) -> Operation[TurnOutcome]:
    """Finish a turn, and return its outcome. `waits` is what the active flow waits for now; None if no flow waits."""
    _, session, turn = yield from load_turn(turn_id)
    if turn.outcome is not None:
        return outcome_of(turn)
    _note_spent(place, turn, session, spent, waits)
    yield statement("update_sessions", [session_row(session)])
    return (yield from finish_turn(place, turn, session, outcome, reason))


def _note_spent(
    place: TransactionContext, turn: TurnRecord, session: SessionRecord, spent: Spent, waits: str | None
) -> None:
    turn.producer = spent.producer  # type: ignore[assignment]
    turn.policy = orjson.dumps(dict(spent.policy or {})).decode()
    turn.delivered, turn.model_calls = spent.delivered, spent.model_calls
    turn.tokens_in, turn.tokens_out, turn.cost = spent.tokens_in, spent.tokens_out, spent.cost
    turn.flow = turn.flow or spent.flow
    session.waits, session.active = waits, max(session.active, place.now)


def completed(
    place: TransactionContext,
    turn: TurnRecord,
    session: SessionRecord,
    outcome: FlowOutcome,
    reason: str | None,
    spent: Spent,
) -> Row:
    """Set the outcome and `spent` in the record of a turn, and update the record of its session. Return the row of the
    turn's event. The caller must write both records and the event. Call this only for a turn after which no flow waits.
    """
    _note_spent(place, turn, session, spent, None)
    return _finished(place, turn, session, outcome, reason)


_EVENTS = {
    FlowOutcome.SUCCESS: "flow:turn_succeeded",
    FlowOutcome.SKIPPED: "flow:turn_skipped",
    FlowOutcome.FAILED: "flow:turn_failed",
    FlowOutcome.CANCELED_HITL: "flow:turn_canceled_hitl",
}


def finish_turn(
    place: TransactionContext, turn: TurnRecord, session: SessionRecord | None, outcome: FlowOutcome, reason: str | None
) -> Operation[TurnOutcome]:
    """Write the outcome of a turn, and return the outcome. If a run waits for the outcome (`turn.reply_to`), also send
    the outcome to that run. The caller must have locked the user."""
    event = _finished(place, turn, session, outcome, reason)
    yield statement("update_turns", [turn_row(turn)])
    written = outcome_of(turn)
    yield from write_events(event)
    if turn.reply_to is not None:
        payload = orjson.dumps(written.as_json()).decode()
        message = Message(turn.reply_to, f"outcome/{turn.id}", OUTCOME, payload, place.now)
        yield from send([Sending(message, turn.namespace)], place.now)  # no effect if that run is over
    return written


def _finished(
    place: TransactionContext, turn: TurnRecord, session: SessionRecord | None, outcome: FlowOutcome, reason: str | None
) -> Row:
    """Set the outcome of a turn in its record. Return the row of the turn's event."""
    turn.status, turn.outcome, turn.reason, turn.finished = "done", outcome, reason, place.now
    turn.hitl = Hitl.NONE if session is None else session.hitl_state
    return turn_event(
        place, turn, _EVENTS[outcome], session, outcome=outcome.value, reason=reason, delivered=turn.delivered
    )


def skip_turns(place: TransactionContext, turn_ids: Sequence[str], reason: str) -> Operation[None]:
    """Finish turns of one session as skipped, unless they are over."""
    for turn_id in turn_ids:
        _, session, turn = yield from load_turn(turn_id)
        if turn.outcome is None:
            yield from finish_turn(place, turn, session, FlowOutcome.SKIPPED, reason)


def outcome_of(turn: TurnRecord) -> TurnOutcome:
    """Return the outcome of a turn that is over."""
    assert turn.outcome is not None
    return TurnOutcome(turn.outcome, turn.reason, turn.id, turn.session_id, turn.delivered, turn.hitl, turn.flow)


def let_session_go(place: TransactionContext, session_id: str, status: SessionStatus, reason: str) -> Operation[bool]:
    """Set a session's status to `idle` or `ended`, and return whether that was possible.

    It is not possible while a turn is unfinished, or while a person is involved in the session (`Hitl.active`). If the
    session already has this status or has ended, return True.
    """
    session = yield from lock_session(session_id)
    if session.status is SessionStatus.ENDED or session.status is status:
        return True
    if session.hitl_state.active or (yield statement("open_turns", session=session_id)):
        return False
    yield sql("notify")
    if status is SessionStatus.ENDED:
        yield from end_session(place, session, reason)
        return True
    session.status = status
    yield statement("update_sessions", [session_row(session)])
    yield sql("insert_events", [session_event(place, session, "flow:session_idle")])
    return True


def set_flow(
    place: TransactionContext,
    session_id: str,
    turn_id: str,
    flow: str | None,
    version: int | None,
    event: str,
    **data: Any,
) -> Operation[None]:
    """Set the active flow of a session, and write an event.

    If `flow` is None, the session has no active flow afterwards, and its pending escalations are canceled. Do nothing
    if the session already has this flow in this version, or if the session has ended.
    """
    _, session, turn = yield from load_turn(turn_id)
    if (session.flow, session.flow_version) == (flow, version) or session.ended is not None:
        return
    left = session.flow
    asked = flow is None and session.hitl is Hitl.PENDING_CONFIRM
    session.flow, session.flow_version, session.waits = flow, version, None
    if flow is None:
        session.hitl, session.escalation_id = Hitl.NONE, None
        if not has_person(session):
            session.takeover = None
        yield from cancel_escalations(place, session)
    yield statement("update_sessions", [session_row(session)])
    name = flow if flow is not None else left
    events = [turn_event(place, turn, event, session, **{**data, "flow": name})]
    if asked:
        events.insert(0, turn_event(place, turn, "hitl:canceled", session, flow=name))
    yield from write_events(*events)


# Events


def correlation_of(turn: TurnRecord) -> Mapping[str, Any]:
    """Return the values that say what started a turn, such as its schedule. The turn's events contain them."""
    return _correlation(turn.metadata)


@lru_cache(maxsize=256)
def _correlation(metadata: str) -> Mapping[str, Any]:
    """Read from a turn's metadata what started the turn. The result is cached, because a turn has several events."""
    stored = orjson.loads(metadata)
    return {name: value for name, value in stored.items() if name not in ("given", "defer_max")}


def expiry_of(turn: TurnRecord) -> Micros:
    """Return the time until which a turn may be deferred."""
    return turn.created + int(orjson.loads(turn.metadata).get("defer_max", DEFER_MAX))


def turn_event(
    place: TransactionContext, turn: TurnRecord, name: str, session: SessionRecord | None, **data: Any
) -> Row:
    body = {
        "agent": turn.agent,
        "user_id": turn.user_id,
        "session_id": turn.session_id,
        "source": turn.source,
        "flow": turn.flow,
        **correlation_of(turn),
        **data,
    }
    if session is not None:
        body["flow"] = body["flow"] or session.flow
        body["hitl"] = session.hitl_state.value
    body = {key: value for key, value in body.items() if value is not None}
    return audit(place.now, turn.namespace, name, turn.id, turn.actor or place.actor, **body)


def session_event(place: TransactionContext, session: SessionRecord, name: str, **data: Any) -> Row:
    return audit(
        place.now,
        session.namespace,
        name,
        session.id,
        place.actor,
        agent=session.agent,
        user_id=session.user_id,
        **data,
    )


def escalation_event(place: TransactionContext, escalation: EscalationRecord, name: str, **data: Any) -> Row:
    body = {
        "agent": escalation.agent,
        "user_id": escalation.user_id,
        "session_id": escalation.session_id,
        "mode": escalation.mode,
        "status": escalation.status,
        **data,
    }
    return audit(place.now, escalation.namespace, name, escalation.id, place.actor, **body)


def read_tags(ids: Sequence[str]) -> Operation[dict[str, tuple[str, ...]]]:
    """Return a dict from user id to the user's tags."""
    tags: dict[str, list[str]] = {id: [] for id in ids}
    for id, tag in (yield statement("tags_of", [(id,) for id in ids])) if ids else ():
        tags[id].append(tag)
    return {id: tuple(found) for id, found in tags.items()}
