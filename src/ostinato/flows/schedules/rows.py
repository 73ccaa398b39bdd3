"""Define the table of agents' schedules, its SQL statements, and the records that the API returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import resources
from typing import Any, NamedTuple

import orjson

from ostinato.errors import Conflict
from ostinato.flows.schedules.definition import AgentScheduleDefinition, SchedulerSettings, read_definition
from ostinato.flows.views import make_view
from ostinato.model import Run, Status
from ostinato.schedules.rows import read_detail, read_outcomes
from ostinato.store.columns import getter, reader, table, writer
from ostinato.store.contract import Operation, Row
from ostinato.store.sql import Statements
from ostinato.when.instants import Micros, from_datetime, to_datetime

_STOPPED = (Status.CANCELLED, Status.TERMINATED)
TABLES = {
    "agent_schedule": table(
        "ostinato_agent_schedules",
        """namespace agent id engine_id name flow target_kind user_external_id campaign_id definition digest timezone
        settings origin status held:int reason version:int created:int updated:int actor""",
    )
}
_COLUMNS = TABLES["agent_schedule"].columns
statement = Statements(
    resources.files("ostinato.flows.schedules").joinpath("statements.sql").read_text(encoding="utf-8"), TABLES
)


@dataclass(slots=True)
class StoredSchedule:
    """The row of an agent's schedule.

    - `engine_id`, `name`: the id and the name of the engine's schedule, which fires the agent's schedule
    - `definition`: the definition of the agent's schedule, as JSON
    - `held`: 1 if the schedule is paused because the agent's scheduler is disabled, otherwise 0
    """

    namespace: str
    agent: str
    id: str
    engine_id: str
    name: str
    flow: str
    target_kind: str
    user_external_id: str | None
    campaign_id: str | None
    definition: str
    digest: str
    timezone: str
    settings: str
    origin: str
    status: str = "active"
    held: int = 0
    reason: str | None = None
    version: int = 1
    created: Micros = 0
    updated: Micros = 0
    actor: str | None = None

    def read(self) -> AgentScheduleDefinition:
        return read_definition(orjson.loads(self.definition), self.timezone)


read_stored = reader(StoredSchedule, _COLUMNS)
stored_row = writer(_COLUMNS)
place_of_stored = getter(_COLUMNS, "namespace", "id")


@dataclass(frozen=True, slots=True)
class TriggeredRun:
    """What a trigger did. The `status` is:

    - `started`: the run was started
    - `buffered`: an earlier run of the same schedule is not over, and the run starts after it
    - `waiting`: the schedule has released the run, but the run cannot start yet; `reason` says why
    - `skipped`: the run will not start; `reason` says why
    """

    run_id: str
    status: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ScheduleRecord:
    """A schedule of an agent. `status` is active, paused, canceled or completed; `origin` is config, api or tool."""

    id: str
    agent: str
    flow: str
    target_kind: str
    target_user_external_id: str | None
    target_session_id: str | None
    campaign_id: str | None
    segment_selector: Mapping[str, Any] | None
    trigger_type: str
    cron_expr: str | None
    run_at: datetime | None
    tz: str
    allow_session_bootstrap: bool
    on_missed_policy: str
    max_runs: int | None
    max_age_seconds: int | None
    next_run_at: datetime | None
    last_run_at: datetime | None
    status: str
    version: int
    metadata: Mapping[str, Any]
    input: Mapping[str, Any] | None
    on_active_flow: str
    origin: str
    reason: str | None
    created: datetime
    updated: datetime
    actor: str | None
    name: str


@dataclass(frozen=True, slots=True)
class ScheduleRunRecord:
    """One occurrence of a schedule, or several missed due times in one record.

    - `scheduled_for`, `last`: the first and the last due time of the record; usually they are the same
    - `outcome`: `success`, `skipped`, `failed` or `canceled_hitl`; None while the occurrence is in progress
    - `request_id`: the id of the turn; None if no turn is recorded
    - `count`: the number of due times; only a record of missed due times has more than one
    - `origin`: `auto` for a due time, otherwise a text that identifies the call of `trigger`
    """

    id: str
    schedule_id: str
    scheduled_for: datetime
    started_at: datetime | None
    finished_at: datetime | None
    outcome: str | None
    reason: str | None
    attempt: int
    request_id: str | None
    session_id: str | None
    target_kind: str
    expanded_recipients: int | None
    count: int
    last: datetime
    origin: str

    @property
    def cursor(self) -> str:
        """The position of the occurrence in its schedule's history, for reading the next page."""
        return f"{from_datetime(self.scheduled_for):016d}/{self.origin}"


def record_of(row: Row, settings: SchedulerSettings) -> ScheduleRecord:
    """Return the record of a schedule from a row of `list_agent_schedules`."""
    stored = read_stored(row[: len(_COLUMNS)])
    _, following, outcome, status = row[len(_COLUMNS) :]
    definition = stored.read()
    missed = definition.missed(settings)
    ended = read_outcomes(outcome).ended_at
    return make_view(
        ScheduleRecord,
        stored,
        target_user_external_id=stored.user_external_id,
        target_session_id=definition.target.get("session_id"),
        segment_selector=definition.target.get("segment"),
        trigger_type=definition.trigger_type,
        cron_expr=definition.cron_expr,
        tz=stored.timezone,
        run_at=None if definition.run_at is None else to_datetime(definition.run_at),
        allow_session_bootstrap=definition.allow_session_bootstrap,
        on_missed_policy=missed.policy,
        max_runs=missed.max_runs,
        max_age_seconds=missed.max_age_seconds,
        next_run_at=None if following is None or status != "active" else to_datetime(following),
        last_run_at=None if ended is None else to_datetime(ended),
        status=status,
        metadata=definition.metadata,
        input=definition.input,
        on_active_flow=definition.on_active_flow,
    )


class CampaignEnd(NamedTuple):
    """How the campaign of an occurrence ended. While the campaign is in progress, `finished` and `outcome` are None."""

    scheduled_for: Micros
    finished: Micros | None
    outcome: str | None
    reason: str | None
    recipients: int


def run_records(runs: Sequence[Run], stored: StoredSchedule) -> Operation[list[ScheduleRunRecord]]:
    begins: dict[str, Micros] = {}
    if runs:
        begins = {row[0]: row[1] for row in (yield statement("occurrence_begins", [(run.id,) for run in runs]))}
    stopped = [
        (f"schedule/{stored.id}/{_nominal(run)}",)
        for run in runs
        if run.status in _STOPPED and stored.target_kind == "segment"
    ]
    names = {"namespace": stored.namespace, "agent": stored.agent}
    rows = (yield statement("occurrence_campaigns", stopped, **names)) if stopped else ()
    campaigns = {campaign.scheduled_for: campaign for campaign in map(CampaignEnd._make, rows)}
    return [_run_record(run, stored, begins.get(run.id), campaigns.get(_nominal(run))) for run in runs]


def _nominal(run: Run) -> Micros:
    nominal: Micros = read_detail(run.detail)["nominal"]
    return nominal


def _run_record(
    run: Run, stored: StoredSchedule, begun: Micros | None, campaign: CampaignEnd | None
) -> ScheduleRunRecord:
    """Return the record of an occurrence. `run` is the run of the occurrence.

    `campaign` says how the occurrence's campaign ended, or is None if the occurrence has no campaign. If the run was
    stopped, the record has the outcome of the campaign, if there is one. Otherwise it has the outcome of the run.
    """
    detail = read_detail(run.detail)
    result: dict[str, Any] = {}
    outcome, reason, finished = None, run.reason, run.finished
    if run.status is Status.SUCCEEDED:
        result = orjson.loads(run.result or "{}")
        outcome, reason = result.get("outcome"), result.get("reason")
    elif run.status in (Status.SKIPPED, Status.MISSED):
        outcome = "skipped"
        reason = "missed" if run.status is Status.MISSED else run.reason
    elif run.status in _STOPPED and campaign is not None:
        outcome, reason, finished = campaign.outcome, campaign.reason, campaign.finished
        result = {"expanded_recipients": campaign.recipients}
    elif run.status in _STOPPED:
        outcome, reason = "skipped", "schedule_canceled" if stored.status == "canceled" else run.reason
    elif run.status.over:
        outcome = "failed"
    started = run.started if begun is None else begun
    nominal = to_datetime(detail["nominal"])
    return ScheduleRunRecord(
        run.root_id,
        stored.id,
        nominal,
        None if started is None else to_datetime(started),
        None if finished is None else to_datetime(finished),
        outcome,
        reason if outcome is not None else None,
        result.get("attempt", run.number),
        result.get("request_id"),
        result.get("session_id"),
        stored.target_kind,
        result.get("expanded_recipients"),
        detail.get("count", 1),
        to_datetime(detail["last"]) if "last" in detail else nominal,
        detail["origin"],
    )


def find_refusal(namespace: str, agent: str, id: str, *, asked: bool) -> Operation[str | None]:
    """Return why an occurrence must not begin: `schedule_canceled` or `schedule_paused`. Return None if it may begin.

    `asked` is true if a call of `trigger` created the occurrence. Such an occurrence may begin even during a pause.
    """
    rows = yield statement("agent_schedule_is", namespace=namespace, agent=agent, id=id)
    if not rows or rows[0][0] == "canceled":
        return "schedule_canceled"
    return "schedule_paused" if rows[0][0] == "paused" and not asked else None


def check_changeable(stored: StoredSchedule) -> None:
    """Raise `Conflict` if the schedule is declared in the code. Such a schedule can only be paused and resumed."""
    if stored.origin == "config":
        raise Conflict(
            f"schedule {stored.id!r} of agent {stored.agent!r} is declared in the code (schedules=…); change it there, "
            "or pause it"
        )
