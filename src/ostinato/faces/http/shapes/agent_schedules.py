"""Define the HTTP request bodies and answers about schedules of agents."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, StrictBool, StrictInt, field_validator, model_validator

from ostinato.faces.http.shapes.agent_campaigns import AgentSegment, CampaignSettings, OnActiveFlow
from ostinato.faces.http.shapes.common import (
    NextAfter,
    NextBefore,
    Object,
    RequestBody,
    Shown,
    naming_the_field,
)
from ostinato.flows.schedules.api import CreatedSchedule, check_id
from ostinato.flows.schedules.definition import (
    read_expr,
    read_metadata,
    read_on_missed,
    read_run_at,
    read_target,
    read_trigger,
)
from ostinato.flows.schedules.rows import ScheduleRecord, ScheduleRunRecord

ScheduleStatus = Literal["active", "paused", "canceled", "completed"]
TargetKind = Literal["user", "segment"]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Flow = Annotated[Name, Field(description="A flow of the agent, or `classic`: the model answers `metadata.prompt`.")]
_MOST = 100_000_000
_ANY_ZONE = "UTC"  # to check the form; the agent's own zone is known to the call


class AgentTrigger(RequestBody):
    """When a schedule runs: type `cron` has `expr`, and type `once` has `run_at`. Both are in the agent's zone, unless
    `run_at` has an offset."""

    type: Literal["cron", "once"]
    expr: Name | None = Field(default=None, description="A cron line of five fields.", examples=["0 9 * * 1-5"])
    run_at: Name | None = Field(
        default=None, description="A time. It may have an offset of its own.", examples=["2026-03-01T09:00"]
    )

    @field_validator("expr")
    @classmethod
    def _is_a_cron_line(cls, value: str | None) -> str | None:
        if value is not None:
            with naming_the_field():
                read_expr(value, _ANY_ZONE, "expr")
        return value

    @field_validator("run_at")
    @classmethod
    def _is_a_time(cls, value: str | None) -> str | None:
        if value is not None:
            with naming_the_field():
                read_run_at(value, _ANY_ZONE, "run_at")
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        with naming_the_field():
            read_trigger(self.model_dump(), _ANY_ZONE, "trigger")
        return self


class AgentTarget(RequestBody):
    """Whom a schedule is for: a `user` or a `segment`. With a `session_id`, it is only for that session of the user."""

    kind: TargetKind
    user_external_id: Name | None = None
    session_id: Name | None = None
    segment: AgentSegment | None = None
    campaign_id: Name | None = None
    options: CampaignSettings | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        with naming_the_field():
            read_target(self.document(), "target")
        return self

    def document(self) -> Object:
        document = self.model_dump(exclude_none=True, exclude={"options"})
        return document if self.options is None else {**document, "options": self.options.document()}


class OnMissed(RequestBody):
    """What happens to times that were missed."""

    policy: Literal["skip", "catch_up"]
    max_runs: Annotated[StrictInt, Field(ge=1, le=_MOST)] | None = None
    max_age_seconds: Annotated[StrictInt, Field(ge=1, le=_MOST)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        with naming_the_field():
            read_on_missed(self.model_dump(), "on_missed")
        return self


class _Settings(RequestBody):
    """The settings of a schedule other than its flow, its trigger and its target."""

    allow_session_bootstrap: StrictBool | None = Field(
        default=None, description="Whether a turn may begin a session. Without it most turns are skipped."
    )
    on_missed: OnMissed | None = Field(default=None, description="null: as the agent's scheduler sets it.")
    metadata: Object | None = None
    input: Object | None = Field(default=None, description="The arguments of the flow.")
    on_active_flow: OnActiveFlow = Field(default="skip", description="What happens while a flow waits for the user.")

    @field_validator("metadata")
    @classmethod
    def _are_metadata(cls, value: Any) -> Any:
        with naming_the_field():
            read_metadata(value, "metadata")
        return value


class NewAgentSchedule(_Settings):
    """A schedule to create. Repeated calls with the same `id` create it once."""

    flow: Flow
    trigger: AgentTrigger
    target: AgentTarget
    id: Name | None = None

    @field_validator("id")
    @classmethod
    def _is_free(cls, value: str | None) -> str | None:
        if value is not None:
            with naming_the_field():
                check_id(value, "id")
        return value

    def arguments(self) -> Object:
        """Return the fields as keyword arguments for `app.agents.schedules(agent).create`."""
        return {**self.model_dump(), "target": self.target.document()}


class ChangeAgentSchedule(_Settings):
    """Change a schedule. Fields that are left out do not change."""

    flow: Flow | None = None
    trigger: AgentTrigger | None = None
    target: AgentTarget | None = None

    @field_validator("flow", "trigger", "target")
    @classmethod
    def _is_something(cls, value: Any) -> Any:
        if value is None:
            raise ValueError("a schedule has one; leave it out to keep it")
        return value

    def patch(self) -> Object:
        """Return a dict of the fields that were sent."""
        fields = self.model_dump(exclude_unset=True)
        return fields if self.target is None else {**fields, "target": self.target.document()}


class AgentScheduleShown(Shown, view=ScheduleRecord):
    """A schedule of an agent."""

    version: int = Field(description="Counts changes. It is the ETag.")
    name: str = Field(description="The schedule that fires it, among those of `/schedules`.")
    origin: str = Field(description="`config`: the code has it; `api`, or `tool`: the agent made it for its user.")


class AgentSchedulesShown(BaseModel):
    items: list[AgentScheduleShown]
    next: NextAfter


class AgentScheduleCreated(Shown, view=CreatedSchedule):
    """A schedule that was created."""

    warnings: list[str] = Field(description="What may surprise.")
    record: AgentScheduleShown


class AgentScheduleTriggered(BaseModel):
    run_id: str


class AgentScheduleRunShown(Shown, view=ScheduleRunRecord):
    """The outcome of one time of a schedule."""

    request_id: str | None = Field(description="The turn.")
    count: int = Field(description="Above 1: so many times that were missed, up to `last`.")
    origin: str = Field(description="`auto`, or that of a trigger.")


class AgentScheduleRunsShown(BaseModel):
    items: list[AgentScheduleRunShown]
    next: NextBefore
