"""What users see of schedules: parsed, with datetimes and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import orjson

from ostinato.model import Run, StatusName
from ostinato.schedules.decide import Live, advance
from ostinato.schedules.generator import BATCH, upcoming
from ostinato.schedules.model import Policies, Schedule, State
from ostinato.schedules.rows import read_detail
from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros, from_datetime, to_datetime

if TYPE_CHECKING:
    from ostinato.schedules.backfiller import Backfill


@dataclass(frozen=True, slots=True)
class OccurrenceInfo:
    """One due time and what became of it; with a `count` above one, a stretch of times up to `last`. `policy`: the one
    that kept it from running, as it was then; else its own overlap policy, if it has one."""

    nominal: datetime
    due: datetime
    origin: str
    status: StatusName
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
    policy: str | None = None

    @property
    def cursor(self) -> str:
        """Its place in the history of its schedule."""
        return f"{from_datetime(self.nominal):016d}/{self.origin}"


def occurrence_info(run: Run) -> OccurrenceInfo:
    detail = read_detail(run.detail)
    nominal = to_datetime(detail["nominal"])
    return OccurrenceInfo(
        nominal=nominal,
        due=to_datetime(run.due),
        origin=detail["origin"],
        status=run.status.value,
        reason=run.reason,
        run_id=run.root_id,
        attempt=run.number,
        started=_moment(run.started),
        finished=_moment(run.finished),
        result=None if run.result is None else orjson.loads(run.result),
        error=None if run.error is None else orjson.loads(run.error),
        coalesced=detail.get("coalesced", 0),
        blocked_by=detail.get("blocked_by"),
        count=detail.get("count", 1),
        last=to_datetime(detail["last"]) if "last" in detail else nominal,
        previous=_moment(detail.get("previous")),
        policy=detail.get("policy") or detail.get("overlap"),
    )


@dataclass(frozen=True, slots=True)
class Lateness:
    """How many times have passed without anyone dealing with them, and how many of them will run."""

    late: int = 0
    will_run: int = 0

    def __str__(self) -> str:
        return f"{self.late} late, will run {self.will_run}"


def lateness(schedule: Schedule, live: Sequence[Live], now: Micros) -> Lateness:
    """What the next beat would do, said before it happens."""
    if schedule.state is not State.RUNNING or schedule.paused:
        return Lateness()
    found = advance(schedule, live, now, lambda: "?", batch=BATCH + 1)  # all of it, whatever the pace
    if not found.late:
        return Lateness()
    passed = sum(one.added for one in found.passed)
    runs = len(found.start) + len(found.hold)
    return Lateness(passed + runs, runs)


@dataclass(frozen=True, slots=True)
class ScheduleInfo:
    """A schedule as it stands. `token` is its conflict token; `upcoming` its next moments."""

    id: str
    name: str
    namespace: str
    state: Literal["running", "paused", "completed", "parked", "closed"]
    reason: str | None
    spec: Spec
    words: str
    job: str
    input: Mapping[str, Any]
    options: Mapping[str, Any]
    policies: Policies
    paused: datetime | None
    notes: str
    remaining: int | None
    token: int
    next: datetime | None
    upcoming: tuple[datetime, ...]
    running: tuple[str, ...]
    waiting: int
    backfills: int
    counts: Mapping[str, int]
    recent: tuple[OccurrenceInfo, ...]
    last_result: Any
    last_failure: Any
    failures: int
    last_success: datetime | None
    lateness: Lateness
    created: datetime
    updated: datetime
    memo: Any
    tags: tuple[str, ...]
    attributes: Mapping[str, Any]
    origin: str | None
    actor: str | None


def schedule_info(
    schedule: Schedule, live: Sequence[Live], recent: Sequence[OccurrenceInfo], now: Micros
) -> ScheduleInfo:
    ahead = (
        () if schedule.state is not State.RUNNING else tuple(to_datetime(one.actual) for one in upcoming(schedule, now))
    )
    return ScheduleInfo(
        id=schedule.id,
        name=schedule.name,
        namespace=schedule.namespace,
        state=schedule.standing.value,
        reason=schedule.reason,
        spec=schedule.spec,
        words=schedule.spec.describe(),
        job=schedule.action.job,
        input=schedule.action.input,
        options=schedule.action.options,
        policies=schedule.policies,
        paused=_moment(schedule.paused),
        notes=schedule.notes,
        remaining=schedule.remaining,
        token=schedule.token,
        next=_moment(schedule.next),
        upcoming=ahead,
        running=tuple(one.root_id for one in live if not one.waiting),
        waiting=sum(one.waiting for one in live),
        backfills=schedule.memory.backfills,
        counts=schedule.memory.counts,
        recent=tuple(recent),
        last_result=schedule.outcomes.result,
        last_failure=schedule.outcomes.failure,
        failures=schedule.outcomes.failures,
        last_success=_moment(schedule.outcomes.success_at),
        lateness=lateness(schedule, live, now),
        created=to_datetime(schedule.created),
        updated=to_datetime(schedule.updated),
        memo=schedule.memo,
        tags=schedule.tags,
        attributes=schedule.attributes,
        origin=schedule.origin,
        actor=schedule.actor,
    )


@dataclass(frozen=True, slots=True)
class Coming:
    """A moment to come. `lateness` tells of times that have passed and are still to be dealt with."""

    at: datetime
    nominal: datetime
    schedule: str
    job: str
    lateness: Lateness


@dataclass(frozen=True, slots=True)
class Staleness:
    """How long a schedule has not succeeded (None: it never has), and how long its next time has passed. In seconds."""

    namespace: str
    schedule: str
    since_success: float | None
    overdue: float


def staleness(schedule: Schedule, now: Micros) -> Staleness:
    success = schedule.outcomes.success_at
    running = schedule.state is State.RUNNING and not schedule.paused
    overdue = max(0, now - schedule.next) if running and schedule.next is not None else 0
    since = None if success is None else (now - success) / SECOND
    return Staleness(schedule.namespace, schedule.name, since, overdue / SECOND)


@dataclass(frozen=True, slots=True)
class BackfillInfo:
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


def backfill_info(one: Backfill) -> BackfillInfo:
    return BackfillInfo(
        id=one.id,
        first=to_datetime(one.first),
        last=to_datetime(one.last),
        state=one.state,
        made=one.made,
        total=one.total,
        overlap=None if one.overlap is None else one.overlap.value,
        rate=one.rate,
        created=to_datetime(one.created),
        finished=_moment(one.finished),
        reason=one.reason,
        actor=one.actor,
    )


def shown_policies(policies: Policies) -> dict[str, Any]:
    """Policies as JSON; lengths in seconds."""
    catchup = policies.catchup
    window = None if catchup.window is None else catchup.window / SECOND
    return {
        "overlap": policies.overlap.value,
        "catchup": {"mode": catchup.mode, "window": window, "most": catchup.most, "pace": catchup.pace},
        "pause_after_failures": policies.pause_after_failures,
        "max_buffer": policies.max_buffer,
        "keep": policies.keep,
    }


def _moment(instant: Micros | None) -> datetime | None:
    return None if instant is None else to_datetime(instant)
