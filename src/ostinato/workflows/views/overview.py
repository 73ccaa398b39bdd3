"""Build the overview of a workflow: its status, timing, pending events and latest activity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from ostinato.when.instants import SECOND, Micros, to_datetime
from ostinato.workflows.decisions.triggers import next_look
from ostinato.workflows.definition import WorkflowDefinition
from ostinato.workflows.model import (
    FailureClass,
    HandlerRun,
    HandlerState,
    HandlerType,
    Mutation,
    Workflow,
    WorkflowState,
    from_document,
)
from ostinato.workflows.rows import read_definition
from ostinato.workflows.views.wording import counted, length

RUNNING, IDLE, NEEDS_ATTENTION, STOPPED = "Running", "Idle", "Needs attention", "Stopped"


@dataclass(frozen=True, slots=True)
class InputGroup:
    """Counts of the inputs of one source and type, such as the e-mails of a mailbox. `pending`, `done` and `skipped`
    count the inputs with the status of that name. `attention` counts the inputs that wait for a person or have become
    stale."""

    source: str
    type: str
    pending: int = 0
    done: int = 0
    skipped: int = 0
    attention: int = 0


@dataclass(frozen=True, slots=True)
class WorkflowInfo:
    """The overview of a workflow.

    - `status`: Running, Idle, Needs attention or Stopped
    - `issue`: the problem that blocks the workflow, in words; None if the workflow is not blocked
    - `choices`: the choices by which `resolve` can settle the issue
    - `timing`: when the producers run, in words, or why they do not run
    - `pending`: the number of pending events of each topic
    - `run_id`: the id of the run that is active or paused; None if there is no such run
    - `deployed`: when the workflow was first deployed
    - `orphaned`: the topics in `pending` that no handler of this version consumes
    """

    name: str
    version: str
    status: str
    issue: str | None
    choices: tuple[str, ...]
    schedule: tuple[str, ...]
    timing: str
    next_run: datetime | None
    pending: dict[str, int]
    run_id: str | None
    deployed: datetime
    orphaned: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        kept = asdict(self)
        times = {name: kept[name] and kept[name].isoformat() for name in ("next_run", "deployed")}
        return {**kept, **times}

    @staticmethod
    def from_json(kept: Mapping[str, Any]) -> WorkflowInfo:
        times = {name: kept[name] and datetime.fromisoformat(kept[name]) for name in ("next_run", "deployed")}
        lists = {name: tuple(kept[name]) for name in ("choices", "schedule", "orphaned")}
        return from_document(WorkflowInfo, {**kept, **times, **lists})


@dataclass(frozen=True, slots=True)
class WorkflowDetail(WorkflowInfo):
    """The overview of a workflow, with its inputs and its latest activity.

    - `inputs`: counts of the inputs, with one `InputGroup` for each source and type
    - `attention`: how many inputs need a person, in words; None if no input needs a person
    - `activity`: a line for each of the latest runs that processed events, newest first
    """

    inputs: tuple[InputGroup, ...] = ()
    attention: str | None = None
    activity: tuple[str, ...] = ()


def workflow_detail(info: WorkflowInfo, inputs: tuple[InputGroup, ...], activity: Sequence[str]) -> WorkflowDetail:
    glance = {field.name: getattr(info, field.name) for field in fields(info)}
    return WorkflowDetail(**glance, inputs=inputs, attention=attention_of(inputs), activity=tuple(activity))


def workflow_info(
    workflow: Workflow,
    handlers: Sequence[HandlerState],
    pending: dict[str, int],
    failed: HandlerRun | None,
    mutation: Mutation | None,
    now: Micros,
) -> WorkflowInfo:
    """Return the overview of a workflow. `pending` counts the pending events of each topic. `failed` is the run that
    blocks the workflow, and `mutation` is the latest mutation of that run."""
    definition = read_definition(workflow.definition)
    look = next_look(definition, handlers, now) if workflow.runnable else None
    return WorkflowInfo(
        name=workflow.name,
        version=workflow.label,
        status=status_of(workflow),
        issue=issue_of(workflow, now),
        choices=_choices(workflow, failed, mutation),
        schedule=tuple(producer.schedule.describe() for producer in definition.producers),
        timing=timing_of(workflow, definition, handlers, now),
        next_run=None if look is None else to_datetime(look),
        pending=pending,
        run_id=workflow.run_id,
        deployed=to_datetime(workflow.created),
        orphaned=tuple(sorted(topic for topic in pending if definition.consumer_of(topic) is None)),
    )


def status_of(workflow: Workflow) -> str:
    """Return the status that users see. A paused workflow with a problem that needs a person has the status "Needs
    attention", not "Stopped"."""
    blocked = workflow.blocked
    if workflow.state is WorkflowState.ARCHIVED:
        return STOPPED
    if blocked is not None and blocked.needs_person:
        return NEEDS_ATTENTION
    if workflow.state is WorkflowState.PAUSED:
        return STOPPED
    return RUNNING if blocked is not None or workflow.run_id is not None else IDLE


def issue_of(workflow: Workflow, now: Micros) -> str | None:
    blocked = workflow.blocked
    if blocked is None:
        return None
    if blocked.fixing:
        return f"Fixing: {blocked.reason}"
    if blocked.retry_at is not None and workflow.state is not WorkflowState.ACTIVE:
        return f"Retries when it runs again: {blocked.reason}"
    if blocked.retry_at is not None:
        seconds = max(0, (blocked.retry_at - now + SECOND - 1) // SECOND)
        return f"Retrying in {seconds} s: {blocked.reason}"
    return blocked.reason


def timing_of(workflow: Workflow, definition: WorkflowDefinition, handlers: Iterable[HandlerState], now: Micros) -> str:
    """Describe when the producers run: `Checks every 5 minutes · next in 3 min`."""
    schedules = "; ".join(dict.fromkeys(producer.schedule.describe() for producer in definition.producers))
    words = schedules or "Runs when events come"
    if workflow.state is WorkflowState.PAUSED:
        return f"{words} · paused until you resume it"
    if workflow.state is WorkflowState.ARCHIVED:
        return f"{words} · stopped for good"
    if workflow.blocked is not None and workflow.blocked.needs_person:
        return f"{words} · waits for you"
    times = [
        handler.next_run
        for handler in handlers
        if handler.type is HandlerType.PRODUCER and handler.name in definition.handlers and handler.next_run is not None
    ]
    if not times:
        return words
    return f"{words} · next in {length(min(times) - now)}" if min(times) > now else f"{words} · due now"


def _choices(workflow: Workflow, failed: HandlerRun | None, mutation: Mutation | None) -> tuple[str, ...]:
    blocked = workflow.blocked
    if blocked is None or blocked.checking_at is not None or blocked.fixing:
        return ()
    if blocked.failure is not FailureClass.RECONCILIATION:
        go_on = blocked.failure.put_right.value
        return (go_on, "skip") if failed is not None and failed.skippable else (go_on,)
    again = ("try_again",) if mutation is not None and mutation.attempts else ()
    return (*again, "did_not_happen", "skip")


def input_groups(counts: Iterable[tuple[str, str, str, int, int]]) -> tuple[InputGroup, ...]:
    """Add up counts of inputs, and return one group for each source and type. A row of `counts` is (source, type,
    state, number of inputs, number of these inputs that need attention). Inputs with the state "held" count as
    pending."""
    groups: dict[tuple[str, str], Counter[str]] = {}
    for source, kind, state, number, attention in counts:
        status = "pending" if state == "held" else state
        groups.setdefault((source, kind), Counter()).update({status: number, "attention": attention})
    return tuple(InputGroup(source, kind, **group) for (source, kind), group in groups.items())


def attention_of(groups: Iterable[InputGroup]) -> str | None:
    """Describe how many inputs need a person. Return None if no input needs a person."""
    number = sum(group.attention for group in groups)
    return f"{counted(number, 'input')} {'needs' if number == 1 else 'need'} your attention" if number else None
