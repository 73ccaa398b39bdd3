"""Define the HTTP request bodies and answers about runs and jobs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator

from ostinato.errors import OstinatoError
from ostinato.faces.http.shapes.common import Moment, Object, RequestBody, Shown, Text
from ostinato.faces.options import RUN_OPTIONS
from ostinato.model import read_retry
from ostinato.run_views import LogLine, RunInfo
from ostinato.start_checks import read_limit, read_positive_length


class RunShown(Shown, view=RunInfo):
    """The state of a run, which is the state of its newest attempt. In a list of attempts, the state of one attempt."""

    status: str


class Runs(BaseModel):
    items: list[RunShown]
    next: str | None = Field(description="Pass as `before` for the next page; null on the last.")


class Attempts(BaseModel):
    items: list[RunShown]
    next: int | None = Field(description="Pass as `after` for the next page; null on the last.")


class LogShown(Shown, view=LogLine):
    pass


class Log(BaseModel):
    items: list[LogShown]
    next: int | None = Field(description="Pass as `after` for the next page; null where there is no more for now.")


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
        """Return `value` if it is valid for its field, else raise `ValueError`.

        Pydantic reports this error together with all other errors of the body.
        """
        try:
            match info.field_name:
                case "retry":
                    read_retry(value)
                case "concurrency":
                    read_limit(value, "job")
                case name:
                    read_positive_length(value, str(name))
        except (OstinatoError, TypeError) as problem:
            raise ValueError(str(problem)) from None
        return value

    def options(self) -> Object:
        fields = self.model_dump(exclude={"input", "id", "at", "inputs", "ids"}, exclude_none=True)
        return {name: value for name, value in fields.items() if value is not None}


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


class Started(BaseModel):
    id: str
    new: bool = Field(description="False where the id was taken before.")
    note: str | None = Field(default=None, description="What may be a mistake, such as a job that no node knows.")


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
