"""Write the history of a function as Temporal's events.

Messages are written as signals, steps as activities, waits as timers, children as child workflows, and recorded values
as markers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import orjson
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent

from ostinato.faces.temporal.failures import write_failure
from ostinato.faces.temporal.functions import FunctionHistory
from ostinato.faces.temporal.payloads import payload_of
from ostinato.faces.temporal.times import write_duration, write_timestamp
from ostinato.functions.model import Message, StepKind, StepRecord, StepStatus
from ostinato.functions.views import in_order
from ostinato.when.instants import Micros

_ENDS = {  # from the status of a child to the name of its end event
    "failed": "failed",
    "crashed": "failed",
    "cancelled": "canceled",
    "terminated": "terminated",
    "timed_out": "timed_out",
}


@dataclass(slots=True)
class _Event:
    """An event that has no id yet. `attributes` is the part of `message` with the fields of the event's type.

    Some fields of `attributes` contain the id of another event. `refers` is a dict from the name of such a field to the
    other event. The ids are written into the fields when all events have ids.
    """

    at: Micros
    message: HistoryEvent
    attributes: Any
    refers: dict[str, _Event] = field(default_factory=dict)


def write_function_events(history: FunctionHistory) -> list[HistoryEvent]:
    """Return the events of a function's run, ordered by time, without the start event and the end event. The function
    `write_history` adds these two.

    The returned events have the ids 2, 3, 4 and so on, because the start event has the id 1.
    """
    function = history.function
    events: list[_Event] = []
    if function is not None and function.cancel is not None:
        requested = _event("workflow_execution_cancel_requested", function.cancel)
        requested.attributes.cause = function.reason or ""
        events.append(requested)
    children: dict[str, tuple[_Event, _Event]] = {}
    received = {message.position: message for message in history.messages if message.position is not None}
    shown: set[str] = set()
    for step in in_order(history.steps):
        begin_and_end = _events_of(step, history, children)
        message = received.get(step.position) if step.kind is StepKind.RECEIVE else None
        if message is not None:  # between the events of the timeout, if they have the same time
            shown.add(message.id)
            begin_and_end.insert(1, _signaled(message))
        events += begin_and_end
    events += [_signaled(message) for message in history.messages if message.id not in shown]
    events.sort(key=lambda event: event.at)
    for number, event in enumerate(events, 2):
        event.message.event_id = number
    for event in events:
        for name, other in event.refers.items():
            setattr(event.attributes, name, other.message.event_id)
    return [event.message for event in events]


def _event(name: str, at: Micros, **refers: _Event) -> _Event:
    """Return an event of the type `name`, such as `timer_started`, at the time `at`.

    Some fields of the event contain the id of another event. Pass the other event as a keyword argument with the name
    of the field. The ids are written into the fields when all events have ids.
    """
    message = HistoryEvent(event_time=write_timestamp(at))
    message.event_type = EventType.Value(f"EVENT_TYPE_{name.upper()}")
    attributes = getattr(message, f"{name}_event_attributes")
    attributes.SetInParent()
    return _Event(at, message, attributes, refers)


def _signaled(message: Message) -> _Event:
    event = _event("workflow_execution_signaled", message.sent)
    event.attributes.signal_name = message.name
    event.attributes.identity = message.actor or ""
    if message.payload is not None:
        event.attributes.input.payloads.append(payload_of(orjson.loads(message.payload)))
    return event


def _events_of(step: StepRecord, history: FunctionHistory, children: dict[str, tuple[_Event, _Event]]) -> list[_Event]:
    """Return the events of one step. If the step has started a child, also add the child's two start events to
    `children`, under the child's id. The end event of the child refers to them later."""
    match step.kind:
        case StepKind.STEP:
            return _activity(step)
        case StepKind.SLEEP | StepKind.RECEIVE:
            return _timer(step)
        case StepKind.START:
            begun = _child_start(step, history)
            if step.child_id is not None and len(begun) == 2:
                children[step.child_id] = (begun[0], begun[1])
            return begun
        case StepKind.CHILD:
            return _child_end(step, history, children)
        case _:
            return [_marker(step)]


def _activity(step: StepRecord) -> list[_Event]:
    scheduled = _event("activity_task_scheduled", step.begun)
    scheduled.attributes.activity_id = step.position
    scheduled.attributes.activity_type.name = step.name
    if not step.status.over or step.finished is None:
        return [scheduled]
    started = _event("activity_task_started", step.begun, scheduled_event_id=scheduled)
    started.attributes.attempt = max(step.attempts, 1)
    name = {StepStatus.DONE: "completed", StepStatus.CANCELLED: "canceled"}.get(step.status, "failed")
    end = _event(f"activity_task_{name}", step.finished, scheduled_event_id=scheduled, started_event_id=started)
    if step.status is StepStatus.DONE:
        end.attributes.result.payloads.append(payload_of(_value(step.result)))
    elif step.status is not StepStatus.CANCELLED:
        end.attributes.failure.CopyFrom(write_failure(_value(step.error) or {}, None, step.status.value))
    return [scheduled, started, end]


def _timer(step: StepRecord) -> list[_Event]:
    """Return the timer events of a sleep or of a receive. Return [] for a receive without a timeout."""
    if step.due is None:
        return []
    started = _event("timer_started", step.begun)
    started.attributes.timer_id = step.position
    started.attributes.start_to_fire_timeout.CopyFrom(write_duration(max(0, step.due - step.begun)))
    if not step.status.over or step.finished is None:
        return [started]
    fired = step.status is (StepStatus.DONE if step.kind is StepKind.SLEEP else StepStatus.TIMED_OUT)
    end = _event("timer_fired" if fired else "timer_canceled", step.finished, started_event_id=started)
    end.attributes.timer_id = step.position
    return [started, end]


def _child_start(step: StepRecord, history: FunctionHistory) -> list[_Event]:
    initiated = _event("start_child_workflow_execution_initiated", step.begun)
    initiated.attributes.workflow_type.name = step.name
    if step.child_id is None or step.finished is None:
        return [initiated]
    initiated.attributes.workflow_id = history.workflow_ids.get(step.child_id, step.child_id)
    started = _event("child_workflow_execution_started", step.finished, initiated_event_id=initiated)
    _name_child(started, step, history)
    return [initiated, started]


def _child_end(step: StepRecord, history: FunctionHistory, children: dict[str, tuple[_Event, _Event]]) -> list[_Event]:
    """Return a list with the end event of a child. Return [] if the function has not received the child's outcome."""
    if step.finished is None or step.status not in (StepStatus.DONE, StepStatus.FAILED):
        return []
    problem = (_value(step.error) or {}) if step.status is StepStatus.FAILED else {}
    name = "completed" if step.status is StepStatus.DONE else _ENDS.get(problem.get("status", ""), "failed")
    begun = children.get(step.child_id or "")
    refers = {} if begun is None else {"initiated_event_id": begun[0], "started_event_id": begun[1]}
    end = _event(f"child_workflow_execution_{name}", step.finished, **refers)
    _name_child(end, step, history)
    if name == "completed":
        end.attributes.result.payloads.append(payload_of(_value(step.result)))
    elif name == "failed":
        failure = write_failure(problem.get("error") or {}, problem.get("reason"), problem.get("status", "failed"))
        end.attributes.failure.CopyFrom(failure)
    return [end]


def _name_child(event: _Event, step: StepRecord, history: FunctionHistory) -> None:
    child = step.child_id or ""
    event.attributes.workflow_execution.CopyFrom(
        WorkflowExecution(workflow_id=history.workflow_ids.get(child, child), run_id=child)
    )
    event.attributes.workflow_type.name = step.name


def _marker(step: StepRecord) -> _Event:
    event = _event("marker_recorded", step.finished or step.begun)
    event.attributes.marker_name = step.kind.value
    event.attributes.details["value"].payloads.append(payload_of(_value(step.result)))
    if step.name:
        event.attributes.details["name"].payloads.append(payload_of(step.name))
    return event


def _value(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)
