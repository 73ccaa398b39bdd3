"""Define the HTTP request bodies and answers about workflows."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from ostinato.faces.http.shapes.common import NextAfter, NextBefore, RequestBody, Shown
from ostinato.workflows.views.overview import InputGroup, WorkflowInfo
from ostinato.workflows.views.records import Cause, EventInfo, HandlerRunInfo, InputInfo, OutputInfo, RunDetail


class Resolve(RequestBody):
    choice: Literal["reauthenticate", "approve", "resume", "try_again", "did_not_happen", "skip"]
    run_id: str | None = Field(default=None, max_length=64, description="Only if this run blocks the workflow.")


class SkipEvent(RequestBody):
    topic: str = Field(min_length=1, max_length=200)
    message_id: str = Field(min_length=1, max_length=1000)


class InputGroupShown(Shown, view=InputGroup):
    """The inputs of one source and type, counted by status."""


class WorkflowGlance(Shown, view=WorkflowInfo):
    """The overview of a workflow."""

    status: Literal["Running", "Idle", "Needs attention", "Stopped"]
    issue: str | None = Field(description="What is wrong, in words.")
    choices: list[str] = Field(description="How the problem can be resolved.")
    schedule: list[str] = Field(description="When each producer runs, in words.")
    timing: str = Field(description="When it checks next, in words.")
    pending: dict[str, int] = Field(description="How many events of each topic wait.")


class WorkflowShown(WorkflowGlance):
    """A workflow with its inputs and its latest activity."""

    inputs: list[InputGroupShown]
    attention: str | None = Field(description="How many inputs need a person, in words.")
    activity: list[str] = Field(description="What its latest runs did, in words, the latest first.")


class WorkflowsShown(BaseModel):
    items: list[WorkflowGlance]
    next: NextAfter


class HandlerRunShown(Shown, view=HandlerRunInfo):
    """One attempt of a handler."""

    retry_of: str | None = Field(description="The attempt that it follows.")
    title: str | None = Field(description="What `prepare` said would be done.")


class HandlerRunsShown(BaseModel):
    items: list[HandlerRunShown]
    next: NextBefore


class WorkflowEventShown(Shown, view=EventInfo):
    """An event of a topic."""


class WorkflowEventsShown(BaseModel):
    items: list[WorkflowEventShown]
    next: NextAfter


class InputShown(Shown, view=InputInfo):
    """An input of a workflow: an object of another system. It causes events."""

    status: Literal["pending", "done", "skipped"]
    attention: Literal["blocked", "stale"] | None = Field(description="Why a person should look at it.")
    outputs: int = Field(description="How many effects stem from it.")
    result: str = Field(description="What came of it, in words.")


class InputsShown(BaseModel):
    items: list[InputShown]
    next: NextBefore


class CauseShown(Shown, view=Cause):
    """An input that caused an output."""


class OutputShown(Shown, view=OutputInfo):
    """An effect on another system."""

    status: Literal["applied", "unconfirmed", "failed"]
    inputs: list[CauseShown]
    stems_from: str = Field(description="The inputs that led to it, in words.")


class OutputsShown(BaseModel):
    items: list[OutputShown]
    next: NextBefore


class RunDetailShown(Shown, view=RunDetail):
    """A run of a handler with its attempts, the events that it reserved, and its effect."""

    run: HandlerRunShown
    attempts: list[HandlerRunShown]
    events: list[WorkflowEventShown]
    output: OutputShown | None
