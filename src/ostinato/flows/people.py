"""Ask people to decide for an agent, and let them take over its conversations.

Each function is one transaction, or a part of one.
"""

from __future__ import annotations

from typing import Any

import orjson

from ostinato.engine.idempotency import once
from ostinato.engine.rows import audit
from ostinato.errors import Conflict, NotFound
from ostinato.flows.errors import Denied
from ostinato.flows.model import EscalationRecord, Hitl, SessionRecord, TurnRecord, UserRecord
from ostinato.flows.store import (
    escalation_row,
    read_escalation,
    read_session,
    read_turn,
    read_user,
    session_row,
    statement,
    write_events,
)
from ostinato.flows.turns import (
    ASKED_FOR,
    Accepted,
    TransactionContext,
    escalation_event,
    hand_over,
    has_person,
    load_turn,
    lock_known_user,
    open_session,
    session_event,
    turn_event,
    why_lost,
)
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

ASYNC, LIVE, PROXY = "async_resolution", "live_takeover", "proxy"
_STATES = {ASYNC: Hitl.PENDING_ADMIN_RESOLUTION, LIVE: Hitl.LIVE_TAKEOVER, PROXY: Hitl.PROXY}
RESOLUTION, INPUT = "resolution", "input"  # causes of resumed turns


def set_hitl(place: TransactionContext, turn_id: str, state: Hitl, event: str, **data: Any) -> Operation[None]:
    """Set the `hitl` state of a turn's session, and write an event if the state changes."""
    _, session, turn = yield from load_turn(turn_id)
    if session.hitl is state:
        return
    session.hitl = state
    yield statement("update_sessions", [session_row(session)])
    yield from write_events(turn_event(place, turn, event, session, **data))


def escalate(
    place: TransactionContext,
    turn_id: str,
    id: str,
    mode: str,
    question: str,
    data: Any,
    due: Micros | None,
    to: str | None = None,
    replace: bool = False,
) -> Operation[None]:
    """Ask a person for help in the session of a turn. `mode` says what the person is asked to do:

    - `async_resolution`: decide the question
    - `live_takeover`: take over the conversation with the user
    - `proxy`: answer the flow in place of the user; the person gets the user's messages, and the flow gets the person's

    Repeated calls with the same `id` ask once. A session has at most one proxy. If `mode` is `proxy` and the session
    already has another proxy, `replace` decides: if true, the other proxy ends; if false, raise `Conflict`.
    """
    user, session, turn = yield from load_turn(turn_id)
    if mode == PROXY:
        yield from _end_other_proxy(place, session, id, replace)
        session = read_session((yield statement("session_by_id", id=session.id))[0])
    stored = None if data is None else orjson.dumps(data).decode()
    escalation = EscalationRecord(
        id, place.namespace, place.agent, user.id, session.id, mode, question, stored, due=due, created=place.now
    )
    if not (yield statement("insert_escalations", [escalation_row(escalation)])):
        return
    session.hitl, session.escalation_id = _STATES[mode], id
    if mode == LIVE:
        session.takeover = session.takeover or f"{ASKED_FOR}{id}"  # a person who has taken over keeps the session
    yield statement("update_sessions", [session_row(session)])
    name = "hitl:proxy_started" if mode == PROXY else "hitl:escalated"
    event = turn_event(place, turn, name, session, escalation_id=id, mode=mode, question=question, to=to)
    yield from write_events(event)


def _end_other_proxy(place: TransactionContext, session: SessionRecord, id: str, replace: bool) -> Operation[None]:
    pending = [read_escalation(row) for row in (yield statement("pending_escalations", session=session.id))]
    if any(escalation.id == id for escalation in pending):
        return  # an earlier try of this transaction was committed, but its response was lost
    for escalation in pending:
        if escalation.mode == PROXY:
            if not replace:
                raise Conflict(f"session {session.id!r} has a proxy already; stop it, or pass replace=True")
            yield from close_escalation(place, escalation.id, "canceled", "hitl:proxy_ended")


def close_escalation(place: TransactionContext, id: str, status: str, event: str) -> Operation[EscalationRecord]:
    """Close a pending escalation: set its status to `status`, and write the event `event`. Return the escalation.
    Nothing changes in two cases:

    - The escalation is not pending.
    - `status` is `timed_out`, but a person has already begun the takeover that the escalation asked for.
    """
    escalation, _, session = yield from _lock_escalation(place.namespace, id)
    if escalation.status != "pending":
        return escalation
    if status == "timed_out" and escalation.mode == LIVE and has_person(session):
        return escalation  # a person took over in time, and keeps the session until they hand back
    escalation.status, escalation.resolved = status, place.now
    yield statement("update_escalations", [escalation_row(escalation)])
    yield from _release(session, escalation, Hitl.TIMED_OUT if status == "timed_out" else Hitl.NONE)
    yield from write_events(escalation_event(place, escalation, event))
    return escalation


def resolve(
    place: TransactionContext, id: str, approved: bool, message: str | None, action: Any, actor: str
) -> Operation[None]:
    """Decide an escalation, and wake the flow that asked. Raises `NotFound` if there is no such escalation. Raises
    `Conflict` if the escalation is not pending, or if the run of its session has ended."""
    escalation, user, session = yield from _lock_escalation(place.namespace, id)
    if escalation.agent != place.agent:
        raise NotFound(f"there is no escalation {id!r}")
    if escalation.status != "pending":
        by = f" by {escalation.resolved_by}" if escalation.resolved_by else ""
        raise Conflict(f"escalation {id!r} is {escalation.status}{by} already")
    if (yield from why_lost(session)) is not None:
        raise Conflict(f"escalation {id!r} is over: the run of its session {session.id!r} has ended")
    escalation.status, escalation.resolved = "resolved", place.now
    escalation.approved, escalation.message, escalation.resolved_by = approved, message, actor
    escalation.action = None if action is None else orjson.dumps(action).decode()
    yield statement("update_escalations", [escalation_row(escalation)])
    yield from _release(session, escalation, Hitl.RESOLVED)
    event = "hitl:takeover_ended" if escalation.mode == LIVE else "hitl:resolved"
    yield from write_events(escalation_event(place, escalation, event, approved=approved))
    if session.ended is None:
        yield from _wake(place, user, session, f"resolve/{id}", {"cause": RESOLUTION, "escalation": id})


def _lock_escalation(namespace: str, id: str) -> Operation[tuple[EscalationRecord, UserRecord, SessionRecord]]:
    rows = yield statement("escalation_by_id", id=id)
    if not rows or (escalation := read_escalation(rows[0])).namespace != namespace:
        raise NotFound(f"there is no escalation {id!r}")
    user = read_user((yield statement("lock_agent_user_id", id=escalation.user_id))[0])
    escalation = read_escalation((yield statement("escalation_by_id", id=id))[0])
    session = read_session((yield statement("session_by_id", id=escalation.session_id))[0])
    return escalation, user, session


def _release(session: SessionRecord, escalation: EscalationRecord, state: Hitl) -> Operation[None]:
    """Update a session after `escalation` was closed.

    If the session has ended, or if `escalation` is not its current escalation, do nothing. Otherwise:

    - If `escalation` asked for a live takeover, end the takeover.
    - If other escalations of the session are pending, make the newest one current, and set the session's `hitl` for it.
    - If no other escalation is pending, set the session's `hitl` to `state`.
    """
    if session.escalation_id != escalation.id or session.ended is not None:
        return
    session.hitl = state
    if escalation.mode == LIVE:
        session.takeover = None
    pending = [read_escalation(row) for row in (yield statement("pending_escalations", session=session.id))]
    if pending:
        session.hitl, session.escalation_id = _STATES[pending[-1].mode], pending[-1].id
    yield statement("update_sessions", [session_row(session)])


def _wake(
    place: TransactionContext,
    user: UserRecord,
    session: SessionRecord,
    key: str,
    metadata: dict[str, Any],
    text: str | None = None,
) -> Operation[TurnRecord]:
    """Send a new turn to a session, because a person has decided or written something. Return the turn."""
    turn = TurnRecord(
        place.new_id(place.now),
        place.namespace,
        place.agent,
        user.id,
        session.id,
        key,
        "human" if metadata["cause"] == INPUT else "resumed",
        text,
        metadata=orjson.dumps({"given": metadata}).decode(),
        created=place.now,
        actor=place.actor,
    )
    yield from hand_over(place, user, session, turn)
    return turn


# Taking over


def _open(place: TransactionContext, external_id: str) -> Operation[tuple[UserRecord, SessionRecord]]:
    user = yield from lock_known_user(place, external_id)
    session = yield from open_session(place, user)
    if session is None:
        raise NotFound(f"user {external_id!r} of agent {place.agent!r} has no open session")
    return user, session


def take_over(place: TransactionContext, external_id: str, actor: str) -> Operation[SessionRecord]:
    """Give a conversation to a person, and return the session. Raises `NotFound` if the user has no open session, or
    `Conflict` if another person has taken over."""
    _, session = yield from _open(place, external_id)
    if session.takeover == actor:
        return session
    if has_person(session):
        raise Conflict(f"{session.takeover} has taken over the session of {external_id!r} already")
    session.takeover = actor
    yield statement("update_sessions", [session_row(session)])
    yield from write_events(session_event(place, session, "hitl:takeover_started", by=actor))
    return session


def hand_back(place: TransactionContext, external_id: str, actor: str, message: str | None) -> Operation[SessionRecord]:
    """Give a conversation back to the agent, and return the session. If a flow asked for the takeover, the flow
    continues, even if no person has taken over yet. If there is no takeover and no flow has asked for one, nothing
    changes. Raises `NotFound` if the user has no open session."""
    _, session = yield from _open(place, external_id)
    if session.takeover is None:
        return session
    if session.hitl is Hitl.LIVE_TAKEOVER and session.escalation_id is not None:
        yield from resolve(place, session.escalation_id, True, message, None, actor)
        return read_session((yield statement("session_by_id", id=session.id))[0])
    session.takeover = None
    yield statement("update_sessions", [session_row(session)])
    yield from write_events(session_event(place, session, "hitl:takeover_ended", by=actor))
    return session


def say_as_person(place: TransactionContext, external_id: str, text: str, id: str) -> Operation[Accepted]:
    """Send the text of a person, `place.actor`, in a user's session. Return the accepted turn.

    - If a person has taken over the session, or if the flow has asked for a takeover, the text goes to the user.
    - If the session is in the state `proxy`, the text goes to the session's flow. In this state, one person speaks to
      the flow instead of the user. The first person who sends a text becomes this person.

    If the same text was sent with this `id` before, return the earlier turn.

    Raises `Conflict` if another text was sent with this `id`, if another person has taken over, or if neither case in
    the list applies. Raises `Denied` if another person already speaks to the flow.
    """
    user, session = yield from _open(place, external_id)
    key = f"person/{id}"
    rows = yield statement("turn_by_key", user=user.id, key=key)
    if rows:
        earlier = read_turn(rows[0])
        if earlier.text != text:
            raise Conflict(f"another text was said to {external_id!r} with the id {id!r}; take another id")
        return Accepted(earlier.id, False)
    if session.takeover is None and session.hitl is not Hitl.PROXY:
        raise Conflict(f"nobody has taken over the session of {external_id!r}; take it over first")
    if has_person(session) and session.takeover != place.actor:
        raise Conflict(f"{session.takeover} has taken over the session of {external_id!r}")
    if session.takeover is None:
        yield from _become_proxy(place, session, external_id)
    turn = yield from _wake(place, user, session, key, {"cause": INPUT}, text)
    return Accepted(turn.id, True)


def _become_proxy(place: TransactionContext, session: SessionRecord, external_id: str) -> Operation[None]:
    """Make `place.actor` the proxy of a session, the only person who may speak to its flow. Raises `Denied` if another
    person already is the proxy."""
    escalation = read_escalation((yield statement("escalation_by_id", id=session.escalation_id))[0])
    data = orjson.loads(escalation.data or "{}")
    person = data.setdefault("person", place.actor)
    if person != place.actor:
        raise Denied(f"{person!r} is the proxy in the session of {external_id!r}; only they may speak to its flow")
    escalation.data = orjson.dumps(data).decode()
    yield statement("update_escalations", [escalation_row(escalation)])


def note_denial(place: TransactionContext, id: str, action: str, subject: str) -> Operation[None]:
    """Write an event about an actor who was not allowed to act. Repeated calls with the same id write it once."""
    event = audit(place.now, place.namespace, "hitl:denied", subject, place.actor, agent=place.agent, action=action)
    yield from once(place.namespace, id, "agents.note_denial", place.now, write_events(event))
