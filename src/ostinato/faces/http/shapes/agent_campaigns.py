"""Define the HTTP request bodies and answers about campaigns of agents.

They include the segments and options of campaigns, and suppression lists.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StrictBool, StrictInt, ValidationInfo, field_validator, model_validator

from ostinato.faces.http.shapes.common import (
    Length,
    NextAfter,
    NextBefore,
    Number,
    Object,
    RequestBody,
    Shown,
    Text,
    naming_the_field,
)
from ostinato.flows.campaigns.explain import Explanation
from ostinato.flows.campaigns.options import read_option
from ostinato.flows.campaigns.preview import Preview
from ostinato.flows.campaigns.views import CampaignInfo, RecipientInfo
from ostinato.flows.segments import MOST_DAYS, MOST_QUERY, MOST_USERS, check_segment

CampaignStatus = Literal["resolving", "sending", "paused", "stopping", "stopped", "done"]
RecipientOutcome = Literal["success", "skipped", "failed", "canceled_hitl"]
OnActiveFlow = Literal["skip", "defer", "replace"]
ExternalIds = Annotated[list[Annotated[str, Field(min_length=1, max_length=200)]], Field(min_length=1, max_length=1000)]
Reason = Annotated[str, Field(min_length=1, max_length=1000)]


class AgentSegment(RequestBody):
    """The users whom a campaign is for. `type` says which users these are:

    - `all`: all users
    - `active_since`: the users who have written in the last `active_since_days` days
    - `tag`: the users with the tag `tag`
    - `custom_query`: the users who match `query`, or the users whom the agent's resolver `resolver` returns
    - `users`: the users in the list `users`
    """

    type: Literal["all", "active_since", "tag", "custom_query", "users"]
    active_since_days: Annotated[StrictInt, Field(ge=1, le=MOST_DAYS)] | None = None
    tag: Text | None = None
    query: Annotated[str, Field(max_length=MOST_QUERY, examples=['locale = "pt" and tags has "vip"'])] | None = None
    resolver: Text | None = Field(default=None, description="The name of a segment of the agent's code.")
    params: Object | None = Field(default=None, description="For the resolver.")
    users: Annotated[list[str], Field(max_length=MOST_USERS)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        with naming_the_field():
            check_segment(self.document(), "segment")
        return self

    def document(self) -> Object:
        return self.model_dump(exclude_none=True)


class CampaignSettings(RequestBody):
    """How a campaign is sent. For an option that is left out, the agent's setting applies. An option that is null is
    switched off, even if the agent sets it."""

    max_recipients: StrictInt = Field(default=0, description="A larger audience is refused, unless `confirmed`.")
    confirmed: StrictBool = False
    in_flight: StrictInt = Field(default=0, description="How many turns go on at once, 1 to 1,000.")
    rate: str | None = Field(default=None, examples=["20/s", "600/m"])
    quiet_hours: dict[str, str] | None = Field(default=None, examples=[{"from": "21:00", "to": "09:00"}])
    local_time: str | None = Field(default=None, examples=["09:30"])
    frequency_cap: Object | None = Field(default=None, examples=[{"messages": 2, "per": "7d"}])
    cancel_on_reply: StrictBool = False
    require_opt_in: StrictBool = False
    expires_after: Length = "7d"
    holdout: Number = Field(default=0, description="Per cent that get nothing.")
    variants: dict[str, Object] = Field(
        default_factory=dict, examples=[{"a": {"weight": 2, "input": {"text": "hello"}}, "b": {"flow": "other"}}]
    )
    on_active_flow: OnActiveFlow = "skip"

    @field_validator("*", mode="before")
    @classmethod
    def _fits(cls, value: Any, info: ValidationInfo) -> Any:
        assert info.field_name is not None
        with naming_the_field():
            read_option(info.field_name, value, info.field_name)
        return value

    def document(self) -> Object:
        return self.model_dump(exclude_unset=True)


class PreviewCampaign(RequestBody):
    """A campaign to preview.

    - `flow`: the flow that begins for each recipient, or None, if the model writes each message
    - `input`: the arguments of the flow, or None, if there are none
    - `metadata`: values for flows and hooks, or None, if there are none
    """

    segment: AgentSegment
    flow: Text | None = None
    input: Object | None = Field(default=None, description="The arguments of the flow.")
    metadata: Object | None = None
    campaign_id: Text | None = Field(default=None, description="A name that several campaigns may share.")
    allow_session_bootstrap: StrictBool = Field(
        default=False, description="Whether it writes to people who have no active session."
    )
    options: CampaignSettings = Field(default_factory=CampaignSettings)

    def arguments(self) -> Object:
        """Return the fields as keyword arguments for `preview` or `send` of `app.agents.campaigns(agent)`."""
        asked = self.model_dump(exclude={"segment", "options"})
        return {"segment": self.segment.document(), **asked, **self.options.document()}


class SendCampaign(PreviewCampaign):
    """A campaign to send to a segment now. Requests with the same `id` send it once. Without a `flow`, the model writes
    each message; `metadata.prompt` says what the message is about."""

    id: Text | None = None


class SendTest(RequestBody):
    """A campaign to send to named users now. Quiet hours, caps and holdout do not apply."""

    users: ExternalIds
    flow: Text | None = None
    input: Object | None = None
    metadata: Object | None = None
    id: Text | None = None
    variants: dict[str, Object] | None = None

    @field_validator("variants", mode="before")
    @classmethod
    def _fits(cls, value: Any) -> Any:
        if value is not None:
            with naming_the_field():
                read_option("variants", value, "variants")
        return value


class ChangeCampaign(RequestBody):
    reason: Reason | None = None


class Suppress(RequestBody):
    """Put people on the suppression list: no campaign of the agent writes to them."""

    users: ExternalIds
    reason: Reason


class Unsuppress(RequestBody):
    users: ExternalIds


class CampaignSent(Shown):
    id: str
    new: bool = Field(description="False where the same `id` was sent before.")


class CampaignShown(Shown, view=CampaignInfo):
    """A campaign. In a list, only campaigns that are over have counts, reasons and variants."""

    counts: dict[str, int] = Field(description="Recipients by outcome; `pending` and `started` are not over.")
    reasons: dict[str, int] = Field(description="Recipients by reason; `delivery_unknown` is a part of `failed`.")
    variants: dict[str, int] = Field(description="Recipients by variant.")
    partial: bool = Field(description="Some succeeded and some failed.")


class CampaignsShown(BaseModel):
    items: list[CampaignShown]
    next: NextBefore


class RecipientShown(Shown, view=RecipientInfo):
    """A recipient of a campaign.

    If the recipient is pending, `reason` says why the recipient waits. Otherwise `reason` says why the recipient got
    this outcome.
    """

    reason: str | None = Field(
        description="Why the recipient got this outcome. For a pending recipient: why the recipient waits."
    )
    due: datetime = Field(description="When their turn may begin.")
    delivered: int = Field(description="How many messages they got.")


class RecipientsShown(BaseModel):
    items: list[RecipientShown]
    next: NextAfter


class PreviewShown(Shown, view=Preview):
    """How many users a campaign would reach if it were sent now. `skipped` is a dict from reason to the number of users
    who would get no message. `refused` is true if the segment has more users than `max_recipients`, and the campaign is
    not confirmed. Such a campaign would not be sent."""

    recipients: int = Field(description="The size of the segment.")
    reachable: int = Field(description="How many of them would get a message.")
    skipped: dict[str, int] = Field(description="The others, by reason.")
    sample: list[str] = Field(description="External ids of the first who would get one.")
    refused: bool = Field(description="It exceeds `max_recipients`.")


class ExplanationOfCampaign(Shown, view=Explanation):
    """Why a person was or was not messaged by a campaign."""

    words: str = Field(description="In words.")


class SuppressionShown(BaseModel):
    user: str
    reason: str


class SuppressionsShown(BaseModel):
    items: list[SuppressionShown]
    next: NextAfter


class SuppressionsChanged(BaseModel):
    changed: int = Field(description="How many were put on the list, or taken from it.")
