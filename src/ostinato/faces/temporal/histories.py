"""Write the descriptions and histories of executions as Temporal's messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from temporalio.api.common.v1 import Memo, Payloads, SearchAttributes, WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import EventType, PendingActivityState, RetryState, TaskQueueKind
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
from ostinato.faces.temporal.executions import Execution
from ostinato.faces.temporal.failures import write_failure
from ostinato.faces.temporal.function_events import write_function_events
from ostinato.faces.temporal.functions import FunctionHistory
from ostinato.faces.temporal.payloads import payload_of, payloads_for, same_arguments, unpack
from ostinato.faces.temporal.times import write_duration, write_timestamp
from ostinato.model import Run, Status
from ostinato.when.instants import format_instant

_TYPE = EventType
_COPIED: Final = (  # fields that are copied from the form to the first event
    "header",
    "memo",
    "retry_policy",
    "priority",
    "workflow_execution_timeout",
    "workflow_run_timeout",
    "workflow_task_timeout",
    "versioning_override",
)


def write_description(
    execution: Execution, types: Mapping[str, str], history: FunctionHistory | None = None
) -> WorkflowExecutionInfo:
    first, run = execution.first, execution.run
    ids = WorkflowExecution(workflow_id=execution.id, run_id=execution.run_id)
    info = WorkflowExecutionInfo(
        execution=ids,
        root_execution=ids,
        first_run_id=execution.run_id,
        type=WorkflowType(name=run.name),
        start_time=write_timestamp(first.created),
        execution_time=write_timestamp(max(first.due, first.created)),
        status=status_of(run),  # type: ignore[arg-type]
        task_queue=run.queue,
        history_length=1 + execution.over + (0 if history is None else len(write_function_events(history))),
        state_transition_count=run.number,
        memo=_memo(execution),
        search_attributes=write_search_attributes(execution, types),
    )
    if run.finished is not None and execution.over:
        info.close_time.CopyFrom(write_timestamp(run.finished))
        info.execution_duration.CopyFrom(write_duration(run.finished - first.created))
    if execution.form is not None and execution.form.HasField("priority"):
        info.priority.CopyFrom(execution.form.priority)
    return info


def _memo(execution: Execution) -> Memo | None:
    form = execution.form
    return form.memo if form is not None and form.HasField("memo") else None


def write_search_attributes(execution: Execution, types: Mapping[str, str]) -> SearchAttributes:
    """Return the search attributes with which an execution was started. If a schedule started the execution, add
    `TemporalScheduledById` and `TemporalScheduledStartTime`."""
    form = execution.form
    message = SearchAttributes() if form is None else typed(form.search_attributes, types)
    values = scheduled_by(execution.run)
    if values:
        values["TemporalScheduledStartTime"] = format_instant(values["TemporalScheduledStartTime"])
        message.MergeFrom(write_attributes(values, types))
    return message


def write_config(execution: Execution) -> WorkflowExecutionConfig:
    queue = TaskQueue(name=execution.run.queue, kind=TaskQueueKind.TASK_QUEUE_KIND_NORMAL)
    config = WorkflowExecutionConfig(task_queue=queue)
    if execution.form is not None:
        config.workflow_execution_timeout.CopyFrom(execution.form.workflow_execution_timeout)
        config.workflow_run_timeout.CopyFrom(execution.form.workflow_run_timeout)
        config.default_workflow_task_timeout.CopyFrom(execution.form.workflow_task_timeout)
        config.user_metadata.CopyFrom(execution.form.user_metadata)
    return config


def write_extended(execution: Execution, history: FunctionHistory | None = None) -> WorkflowExecutionExtendedInfo:
    """Return the message that says which request started the execution, and whether its cancellation was requested.

    `history` is the history of the execution if the execution is a function.
    """
    function = None if history is None else history.function
    requested = execution.run.cancel_requested if function is None else function.cancel
    info = WorkflowExecutionExtendedInfo(cancel_requested=requested is not None)
    if execution.request_id:
        info.request_id_infos[execution.request_id].event_id = 1
        info.request_id_infos[execution.request_id].event_type = _TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED
    return info


def write_pending(execution: Execution, waits_for: str) -> list[PendingActivityInfo]:
    """Write the current attempt of an execution as a pending activity. Return [] if the execution has ended.

    `waits_for` says why the attempt waits. Clients see it as the message of the activity's last failure.
    """
    if execution.over:
        return []
    run = execution.run
    states = PendingActivityState
    active = run.status is Status.ACTIVE
    activity = PendingActivityInfo(
        activity_id=run.id,
        state=states.PENDING_ACTIVITY_STATE_STARTED if active else states.PENDING_ACTIVITY_STATE_SCHEDULED,
        attempt=run.number,
        scheduled_time=write_timestamp(run.due),
    )
    activity.activity_type.name = run.name
    if run.node is not None:
        activity.last_worker_identity = run.node
    if waits_for:
        activity.last_failure.message = waits_for
    return [activity]


def write_history(
    execution: Execution, types: Mapping[str, str], history: FunctionHistory | None = None
) -> list[HistoryEvent]:
    """Return the events of an execution: the start event, the events of its function, and the end event if the
    execution has ended.

    `history` is the stored history of the function. It is None if the execution is not a function, or if the caller
    does not need the events of the function. If `history` is None, these events are left out.
    """
    events = [_write_start(execution, types), *([] if history is None else write_function_events(history))]
    return [*events, _write_end(execution, len(events) + 1)] if execution.over else events


def _write_start(execution: Execution, types: Mapping[str, str]) -> HistoryEvent:
    first, form = execution.first, execution.form
    event = HistoryEvent(
        event_id=1,
        event_time=write_timestamp(first.created),
        event_type=_TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED,
    )
    started = event.workflow_execution_started_event_attributes
    started.workflow_id = execution.id
    started.original_execution_run_id = started.first_execution_run_id = execution.run_id
    started.workflow_type.name = first.name
    started.task_queue.name = first.queue
    started.task_queue.kind = TaskQueueKind.TASK_QUEUE_KIND_NORMAL
    if first.due > first.created:
        started.first_workflow_task_backoff.CopyFrom(write_duration(first.due - first.created))
    started.attempt = 1
    started.identity = first.actor or ""
    started.input.CopyFrom(_input(execution))
    if form is not None:
        event.user_metadata.CopyFrom(form.user_metadata)
        for name in _COPIED:
            if form.HasField(name):
                getattr(started, name).CopyFrom(getattr(form, name))
    started.search_attributes.CopyFrom(write_search_attributes(execution, types))
    return event


def _input(execution: Execution) -> Payloads:
    """Return an execution's input as payloads. If the client has sent payloads with the same values as the run's input,
    return the client's payloads. Otherwise convert the run's input to payloads."""
    values = None if execution.first.input is None else orjson.loads(execution.first.input)
    if execution.form is not None and same_arguments(execution.form.input, values):
        return execution.form.input
    return payloads_for(values)


def _write_end(execution: Execution, event_id: int) -> HistoryEvent:
    run = execution.run
    event = HistoryEvent(event_id=event_id, event_time=write_timestamp(run.finished or run.created))
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
            if details_text := _error(run).get("details"):
                end.details.CopyFrom(unpack(details_text, Payloads()))
        case Status.TIMED_OUT:
            event.event_type = _TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_TIMED_OUT
            event.workflow_execution_timed_out_event_attributes.retry_state = RetryState.RETRY_STATE_TIMEOUT
        case _:
            event.event_type = _TYPE.EVENT_TYPE_WORKFLOW_EXECUTION_FAILED
            failed = event.workflow_execution_failed_event_attributes
            failed.failure.CopyFrom(write_failure(_error(run), run.reason, run.status.value))
            failed.retry_state = RetryState.RETRY_STATE_MAXIMUM_ATTEMPTS_REACHED
            if failed.failure.application_failure_info.non_retryable:
                failed.retry_state = RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE
    return event


def _error(run: Run) -> dict[str, Any]:
    error: dict[str, Any] = orjson.loads(run.error) if run.error else {}
    return error
