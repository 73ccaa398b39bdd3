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
    checking,
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
from ostinato.flows.schedules.rows import ScheduleRecord, ScheduleRunRecord, TriggeredRun

ScheduleStatus = Literal["active", "paused", "canceled", "completed"]
TargetKind = Literal["user", "segment"]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Flow = Annotated[Name, Field(description="A flow of the agent, or `classic`: the model answers `metadata.prompt`.")]
_MOST = 100_000_000
_ANY_ZONE = "UTC"  # to check the form; the agent's own zone is known to the call


class AgentTrigger(RequestBody):
    """When a schedule runs. The type `cron` needs the field `expr`, and the type `once` needs the field `run_at`. The
    times are in the agent's zone, unless `run_at` has an offset."""

    type: Literal["cron", "once"]
    expr: Name | None = Field(default=None, description="A cron line of five fields.", examples=["0 9 * * 1-5"])
    run_at: Name | None = Field(
        default=None, description="A time. It may have an offset of its own.", examples=["2026-03-01T09:00"]
    )

    _check_expr = checking("expr", lambda value: read_expr(value, _ANY_ZONE, "expr"))
    _check_run_at = checking("run_at", lambda value: read_run_at(value, _ANY_ZONE, "run_at"))

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
    """What happens to due times that were missed. The policy `skip` does not run them. The policy `catch_up` runs them;
    `max_runs` and `max_age_seconds` limit which of them run."""

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

    _check_metadata = checking("metadata", lambda value: read_metadata(value, "metadata"))


class NewAgentSchedule(_Settings):
    """A schedule to create. Repeated calls with the same `id` create it once."""

    flow: Flow
    trigger: AgentTrigger
    target: AgentTarget
    id: Name | None = None

    _check_id = checking("id", lambda value: check_id(value, "id"))

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
    """A schedule of an agent. Its `origin` says how the schedule was created:

    - `config`: the code of the agent declares the schedule.
    - `api`: a caller of the API created the schedule.
    - `tool`: the agent created the schedule for its user, with a tool.
    """

    version: int = Field(description="Counts changes. It is the ETag.")
    name: str = Field(description="The schedule that fires it, among those of `/schedules`.")
    origin: str = Field(
        description="`config`: the agent's code declares it. `api`: a caller created it. `tool`: the agent created it "
        "for its user."
    )


class AgentSchedulesShown(BaseModel):
    items: list[AgentScheduleShown]
    next: NextAfter


class AgentScheduleCreated(Shown, view=CreatedSchedule):
    """A schedule that was created."""

    warnings: list[str] = Field(description="What may surprise.")
    record: AgentScheduleShown


class AgentScheduleTriggered(Shown, view=TriggeredRun):
    """The answer to a trigger: whether the run has started, waits, or was skipped."""

    # The defaults are for answers that were kept before these fields existed.
    status: Literal["started", "buffered", "waiting", "skipped"] = "started"
    reason: str | None = Field(None, description="Why the run waits, or was skipped.")


class AgentScheduleRunShown(Shown, view=ScheduleRunRecord):
    """The record of one due time of a schedule, or of several missed due times.

    - `count`: the number of due times. If it is above 1, all of them were missed. The first is `scheduled_for`, and the
      last is `last`.
    - `origin`: `auto` for a due time. For a run that a call of `trigger` started, a text that identifies the call.
    """

    request_id: str | None = Field(description="The turn.")
    count: int = Field(description="The number of due times. Above 1, all of them were missed; the last one is `last`.")
    origin: str = Field(description="`auto` for a due time; otherwise a text that identifies the trigger.")


class AgentScheduleRunsShown(BaseModel):
    items: list[AgentScheduleRunShown]
    next: NextBefore
