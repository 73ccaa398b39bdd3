"""Convert schedules, occurrences and backfills to the objects that users see, with datetimes and specs in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson

from ostinato.model import Run, StatusName
from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.decisions.due_times import upcoming
from ostinato.schedules.lateness import Lateness, lateness
from ostinato.schedules.model import Policies, Schedule, State, StateName, target_words
from ostinato.schedules.rows import read_detail
from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros, from_datetime, optional_datetime, to_datetime

if TYPE_CHECKING:
    from ostinato.schedules.operations.backfills import Backfill


@dataclass(frozen=True, slots=True)
class OccurrenceInfo:
    """One due time and its outcome, or several due times together that got no run.

    - `count`: the number of due times
    - `nominal`, `last`: the first and the last of the due times; the same if there is only one
    - `policy`: If a policy prevented the run, `policy` is the value of that policy, such as `skip`. Otherwise, if a
      trigger or a backfill set an overlap policy for this occurrence, `policy` is that overlap policy. Otherwise
      `policy` is None.
    """

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
        """The position of the occurrence in the history of its schedule, for the next page."""
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
        started=optional_datetime(run.started),
        finished=optional_datetime(run.finished),
        result=None if run.result is None else orjson.loads(run.result),
        error=None if run.error is None else orjson.loads(run.error),
        coalesced=detail.get("coalesced", 0),
        blocked_by=detail.get("blocked_by"),
        count=detail.get("count", 1),
        last=to_datetime(detail["last"]) if "last" in detail else nominal,
        previous=optional_datetime(detail.get("previous")),
        policy=detail.get("policy") or detail.get("overlap"),
    )


@dataclass(frozen=True, slots=True)
class ScheduleInfo:
    """A schedule and its present state, as users see them.

    - `words`: a description of the spec
    - `starts`: what the schedule starts: a job's name, or a kind and a name
    - `token`: the conflict token
    - `upcoming`: the next times of the schedule, at most ten
    """

    id: str
    name: str
    namespace: str
    state: StateName
    reason: str | None
    spec: Spec
    words: str
    starts: str
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
    next_times = (
        () if schedule.state is not State.RUNNING else tuple(to_datetime(one.actual) for one in upcoming(schedule, now))
    )
    return ScheduleInfo(
        id=schedule.id,
        name=schedule.name,
        namespace=schedule.namespace,
        state=schedule.shown_state.value,
        reason=schedule.reason,
        spec=schedule.spec,
        words=schedule.spec.describe(),
        starts=target_words(schedule.action),
        job=schedule.action.job,
        input=schedule.action.input,
        options=schedule.action.options,
        policies=schedule.policies,
        paused=optional_datetime(schedule.paused),
        notes=schedule.notes,
        remaining=schedule.remaining,
        token=schedule.token,
        next=optional_datetime(schedule.next),
        upcoming=next_times,
        running=tuple(one.root_id for one in live if not one.waiting),
        waiting=sum(one.waiting for one in live),
        backfills=schedule.memory.backfills,
        counts=schedule.memory.counts,
        recent=tuple(recent),
        last_result=schedule.outcomes.result,
        last_failure=schedule.outcomes.failure,
        failures=schedule.outcomes.failures,
        last_success=optional_datetime(schedule.outcomes.success_at),
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
    """An entry in a list of coming times. The entry is one of these:

    - a future occurrence of a schedule; both numbers of `lateness` are 0
    - all late times of a schedule together: times that are due, but not processed yet; `lateness` says how many times
      are late, and how many of them will run; `at` and `nominal` are both the time of `Schedule.next`

    `starts` is what the schedule starts: a job's name, or a kind and a name.
    """

    at: datetime
    nominal: datetime
    schedule: str
    job: str
    lateness: Lateness
    starts: str


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


def backfill_info(backfill: Backfill) -> BackfillInfo:
    return BackfillInfo(
        id=backfill.id,
        first=to_datetime(backfill.first),
        last=to_datetime(backfill.last),
        state=backfill.state,
        made=backfill.made,
        total=backfill.total,
        overlap=None if backfill.overlap is None else backfill.overlap.value,
        rate=backfill.rate,
        created=to_datetime(backfill.created),
        finished=optional_datetime(backfill.finished),
        reason=backfill.reason,
        actor=backfill.actor,
    )


def policies_json(policies: Policies) -> dict[str, Any]:
    """Return policies as JSON, with lengths in seconds."""
    catchup = policies.catchup
    window = None if catchup.window is None else catchup.window / SECOND
    return {
        "overlap": policies.overlap.value,
        "catchup": {"mode": catchup.mode, "window": window, "most": catchup.most, "pace": catchup.pace},
        "pause_after_failures": policies.pause_after_failures,
        "max_buffer": policies.max_buffer,
        "keep": policies.keep,
    }
