"""Schedules in Temporal's messages, both ways: definition, state, what is running, recent and to come."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from temporalio.api.common.v1 import Memo, SearchAttributes, WorkflowExecution
from temporalio.api.enums.v1 import ScheduleOverlapPolicy, WorkflowExecutionStatus
from temporalio.api.schedule.v1 import (
    Schedule,
    ScheduleActionResult,
    ScheduleInfo,
    ScheduleListEntry,
    SchedulePatch,
    SchedulePolicies,
    ScheduleState,
)
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import CreateScheduleRequest

from ostinato.errors import Conflict, OstinatoError, SpecError
from ostinato.faces.temporal.actions import Known, read_scheduled, write_action
from ostinato.faces.temporal.attributes import read_attributes, reserved, typed, write_attributes
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import memo_for, memo_of, pack, unpack
from ostinato.faces.temporal.specs import read_spec, shorten, write_spec
from ostinato.faces.temporal.times import read_duration, read_timestamp, write_duration, write_timestamp
from ostinato.model import Run, Status
from ostinato.schedules import model
from ostinato.schedules.define import read_notes
from ostinato.schedules.forms import Form, Patch, Seen
from ostinato.schedules.generator import upcoming
from ostinato.schedules.model import CatchUp, Overlap, Reason, State
from ostinato.schedules.rows import read_detail
from ostinato.when import Spec
from ostinato.when.instants import SECOND, Micros
from ostinato.when.temporal import canonical

YEAR: Micros = 365 * 86_400 * SECOND
LEAST: Micros = 10 * SECOND
RECENT = 10
LISTED = 5
_OVERLAPS = dict(enumerate(Overlap, 1))  # in the order of the protocol's numbers
_NUMBERS = {overlap: number for number, overlap in _OVERLAPS.items()}
_STATUS = WorkflowExecutionStatus
STATUSES = {
    Status.SUCCEEDED: _STATUS.WORKFLOW_EXECUTION_STATUS_COMPLETED,
    Status.FAILED: _STATUS.WORKFLOW_EXECUTION_STATUS_FAILED,
    Status.CRASHED: _STATUS.WORKFLOW_EXECUTION_STATUS_FAILED,
    Status.TIMED_OUT: _STATUS.WORKFLOW_EXECUTION_STATUS_TIMED_OUT,
    Status.CANCELLED: _STATUS.WORKFLOW_EXECUTION_STATUS_CANCELED,
    Status.TERMINATED: _STATUS.WORKFLOW_EXECUTION_STATUS_TERMINATED,
}
assert set(_OVERLAPS) == set(ScheduleOverlapPolicy.values()) - {0}


def status_of(run: Run) -> int:
    return STATUSES.get(run.status, _STATUS.WORKFLOW_EXECUTION_STATUS_RUNNING)


@dataclass(frozen=True, slots=True)
class Definition:
    """What a message says about a schedule, checked. `memo` and `attributes` are None where nothing is said."""

    spec: Spec
    action: Mapping[str, Any]
    overlap: Overlap
    window: Micros
    pause_on_failure: bool
    remaining: int | None
    notes: str
    paused: bool
    memo: Memo | None
    attributes: SearchAttributes | None
    values: Mapping[str, Any]
    form: NewWorkflowExecutionInfo
    keep: bool

    def given(self) -> dict[str, Any]:
        """For a new schedule."""
        return {
            "spec": self.spec,
            "action": self.action,
            "overlap": self.overlap,
            "catchup": CatchUp("all", self.window),
            "pause_after_failures": 1 if self.pause_on_failure else None,
            "remaining": self.remaining,
            "notes": self.notes,
            "memo": None if self.memo is None else memo_of(self.memo, "memo"),
            "attributes": self.values,
        }

    def given_to(self, there: model.Schedule) -> dict[str, Any]:
        """For one that is there: what it says in words that this protocol has not, and that amounts to what is said
        here, stays."""
        found = self.given()
        if self.memo is None:
            del found["memo"]
        if self.attributes is None:
            del found["attributes"]
        if _same_spec(there.spec, self.spec):
            found["spec"] = there.spec
        if _window(there.policies.catchup) == self.window:
            found["catchup"] = there.policies.catchup
        if self.pause_on_failure and there.policies.pause_after_failures is not None:
            found["pause_after_failures"] = there.policies.pause_after_failures
        return found

    def kept(self, before: Form | None = None) -> Form:
        about = CreateScheduleRequest()
        if before is not None and before.about is not None:
            unpack(before.about, about)
        if self.memo is not None:
            about.memo.CopyFrom(self.memo)
        if self.attributes is not None:
            about.search_attributes.CopyFrom(self.attributes)
        return Form(self.form.workflow_id, self.keep, pack(self.form), pack(about))


def _same_spec(there: Spec, given: Spec) -> bool:
    try:
        return canonical(there) == given
    except SpecError:
        return False


def read_definition(request: Any, known: Known, attributes: Mapping[str, str], *, new: bool) -> Definition:
    """From a `CreateScheduleRequest` or an `UpdateScheduleRequest`."""
    if not request.HasField("schedule"):
        raise Wrong("schedule", "is missing")
    given: Schedule = request.schedule
    if given.action.WhichOneof("action") != "start_workflow":
        raise Wrong("schedule.action", "only StartWorkflow action is supported for schedules")
    action = given.action.start_workflow
    start = read_scheduled(action, known, attributes, "schedule.action.start_workflow")
    policies, state = given.policies, given.state
    if state.remaining_actions < 0:
        raise Wrong("schedule.state.remaining_actions", f"{state.remaining_actions} is negative")
    about = SearchAttributes()
    for name, payload in request.search_attributes.indexed_fields.items():
        if new or not reserved(name):  # what was shown may be sent back
            about.indexed_fields[name].CopyFrom(payload)
    return Definition(
        spec=read_spec(given.spec, "schedule.spec"),
        action={"job": start.job, "input": start.input, "options": start.options},
        overlap=read_overlap(policies.overlap_policy, "schedule.policies.overlap_policy") or Overlap.SKIP,
        window=_read_window(policies),
        pause_on_failure=policies.pause_on_failure,
        remaining=state.remaining_actions if state.limited_actions else None,
        notes=read_note(state.notes, "schedule.state.notes"),
        paused=state.paused,
        memo=request.memo if request.HasField("memo") else None,
        attributes=about if request.HasField("search_attributes") else None,
        values=read_attributes(about, attributes, "search_attributes"),
        form=action,
        keep=policies.keep_original_workflow_id,
    )


def read_overlap(number: int, field: str) -> Overlap | None:
    if number and number not in _OVERLAPS:
        raise Wrong(field, f"{number} is not an overlap policy")
    return _OVERLAPS.get(number)


def read_note(note: str, field: str) -> str:
    try:
        return read_notes(note)
    except OstinatoError as problem:
        raise Wrong(field, str(problem)) from None


def _read_window(policies: SchedulePolicies) -> Micros:
    window = read_duration(policies.catchup_window, "schedule.policies.catchup_window")
    return YEAR if window <= 0 else max(window, LEAST)


def _window(catchup: CatchUp) -> Micros:
    """How late a time may be and still run, in the one word this protocol has for it."""
    return LEAST if catchup.mode == "skip" else YEAR if catchup.window is None else catchup.window


def read_patch(given: SchedulePatch, place: str) -> Patch:
    triggers: tuple[Overlap | None, ...] = ()
    if given.HasField("trigger_immediately"):
        field = f"{place}.trigger_immediately.overlap_policy"
        triggers = (read_overlap(given.trigger_immediately.overlap_policy, field),)
    backfills = []
    for n, one in enumerate(given.backfill_request):
        at = f"{place}.backfill_request[{n}]"
        for name in ("start_time", "end_time"):
            if not one.HasField(name):
                raise Wrong(f"{at}.{name}", "is missing")
        first, last = read_timestamp(one.start_time, f"{at}.start_time"), read_timestamp(one.end_time, f"{at}.end_time")
        if last < first:
            raise Wrong(f"{at}.end_time", "is before start_time")
        backfills.append((first, last, read_overlap(one.overlap_policy, f"{at}.overlap_policy")))
    return Patch(
        pause=read_note(given.pause, f"{place}.pause") or None,
        resume=read_note(given.unpause, f"{place}.unpause") or None,
        triggers=triggers,
        backfills=tuple(backfills),
    )


def write_schedule(seen: Seen, attributes: Mapping[str, str]) -> Schedule:
    schedule, policies = seen.schedule, seen.schedule.policies
    found = Schedule(
        policies=SchedulePolicies(
            overlap_policy=_NUMBERS[policies.overlap],  # type: ignore[arg-type]
            catchup_window=write_duration(_window(policies.catchup)),
            pause_on_failure=policies.pause_after_failures is not None,
            keep_original_workflow_id=seen.form is not None and seen.form.keep,
        ),
        state=ScheduleState(
            notes=schedule.notes,
            paused=schedule.paused is not None,
            limited_actions=schedule.remaining is not None,
            remaining_actions=schedule.remaining or 0,
        ),
    )
    try:
        found.spec.CopyFrom(write_spec(schedule.spec))
    except SpecError as problem:
        raise Conflict(
            f"schedule {schedule.name!r} was made elsewhere, and {problem.message[0].lower()}{problem.message[1:]}; "
            "look at it through the HTTP API or the command line"
        ) from None
    found.action.start_workflow.CopyFrom(_action(seen, attributes))
    return found


def _action(seen: Seen, attributes: Mapping[str, str]) -> NewWorkflowExecutionInfo:
    schedule, form = seen.schedule, seen.form
    if form is None or form.action is None:
        action, id = schedule.action, schedule.name if form is None else form.workflow_id
        return write_action(action.job, action.input, action.options, id)
    found: NewWorkflowExecutionInfo = unpack(form.action, NewWorkflowExecutionInfo())
    if found.HasField("search_attributes"):
        found.search_attributes.CopyFrom(typed(found.search_attributes, attributes))
    return found


def write_about(seen: Seen, attributes: Mapping[str, str]) -> tuple[Memo | None, SearchAttributes | None]:
    """Its memo and its search attributes, as they came if they did."""
    schedule, form = seen.schedule, seen.form
    if form is None or form.about is None:
        memo, search = memo_for(schedule.memo), write_attributes(schedule.attributes, attributes)
        return memo if memo.fields else None, search if search.indexed_fields else None
    about: CreateScheduleRequest = unpack(form.about, CreateScheduleRequest())
    return (
        about.memo if about.HasField("memo") else None,
        typed(about.search_attributes, attributes) if about.HasField("search_attributes") else None,
    )


def write_info(seen: Seen, now: Micros) -> ScheduleInfo:
    schedule, counts = seen.schedule, seen.schedule.memory.counts
    found = ScheduleInfo(
        action_count=counts.get("actions", 0),
        missed_catchup_window=counts.get(Reason.CATCHUP_WINDOW, 0) + counts.get(Reason.COALESCED, 0),
        overlap_skipped=counts.get(Reason.OVERLAP, 0) + counts.get(Reason.REPLACED, 0),
        buffer_dropped=counts.get(Reason.BUFFER_FULL, 0),
        buffer_size=sum(one.waiting for one in seen.live),
        running_workflows=[_execution(seen, one.root_id) for one in seen.live if not one.waiting],
        recent_actions=[_result(seen, run) for run in seen.recent],
        future_action_times=[write_timestamp(at) for at in future(schedule, now)],
        create_time=write_timestamp(schedule.created),
    )
    updated = None if seen.form is None else seen.form.updated
    if schedule.updated != schedule.created:
        updated = max(schedule.updated, updated or 0)
    if updated is not None:
        found.update_time.CopyFrom(write_timestamp(updated))
    if schedule.state is State.PARKED:
        found.invalid_schedule_error = schedule.reason or "parked"
    return found


def future(schedule: model.Schedule, now: Micros) -> list[Micros]:
    """A schedule that is paused shows them as well: they are what would be."""
    if schedule.state is not State.RUNNING:
        return []
    return [one.actual for one in upcoming(schedule, now)]


def _execution(seen: Seen, root: str) -> WorkflowExecution:
    return WorkflowExecution(workflow_id=seen.names.get(root, root), run_id=root)


def _result(seen: Seen, run: Run) -> ScheduleActionResult:
    """`due` is its time with its jitter, `created` when it was let go or, for what waited, when it came to wait."""
    return ScheduleActionResult(
        schedule_time=write_timestamp(run.due),
        actual_time=write_timestamp(run.started or run.created),
        start_workflow_result=_execution(seen, run.root_id),
        start_workflow_status=status_of(run),  # type: ignore[arg-type]
    )


def write_entry(seen: Seen, attributes: Mapping[str, str], now: Micros) -> ScheduleListEntry:
    """One line of a list."""
    schedule = seen.schedule
    found = ScheduleListEntry(schedule_id=schedule.name)
    memo, search = write_about(seen, attributes)
    if memo is not None:
        found.memo.CopyFrom(memo)
    if search is not None:
        found.search_attributes.CopyFrom(search)
    info = found.info
    info.workflow_type.name = schedule.action.job
    info.notes, info.paused = schedule.notes, schedule.paused is not None
    info.recent_actions.extend(_result(seen, run) for run in seen.recent[-LISTED:])
    info.future_action_times.extend(write_timestamp(at) for at in future(schedule, now))
    try:
        info.spec.CopyFrom(shorten(write_spec(schedule.spec)))
    except SpecError:  # it was made elsewhere, in words that this form has not
        info.ClearField("spec")
    return found


def scheduled_by(run: Run) -> dict[str, Any]:
    """What the system's own attributes say of a run that a schedule has started."""
    told = read_detail(run.detail)
    if not told.get("schedule"):
        return {}
    return {"TemporalScheduledById": told["schedule"], "TemporalScheduledStartTime": told["nominal"]}
