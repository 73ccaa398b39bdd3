"""Convert the records of users, sessions, turns, messages and escalations into objects for callers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from ostinato.flows.hooks import UserInfo
from ostinato.flows.model import EscalationRecord, MessageRecord, SessionRecord, TurnRecord, UserRecord
from ostinato.when.instants import Micros, to_datetime


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A conversation between an agent and a user.

    - `flow`: the active flow, or None, if no flow is active
    - `waits`: what the active flow waits for, or None, if no flow waits
    - `hitl`: what a person is asked to do, such as `pending_confirm` or `live_takeover`, or `none`
    - `takeover`: the person who has taken over, or None, if there is no takeover

    If a flow has asked for a takeover and no person has taken over yet, `takeover` is the person whom the flow named,
    or else `escalation/` and an id.
    """

    id: str
    agent: str
    user_id: str
    run_id: str
    status: str
    flow: str | None
    flow_version: int | None
    waits: str | None
    hitl: str
    takeover: str | None
    escalation_id: str | None
    messages: int
    started: datetime
    active: datetime
    ended: datetime | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class TurnView:
    """One input and its outcome. `cost` is in millionths of a currency unit. The currency is that of the model's
    prices."""

    id: str
    agent: str
    user_id: str
    session_id: str | None
    key: str
    source: str
    text: str | None
    flow: str | None
    metadata: Mapping[str, Any]
    status: str
    outcome: str | None
    reason: str | None
    producer: str | None
    policy: Mapping[str, Any]
    hitl: str
    delivered: int
    model_calls: int
    tokens_in: int
    tokens_out: int
    cost: int
    created: datetime
    started: datetime | None
    finished: datetime | None
    actor: str | None


@dataclass(frozen=True, slots=True)
class MessageInfo:
    id: str
    turn_id: str
    role: str
    text: str
    data: Any
    created: datetime


@dataclass(frozen=True, slots=True)
class EscalationInfo:
    """A question for a person to decide. After `due`, the question times out."""

    id: str
    agent: str
    user_id: str
    session_id: str
    mode: str
    question: str
    data: Any
    status: str
    approved: bool | None
    message: str | None
    action: Any
    resolved_by: str | None
    due: datetime | None
    created: datetime
    resolved: datetime | None


def _moment(instant: Micros | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)


def _loaded(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


def user_json(user: UserRecord, tags: Sequence[str]) -> dict[str, Any]:
    """Return a user as a JSON object, for a recorded step."""
    return {
        "id": user.id,
        "external_id": user.external_id,
        "address": user.address,
        "name": user.name,
        "zone": user.zone,
        "locale": user.locale,
        "consent": user.consent,
        "consent_at": user.consent_at,
        "tags": list(tags),
        "data": orjson.loads(user.data),
        "created": user.created,
        "active": user.active,
    }


def user_info(user: Mapping[str, Any]) -> UserInfo:
    moments = {name: _moment(user[name]) for name in ("consent_at", "active")}
    return UserInfo(**{**user, **moments, "tags": tuple(user["tags"]), "created": to_datetime(user["created"])})


def session_info(session: SessionRecord) -> SessionInfo:
    return SessionInfo(
        session.id,
        session.agent,
        session.user_id,
        session.run_id,
        session.status.value,
        session.flow,
        session.flow_version,
        session.waits,
        session.hitl_state.value,
        session.takeover,
        session.escalation_id,
        session.messages,
        to_datetime(session.started),
        to_datetime(session.active),
        _moment(session.ended),
        session.reason,
    )


def turn_view(turn: TurnRecord) -> TurnView:
    stored = orjson.loads(turn.metadata)
    metadata = stored.pop("given", {})
    return TurnView(
        turn.id,
        turn.agent,
        turn.user_id,
        turn.session_id,
        turn.key,
        turn.source,
        turn.text,
        turn.flow,
        {**metadata, **stored},
        turn.status,
        None if turn.outcome is None else turn.outcome.value,
        turn.reason,
        turn.producer,
        orjson.loads(turn.policy),
        turn.hitl.value,
        turn.delivered,
        turn.model_calls,
        turn.tokens_in,
        turn.tokens_out,
        turn.cost,
        to_datetime(turn.created),
        _moment(turn.started),
        _moment(turn.finished),
        turn.actor,
    )


def message_info(message: MessageRecord) -> MessageInfo:
    return MessageInfo(
        message.id, message.turn_id, message.role, message.text, _loaded(message.data), to_datetime(message.created)
    )


def escalation_info(escalation: EscalationRecord) -> EscalationInfo:
    return EscalationInfo(
        escalation.id,
        escalation.agent,
        escalation.user_id,
        escalation.session_id,
        escalation.mode,
        escalation.question,
        _loaded(escalation.data),
        escalation.status,
        escalation.approved,
        escalation.message,
        _loaded(escalation.action),
        escalation.resolved_by,
        _moment(escalation.due),
        to_datetime(escalation.created),
        _moment(escalation.resolved),
    )
