"""Define the HTTP request bodies and answers about runs and jobs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from ostinato.errors import OstinatoError
from ostinato.faces.http.shapes.common import (
    Moment,
    NextAfter,
    NextAfterLatest,
    NextAfterNumber,
    NextBefore,
    Object,
    RequestBody,
    Shown,
    Text,
)
from ostinato.faces.options import RUN_OPTIONS
from ostinato.model import read_retry
from ostinato.run_views import LogLine, RunInfo
from ostinato.start_checks import read_limit, read_positive_length


class RunShown(Shown, view=RunInfo):
    """The state of a run or of an attempt. In a list of attempts, each item is the state of one attempt. In any other
    answer, the state of a run is the state of its newest attempt."""

    status: str


class Runs(BaseModel):
    items: list[RunShown]
    next: NextBefore


class Attempts(BaseModel):
    items: list[RunShown]
    next: NextAfterNumber


class LogShown(Shown, view=LogLine):
    pass


class Log(BaseModel):
    items: list[LogShown]
    next: NextAfterLatest


def check_option(value: Any, name: str, what: str) -> Any:
    """Return the value of the run option `name` if it is valid, else raise `ValueError`.

    Pydantic reports a `ValueError` together with all other errors of the body. `what` is `"job"` or `"function"`.
    """
    try:
        match name:
            case "retry":
                read_retry(value)
            case "concurrency":
                read_limit(value, what)
            case _:
                read_positive_length(value, name)
    except (OstinatoError, TypeError) as problem:
        raise ValueError(str(problem)) from None
    return value


class Start(RequestBody, options=RUN_OPTIONS):
    """Start a job. Requests with the same `id` start it once."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"input": {"customer": 7}, "retry": 3, "timeout": "30s"}]}
    )

    input: Object = Field(default_factory=dict)
    id: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    at: Moment | None = None
    parent: Text | None = None

    @field_validator("retry", "timeout", "deadline", "concurrency")
    @classmethod
    def _can_be_read(cls, value: Any, info: ValidationInfo) -> Any:
        return check_option(value, str(info.field_name), "job")

    def options(self) -> Object:
        return self.model_dump(exclude={"input", "id", "at", "inputs", "ids"}, exclude_none=True)


class StartMany(Start):
    inputs: list[Object] = Field(min_length=1, max_length=10_000)
    ids: list[Text] | None = None

    @field_validator("input", "id")
    @classmethod
    def _only_for_one_run(cls, value: Any, info: ValidationInfo) -> Any:
        if value:
            raise ValueError(f"start-many takes {info.field_name}s, not {info.field_name}")
        return value

    @field_validator("ids")
    @classmethod
    def _one_id_for_each(cls, value: Any, info: ValidationInfo) -> Any:
        inputs = info.data.get("inputs")
        if value is not None and inputs is not None and len(value) != len(inputs):
            raise ValueError(f"there are {len(inputs)} inputs and {len(value)} ids; give one id for each")
        return value


class Started(Shown):
    id: str
    new: bool = Field(description="False where the id was taken before.")
    note: str | None = Field(default=None, description="What may be a mistake, such as a job that no node knows.")


class ManyStarted(BaseModel):
    items: list[Started]


class Stopped(BaseModel):
    status: str = Field(description="The status of the run after the call.")


class JobShown(BaseModel):
    name: str
    queue: str
    priority: int
    serial_key: str | None
    at_most_once: bool
    here: bool = Field(description="Whether this very process knows the function.")


class Jobs(BaseModel):
    items: list[JobShown]
    next: NextAfter
