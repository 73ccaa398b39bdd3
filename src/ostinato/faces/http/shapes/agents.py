"""Define the HTTP request bodies and answers about agents, their users, conversations and escalations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator

from ostinato.faces.http.shapes.common import NextAfter, NextBefore, Object, RequestBody, Shown, Text, checking
from ostinato.flows.hooks import UserInfo
from ostinato.flows.model import MOST_MESSAGE_ID, MOST_METADATA, MOST_TEXT
from ostinato.flows.views import EscalationInfo, MessageInfo, SessionInfo, TurnView
from ostinato.when import zones

_USER = "The external id of the user."

Said = Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]
MessageId = Annotated[str, Field(min_length=1, max_length=MOST_MESSAGE_ID)]
ExternalId = Annotated[str, Field(min_length=1, max_length=200)]
Consent = Literal["unknown", "opted_in", "opted_out"]
EscalationStatus = Literal["pending", "resolved", "timed_out", "canceled"]


class ReceiveMessage(RequestBody):
    """A message of a user. `id` is its id in the transport. A message with the same user and `id` is handled once."""

    user: ExternalId
    text: Said
    id: MessageId
    name: Text | None = None
    address: Text | None = None
    metadata: Object = Field(default_factory=dict)

    @field_validator("metadata")
    @classmethod
    def _fits(cls, value: Object) -> Object:
        size = len(orjson.dumps(value))
        if size > MOST_METADATA:
            raise ValueError(f"the metadata have {size:,} bytes; at most {MOST_METADATA:,} are taken")
        return value


class PutUser(RequestBody):
    """Create a user, or change one. Fields that are left out keep their values. `tags` replaces all tags."""

    name: Text | None = None
    address: Text = ""
    tz: Text | None = None
    locale: Text | None = None
    consent: Consent = "unknown"
    data: Object = Field(default_factory=dict)
    tags: list[Text] = Field(default_factory=list, max_length=100)

    _check_zone = checking("tz", lambda value: zones.zone(value, "the user's tz"))

    def changes(self) -> Object:
        """Return a dict of the fields that were sent."""
        return self.model_dump(exclude_unset=True)


class ResolveEscalation(RequestBody):
    """Decide an escalation, a question that an agent asks people. The flow that asked then continues."""

    approved: StrictBool
    message: Said | None = None
    action: Any = Field(default=None, description="Anything the flow is to know, as JSON.")


class HandBack(RequestBody):
    message: Said | None = Field(default=None, description="Words for the flow that asked for the takeover.")


class SayAsPerson(RequestBody):
    """Say something as a person. Requests with the same `id` say it once.

    - During a takeover, the person speaks to the user in place of the agent. The user gets the text.
    - If a flow has put the person between the user and itself (`ctx.proxy`), the flow gets the text.
    """

    text: Said
    id: MessageId


class FlowDeclared(BaseModel):
    version: int
    description: str


class AgentShown(BaseModel):
    """An agent that a node has declared."""

    name: str
    tz: str
    queue: str
    flows: dict[str, FlowDeclared] = Field(description="The newest version of each flow.")
    tools: list[str]
    admins: list[str] | None = Field(description="Who may act for people; null if a function of the agent decides.")
    segments: list[str] = Field(default_factory=list, description="Resolvers of segments, by name.")
    campaigns: Object = Field(default_factory=dict, description="What it sets for all of its campaigns.")
    scheduler: Object = Field(default_factory=dict, description="The settings of its schedules.")


class AgentsShown(BaseModel):
    items: list[AgentShown]
    next: NextAfter


class UserShown(Shown, view=UserInfo):
    """A user of an agent. `active` is the time of the user's last message."""


class UsersShown(BaseModel):
    items: list[UserShown]
    next: NextAfter


class SessionShown(Shown, view=SessionInfo):
    """A conversation."""

    user: str | None = Field(description=_USER)
    hitl: str = Field(description="What people are asked to do: none, pending_confirm, live_takeover, …")
    takeover: str | None = Field(description="The person who has taken over.")


class SessionsShown(BaseModel):
    items: list[SessionShown]
    next: NextBefore


class TurnShown(Shown, view=TurnView):
    """A turn: one input and its outcome."""

    user: str | None = Field(description=_USER)
    cost: int = Field(description="In millionths of the currency of the model's prices.")


class TurnsShown(BaseModel):
    items: list[TurnShown]
    next: NextBefore


class SaidShown(Shown, view=MessageInfo):
    """A message of a conversation. `role` is user, assistant or human."""


class SaidList(BaseModel):
    items: list[SaidShown]
    next: NextBefore


class EscalationShown(Shown, view=EscalationInfo):
    """An escalation: a question that an agent asks people to decide."""

    user: str | None = Field(description=_USER)


class EscalationsShown(BaseModel):
    items: list[EscalationShown]
    next: NextBefore


class TurnAccepted(Shown):
    model_config = ConfigDict(populate_by_name=True)

    turn_id: str = Field(validation_alias="id")
    new: bool = Field(description="False where the same message was accepted before.")


class TurnEnded(Shown):
    """How a turn ended."""

    turn_id: str = Field(validation_alias="id")
    session_id: str | None
    outcome: str
    reason: str | None
    delivered: int = Field(description="How many messages were sent.")
    hitl: str
    flow: str | None
