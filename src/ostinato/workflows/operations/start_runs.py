"""Start the next run of each workflow that may run. Set a timer for each workflow that has nothing to run yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ostinato.engine.claims import DirectClaim
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import audit, timer_row
from ostinato.engine.runs import start
from ostinato.model import Run, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros
from ostinato.workflows.decisions.failures import RetryStart, follow
from ostinato.workflows.decisions.triggers import choose, next_look
from ostinato.workflows.definition import WorkflowDefinition
from ostinato.workflows.ids import new_id
from ostinato.workflows.model import (
    KIND,
    HandlerRun,
    HandlerState,
    HandlerType,
    Mutation,
    MutationStatus,
    Phase,
    RunStatus,
    Workflow,
    WorkflowState,
)
from ostinato.workflows.rows import (
    handler_row,
    mutation_row,
    read_definition,
    read_handler,
    read_mutation,
    read_run,
    read_workflow,
    run_row,
    workflow_row,
)
from ostinato.workflows.store import statement

FIXER = "fixer"


@dataclass(slots=True)
class Loaded:
    """A locked workflow with the rows that are needed to choose its next run. The function `save` writes the changes.

    - `actor`: the user to record in new events; None means the user who deployed the workflow
    - `oldest`: the id of the oldest pending event of each topic; empty until `read_oldest` is called
    - `events`: the rows of events that `save` will write
    """

    workflow: Workflow
    definition: WorkflowDefinition
    handlers: dict[str, HandlerState]
    actor: str | None = None
    oldest: dict[str, str] = field(default_factory=dict)
    events: list[Row] = field(default_factory=list)
    changed_handlers: set[str] = field(default_factory=set)
    changed: bool = False

    def unblock(self, run_id: str) -> None:
        """Unblock the workflow, if this run blocked it."""
        blocked = self.workflow.blocked
        if blocked is not None and blocked.run_id == run_id:
            self.workflow.blocked, self.changed = None, True

    def handler(self, name: str) -> HandlerState:
        """Return the state of a handler, for the caller to change. `save` will write the state."""
        self.changed_handlers.add(name)
        self.changed = True
        return self.handlers[name]

    def tell(self, now: Micros, name: str, **data: object) -> None:
        """Add an event about the workflow. `save` writes it."""
        workflow, actor = self.workflow, self.actor or self.workflow.actor
        self.events.append(audit(now, workflow.namespace, name, workflow.id, actor, workflow=workflow.name, **data))


def lock(ids: Iterable[str], *, only_free: bool = False) -> Operation[dict[str, Loaded]]:
    """Lock workflows, and return them by id. With `only_free`, leave out those that another transaction has locked."""
    keys = [(id,) for id in sorted(set(ids))]
    if not keys:
        return {}
    name = "free_workflows" if only_free else "lock_workflows"
    workflows = [read_workflow(row) for row in (yield statement(name, keys))]
    handlers = [read_handler(row) for row in (yield statement("workflow_handlers", keys))]
    return {
        workflow.id: Loaded(
            workflow,
            read_definition(workflow.definition),
            {handler.name: handler for handler in handlers if handler.workflow_id == workflow.id},
        )
        for workflow in workflows
    }


def read_oldest(workflows: Sequence[Loaded]) -> Operation[None]:
    """Read the oldest pending event of each topic that has a consumer, and store its id in `oldest` of the workflow."""
    topics = [
        (loaded.workflow.id, topic)
        for loaded in workflows
        for consumer in loaded.definition.consumers
        for topic in consumer.subscribes
    ]
    oldest: dict[str, dict[str, str]] = {}
    if topics:
        for workflow_id, topic, event_id in (yield statement("oldest_pending", topics)):
            oldest.setdefault(workflow_id, {})[topic] = event_id
    for loaded in workflows:
        loaded.oldest = oldest.get(loaded.workflow.id, {})


def go_on(workflows: Sequence[Loaded], now: Micros) -> Operation[None]:
    yield from read_oldest(workflows)
    yield from advance(workflows, now)


def advance(workflows: Sequence[Loaded], now: Micros) -> Operation[None]:
    """Start the due runs of locked workflows, and save the workflows. The caller must have called `read_oldest`.

    A workflow that has nothing to run yet gets a timer for its next check. A workflow with an unfinished run needs no
    timer, because `advance` is called again when that run ends.
    """
    runs: list[tuple[Run, HandlerRun]] = []
    timers: list[Row] = []
    retries = yield from _retries_due(workflows, now)
    for loaded in workflows:
        workflow = loaded.workflow
        if workflow.id in retries:
            runs.append(retries[workflow.id].begin(loaded, now))
        elif workflow.runnable and (handler := choose(loaded.definition, loaded.handlers.values(), loaded.oldest, now)):
            runs.append(_begin(loaded, handler, now))
        elif (look := _look_at(loaded, now)) is not None:
            timers.append(timer_row(Timer(KIND, workflow.id, "next", look, workflow.namespace)))
    yield from _carry_over(list(retries.values()), now)
    yield from insert_runs(runs, now)
    if timers:
        yield sql("set_timers", timers)
    yield from save(workflows, now)


def insert_runs(runs: Sequence[tuple[Run, HandlerRun]], now: Micros) -> Operation[None]:
    if runs:
        yield from start([run for run, _ in runs], now)
        yield statement("insert_workflow_runs", [run_row(record) for _, record in runs])


def save(workflows: Sequence[Loaded], now: Micros) -> Operation[None]:
    """Write locked workflows, with their changed handlers and their new events."""
    for loaded in workflows:
        loaded.workflow.updated = max(now, loaded.workflow.updated + 1)
    if workflows:
        yield statement("save_workflows", [workflow_row(loaded.workflow) for loaded in workflows])
    handlers = [handler_row(loaded.handlers[name]) for loaded in workflows for name in loaded.changed_handlers]
    if handlers:
        yield statement("put_workflow_handlers", handlers)
    events = [event for loaded in workflows for event in loaded.events]
    if events:
        yield sql("insert_events", events)
    for loaded in workflows:
        loaded.events = []


def begin_run(
    workflow: Workflow, handler: str, handler_type: HandlerType, phase: Phase, now: Micros
) -> tuple[Run, HandlerRun]:
    """Create a run of a handler, and its record. The run becomes the only unfinished run of `workflow`."""
    id = workflow.run_id = new_id(now)
    run = Run(
        id=id,
        root_id=id,
        name=f"{workflow.name}.{handler}",
        kind=KIND,
        namespace=workflow.namespace,
        due=now,
        created=now,
        actor=workflow.actor,
    )
    record = HandlerRun(
        run_id=id,
        workflow_id=workflow.id,
        handler=handler,
        type=handler_type,
        retry_of=None,
        version=workflow.version,
        repairs=workflow.repairs,
        phase=phase,
        status=RunStatus.ACTIVE,
        created=now,
        updated=now,
    )
    return run, record


def _begin(loaded: Loaded, handler: HandlerState, now: Micros) -> tuple[Run, HandlerRun]:
    phase = Phase.EXECUTING if handler.type is HandlerType.PRODUCER else Phase.PREPARING
    _start_handler(loaded, handler.name, now)
    return begin_run(loaded.workflow, handler.name, handler.type, phase, now)


def _start_handler(loaded: Loaded, name: str, now: Micros) -> None:
    """Record that a handler starts now. A consumer is then due again only after new events, or at a later `wake_at`."""
    handler = loaded.handler(name)
    handler.last_run = now
    if handler.type is HandlerType.CONSUMER:
        handler.dirty, handler.not_before = False, None
        if handler.wake_at is not None and handler.wake_at <= now:
            handler.wake_at = None


def _look_at(loaded: Loaded, now: Micros) -> Micros | None:
    workflow = loaded.workflow
    if workflow.state is not WorkflowState.ACTIVE or workflow.run_id is not None:
        return None
    if workflow.blocked is not None:
        return workflow.blocked.retry_at
    return next_look(loaded.definition, loaded.handlers.values(), now)


# Retries


@dataclass(slots=True)
class Retry:
    """A new run that follows a failed run.

    - `mutation`: the latest mutation of the failed run; None if it has no mutation
    - `start`: where the new run begins
    - `run_id`: the id of the new run; empty until the new run has begun
    """

    failed: HandlerRun
    mutation: Mutation | None
    start: RetryStart
    run_id: str = ""

    def begin(self, loaded: Loaded, now: Micros) -> tuple[Run, HandlerRun]:
        failed, workflow = self.failed, loaded.workflow
        run, record = begin_run(workflow, failed.handler, failed.type, self.start.phase, now)
        self.run_id = run.id
        record.retry_of, record.failures, record.crashes = failed.run_id, failed.failures, failed.crashes
        if self.start.keeps:  # it does not prepare again, so what makes the consumer due stays
            record.prepared, record.outcome = failed.prepared, failed.outcome
        elif failed.handler in loaded.handlers:
            _start_handler(loaded, failed.handler, now)
        workflow.blocked = None
        return run, record


def _retries_due(workflows: Sequence[Loaded], now: Micros) -> Operation[dict[str, Retry]]:
    """Return the retries that are due, by workflow id."""
    keys = [
        (blocked.run_id,)
        for loaded in workflows
        if loaded.workflow.state is WorkflowState.ACTIVE
        and loaded.workflow.run_id is None  # a fixer may still be at work
        and (blocked := loaded.workflow.blocked) is not None
        and blocked.retry_at is not None
        and blocked.retry_at <= now
    ]
    if not keys:
        return {}
    failed = [read_run(row) for row in (yield statement("workflow_runs", keys))]
    mutations = {row.run_id: row for row in map(read_mutation, (yield statement("mutations_of", keys)))}
    retries: dict[str, Retry] = {}
    for record in failed:
        mutation = mutations.get(record.run_id)
        status = None if mutation is None else mutation.status
        retries[record.workflow_id] = Retry(record, mutation, follow(record, status))
    return retries


def _carry_over(retries: Sequence[Retry], now: Micros) -> Operation[None]:
    """For each retry whose `start.keeps` is true, move the reservations and the mutation of the failed run to the
    retry. For the other retries, release the reservations of the failed run."""
    released = [(one.failed.run_id,) for one in retries if not one.start.keeps]
    kept = [(one.failed.run_id, one.run_id) for one in retries if one.start.keeps]
    if released:
        yield statement("release_events", released, now=now)
    if kept:
        yield statement("transfer_events", kept, now=now)
        yield statement("transfer_reservations", kept)
    mutations = [one.mutation for one in retries if one.start.keeps and one.mutation is not None]
    owners = {one.failed.run_id: one.run_id for one in retries}
    for mutation in mutations:
        mutation.run_id, mutation.updated = owners[mutation.run_id], now
        if mutation.status is MutationStatus.IN_FLIGHT:
            mutation.status = MutationStatus.NEEDS_RECONCILE
    if mutations:
        yield statement("save_mutations", [mutation_row(mutation) for mutation in mutations])


def fire(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    """Advance the workflows whose timers are due. If another transaction has locked a workflow, set its timer to one
    second from now instead, because to wait for the lock could cause a deadlock. Always return an empty list, because
    `advance` itself writes the events."""
    loaded = yield from lock((timer.owner for timer in timers), only_free=True)
    held = [timer_row(timer._replace(due=now + SECOND)) for timer in timers if timer.owner not in loaded]
    if held:
        yield sql("set_timers", held)
    yield from go_on(list(loaded.values()), now)
    return []
