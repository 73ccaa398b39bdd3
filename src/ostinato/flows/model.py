"""Define the records of an agent's users, sessions, turns, messages and escalations, and the inputs of turns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from ostinato.when.durations import DAY, Length
from ostinato.when.instants import Micros

MAIL = "turn"  # the name of the messages that bring turns to the run of a session
OUTCOME = "outcome"  # the name of the message that brings an outcome to the run that waits for it
TURN_FUNCTION = "agent-turn"  # the durable function that hands a turn to its session and returns the outcome
MOST_TEXT = 64 << 10  # characters of a message
MOST_ID = 200  # characters of a user's external id, or of a schedule's id
MOST_NAME = 512  # characters of a name, an address, a tag, or a campaign's id
MOST_MESSAGE_ID = 300  # characters of the id that a chat service gives to a message
MOST_KEY = MOST_MESSAGE_ID + 10  # characters of a turn's key: a prefix, and mostly the id of a message
MOST_METADATA = 16 << 10  # bytes of a turn's metadata

TurnSource: TypeAlias = Literal["inbound", "scheduled", "resumed", "human"]
GIVEN_SOURCES = ("inbound", "scheduled")  # callers may only use these; sessions and authorised people cause the others
ESCALATIONS = ("pending", "resolved", "timed_out", "canceled")  # statuses of escalations
INBOUND_KEY = "in/"  # the prefix of the keys of users' messages
RESERVED_KEYS = ("resume/", "resolve/", "person/")  # prefixes of keys that a caller must not use
DEFER_MAX: Micros = DAY  # how long a scheduled turn is deferred at most, unless it says otherwise
OnActiveFlow: TypeAlias = Literal["skip", "defer", "replace"]
ON_ACTIVE_FLOW = ("skip", "defer", "replace")
Producer: TypeAlias = Literal["classic", "flow", "short_circuit", "command", "human", "hitl", "fallback"]
CHANGE = "consent_change"  # the key in a turn's metadata for a change of consent that its message asked for
OPTED_OUT = "opted_out"  # the consent of a user who gets no scheduled messages, and the reason for skipping them
CLASSIC = "classic"  # the reserved name of a flow: the model answers


class SessionStatus(StrEnum):
    """The status of a session.

    - `active`: the time since the last turn is shorter than the agent's setting `idle`, or a flow waits
    - `idle`: no turn came for the time that `idle` sets; the next message makes the session active again
    - `ended`: the session is over; the next turn begins another session
    """

    ACTIVE = "active"
    IDLE = "idle"
    ENDED = "ended"


class FlowOutcome(StrEnum):
    """How a turn or a campaign ended. The names come from a specification, "Zupa's RFC on scheduled flows"; see
    docs/discussions/source-documents.md."""

    SUCCESS = "success"
    SKIPPED = "skipped"
    FAILED = "failed"
    CANCELED_HITL = "canceled_hitl"


class Hitl(StrEnum):
    """What a person ("human in the loop") does or is asked to do in a session.

    `none` means that nothing was asked. `resolved` and `timed_out` say how the last request ended. All other values
    mean that a person is involved at present.
    """

    NONE = "none"
    PENDING_CONFIRM = "pending_confirm"
    PENDING_ADMIN_RESOLUTION = "pending_admin_resolution"
    LIVE_TAKEOVER = "live_takeover"
    PROXY = "proxy"
    RESOLVED = "resolved"
    TIMED_OUT = "timed_out"

    @property
    def active(self) -> bool:
        """Whether a person is involved at present. While this is true, scheduled turns of the session are canceled."""
        return self not in (Hitl.NONE, Hitl.RESOLVED, Hitl.TIMED_OUT)


class Delivery(StrEnum):
    """The state of an outgoing message. An `unknown` message may have been delivered, and is not sent again."""

    PENDING = "pending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnInput:
    """One input for an agent, from any source.

    - `user`: the user's external id
    - `key`: identifies the input; inputs of one user with the same key are handled once
    - `flow`: the flow to begin, or None, if hooks and the router choose
    - `session_id`: the session for which the turn is meant, or None for any session
    - `bootstrap`: what happens if that session is not active: if true, the turn goes to the user's active session, and
      opens one if there is none; if false, the turn is skipped
    - `on_active_flow`: what the turn does while a flow waits for the user: `skip`, `defer` or `replace`
    - `defer_max`: how long the turn may be deferred, as a text such as `"2h"` or in seconds; None means a day
    - `metadata`: values that flows and hooks get unchanged
    - `reply_to`: the id of a durable function's run that gets the outcome as a message, or None, if no run gets it

    `session_id`, `bootstrap`, `on_active_flow` and `defer_max` are for scheduled turns.
    """

    user: str
    source: TurnSource
    key: str
    text: str | None = None
    flow: str | None = None
    input: Mapping[str, Any] | None = None
    session_id: str | None = None
    bootstrap: bool = False
    on_active_flow: OnActiveFlow = "skip"
    defer_max: Length | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    reply_to: str | None = None
    schedule_id: str | None = None
    scheduled_for: Micros | None = None
    trigger_type: str | None = None
    run_attempt: int | None = None
    campaign_id: str | None = None
    segment_id: str | None = None


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended. `delivered` is the number of messages that were sent. If the user is unknown, no turn is
    stored, and `turn_id` is empty."""

    outcome: FlowOutcome
    reason: str | None = None
    turn_id: str = ""
    session_id: str | None = None
    delivered: int = 0
    hitl: Hitl = Hitl.NONE
    flow: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome.value,
            "reason": self.reason,
            "turn_id": self.turn_id,
            "session_id": self.session_id,
            "delivered": self.delivered,
            "hitl": self.hitl.value,
            "flow": self.flow,
        }

    @staticmethod
    def from_json(value: Mapping[str, Any]) -> TurnOutcome:
        return TurnOutcome(**{**value, "outcome": FlowOutcome(value["outcome"]), "hitl": Hitl(value["hitl"])})


@dataclass(slots=True)
class UserRecord:
    """The row of a user of an agent. `active` is the time of the user's last message."""

    id: str
    namespace: str
    agent: str
    external_id: str
    address: str
    name: str | None = None
    zone: str | None = None
    locale: str | None = None
    consent: str = "unknown"
    consent_at: Micros | None = None
    data: str = "{}"
    created: Micros = 0
    updated: Micros = 0
    active: Micros | None = None


@dataclass(slots=True)
class SessionRecord:
    """The row of a session, a conversation of an agent with a user.

    `takeover` is the person who has taken over, or None if there is no takeover. If a flow has asked for a takeover and
    nobody has taken over yet, `takeover` begins with `ASKED_FOR`.
    """

    id: str
    namespace: str
    agent: str
    user_id: str
    run_id: str
    status: SessionStatus = SessionStatus.ACTIVE
    flow: str | None = None
    flow_version: int | None = None
    waits: str | None = None
    hitl: Hitl = Hitl.NONE
    takeover: str | None = None
    escalation_id: str | None = None
    data: str = "{}"
    messages: int = 0
    started: Micros = 0
    active: Micros = 0
    ended: Micros | None = None
    reason: str | None = None

    @property
    def hitl_state(self) -> Hitl:
        """The `hitl` state that callers see: `live_takeover` during a takeover, and otherwise the stored state."""
        return Hitl.LIVE_TAKEOVER if self.takeover is not None else self.hitl


@dataclass(slots=True)
class TurnRecord:
    """The row of a turn, one input that the agent handles. `metadata` and `policy` are JSON."""

    id: str
    namespace: str
    agent: str
    user_id: str
    session_id: str | None
    key: str
    source: TurnSource
    text: str | None = None
    flow: str | None = None
    input: str | None = None
    metadata: str = "{}"
    on_active_flow: OnActiveFlow = "skip"
    reply_to: str | None = None
    schedule_id: str | None = None
    scheduled_for: Micros | None = None
    campaign_id: str | None = None
    status: str = "queued"
    outcome: FlowOutcome | None = None
    reason: str | None = None
    producer: Producer | None = None
    policy: str = "{}"
    hitl: Hitl = Hitl.NONE
    delivered: int = 0
    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0
    created: Micros = 0
    started: Micros | None = None
    finished: Micros | None = None
    actor: str | None = None


@dataclass(slots=True)
class MessageRecord:
    """The row of a message in a conversation. `role` is user, assistant or human."""

    id: str
    session_id: str
    turn_id: str
    role: str
    text: str
    data: str | None = None
    created: Micros = 0


@dataclass(slots=True)
class OutgoingRecord:
    """The row of an outgoing message. It is committed before the message is sent."""

    key: str
    namespace: str
    agent: str
    user_id: str
    session_id: str
    turn_id: str
    address: str
    role: str
    text: str
    data: str | None = None
    status: Delivery = Delivery.PENDING
    provider_id: str | None = None
    error: str | None = None
    created: Micros = 0
    settled: Micros | None = None


@dataclass(slots=True)
class EscalationRecord:
    """The row of a question that a person must decide. `mode` is async_resolution, live_takeover or proxy."""

    id: str
    namespace: str
    agent: str
    user_id: str
    session_id: str
    mode: str
    question: str
    data: str | None = None
    status: str = "pending"
    approved: bool | None = None
    message: str | None = None
    action: str | None = None
    resolved_by: str | None = None
    due: Micros | None = None
    created: Micros = 0
    resolved: Micros | None = None
