"""Schedules on the wire."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool

from ostinato.faces.http.shapes.common import Given, Length, Moment, Object, Overlap, Shown, Text
from ostinato.schedules.model import Policies
from ostinato.schedules.views import shown_policies
from ostinato.when import Spec


class CatchUpShown(Shown):
    mode: str
    window: float | None = Field(description="Seconds.")
    most: int | None
    pace: int


class PoliciesShown(BaseModel):
    overlap: Overlap
    catchup: CatchUpShown
    pause_after_failures: int | None
    max_buffer: int | None
    keep: int | None


def _policies(value: Any) -> Any:
    return shown_policies(value) if isinstance(value, Policies) else value


def _spec(value: Any) -> Any:
    return value.to_json() if isinstance(value, Spec) else value


class OccurrenceShown(Shown):
    """One due time and what became of it; with a `count` above one, a stretch of times up to `last`."""

    nominal: datetime
    due: datetime
    origin: str
    status: str
    reason: str | None
    run_id: str
    attempt: int
    started: datetime | None
    finished: datetime | None
    result: Any
    error: Any
    coalesced: int
    blocked_by: str | None
    count: int
    last: datetime
    previous: datetime | None
    policy: str | None


class LatenessShown(Shown):
    late: int
    will_run: int


class ScheduleShown(Shown):
    id: str
    name: str
    namespace: str
    state: str
    reason: str | None
    spec: Annotated[Object, BeforeValidator(_spec)]
    words: str
    job: str
    input: Object
    options: Object
    policies: Annotated[PoliciesShown, BeforeValidator(_policies)]
    paused: datetime | None
    notes: str
    remaining: int | None
    token: int
    next: datetime | None
    upcoming: list[datetime]
    running: list[str]
    waiting: int
    backfills: int
    counts: dict[str, int]
    recent: list[OccurrenceShown]
    last_result: Any
    last_failure: Any
    failures: int
    last_success: datetime | None
    lateness: LatenessShown
    created: datetime
    updated: datetime
    memo: Any
    tags: list[str]
    attributes: Object
    origin: str | None
    actor: str | None


class SchedulesShown(BaseModel):
    items: list[ScheduleShown]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


class Definition(Given):
    """When, what, and how. What is not given is as it would be for a new schedule, or, in an update, as it is."""

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

    spec: str | Object | None = Field(default=None, description="A cron line, or the parts of a spec.")
    action: str | Object | None = Field(
        default=None, description='A job\'s name, `{"job": …}`, `{"http": {…}}` or `{"journey": …}`.'
    )
    input: Object | None = None
    overlap: Overlap | None = None
    catchup: str | Object | None = Field(default=None, description="`skip`, `latest`, `all`, or a window such as `1h`.")
    pause_after_failures: int | None = Field(default=None, ge=1, le=1 << 31)
    max_buffer: int | None = Field(default=None, ge=1, le=1 << 31)
    keep: int | None = Field(default=None, ge=1, le=1 << 31)
    remaining: int | None = Field(default=None, ge=0, le=1 << 53)
    notes: str | None = Field(default=None, max_length=1000)
    memo: Any = None
    tags: list[str] | None = None
    attributes: Object | None = None
    queue: Text | None = None
    priority: int | None = Field(default=None, ge=-(1 << 31), le=(1 << 31) - 1)
    retry: int | Object | None = None
    timeout: Length | None = None
    deadline: Length | None = None
    serial_key: Text | None = None
    concurrency: int | Object | None = None
    at_most_once: StrictBool | None = None

    def given(self) -> Object:
        return self.model_dump(exclude_unset=True, exclude={"name", "paused", "trigger"})


class NewSchedule(Definition):
    name: Text
    paused: StrictBool = False
    trigger: StrictBool = Field(default=False, description="Run it now, too.")


class ChangedShown(Shown):
    """The answer to a change. `token` is the conflict token to go on with; it is in the ETag, too."""

    name: str
    token: int
    run: Object | None = None
    backfill: str | None = None
    lateness: LatenessShown


class Upserted(ChangedShown):
    done: Literal["created", "updated", "unchanged"]


class Note(Given):
    note: str = Field(default="", max_length=1000)


class Resume(Note):
    catchup: str | Object | None = Field(
        default=None, description="What to do with times that passed meanwhile: null passes them over."
    )


class Trigger(Given):
    input: Object | None = None
    overlap: Overlap | None = None


class Fill(Given):
    first: Moment
    last: Moment
    overlap: Overlap | None = None
    input: Object | None = None
    rate: float | None = Field(default=None, gt=0, le=1_000_000, description="The most runs to start in a second.")


class BackfillShown(Shown):
    id: str
    first: datetime
    last: datetime
    state: str
    made: int
    total: int
    overlap: str | None
    rate: float | None
    created: datetime
    finished: datetime | None
    reason: str | None
    actor: str | None


class Backfills(BaseModel):
    items: list[BackfillShown]
    next: str | None = Field(description="Pass as `before` for the next page; null on the last.")


class One(Given):
    at: Moment


class MoveOne(One):
    to: Moment


class History(BaseModel):
    items: list[OccurrenceShown]
    next: str | None = Field(description="Pass as `before` for the next page; null on the last.")


class Times(BaseModel):
    items: list[datetime]
    next: datetime | None = Field(description="Pass as `after` for the next page; null on the last.")


class ExplanationShown(Shown):
    outcome: str
    reason: str | None
    nominal: datetime | None
    sentences: list[str]
    records: list[OccurrenceShown]


class Bulk(Given):
    """Do the same to every schedule that fits."""

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


class ComingShown(Shown):
    at: datetime
    nominal: datetime
    schedule: str
    job: str
    lateness: LatenessShown


class Coming(BaseModel):
    items: list[ComingShown]
