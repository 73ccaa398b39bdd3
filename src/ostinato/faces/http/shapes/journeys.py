"""Define the HTTP request bodies and answers about journeys, their definitions and their bindings.

Fields have the names that the journey language uses.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ostinato.faces.http.shapes.common import NextAfter, NextBefore, RequestBody, Shown

Phase = Literal["RUNNING", "SUCCEEDED", "FAILED"]


class Link(BaseModel):
    href: str
    method: str


class _Linked(BaseModel):
    """The base of answers about a journey.

    An answer may have further fields: the context fields that the journey's definition puts into responses.
    """

    model_config = ConfigDict(extra="allow")

    journeyId: str
    journeyName: str
    links: dict[str, Link] | None = Field(default=None, alias="_links")


_NOTE = "Why nothing will come of waiting: no node is at work on the store."


class JourneyStartResponse(_Linked):
    statusUrl: str
    noted: str | None = Field(default=None, alias="_note", description=_NOTE)


class JourneyStatusShown(_Linked):
    phase: Phase
    currentState: str = Field(description="The state it is in; during a parallel, the parallel.")
    updatedAt: str
    tags: list[str] | None = None
    attributes: dict[str, str] | None = None
    noted: str | None = Field(default=None, alias="_note", description=_NOTE)


class JourneyHeard(_Linked):
    """A short answer without the journey's status. The calls that submit a step and that cancel a journey give this
    answer if the journey's read guard refuses the caller."""

    noted: str | None = Field(default=None, alias="_note", description=_NOTE)


class JourneyError(BaseModel):
    model_config = ConfigDict(extra="allow")

    code: str
    reason: str | None = None


class JourneyOutcomeShown(_Linked):
    phase: Literal["SUCCEEDED", "FAILED"]
    status: str = Field(description="What the output says of itself, else the phase, else the error's code.")
    output: Any = None
    error: JourneyError | None = None
    outcomeId: str | None = None
    tags: list[str] | None = None
    attributes: dict[str, str] | None = None


class JourneysShown(BaseModel):
    items: list[JourneyStatusShown]
    next: NextBefore
    nextPageToken: str | None = Field(description="The same.")


class Reason(RequestBody):
    reason: str = Field(default="", max_length=1000)


class NewDefinition(RequestBody):
    """A definition, as text."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"text": "apiVersion: v1\nkind: Journey\n…", "file": "payment.journey.yaml"}]},
    )

    text: str = Field(min_length=1, description="YAML or JSON.")
    file: str = Field(default="journey.yaml", min_length=1, max_length=512, description="What errors call it.")
    documents: dict[str, str] = Field(
        default_factory=dict, description="The OpenAPI documents that it refers to, by `openApiRef`."
    )


class ProblemShown(BaseModel):
    code: str
    severity: Literal["error", "warning"]
    line: int
    column: int
    state: str | None
    message: str
    suggestion: str


class Validated(BaseModel):
    valid: bool
    problems: list[ProblemShown]


class DefinitionListed(Shown):
    name: str
    version: str
    kind: Literal["Journey", "Api"]
    file: str
    digest: str
    created: datetime
    actor: str | None


class DefinitionShown(DefinitionListed):
    source: str | None = Field(description="Its text.")


class DefinitionMade(DefinitionShown):
    new: bool = Field(description="False if the definition was stored already, with the same content.")
    warnings: list[ProblemShown]


class DefinitionsShown(BaseModel):
    items: list[DefinitionListed]
    next: NextAfter


class BindingShown(Shown):
    """A schedule that a journey has created."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)

    scheduleId: str = Field(validation_alias="id")
    journeyName: str = Field(validation_alias="journey")
    journeyVersion: str = Field(validation_alias="version")
    startStateId: str = Field(validation_alias="start")
    subjectId: str | None = Field(validation_alias="subject")
    startAt: datetime = Field(validation_alias="start_at")
    interval: str
    maxRuns: int = Field(validation_alias="max_runs")
    runsExecuted: int = Field(validation_alias="runs_executed")
    state: str
    schedule: str = Field(description="The name of its schedule.")
    next: datetime | None
    created: datetime
    updated: datetime


class BindingsShown(BaseModel):
    items: list[BindingShown]
    next: NextAfter
