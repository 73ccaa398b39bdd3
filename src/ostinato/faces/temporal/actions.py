"""Read the start of a job or function from a Temporal message, and write an action of a schedule as such a message."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import Priority, RetryPolicy
from temporalio.api.common.v1 import WorkflowType as MessageType
from temporalio.api.enums.v1 import WorkflowIdReusePolicy
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo

from ostinato.faces.temporal.attributes import read_attributes
from ostinato.faces.temporal.calls import read_id
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import arguments, payloads_for
from ostinato.faces.temporal.times import read_length, write_duration
from ostinato.faces.temporal.workflow_types import WorkflowType
from ostinato.functions.model import KIND as FUNCTION
from ostinato.model import MOST
from ostinato.model import read_length as length_of
from ostinato.schedules.actions import INPUT
from ostinato.schedules.model import JOB, ScheduleAction, run_name
from ostinato.when.instants import SECOND, Micros

_UNLIMITED = MOST  # the number of attempts that means no limit
_DEFAULT_PRIORITY = 3  # from 1, the highest, to 5
_REUSE = (
    WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_UNSPECIFIED,
    WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
)


@dataclass(frozen=True, slots=True)
class TemporalStart:
    """The start of a job or a function. `options` replace the options that the job or the function declares."""

    name: str
    input: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)
    kind: str = JOB


def read_start(message: Any, workflow_type: WorkflowType, types: Mapping[str, str], place: str) -> TemporalStart:
    """Return the start of a job or function that `message` describes.

    `message` is a `NewWorkflowExecutionInfo`, or a `StartWorkflowExecutionRequest`, which has the same fields. `types`
    has the types of the registered search attributes. Raises `Wrong` for an invalid field; the error names the field as
    `<place>.<field>`.
    """

    def at(name: str) -> str:
        return f"{place}.{name}" if place else name

    read_id(message.workflow_id, at("workflow_id"))
    name = read_id(message.workflow_type.name, at("workflow_type.name"))
    if message.cron_schedule:
        raise Wrong(at("cron_schedule"), "cannot be set; a schedule's spec says when")
    options: dict[str, Any] = {}
    if message.task_queue.name:
        options["queue"] = read_id(message.task_queue.name, at("task_queue.name"))
    read_attributes(message.search_attributes, types, at("search_attributes"))
    lengths = {
        option: read_length(getattr(message, timeout), at(timeout))
        for timeout, option in (("workflow_execution_timeout", "deadline"), ("workflow_run_timeout", "timeout"))
    }
    options |= {option: _text(length) for option, length in lengths.items() if length}
    read_length(message.workflow_task_timeout, at("workflow_task_timeout"))
    if message.HasField("retry_policy"):
        options["retry"] = _read_retry(message.retry_policy, at("retry_policy"))
    if message.HasField("priority"):
        options |= _read_priority(message.priority, at("priority"))
    if workflow_type.kind == FUNCTION:
        options = _options_of_function(options, at("retry_policy"))
    input = arguments(message.input, workflow_type, at("input"))
    return TemporalStart(name, input, options, workflow_type.kind)


def _options_of_function(options: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Convert the options of a job into options of a function, which has no `timeout` and no `retry`.

    The new `deadline` is the shorter of `deadline` and `timeout`, or the only one that is given. Raises `Wrong` about
    the field `place` if `retry` allows more than one attempt, because a function as a whole is never retried.
    """
    if options.get("retry", {}).get("attempts", 1) != 1:
        raise Wrong(place, "a function is not tried again as a whole; give its steps a retry: @step(retry=3)")
    lengths = [options[name] for name in ("deadline", "timeout") if name in options]
    kept = {name: value for name, value in options.items() if name not in ("deadline", "timeout", "retry")}
    return {**kept, "deadline": min(lengths, key=lambda text: length_of(text, "length"))} if lengths else kept


def read_scheduled(
    message: NewWorkflowExecutionInfo, workflow_type: WorkflowType, types: Mapping[str, str], place: str
) -> TemporalStart:
    """Read the action of a schedule. Raises `Wrong` if a field is invalid."""
    if message.workflow_id_reuse_policy not in _REUSE:
        raise Wrong(f"{place}.workflow_id_reuse_policy", "only ALLOW_DUPLICATE is possible for a schedule")
    return read_start(message, workflow_type, types, place)


def _text(length: Micros) -> str:
    return f"{length / SECOND:.6f}s"


def _read_retry(policy: RetryPolicy, place: str) -> dict[str, Any]:
    first = read_length(policy.initial_interval, f"{place}.initial_interval") or SECOND
    longest = read_length(policy.maximum_interval, f"{place}.maximum_interval") or 100 * first
    factor = policy.backoff_coefficient or 2.0
    if not 1.0 <= factor < 1e6:
        raise Wrong(f"{place}.backoff_coefficient", f"{factor!r} is not a number from 1")
    if longest < first:
        raise Wrong(f"{place}.maximum_interval", "is shorter than initial_interval")
    if policy.maximum_attempts < 0:
        raise Wrong(f"{place}.maximum_attempts", f"{policy.maximum_attempts} is negative")
    return {
        "attempts": policy.maximum_attempts or _UNLIMITED,
        "delay": _text(first),
        "longest": _text(longest),
        "factor": factor,
        "jitter": 0.0,
    }


def _read_priority(priority: Priority, place: str) -> dict[str, Any]:
    if not 0 <= priority.priority_key <= 5:
        raise Wrong(f"{place}.priority_key", f"{priority.priority_key} is not from 1 to 5")
    if not 0 <= priority.fairness_weight < 1e9:
        raise Wrong(f"{place}.fairness_weight", f"{priority.fairness_weight!r} is not a weight")
    if len(priority.fairness_key.encode()) > 64:
        raise Wrong(f"{place}.fairness_key", "is longer than 64 bytes")
    return {"priority": _DEFAULT_PRIORITY - priority.priority_key} if priority.priority_key else {}


def write_action(action: ScheduleAction, id: str) -> NewWorkflowExecutionInfo:
    """Write `action` as a message with the workflow id `id`.

    This function is for actions that were created or changed outside Temporal's API. For an action that a Temporal
    client has sent, the client's own message is stored.
    """
    input, options = action.input if action.kind == JOB else action.input.get(INPUT), action.options
    message = NewWorkflowExecutionInfo(
        workflow_id=id,
        workflow_type=MessageType(name=run_name(action)),
        task_queue=TaskQueue(name=str(options.get("queue") or "default")),
        input=payloads_for(input),
    )
    for option, into in (("deadline", message.workflow_execution_timeout), ("timeout", message.workflow_run_timeout)):
        if options.get(option) is not None:
            into.CopyFrom(_write_length(options[option]))
    retry = options.get("retry")
    if isinstance(retry, int):
        retry = {"attempts": retry}
    if isinstance(retry, Mapping):
        message.retry_policy.CopyFrom(
            RetryPolicy(
                initial_interval=_write_length(retry.get("delay", "1s")),
                maximum_interval=_write_length(retry.get("longest", "600s")),
                backoff_coefficient=float(retry.get("factor", 2.0)),
                maximum_attempts=0 if retry.get("attempts", 1) >= _UNLIMITED else int(retry.get("attempts", 1)),
            )
        )
    priority = options.get("priority")
    if isinstance(priority, int) and -2 <= priority <= 2 and priority:
        message.priority.priority_key = _DEFAULT_PRIORITY - priority
    return message


def _write_length(value: Any) -> Duration:
    return write_duration(length_of(value, "length"))
