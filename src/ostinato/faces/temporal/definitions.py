"""Convert schedules, with their state and runs, between Ostinato's form and Temporal's messages."""

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
from ostinato.faces.temporal.actions import TemporalStart, read_scheduled, read_start, write_action
from ostinato.faces.temporal.attributes import read_attributes, reserved, typed, write_attributes
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import memo_for, memo_of, pack, unpack
from ostinato.faces.temporal.specs import read_spec, shorten, write_spec
from ostinato.faces.temporal.times import read_duration, read_timestamp, write_duration, write_timestamp
from ostinato.faces.temporal.wire_schedules import Form, Patch, WireSchedule
from ostinato.faces.temporal.workflow_types import WorkflowType
from ostinato.functions.model import KIND as FUNCTION
from ostinato.model import Run, Status
from ostinato.schedules import model
from ostinato.schedules.decisions.due_times import upcoming
from ostinato.schedules.model import JOB, CatchUp, Overlap, Reason, State, run_name
from ostinato.schedules.rows import read_detail
from ostinato.schedules.validation import read_notes
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
class TemporalScheduleDefinition:
    """The definition of a schedule, read from a message and checked."""

    spec: Spec
    overlap: Overlap
    window: Micros
    pause_on_failure: bool
    remaining: int | None
    notes: str
    paused: bool
    memo: Memo | None  # None if the message has none
    attributes: SearchAttributes | None  # None if the message has none
    values: Mapping[str, Any]  # of the search attributes, by name
    form: NewWorkflowExecutionInfo  # the message that describes the action
    keep: bool  # the workflow id of each run is exactly the action's `workflow_id`
    start: TemporalStart

    def fields(self) -> dict[str, Any]:
        """Return the fields of a new schedule."""
        return {
            "spec": self.spec,
            "action": {self.start.kind: self.start.name, "input": self.start.input, "options": self.start.options},
            "overlap": self.overlap,
            "catchup": CatchUp("all", self.window),
            "pause_after_failures": 1 if self.pause_on_failure else None,
            "remaining": self.remaining,
            "notes": self.notes,
            "memo": None if self.memo is None else memo_of(self.memo, "memo"),
            "attributes": self.values,
        }

    def fields_for(self, schedule: model.Schedule) -> dict[str, Any]:
        """Return a dict of the fields to change in `schedule`, the stored schedule. `self` is the definition that the
        client has sent.

        Temporal's messages cannot express every stored value. They show a similar value instead, and a client may send
        the similar value back unchanged. In these cases the update keeps the stored value:

        - `action`: Messages show an action that starts neither a job nor a function as the start of a job. If the
          client has sent this start of a job, the field is left out.
        - `spec`: If the client has sent the spec that messages show for the stored spec, the field is the stored spec.
        - `catchup`: If the client has sent the window that messages show for the stored value, the field is the stored
          value.
        - `pause_after_failures`: If the client wants a pause on failure, and a number of failures is stored, the field
          is the stored number.

        If the client has sent no memo, the field `memo` is left out. If the client has sent no search attributes, the
        field `attributes` is left out.
        """
        fields = self.fields()
        if self._starts_the_same(schedule.action):
            del fields["action"]
        if self.memo is None:
            del fields["memo"]
        if self.attributes is None:
            del fields["attributes"]
        if _same_spec(schedule.spec, self.spec):
            fields["spec"] = schedule.spec
        if _window(schedule.policies.catchup) == self.window:
            fields["catchup"] = schedule.policies.catchup
        if self.pause_on_failure and schedule.policies.pause_after_failures is not None:
            fields["pause_after_failures"] = schedule.policies.pause_after_failures
        return fields

    def _starts_the_same(self, action: model.ScheduleAction) -> bool:
        """Return whether an update must keep `action`, the stored action, although the client has sent an action.

        - If `action` starts a job or a function, return False. Temporal's messages can express such an action.
        - Temporal's messages show any other action as the start of a job. If the client has sent back exactly what the
          messages show, return True: the update must not turn `action` into a job.
        - If the client has sent anything else, return False.
        """
        if action.kind in (JOB, FUNCTION):
            return False
        message = write_action(action, self.form.workflow_id)
        return read_start(message, WorkflowType(self.start.name), {}, "") == self.start

    def make_form(self, before: Form | None = None) -> Form:
        """Return the `Form` to store with the schedule.

        A `Form` has what a Temporal client sent with the schedule, such as the message of the action, without any
        conversion. `before` is the `Form` that is stored now, or None. If the client has sent no memo, the memo of
        `before` is kept. If the client has sent no search attributes, the search attributes of `before` are kept.
        """
        about = CreateScheduleRequest()
        if before is not None and before.about is not None:
            unpack(before.about, about)
        if self.memo is not None:
            about.memo.CopyFrom(self.memo)
        if self.attributes is not None:
            about.search_attributes.CopyFrom(self.attributes)
        return Form(self.form.workflow_id, self.keep, pack(self.form), pack(about))


def _same_spec(spec: Spec, from_message: Spec) -> bool:
    try:
        return canonical(spec) == from_message
    except SpecError:
        return False


def read_definition(
    request: Any, workflow_type: WorkflowType, types: Mapping[str, str], *, new: bool
) -> TemporalScheduleDefinition:
    """Read the definition in a request, and check it. Raises `Wrong` if a field is invalid.

    The request is a `CreateScheduleRequest` if `new` is true, and otherwise an `UpdateScheduleRequest`.
    """
    if not request.HasField("schedule"):
        raise Wrong("schedule", "is missing")
    schedule: Schedule = request.schedule
    if schedule.action.WhichOneof("action") != "start_workflow":
        raise Wrong("schedule.action", "only StartWorkflow action is supported for schedules")
    action = schedule.action.start_workflow
    start = read_scheduled(action, workflow_type, types, "schedule.action.start_workflow")
    policies, state = schedule.policies, schedule.state
    if state.remaining_actions < 0:
        raise Wrong("schedule.state.remaining_actions", f"{state.remaining_actions} is negative")
    about = SearchAttributes()
    for name, payload in request.search_attributes.indexed_fields.items():
        if new or not reserved(name):  # a client may send back the attributes that it has read
            about.indexed_fields[name].CopyFrom(payload)
    return TemporalScheduleDefinition(
        spec=read_spec(schedule.spec, "schedule.spec"),
        overlap=read_overlap(policies.overlap_policy, "schedule.policies.overlap_policy") or Overlap.SKIP,
        window=_read_window(policies),
        pause_on_failure=policies.pause_on_failure,
        remaining=state.remaining_actions if state.limited_actions else None,
        notes=read_note(state.notes, "schedule.state.notes"),
        paused=state.paused,
        memo=request.memo if request.HasField("memo") else None,
        attributes=about if request.HasField("search_attributes") else None,
        values=read_attributes(about, types, "search_attributes"),
        form=action,
        keep=policies.keep_original_workflow_id,
        start=start,
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
    """Return the catch-up window that Temporal's messages show for `catchup`.

    - If `catchup` skips late times, return `LEAST`.
    - If `catchup` has no window, return `YEAR`.
    - Otherwise return the window of `catchup`, but at least `LEAST`: a shorter one would be read back as `LEAST`.
    """
    return LEAST if catchup.mode == "skip" else YEAR if catchup.window is None else max(LEAST, catchup.window)


def read_patch(message: SchedulePatch, place: str) -> Patch:
    """Read a patch. Raises `Wrong` for an invalid field; the error names the field as `<place>.<field>`."""
    triggers: tuple[Overlap | None, ...] = ()
    if message.HasField("trigger_immediately"):
        field = f"{place}.trigger_immediately.overlap_policy"
        triggers = (read_overlap(message.trigger_immediately.overlap_policy, field),)
    backfills = []
    for n, backfill in enumerate(message.backfill_request):
        at = f"{place}.backfill_request[{n}]"
        for name in ("start_time", "end_time"):
            if not backfill.HasField(name):
                raise Wrong(f"{at}.{name}", "is missing")
        first = read_timestamp(backfill.start_time, f"{at}.start_time")
        last = read_timestamp(backfill.end_time, f"{at}.end_time")
        if last < first:
            raise Wrong(f"{at}.end_time", "is before start_time")
        backfills.append((first, last, read_overlap(backfill.overlap_policy, f"{at}.overlap_policy")))
    return Patch(
        pause=read_note(message.pause, f"{place}.pause") or None,
        resume=read_note(message.unpause, f"{place}.unpause") or None,
        triggers=triggers,
        backfills=tuple(backfills),
    )


def write_schedule(wire_schedule: WireSchedule, types: Mapping[str, str]) -> Schedule:
    """Write a schedule as a message. Raises `Conflict` if the protocol cannot express the spec."""
    schedule, policies = wire_schedule.schedule, wire_schedule.schedule.policies
    message = Schedule(
        policies=SchedulePolicies(
            overlap_policy=_NUMBERS[policies.overlap],  # type: ignore[arg-type]
            catchup_window=write_duration(_window(policies.catchup)),
            pause_on_failure=policies.pause_after_failures is not None,
            keep_original_workflow_id=wire_schedule.form is not None and wire_schedule.form.keep,
        ),
        state=ScheduleState(
            notes=schedule.notes,
            paused=schedule.paused is not None,
            limited_actions=schedule.remaining is not None,
            remaining_actions=schedule.remaining or 0,
        ),
    )
    try:
        message.spec.CopyFrom(write_spec(schedule.spec))
    except SpecError as problem:
        raise Conflict(
            f"schedule {schedule.name!r} was made elsewhere, and {problem.message[0].lower()}{problem.message[1:]}; "
            "look at it through the HTTP API or the command line"
        ) from None
    message.action.start_workflow.CopyFrom(_write_action(wire_schedule, types))
    return message


def _write_action(wire_schedule: WireSchedule, types: Mapping[str, str]) -> NewWorkflowExecutionInfo:
    schedule, form = wire_schedule.schedule, wire_schedule.form
    if form is None or form.action is None:
        return write_action(schedule.action, schedule.name if form is None else form.workflow_id)
    message: NewWorkflowExecutionInfo = unpack(form.action, NewWorkflowExecutionInfo())
    if message.HasField("search_attributes"):
        message.search_attributes.CopyFrom(typed(message.search_attributes, types))
    return message


def write_about(wire_schedule: WireSchedule, types: Mapping[str, str]) -> tuple[Memo | None, SearchAttributes | None]:
    """Write a schedule's memo and search attributes. Return None for the memo if the schedule has none, and likewise
    for the search attributes.

    If a Temporal client has sent the memo and the search attributes, and no other interface has changed them since
    then, the client's own messages are returned. In these messages, search attributes without a type get the type that
    `types` has for them.
    """
    schedule, form = wire_schedule.schedule, wire_schedule.form
    if form is None or form.about is None:
        memo, search = memo_for(schedule.memo), write_attributes(schedule.attributes, types)
        return memo if memo.fields else None, search if search.indexed_fields else None
    about: CreateScheduleRequest = unpack(form.about, CreateScheduleRequest())
    return (
        about.memo if about.HasField("memo") else None,
        typed(about.search_attributes, types) if about.HasField("search_attributes") else None,
    )


def write_info(wire_schedule: WireSchedule, now: Micros) -> ScheduleInfo:
    """Return the message with a schedule's counts, its running and recent runs, and its next times after `now`."""
    schedule, counts = wire_schedule.schedule, wire_schedule.schedule.memory.counts
    info = ScheduleInfo(
        action_count=counts.get("actions", 0),
        missed_catchup_window=counts.get(Reason.CATCHUP_WINDOW, 0) + counts.get(Reason.COALESCED, 0),
        overlap_skipped=counts.get(Reason.OVERLAP, 0) + counts.get(Reason.REPLACED, 0),
        buffer_dropped=counts.get(Reason.BUFFER_FULL, 0),
        buffer_size=sum(live.waiting for live in wire_schedule.live),
        running_workflows=[_execution(wire_schedule, one.root_id) for one in wire_schedule.live if not one.waiting],
        recent_actions=[_result(wire_schedule, run) for run in wire_schedule.recent],
        future_action_times=[write_timestamp(at) for at in future(schedule, now)],
        create_time=write_timestamp(schedule.created),
    )
    updated = None if wire_schedule.form is None else wire_schedule.form.updated
    if schedule.updated != schedule.created:
        updated = max(schedule.updated, updated or 0)
    if updated is not None:
        info.update_time.CopyFrom(write_timestamp(updated))
    if schedule.state is State.PARKED:
        info.invalid_schedule_error = schedule.reason or "parked"
    return info


def future(schedule: model.Schedule, now: Micros) -> list[Micros]:
    """Return the next times of a schedule, even of a paused one. Return [] if the schedule has ended or is parked."""
    if schedule.state is not State.RUNNING:
        return []
    return [one.actual for one in upcoming(schedule, now)]


def _execution(wire_schedule: WireSchedule, root: str) -> WorkflowExecution:
    return WorkflowExecution(workflow_id=wire_schedule.workflow_ids.get(root, root), run_id=root)


def _result(wire_schedule: WireSchedule, run: Run) -> ScheduleActionResult:
    """Write a run as a `ScheduleActionResult`.

    - `schedule_time`: when the run was due, including jitter
    - `actual_time`: when the run started or, if it has not started, when it was created
    """
    return ScheduleActionResult(
        schedule_time=write_timestamp(run.due),
        actual_time=write_timestamp(run.started or run.created),
        start_workflow_result=_execution(wire_schedule, run.root_id),
        start_workflow_status=status_of(run),  # type: ignore[arg-type]
    )


def write_entry(wire_schedule: WireSchedule, types: Mapping[str, str], now: Micros) -> ScheduleListEntry:
    schedule = wire_schedule.schedule
    entry = ScheduleListEntry(schedule_id=schedule.name)
    memo, search = write_about(wire_schedule, types)
    if memo is not None:
        entry.memo.CopyFrom(memo)
    if search is not None:
        entry.search_attributes.CopyFrom(search)
    info = entry.info
    info.workflow_type.name = run_name(schedule.action)
    info.notes, info.paused = schedule.notes, schedule.paused is not None
    info.recent_actions.extend(_result(wire_schedule, run) for run in wire_schedule.recent[-LISTED:])
    info.future_action_times.extend(write_timestamp(at) for at in future(schedule, now))
    try:
        info.spec.CopyFrom(shorten(write_spec(schedule.spec)))
    except SpecError:  # the protocol cannot express it
        info.ClearField("spec")
    return entry


def scheduled_by(run: Run) -> dict[str, Any]:
    """Return the search attributes `TemporalScheduledById` and `TemporalScheduledStartTime` of a run, as a dict from
    name to value. The time is in microseconds. Returns {} if no schedule started the run."""
    detail = read_detail(run.detail)
    if not detail.get("schedule"):
        return {}
    return {"TemporalScheduledById": detail["schedule"], "TemporalScheduledStartTime": detail["nominal"]}
