"""Read a run of a workflow, with everything that a node needs to continue it."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.store.contract import Operation
from ostinato.workflows.definition import WorkflowDefinition
from ostinato.workflows.model import HandlerRun, HandlerState, HandlerType, Mutation, Phase, TopicEvent, Workflow
from ostinato.workflows.rows import read_definition, read_event, read_handler, read_mutation, read_run, read_workflow
from ostinato.workflows.store import statement


@dataclass(slots=True)
class LoadedRun:
    """A run with its workflow and the events that it has reserved. For a fixer's run, `failed` is the run to repair."""

    record: HandlerRun
    workflow: Workflow
    definition: WorkflowDefinition
    handler: HandlerState | None
    mutation: Mutation | None
    events: list[TopicEvent]
    failed: HandlerRun | None = None


def load_run(run_id: str) -> Operation[LoadedRun]:
    (row,) = yield statement("workflow_runs", [(run_id,)])
    record = read_run(row)
    (workflow_row,) = yield statement("workflow_by_id", id=record.workflow_id)
    workflow = read_workflow(workflow_row)
    handlers = map(read_handler, (yield statement("workflow_handlers", [(record.workflow_id,)])))
    mutations: list[Mutation] = []
    events: list[TopicEvent] = []
    if record.phase not in (Phase.EXECUTING, Phase.PREPARING):  # a run that begins has reserved and changed nothing
        mutations = [read_mutation(row) for row in (yield statement("mutations_of", [(run_id,)]))]
        events = [read_event(row) for row in (yield statement("events_reserved_by", run=run_id))]
    failed = None
    if record.type is HandlerType.FIXER and record.retry_of is not None:
        rows = yield statement("workflow_runs", [(record.retry_of,)])
        failed = read_run(rows[0]) if rows else None
    return LoadedRun(
        record,
        workflow,
        read_definition(workflow.definition),
        next((handler for handler in handlers if handler.name == record.handler), None),
        mutations[-1] if mutations else None,
        events,
        failed,
    )
