"""Write what an agent says: the intent before it is sent, and what became of it. Each function is one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ostinato.flows.campaign_model import KEY
from ostinato.flows.campaign_store import campaign_statement
from ostinato.flows.model import Delivery, MessageRecord, OutgoingRecord, TurnRecord, UserRecord
from ostinato.flows.store import message_row, outgoing_row, read_outgoing, session_row, statement
from ostinato.flows.turns import Place, load_turn, turn_event
from ostinato.store.contract import Operation, sql

FORWARD = "forward"  # the role of a user's message that is sent to a person; it is no part of the conversation


@dataclass(frozen=True, slots=True)
class Candidate:
    """What is to be said. `role` is assistant, or human for a person in the agent's place. `forced` means that it is
    said even while a person has taken over. `to` is another address than the user's."""

    reply: str
    producer: str
    structured: Mapping[str, Any] | None = None
    role: str = "assistant"
    forced: bool = False
    to: str | None = None


def commit_intent(
    place: Place, turn_id: str, number: int, candidate: Candidate, policy: Mapping[str, Any]
) -> Operation[dict[str, Any]]:
    """Commit what will be sent. Returns `key` and `address`, or `suppressed` with the reason if it must not be sent,
    because a person has taken over meanwhile, the campaign was stopped, or its recipient has opted out."""
    user, session, turn = yield from load_turn(turn_id)
    key = f"{turn.id}_{number}"
    rows = yield statement("outgoing_by_key", key=key)
    if rows:
        stored = read_outgoing(rows[0])
        return {"key": key, "address": stored.address, "user": user.external_id}
    if session.takeover is not None and not candidate.forced:
        return {"suppressed": "live_takeover"}
    if turn.key.startswith(KEY) and (reason := (yield from _refusal(turn, user))) is not None:
        return {"suppressed": reason}
    outgoing = OutgoingRecord(
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
    yield statement("insert_outgoing", [outgoing_row(outgoing)])
    yield sql("notify")
    event = turn_event(
        place, turn, "response:prepared", session, key=key, producer=candidate.producer, **_policies(policy)
    )
    yield sql("insert_events", [event])
    return {"key": key, "address": outgoing.address, "user": user.external_id}


def _refusal(turn: TurnRecord, user: UserRecord) -> Operation[str | None]:
    """Why a turn of a campaign must not send any more: it was stopped, or the user has opted out."""
    if user.consent == "opted_out":
        return "opted_out"
    rows = yield campaign_statement("campaign_status", id=turn.key.removeprefix(KEY))
    return "campaign_stopped" if rows and rows[0][0] == "stopping" else None


def settle_response(
    place: Place,
    turn_id: str,
    key: str,
    delivery: Delivery,
    provider_id: str | None,
    error: str | None,
    producer: str,
    policy: Mapping[str, Any],
) -> Operation[dict[str, Any]]:
    """Write what became of a message, and keep it in the session if it was or may have been delivered. Returns the
    state of the session, for `on_response`."""
    _, session, turn = yield from load_turn(turn_id)
    rows = yield statement(
        "settle_outgoing", key=key, status=delivery.value, provider=provider_id, error=error, now=place.now
    )
    meta = {"hitl_state": session.hitl_state.value, "escalation_id": session.escalation_id}
    if not rows:
        return meta
    stored = read_outgoing((yield statement("outgoing_by_key", key=key))[0])
    more = {"key": key, "producer": producer, **_policies(policy)}
    if delivery is Delivery.SENT:
        events = [turn_event(place, turn, "response:sent", session, **more)]
    else:
        words = {"stage": "dispatch", "delivery": delivery.value, "reason": error}
        events = [turn_event(place, turn, "response:failed", session, **more, **words)]
    if delivery is not Delivery.FAILED and stored.role != FORWARD:
        said = MessageRecord(message_id(key), session.id, turn.id, stored.role, stored.text, stored.data, place.now)
        yield statement("insert_said", [message_row(said)])
        session.messages += 1
        yield statement("update_sessions", [session_row(session)])
        events.append(turn_event(place, turn, "response:persisted", session, **more))
    yield sql("notify")
    yield sql("insert_events", events)
    return meta


def note_response(
    place: Place, turn_id: str, event: str, stage: str, reason: str | None, policy: Mapping[str, Any]
) -> Operation[None]:
    """Write that a response failed at a stage, or was canceled."""
    _, session, turn = yield from load_turn(turn_id)
    yield sql("notify")
    yield sql(
        "insert_events", [turn_event(place, turn, event, session, stage=stage, reason=reason, **_policies(policy))]
    )


def message_id(key: str) -> str:
    """The id of a message by the key that it was sent with. It sorts after what the user said in the same turn."""
    turn_id, _, number = key.rpartition("_")
    return f"{turn_id}1{int(number):05}"


def _policies(policy: Mapping[str, Any]) -> dict[str, Any]:
    return {name: policy[name] for name in ("before_llm", "before_response") if policy.get(name) is not None}
