"""Store an agent's messages before they are sent (as intents), and later store the results of sending them.

Each function is one transaction, or a part of one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ostinato.engine.idempotency import once
from ostinato.flows.campaigns.model import KEY, STOPPED
from ostinato.flows.campaigns.store import campaign_statement
from ostinato.flows.model import (
    OPTED_OUT,
    Delivery,
    MessageRecord,
    OutgoingRecord,
    SessionRecord,
    TurnRecord,
    UserRecord,
)
from ostinato.flows.store import (
    message_row,
    outgoing_row,
    read_outgoing,
    read_session,
    session_row,
    statement,
    write_events,
)
from ostinato.flows.turns import TransactionContext, load_turn, turn_event
from ostinato.store.contract import Operation, Row

TAKEN = "live_takeover"  # why a message is not sent: a person has taken over
CAMPAIGN_STOPPED = "campaign_stopped"  # why a message is not sent: its campaign was stopped
FORWARD = "forward"  # the role of a user's message that is forwarded to a person; it is not added to the conversation


@dataclass(frozen=True, slots=True)
class Candidate:
    """A message that is about to be sent.

    - `role`: `assistant` if the agent speaks, `human` if a person speaks in the agent's place, or `forward` if a user's
      message is forwarded to a person
    - `forced`: whether the message is sent even while a person has taken over
    - `to`: the address, or None for the user's address
    """

    reply: str
    producer: str
    structured: Mapping[str, Any] | None = None
    role: str = "assistant"
    forced: bool = False
    to: str | None = None


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending a committed message."""

    key: str
    delivery: Delivery
    provider_id: str | None = None
    error: str | None = None


def commit_intent(
    place: TransactionContext,
    turn_id: str,
    number: int,
    candidate: Candidate,
    policy: Mapping[str, Any],
    *,
    unasked: bool = False,
) -> Operation[dict[str, Any]]:
    """Commit a message before it is sent. Return a dict with `key`, `address` and `user`.

    If the message was committed before, the dict also has `stored`, the committed message.

    If the message must not be sent, nothing is committed, and the dict has only `suppressed`, the reason. There are
    three reasons:

    - A person has taken over, or a flow has asked for a takeover, and the candidate is not `forced`.
    - The user has opted out, and did not ask for the message (`unasked`).
    - The message belongs to a campaign that was stopped.
    """
    user, session, turn = yield from load_turn(turn_id)
    key = f"{turn.id}_{number}"
    rows = yield statement("outgoing_by_key", key=key)
    if rows:
        outgoing = read_outgoing(rows[0])
        return {"key": key, "address": outgoing.address, "user": user.external_id, "stored": _stored(outgoing)}
    if session.takeover is not None and not candidate.forced:
        return {"suppressed": TAKEN}
    if unasked and user.consent == OPTED_OUT:
        return {"suppressed": OPTED_OUT}
    if turn.key.startswith(KEY) and (yield from _is_stopped(turn)):
        return {"suppressed": CAMPAIGN_STOPPED}
    outgoing = new_outgoing(place, key, turn, session, user, candidate)
    yield statement("insert_outgoing", [outgoing_row(outgoing)])
    yield from write_events(prepared_event(place, key, turn, session, candidate, policy))
    return {"key": key, "address": outgoing.address, "user": user.external_id}


def new_outgoing(
    place: TransactionContext,
    key: str,
    turn: TurnRecord,
    session: SessionRecord,
    user: UserRecord,
    candidate: Candidate,
) -> OutgoingRecord:
    return OutgoingRecord(
        key,
        turn.namespace,
        turn.agent,
        user.id,
        session.id,
        turn.id,
        candidate.to or user.address,
        candidate.role,
        candidate.reply,
        None if candidate.structured is None else orjson.dumps(dict(candidate.structured)).decode(),
        created=place.now,
    )


def prepared_event(
    place: TransactionContext,
    key: str,
    turn: TurnRecord,
    session: SessionRecord,
    candidate: Candidate,
    policy: Mapping[str, Any],
) -> Row:
    return turn_event(
        place, turn, "response:prepared", session, key=key, producer=candidate.producer, **_policies(policy)
    )


def _stored(outgoing: OutgoingRecord) -> dict[str, Any]:
    return {
        "reply": outgoing.text,
        "structured": None if outgoing.data is None else orjson.loads(outgoing.data),
        "status": outgoing.status.value,
        "provider_id": outgoing.provider_id,
        "error": outgoing.error,
    }


def find_takeover(session_id: str) -> Operation[bool]:
    rows = yield statement("session_by_id", id=session_id)
    return bool(rows) and read_session(rows[0]).takeover is not None


def _is_stopped(turn: TurnRecord) -> Operation[bool]:
    rows = yield campaign_statement("campaign_status", id=turn.key.removeprefix(KEY))
    return bool(rows) and rows[0][0] in STOPPED


def settle_response(
    place: TransactionContext, turn_id: str, sent: Sent, producer: str, policy: Mapping[str, Any]
) -> Operation[dict[str, Any]]:
    """Write the result of sending a message. A message that may have been delivered becomes part of the conversation.
    Return the state of the session, which the hook `on_response` gets."""
    _, session, turn = yield from load_turn(turn_id)
    rows = yield statement(
        "settle_outgoing", [(sent.key, sent.delivery.value, sent.provider_id, sent.error)], now=place.now
    )
    meta = state_of(session)
    if not rows:
        return meta
    stored = read_outgoing((yield statement("outgoing_by_key", key=sent.key))[0])
    said, events = settled(place, sent, turn, session, stored, producer, policy)
    if said is not None:
        yield statement("insert_said", [message_row(said)])
        yield statement("update_sessions", [session_row(session)])
    yield from write_events(*events)
    return meta


def state_of(session: SessionRecord) -> dict[str, Any]:
    """Return the state of a session as a dict. The hook `on_response` gets this state."""
    return {"hitl_state": session.hitl_state.value, "escalation_id": session.escalation_id}


def settled(
    place: TransactionContext,
    sent: Sent,
    turn: TurnRecord,
    session: SessionRecord,
    stored: OutgoingRecord,
    producer: str,
    policy: Mapping[str, Any],
) -> tuple[MessageRecord | None, list[Row]]:
    """Return two values, which the caller must write after the message `stored` was sent, or after sending it failed: a
    message for the conversation, and event rows.

    - If sending failed, the first value is None.
    - If `stored` is a user's message that was forwarded to a person, the first value is None.
    - Otherwise the first value is the message to add to the conversation, and `session.messages` is increased by one.
    """
    more = {"key": sent.key, "producer": producer, **_policies(policy)}
    if sent.error == TAKEN:
        events = [turn_event(place, turn, "response:canceled", session, **more, stage="dispatch", reason=TAKEN)]
    elif sent.delivery is Delivery.SENT:
        events = [turn_event(place, turn, "response:sent", session, **more)]
    else:
        words = {"stage": "dispatch", "delivery": sent.delivery.value, "reason": sent.error}
        events = [turn_event(place, turn, "response:failed", session, **more, **words)]
    if sent.delivery is Delivery.FAILED or stored.role == FORWARD:
        return None, events
    said = MessageRecord(message_id(sent.key), session.id, turn.id, stored.role, stored.text, stored.data, place.now)
    session.messages += 1
    return said, [*events, turn_event(place, turn, "response:persisted", session, **more)]


def note_response(
    place: TransactionContext,
    turn_id: str,
    id: str,
    event: str,
    stage: str,
    reason: str | None,
    policy: Mapping[str, Any],
) -> Operation[None]:
    """Write an event about a response that failed or was canceled. Repeated calls with the same `id` write it once."""
    _, session, turn = yield from load_turn(turn_id)
    row = turn_event(place, turn, event, session, stage=stage, reason=reason, **_policies(policy))
    yield from once(place.namespace, id, "agents.note_response", place.now, write_events(row))


def message_id(key: str) -> str:
    """Return the id that a sent message gets in the conversation. `key` is the key with which the message was sent. In
    the same turn, this id sorts after the id of the user's message."""
    turn_id, _, number = key.rpartition("_")
    return f"{turn_id}1{int(number):05}"


def _policies(policy: Mapping[str, Any]) -> dict[str, Any]:
    return {name: policy[name] for name in ("before_llm", "before_response") if policy.get(name) is not None}
