"""Define the HTTP request bodies and answers about schedules, their occurrences and their backfills."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from ostinato.faces.http.routing import Body
from ostinato.faces.http.shapes.common import Moment, NextAfter, NextBefore, Number, Object, RequestBody, Shown, Text
from ostinato.faces.options import RUN_OPTIONS, SCHEDULE_OPTIONS
from ostinato.schedules.lateness import Lateness
from ostinato.schedules.model import OverlapName, Policies
from ostinato.schedules.views import BackfillInfo, OccurrenceInfo, ScheduleInfo, policies_json
from ostinato.schedules.views import Coming as ComingInfo
from ostinato.when import Spec


class CatchUpShown(Shown):
    mode: str
    window: float | None = Field(description="Seconds.")
    most: int | None
    pace: int


class PoliciesShown(BaseModel):
    overlap: OverlapName
    catchup: CatchUpShown
    pause_after_failures: int | None
    max_buffer: int | None
    keep: int | None


def _policies(value: Any) -> Any:
    return policies_json(value) if isinstance(value, Policies) else value


def _spec(value: Any) -> Any:
    return value.to_json() if isinstance(value, Spec) else value


class OccurrenceShown(Shown, view=OccurrenceInfo):
    """One due time and its outcome. If `count` is above one, the record represents `count` due times, from `nominal` to
    `last`."""

    status: str


class LatenessShown(Shown, view=Lateness):
    pass


class ScheduleShown(Shown, view=ScheduleInfo):
    state: str
    spec: Annotated[Object, BeforeValidator(_spec)]
    starts: str = Field(description="What it starts: a job's name, or a kind and a name as in `journey greet`.")
    policies: Annotated[PoliciesShown, BeforeValidator(_policies)]
    recent: list[OccurrenceShown]
    lateness: LatenessShown


class SchedulesShown(BaseModel):
    items: list[ScheduleShown]
    next: NextAfter


class Definition(RequestBody, options=(*SCHEDULE_OPTIONS, *RUN_OPTIONS)):
    """The definition of a schedule: when it runs, what it starts, and its policies. In a new schedule, a field that is
    left out has its default. In an update, it keeps its value."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "spec": {"cron": ["0 9 * * 1-5"], "tz": "Europe/Berlin"},
                    "action": {"job": "report", "input": {"kind": "daily"}, "timeout": "10m"},
                    "overlap": "buffer_one",
                    "catchup": "1h",
                }
            ]
        },
    )

    spec: str | Object | None = Field(
        default=None, description="A cron line, `every 15m`, a time, or the parts of a spec."
    )
    action: str | Object | None = Field(
        default=None,
        description='A job\'s name, `{"job": …}`, `{"http": {…}}`, `{"journey": …}` or `{"function": …}`.',
    )

    def fields(self) -> Object:
        """Return the fields that were sent, except `name`, `paused` and `trigger`."""
        return self.model_dump(exclude_unset=True, exclude={"name", "paused", "trigger"})


def _need_spec(spec: str | Object | None) -> str | Object:
    if spec is None:
        raise ValueError("spec is missing; write {'cron': '0 9 * * *'}, or {} for a spec without times")
    return spec


class WholeDefinition(Definition):
    """A definition that replaces another one. Fields that are left out get their defaults."""

    spec: Annotated[str | Object | None, AfterValidator(_need_spec)] = Field(
        default=None,
        validate_default=True,
        description="Required: a cron line, `every 15m`, a time, the parts of a spec, or {} for no times.",
    )


class NewSchedule(Definition):
    name: Text
    paused: StrictBool = False
    trigger: StrictBool = Field(default=False, description="Run it now, too.")


class ChangedShown(Shown):
    """The answer to a change. `token` is the new conflict token; the ETag contains it, too."""

    name: str
    token: int
    run: Object | None = None
    backfill: str | None = None
    lateness: LatenessShown
    note: str | None = Field(default=None, description="What may be a mistake, such as a job that no node knows.")


class Upserted(ChangedShown):
    done: Literal["created", "updated", "unchanged"]


class Note(RequestBody):
    note: str = Field(default="", max_length=1000)


NoteBody = Annotated[Note, Body(default_factory=Note)]


class Resume(Note):
    catchup: str | Object | None = Field(
        default=None, description="What to do with times that passed meanwhile: null passes them over."
    )


class Trigger(RequestBody):
    input: Object | None = None
    overlap: OverlapName | None = None


class Fill(RequestBody):
    first: Moment
    last: Moment
    overlap: OverlapName | None = None
    input: Object | None = None
    rate: Number | None = Field(default=None, gt=0, le=1_000_000, description="The most runs to start in a second.")


class BackfillShown(Shown, view=BackfillInfo):
    pass


class Backfills(BaseModel):
    items: list[BackfillShown]
    next: NextBefore


class One(RequestBody):
    at: Moment


class MoveOne(One):
    to: Moment


class History(BaseModel):
    items: list[OccurrenceShown]
    next: NextBefore


class Times(BaseModel):
    items: list[datetime]
    next: datetime | None = Field(description="Pass as `after` for the next page; null on the last.")


class ExplanationShown(Shown):
    outcome: str
    reason: str | None
    nominal: datetime | None
    sentences: list[str]
    records: list[OccurrenceShown]


class Bulk(RequestBody):
    """Make the same change to every schedule that matches."""

    do: Literal["pause", "resume", "delete", "trigger", "backfill"]
    match: str = Field(default="*", max_length=512, description="A pattern of names, such as `billing-*`.")
    tag: str | None = None
    state: Literal["running", "paused", "completed", "parked"] | None = None
    job: str | None = None
    note: str = Field(default="", max_length=1000)
    catchup: str | Object | None = None
    first: Moment | None = None
    last: Moment | None = None


class BulkDone(BaseModel):
    done: int
    failed: dict[str, str]
    notes: dict[str, str] = Field(default_factory=dict, description="What will undo the change, by schedule.")


class ComingShown(Shown, view=ComingInfo):
    lateness: LatenessShown


class Coming(BaseModel):
    items: list[ComingShown]
