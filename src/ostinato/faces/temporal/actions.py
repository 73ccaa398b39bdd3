"""What a workflow's start says, as a job's start: from a schedule's action, and from a start on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.duration_pb2 import Duration
from temporalio.api.common.v1 import Priority, RetryPolicy, WorkflowType
from temporalio.api.enums.v1 import WorkflowIdReusePolicy
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo

from ostinato.engine.handlers import Declaration, Handler
from ostinato.faces.temporal.attributes import read_attributes
from ostinato.faces.temporal.calls import read_id
from ostinato.faces.temporal.errors import Wrong
from ostinato.faces.temporal.payloads import arguments, payloads_for
from ostinato.faces.temporal.times import read_length, write_duration
from ostinato.model import MOST
from ostinato.model import read_length as length_of
from ostinato.when.instants import SECOND, Micros

_EVER = MOST  # attempts without end
_MIDDLE = 3  # the priority of who says nothing; 1 goes first, 5 last
_REUSE = (
    WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_UNSPECIFIED,
    WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
)
Known = Callable[[str], Handler | Declaration | None]


@dataclass(frozen=True, slots=True)
class Start:
    """A job, what it is given, and what is different for it from what the job says."""

    job: str
    input: dict[str, Any]
    options: dict[str, Any] = field(default_factory=dict)


def read_start(given: Any, known: Known, attributes: Mapping[str, str], place: str) -> Start:
    """From a `NewWorkflowExecutionInfo`, or a `StartWorkflowExecutionRequest`, which has the same fields."""

    def at(name: str) -> str:
        return f"{place}.{name}" if place else name

    read_id(given.workflow_id, at("workflow_id"))
    job = read_id(given.workflow_type.name, at("workflow_type.name"))
    if given.cron_schedule:
        raise Wrong(at("cron_schedule"), "cannot be set; a schedule's spec says when")
    if given.task_queue.name:
        read_id(given.task_queue.name, at("task_queue.name"))
    read_attributes(given.search_attributes, attributes, at("search_attributes"))
    options: dict[str, Any] = {}
    if given.task_queue.name:
        options["queue"] = given.task_queue.name
    for name, option in (("workflow_execution_timeout", "deadline"), ("workflow_run_timeout", "timeout")):
        length = read_length(getattr(given, name), at(name))
        if length:
            options[option] = _text(length)
    read_length(given.workflow_task_timeout, at("workflow_task_timeout"))
    if given.HasField("retry_policy"):
        options["retry"] = _retry(given.retry_policy, at("retry_policy"))
    if given.HasField("priority"):
        options |= _priority(given.priority, at("priority"))
    return Start(job, arguments(given.input, known(job), at("input")), options)


def read_scheduled(given: NewWorkflowExecutionInfo, known: Known, attributes: Mapping[str, str], place: str) -> Start:
    """What a schedule starts."""
    if given.workflow_id_reuse_policy not in _REUSE:
        raise Wrong(f"{place}.workflow_id_reuse_policy", "only ALLOW_DUPLICATE is possible for a schedule")
    return read_start(given, known, attributes, place)


def _text(length: Micros) -> str:
    return f"{length / SECOND:.6f}s"


def _retry(given: RetryPolicy, place: str) -> dict[str, Any]:
    first = read_length(given.initial_interval, f"{place}.initial_interval") or SECOND
    longest = read_length(given.maximum_interval, f"{place}.maximum_interval") or 100 * first
    factor = given.backoff_coefficient or 2.0
    if not 1.0 <= factor < 1e6:
        raise Wrong(f"{place}.backoff_coefficient", f"{factor!r} is not a number from 1")
    if longest < first:
        raise Wrong(f"{place}.maximum_interval", "is shorter than initial_interval")
    if given.maximum_attempts < 0:
        raise Wrong(f"{place}.maximum_attempts", f"{given.maximum_attempts} is negative")
    return {
        "attempts": given.maximum_attempts or _EVER,
        "delay": _text(first),
        "longest": _text(longest),
        "factor": factor,
        "jitter": 0.0,
    }


def _priority(given: Priority, place: str) -> dict[str, Any]:
    if not 0 <= given.priority_key <= 5:
        raise Wrong(f"{place}.priority_key", f"{given.priority_key} is not from 1 to 5")
    if not 0 <= given.fairness_weight < 1e9:
        raise Wrong(f"{place}.fairness_weight", f"{given.fairness_weight!r} is not a weight")
    if len(given.fairness_key.encode()) > 64:
        raise Wrong(f"{place}.fairness_key", "is longer than 64 bytes")
    return {"priority": _MIDDLE - given.priority_key} if given.priority_key else {}


def write_action(job: str, input: Mapping[str, Any], options: Mapping[str, Any], id: str) -> NewWorkflowExecutionInfo:
    """The action of a schedule that did not come over the wire, or was changed elsewhere since."""
    found = NewWorkflowExecutionInfo(
        workflow_id=id,
        workflow_type=WorkflowType(name=job),
        task_queue=TaskQueue(name=str(options.get("queue") or "default")),
        input=payloads_for(input),
    )
    for option, into in (("deadline", found.workflow_execution_timeout), ("timeout", found.workflow_run_timeout)):
        if options.get(option) is not None:
            into.CopyFrom(_length(options[option]))
    retry = options.get("retry")
    if isinstance(retry, int):
        retry = {"attempts": retry}
    if isinstance(retry, Mapping):
        found.retry_policy.CopyFrom(
            RetryPolicy(
                initial_interval=_length(retry.get("delay", "1s")),
                maximum_interval=_length(retry.get("longest", "600s")),
                backoff_coefficient=float(retry.get("factor", 2.0)),
                maximum_attempts=0 if retry.get("attempts", 1) >= _EVER else int(retry.get("attempts", 1)),
            )
        )
    priority = options.get("priority")
    if isinstance(priority, int) and -2 <= priority <= 2 and priority:
        found.priority.priority_key = _MIDDLE - priority
    return found


def _length(value: Any) -> Duration:
    return write_duration(length_of(value, "length"))
