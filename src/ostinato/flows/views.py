"""Convert the records of users, sessions, turns, messages and escalations into objects for callers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from ostinato.flows.hooks import UserInfo
from ostinato.flows.model import EscalationRecord, MessageRecord, SessionRecord, TurnRecord, UserRecord
from ostinato.when.instants import to_datetime

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

V = TypeVar("V", bound="DataclassInstance")


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A conversation between an agent and a user.

    - `flow`: the active flow; None if no flow is active
    - `waits`: what the active flow waits for; None if no flow waits
    - `hitl`: what a person is asked to do, such as `pending_confirm` or `live_takeover`; `none` if no person is asked
    - `takeover`: the person who has taken over; None if there is no takeover

    If a flow has asked for a takeover and no person has taken over yet, `takeover` is `escalation/` and an id.
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
    """One input and its outcome. `cost` is in millionths of the currency of the model's prices."""

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


def make_view(view: type[V], record: Any, **values: Any) -> V:
    """Return an instance of the dataclass `view`. Its fields come from `values`, or else from the fields of `record`
    with the same names. An instant from `record` becomes a datetime if the field of the view is a datetime."""
    for field in fields(view):
        if field.name not in values:
            value = getattr(record, field.name)
            is_time = str(field.type).startswith("datetime")
            values[field.name] = to_datetime(value) if is_time and value is not None else value
    return view(**values)


def _parse_json(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


def user_json(user: UserRecord, tags: Sequence[str]) -> dict[str, Any]:
    """Return a user as JSON, for `user_info`. The records of sessions contain it, so its fields keep their names."""
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
    moments = {name: user[name] for name in ("consent_at", "created", "active") if user[name] is not None}
    times = {name: to_datetime(instant) for name, instant in moments.items()}
    fields = {"tz" if name == "zone" else name: value for name, value in user.items()}
    return UserInfo(**{**fields, **times, "tags": tuple(user["tags"])})


def session_info(session: SessionRecord) -> SessionInfo:
    return make_view(SessionInfo, session, status=session.status.value, hitl=session.hitl_state.value)


def turn_view(turn: TurnRecord) -> TurnView:
    stored = orjson.loads(turn.metadata)
    metadata = stored.pop("given", {})
    return make_view(
        TurnView,
        turn,
        metadata={**metadata, **stored},
        outcome=None if turn.outcome is None else turn.outcome.value,
        policy=orjson.loads(turn.policy),
        hitl=turn.hitl.value,
    )


def message_info(message: MessageRecord) -> MessageInfo:
    return make_view(MessageInfo, message, data=_parse_json(message.data))


def escalation_info(escalation: EscalationRecord) -> EscalationInfo:
    data, action = _parse_json(escalation.data), _parse_json(escalation.action)
    return make_view(EscalationInfo, escalation, data=data, action=action)
