"""What goes over the wire, both ways: named, typed, with examples. Unknown fields are refused."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field

from ostinato.schedules.model import Policies
from ostinato.when import Spec


class Given(BaseModel):
    """What is sent to us: what we do not know is refused."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=False)


class Shown(BaseModel):
    model_config = ConfigDict(from_attributes=True)


NO_NUL = r"^[^\x00]*$"  # neither store keeps a NUL in a text
Length = Annotated[str | float, Field(description="A length of time: `30s`, `5m`, `PT1H`, or seconds.")]


def _moment(value: Any) -> Any:
    """A moment is written out. Pydantic would take a number for seconds or milliseconds, by its size."""
    if isinstance(value, datetime) or (isinstance(value, str) and _MOMENT.match(value)):
        return value
    raise ValueError("write it as in RFC 3339, with an offset: 2026-03-01T09:00:00Z")


_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")
Moment = Annotated[
    AwareDatetime,
    BeforeValidator(_moment),
    Field(description="RFC 3339, with an offset.", examples=["2026-03-01T09:00:00Z"]),
]
Text = Annotated[str, Field(min_length=1, max_length=512)]
Overlap = Literal["skip", "buffer_one", "buffer_all", "cancel_other", "terminate_other", "allow_all"]
Object = dict[str, Any]


# Runs and jobs


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


class LogShown(Shown):
    at: datetime
    level: str
    message: str


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
    at_most_once: bool | None = None
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


class Stop(Given):
    reason: str = Field(default="", max_length=1000)


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


# Schedules


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
    if not isinstance(value, Policies):
        return value
    catchup = value.catchup
    window = None if catchup.window is None else catchup.window / 1_000_000
    return {
        "overlap": value.overlap.value,
        "catchup": {"mode": catchup.mode, "window": window, "most": catchup.most, "pace": catchup.pace},
        "pause_after_failures": value.pause_after_failures,
        "max_buffer": value.max_buffer,
        "keep": value.keep,
    }


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
                    "spec": {"cron": ["0 9 * * 1-5"], "zone": "Europe/Berlin"},
                    "action": {"job": "report", "input": {"kind": "daily"}, "timeout": "10m"},
                    "overlap": "buffer_one",
                    "catchup": "1h",
                }
            ]
        },
    )

    spec: str | Object | None = Field(default=None, description="A cron line, or the parts of a spec.")
    action: str | Object | None = Field(default=None, description='A job\'s name, `{"job": …}` or `{"http": {…}}`.')
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
    at_most_once: bool | None = None

    def given(self) -> Object:
        return self.model_dump(exclude_unset=True, exclude={"name", "paused", "trigger"})


class NewSchedule(Definition):
    name: Text
    paused: bool = False
    trigger: bool = Field(default=False, description="Run it now, too.")


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
    rate: float | None = Field(default=None, gt=0, le=1_000_000, description="At most so many in a second.")


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


class One(Given):
    at: Moment


class MoveOne(One):
    to: Moment


class History(BaseModel):
    items: list[OccurrenceShown]


class Times(BaseModel):
    items: list[datetime]


class ExplanationShown(Shown):
    outcome: str
    reason: str | None
    nominal: datetime | None
    sentences: list[str]
    records: list[OccurrenceShown]


class Simulate(Given):
    """What would happen to a schedule over a period: by name, or a draft."""

    schedule: Text | None = None
    draft: Definition | None = None
    first: Moment
    last: Moment
    run_time: float | list[float] = Field(default=0, description="Seconds, or several to draw from.")
    outages: list[tuple[Moment, Moment]] = Field(default_factory=list, max_length=1000)
    pauses: list[tuple[Moment, Moment]] = Field(default_factory=list, max_length=1000)
    seed: int = 0


class SimulatedShown(BaseModel):
    nominal: datetime
    due: datetime
    outcome: str
    reason: str | None
    started: datetime | None
    ended: datetime | None
    blocked_by: datetime | None
    stands_for: int


class SimulationShown(BaseModel):
    counts: dict[str, int]
    items: list[SimulatedShown]


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


# Events, nodes, access


class EventShown(Shown):
    seq: int
    at: datetime
    namespace: str
    name: str
    subject: str
    data: Object
    actor: str | None


class Events(BaseModel):
    items: list[EventShown]
    next: int | None = Field(description="Pass as `after` for the next page; null where there is no more for now.")


class NodeShown(BaseModel):
    id: str
    name: str
    started: datetime
    lease_until: datetime
    alive: bool
    queues: list[str]
    jobs: list[str]
    version: str
    zone_rules: str


class Nodes(BaseModel):
    items: list[NodeShown]


class NamespaceShown(BaseModel):
    name: str
    notes: str
    created: datetime
    actor: str | None


class Namespaces(BaseModel):
    items: list[NamespaceShown]


class NewNamespace(Given):
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]
    notes: str = Field(default="", max_length=1000)


class TokenShown(BaseModel):
    id: str
    namespace: str | None
    role: str
    label: str
    created: datetime
    expires: datetime | None
    used: datetime | None
    revoked: datetime | None
    actor: str | None


class Tokens(BaseModel):
    items: list[TokenShown]


class NewToken(Given):
    role: Literal["admin", "operator", "reader"] = "reader"
    namespace: Annotated[str, Field(max_length=63)] | None = Field(default=None, description="null: every namespace.")
    label: str = Field(default="", max_length=200)
    expires_in: Length | None = Field(default=None, description="Never, unless a length is given.")


class TokenMade(TokenShown):
    token: str = Field(description="Shown this once, and never again.")


# Webhooks


Url = Annotated[str, Field(min_length=1, max_length=2000, examples=["https://hooks.example/in"])]
Patterns = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(min_length=1, max_length=50, description="Names of events, such as `run:failed` or `schedule:*`."),
]
Secret = Annotated[
    str | list[str] | None,
    Field(description="A reference such as `secret://hook-key`, or several while one is being replaced."),
]


class NewWebhook(Given):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [{"url": "https://hooks.example/in", "patterns": ["run:failed"], "secret": "secret://hook-key"}]
        },
    )

    url: Url
    patterns: Patterns = ["*"]
    secret: Secret = None
    notes: str = Field(default="", max_length=1000)


class WebhookChange(Given):
    url: Url | None = None
    patterns: Patterns | None = None
    secret: Secret = Field(default=None, description="As for a new one; an empty text takes the signature away.")
    notes: str | None = Field(default=None, max_length=1000)


class Enable(Given):
    after: int | None = Field(default=None, ge=0, lt=1 << 62, description="Begin after this event.")


class Replay(Given):
    after: int = Field(ge=0, lt=1 << 62, description="Everything after this event is sent again.")


class WebhookShown(Shown):
    """A webhook as it stands. Secrets are shown as what they are stored as: references."""

    id: str
    namespace: str
    url: str
    patterns: list[str]
    secrets: list[str]
    notes: str
    state: Literal["active", "disabled"]
    reason: str | None
    seq: int = Field(description="The last event that was looked at for it.")
    failing: datetime | None = Field(description="Since when no delivery has succeeded.")
    succeeded: datetime | None = Field(description="When one last did, to the minute.")
    created: datetime
    updated: datetime
    actor: str | None


class WebhooksShown(BaseModel):
    items: list[WebhookShown]
    next: str | None = Field(description="Pass as `after` for the next page; null on the last.")


# Health


class Diagnose(Given):
    repair: bool = Field(default=False, description="Mend what is safe to mend.")


class CheckShown(Shown):
    name: str
    state: Literal["ok", "notice", "wrong"]
    words: str
    remedy: str = Field(description="What to do, where there is something to do.")


class Diagnosis(BaseModel):
    ok: bool = Field(description="False where anything is wrong.")
    items: list[CheckShown]


class Health(BaseModel):
    status: Literal["ok", "late", "unavailable"]
    version: str
    detail: str = ""
