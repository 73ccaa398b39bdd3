"""Define the HTTP request bodies and answers for planning, applying and exporting files of schedules."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from ostinato.faces.http.shapes.common import NO_NUL, NextAfter, Object, RequestBody


class File(RequestBody):
    """A file of schedules: either its `text`, which is YAML or JSON, or its parsed content as `schedules`."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"schedules": {"nightly": {"spec": "0 2 * * *", "action": "report"}}, "name": "billing"}]
        },
    )

    text: str | None = Field(default=None, pattern=NO_NUL)
    schedules: dict[str, Object] | None = None
    file: str = Field(default="schedules.yaml", min_length=1, max_length=512, pattern=NO_NUL, description="In errors.")
    name: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        pattern=NO_NUL,
        description="What the schedules are known to come from; else the file's own name.",
    )
    prune: StrictBool = Field(default=False, description="Close what it declared before and declares no longer.")
    take: StrictBool = Field(default=False, description="Take over schedules that something else declares.")


class ChangeShown(BaseModel):
    field: str
    old: Any
    new: Any


class StepShown(BaseModel):
    """What a plan does with one schedule. A plan belongs to one origin, which is the file or the program that declares
    schedules. Two values of `verb` depend on the origin:

    - `missing`: the origin has declared the schedule before, but no longer declares it.
    - `taken`: another origin declares the schedule. `owner` is that origin.
    """

    name: str
    verb: Literal["create", "update", "unchanged", "missing", "taken"]
    words: str = Field(description="What is created, or what changes.")
    changes: list[ChangeShown]
    before: list[str] = Field(description="Its next times, on the clock of its zone.")
    after: list[str]
    owner: str | None


class PlanShown(BaseModel):
    done: bool
    steps: list[StepShown]
    counts: dict[str, int]
    pruned: bool
    notes: list[str]


class Exported(BaseModel):
    schedules: dict[str, Object] = Field(description="By name, what a file says.")
    left_out: dict[str, str] = Field(description="By name, why a file cannot declare this schedule.")
    next: NextAfter
