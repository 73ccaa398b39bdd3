"""A run as Temporal's messages tell of it: its description, and its history of two events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from temporalio.api.common.v1 import Memo, Payloads, SearchAttributes, WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import EventType, PendingActivityState, RetryState, TaskQueueKind
from temporalio.api.failure.v1 import Failure
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import (
    PendingActivityInfo,
    WorkflowExecutionConfig,
    WorkflowExecutionExtendedInfo,
    WorkflowExecutionInfo,
)

from ostinato.faces.temporal.attributes import typed, write_attributes
from ostinato.faces.temporal.definitions import scheduled_by, status_of
from ostinato.faces.temporal.payloads import payload_of, payloads_for, same_arguments, unpack
from ostinato.faces.temporal.times import write_duration, write_timestamp
from ostinato.faces.temporal.workflows import Workflow
from ostinato.model import Run, Status
from ostinato.when.instants import format_instant

_TYPE = EventType
_KEPT: Final = (
    "header",
    "memo",
    "retry_policy",
    "priority",
    "workflow_execution_timeout",
    "workflow_run_timeout",
    "workflow_task_timeout",
    "versioning_override",
)


def describe(workflow: Workflow, attributes: Mapping[str, str]) -> WorkflowExecutionInfo:
    first, run = workflow.first, workflow.run
    execution = WorkflowExecution(workflow_id=workflow.id, run_id=workflow.run_id)
    found = WorkflowExecutionInfo(
        execution=execution,
        root_execution=execution,
        first_run_id=workflow.run_id,
        type=WorkflowType(name=run.name),
        start_time=write_timestamp(first.created),
        execution_time=write_timestamp(max(first.due, first.created)),
        status=status_of(run),  # type: ignore[arg-type]
        task_queue=run.queue,
        history_length=2 if workflow.over else 1,
        state_transition_count=run.number,
        memo=_memo(workflow),
        search_attributes=search_attributes(workflow, attributes),
    )
    if run.finished is not None and workflow.over:
        found.close_time.CopyFrom(write_timestamp(run.finished))
        found.execution_duration.CopyFrom(write_duration(run.finished - first.created))
    if workflow.form is not None and workflow.form.HasField("priority"):
        found.priority.CopyFrom(workflow.form.priority)
    return found


def _memo(workflow: Workflow) -> Memo | None:
    form = workflow.form
    return form.memo if form is not None and form.HasField("memo") else None


def search_attributes(workflow: Workflow, attributes: Mapping[str, str]) -> SearchAttributes:
    """What it was started with, and the schedule that has started it."""
    form = workflow.form
    found = SearchAttributes() if form is None else typed(form.search_attributes, attributes)
    told = scheduled_by(workflow.run)
    if told:
        told["TemporalScheduledStartTime"] = format_instant(told["TemporalScheduledStartTime"])
        found.MergeFrom(write_attributes(told, attributes))
    return found


def configure(workflow: Workflow) -> WorkflowExecutionConfig:
    queue = TaskQueue(name=workflow.run.queue, kind=TaskQueueKind.TASK_QUEUE_KIND_NORMAL)
    found = WorkflowExecutionConfig(task_queue=queue)
    if workflow.form is not None:
        found.workflow_execution_timeout.CopyFrom(workflow.form.workflow_execution_timeout)
        found.workflow_run_timeout.CopyFrom(workflow.form.workflow_run_timeout)
        found.default_workflow_task_timeout.CopyFrom(workflow.form.workflow_task_timeout)
        found.user_metadata.CopyFrom(workflow.form.user_metadata)
    return found


def extend(workflow: Workflow) -> WorkflowExecutionExtendedInfo:
    """Which request it was started by, and whether someone wants it stopped."""
    found = WorkflowExecutionExtendedInfo(cancel_requested=workflow.run.cancel_requested is not None)
    if workflow.request_id:
        found.request_id_infos[workflow.request_id].event_id = 1
        found.request_id_infos[workflow.request_id].event_type = _TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
    return found


def pending(workflow: Workflow, waits_for: str) -> list[PendingActivityInfo]:
    """What the run does now, as the one activity that it is: which attempt, and why it waits if it does."""
    if workflow.over:
        return []
    run = workflow.run
    states = PendingActivityState
    active = run.status is Status.ACTIVE
    found = PendingActivityInfo(
        activity_id=run.id,
        state=states.PENDING_ACTIVITY_STATE_STARTED if active else states.PENDING_ACTIVITY_STATE_SCHEDULED,
        attempt=run.number,
        scheduled_time=write_timestamp(run.due),
    )
    found.activity_type.name = run.name
    if run.node is not None:
        found.last_worker_identity = run.node
    if waits_for:
        found.last_failure.message = waits_for
    return [found]


def history(workflow: Workflow, attributes: Mapping[str, str]) -> list[HistoryEvent]:
    """Its start, and its end if it has one."""
    return [_started(workflow, attributes), *([closed(workflow)] if workflow.over else [])]


def _started(workflow: Workflow, attributes: Mapping[str, str]) -> HistoryEvent:
    first, form = workflow.first, workflow.form
    event = HistoryEvent(
        event_id=1,
        event_time=write_timestamp(first.created),
        event_type=_TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
    )
    told = event.workflow_execution_started_event_attributes
    told.workflow_id = workflow.id
    told.original_execution_run_id = told.first_execution_run_id = workflow.run_id
    told.workflow_type.name = first.name
    told.task_queue.name = first.queue
    told.task_queue.kind = TaskQueueKind.TASK_QUEUE_KIND_NORMAL
    if first.due > first.created:
        told.first_workflow_task_backoff.CopyFrom(write_duration(first.due - first.created))
    told.attempt = 1
    told.identity = first.actor or ""
    told.input.CopyFrom(_input(workflow))
    if form is not None:
        event.user_metadata.CopyFrom(form.user_metadata)
        for name in _KEPT:
            if form.HasField(name):
                getattr(told, name).CopyFrom(getattr(form, name))
    told.search_attributes.CopyFrom(search_attributes(workflow, attributes))
    return event


def _input(workflow: Workflow) -> Payloads:
    given = None if workflow.first.input is None else orjson.loads(workflow.first.input)
    if workflow.form is not None and same_arguments(workflow.form.input, given):
        return workflow.form.input
    return payloads_for(given)


def closed(workflow: Workflow) -> HistoryEvent:
    """How it ended."""
    run = workflow.run
    event = HistoryEvent(event_id=2, event_time=write_timestamp(run.finished or run.created))
    match run.status:
        case Status.SUCCEEDED:
            event.event_type = _TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED
            value = None if run.result is None else orjson.loads(run.result)
            event.workflow_execution_completed_event_attributes.result.payloads.append(payload_of(value))
        case Status.CANCELLED:
            event.event_type = _TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_CANCELED
            details = event.workflow_execution_canceled_event_attributes.details
            if run.reason:
                details.payloads.append(payload_of(run.reason))
        case Status.TERMINATED:
            event.event_type = _TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_TERMINATED
            end = event.workflow_execution_terminated_event_attributes
            end.reason = run.reason or "terminated"
            if given := _error(run).get("details"):
                end.details.CopyFrom(unpack(given, Payloads()))
        case Status.TIMED_OUT:
            event.event_type = _TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT
            event.workflow_execution_timed_out_event_attributes.retry_state = RetryState.RETRY_STATE_TIMEOUT
        case _:
            event.event_type = _TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED
            told = event.workflow_execution_failed_event_attributes
            told.failure.CopyFrom(failure(run))
            final = told.failure.application_failure_info.non_retryable
            states = RetryState
            told.retry_state = (
                states.RETRY_STATE_NON_RETRYABLE_FAILURE if final else states.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED
            )
    return event


def _error(run: Run) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(run.error) if run.error else {}
    return found


def failure(run: Run) -> Failure:
    """What went wrong, as the client's ApplicationError."""
    error = _error(run)
    found = Failure(
        message=str(error.get("message") or run.reason or run.status.value),
        source="Ostinato",
        stack_trace=str(error.get("traceback") or ""),
    )
    told = found.application_failure_info
    told.type = str(error.get("type") or (run.reason or "").partition(":")[0])
    told.non_retryable = bool(error.get("non_retryable"))
    told.details.payloads.extend(payload_of(one) for one in error.get("details") or ())
    return found
