"""Define the HTTP request bodies and answers about durable functions."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from ostinato.errors import is_text
from ostinato.faces.http.shapes.common import Moment, NextAfterNumber, NextBefore, Object, RequestBody, Shown, Text
from ostinato.faces.http.shapes.runs import check_option
from ostinato.faces.options import FUNCTION_OPTIONS
from ostinato.functions.views import DeclaredInfo, DrainInfo, FunctionInfo, StepInfo


class StartFunction(RequestBody, options=FUNCTION_OPTIONS):
    """Start a function. Requests with the same `id` start it once."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"function": "onboard", "input": {"user": "ada"}}]}
    )

    function: Text
    input: Object = Field(default_factory=dict)
    id: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    at: Moment | None = None
    send: Object = Field(
        default_factory=dict,
        description="Messages by name. They are in its mailbox from the beginning, or sent if the run exists already.",
    )
    parent: Text | None = None

    @field_validator("deadline", "concurrency")
    @classmethod
    def _can_be_read(cls, value: Any, info: ValidationInfo) -> Any:
        return check_option(value, str(info.field_name), "function")

    @field_validator("send")
    @classmethod
    def _names_messages(cls, value: Object) -> Object:
        for name in value:
            if not is_text(name):
                raise ValueError(f"the name of a message {name!r} is not a text of at least one character without NUL")
        return value

    def options(self) -> Object:
        return self.model_dump(exclude={"function", "input", "id", "at", "send"}, exclude_none=True)


class SendMessage(RequestBody):
    """Send a message. Requests with the same `id` send it once."""

    name: Text
    payload: Any = None
    id: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class FunctionStarted(Shown):
    id: str
    new: bool = Field(description="False where the id was taken before.")


class MessageTaken(BaseModel):
    run_id: str
    name: str


class FunctionShown(Shown, view=FunctionInfo):
    """A run of a function."""

    status: str
    waits_for: str | None = Field(description="What it waits for, in words.")
    state: Any = Field(description="What its code shows by `ctx.set_state`.")
    version: int | None = Field(description="The version of the code it began with; null until it has begun.")
    code: str | None = Field(description="A digest of the code it began with; null until it has begun.")
    generation: int = Field(description="How often it continued with an empty history.")


class FunctionsShown(BaseModel):
    items: list[FunctionShown]
    next: NextBefore


class FunctionOutcome(Shown):
    """How a run ended."""

    id: str
    name: str
    status: str
    reason: str | None
    result: Any
    error: Any
    finished: datetime


class StepShown(Shown, view=StepInfo):
    """One recorded operation of a run."""

    position: str = Field(description="Its number in the code, or in its branch of a gather: `3.1.0`.")
    seq: int | None = Field(description="Its place in the order of outcomes.")
    due: datetime | None = Field(description="When it wakes up, times out or is tried again.")


class StepsShown(BaseModel):
    items: list[StepShown]
    next: NextAfterNumber


class DeclaredShown(Shown, view=DeclaredInfo):
    """A version of a function that a node has declared."""


class DeclaredFunctions(BaseModel):
    items: list[DeclaredShown]
    next: NextAfterNumber


class DrainShown(Shown, view=DrainInfo):
    """The unfinished runs that began with one version of a function's code."""

    pinned: bool = Field(description="No other version goes on with them.")
    declared: bool = Field(description="A node has declared this version with the same code.")
    current: bool = Field(description="It is the newest version, too.")


class DrainList(BaseModel):
    items: list[DrainShown]
    next: NextAfterNumber
