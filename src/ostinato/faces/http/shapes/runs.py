"""Runs and jobs on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from ostinato.faces.http.shapes.common import Given, Length, Moment, Object, Shown, Text


class RunShown(Shown):
    """Where a run stands: the chain of its attempts as one thing, the newest attempt shown."""

    id: str
    name: str
    kind: str
    namespace: str
    key: str | None
    status: str
    reason: str | None
    attempt: int
    queue: str
    priority: int
    due: datetime
    created: datetime
    started: datetime | None
    finished: datetime | None
    input: Any
    result: Any
    error: Any
    checkpoint: Any
    progress: Any
    node: str | None
    parent_id: str | None
    serial_key: str | None
    concurrency_key: str | None
    actor: str | None
    run_id: str


class Runs(BaseModel):
    items: list[RunShown]
    next: str | None = Field(description="Pass as `before` for the next page; null on the last.")


class Attempts(BaseModel):
    items: list[RunShown]
    next: int | None = Field(description="Pass as `after` for the next page; null on the last.")


class LogShown(Shown):
    at: datetime
    level: str
    message: str


class Log(BaseModel):
    items: list[LogShown]
    next: int | None = Field(description="Pass as `after` for the next page; null where there is no more for now.")


class Start(Given):
    """Start a job. With an `id` it is started once, however often this is sent."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"input": {"customer": 7}, "retry": 3, "timeout": "30s"}]}
    )

    input: Object = Field(default_factory=dict)
    id: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    at: Moment | None = None
    queue: Text | None = None
    priority: int | None = Field(default=None, ge=-(1 << 31), le=(1 << 31) - 1)
    retry: int | Object | None = None
    timeout: Length | None = None
    deadline: Length | None = None
    serial_key: Text | None = None
    concurrency: int | Object | None = None
    at_most_once: StrictBool | None = None
    parent: Text | None = None

    def options(self) -> Object:
        found = self.model_dump(exclude={"input", "id", "at", "inputs", "ids"}, exclude_none=True)
        return {name: value for name, value in found.items() if value is not None}


class StartMany(Start):
    inputs: list[Object] = Field(min_length=1, max_length=10_000)
    ids: list[Text] | None = None


class Started(BaseModel):
    id: str
    new: bool = Field(description="False where the id was taken before.")


class ManyStarted(BaseModel):
    items: list[Started]


class Stopped(BaseModel):
    status: str = Field(description="Where the run stands after that.")


class JobShown(BaseModel):
    name: str
    queue: str
    priority: int
    serial_key: str | None
    at_most_once: bool
    here: bool = Field(description="Whether this very process knows the function.")


class Jobs(BaseModel):
    items: list[JobShown]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")
