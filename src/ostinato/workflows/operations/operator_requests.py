"""Carry out what people request for a workflow. They can pause, resume, stop or run it, and resolve its problem. They
can also skip an event or an input."""

from __future__ import annotations

from dataclasses import replace

from ostinato.engine.rows import event_row, whole_run
from ostinato.errors import Conflict, NotFound, check_text
from ostinato.model import Status
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros
from ostinato.workflows.decisions.failures import UNCERTAIN
from ostinato.workflows.model import (
    Choice,
    EventStatus,
    FailureClass,
    HandlerRun,
    HandlerType,
    Mutation,
    MutationStatus,
    Outcome,
    OutcomeStatus,
    Phase,
    RunStatus,
    Workflow,
    WorkflowState,
)
from ostinato.workflows.operations.deploy import check_name
from ostinato.workflows.operations.progress import write_outcome
from ostinato.workflows.operations.start_runs import Loaded, NewId, advance, lock, read_oldest, save
from ostinato.workflows.rows import mutation_row, read_mutation, read_run, read_workflow, run_row
from ostinato.workflows.store import statement


def locked(namespace: str, name: str, actor: str | None) -> Operation[Loaded]:
    """Lock a workflow's unfinished run, then the workflow, and load the workflow. `actor` is the user to record in the
    workflow's events.

    - Raises `NotFound` if there is no workflow `name`.
    - If a new run begins between the two locks, locking is tried again. Raises `Conflict` after ten tries.
    """
    check_name(name)
    for _ in range(10):
        rows = yield statement("workflow_by_name", namespace=namespace, name=name)
        if not rows:
            raise NotFound(f"there is no workflow {name!r}")
        workflow = read_workflow(rows[0])
        if workflow.run_id is not None:
            yield sql("runs_for_update", [(workflow.run_id,)])
        loaded = (yield from lock([workflow.id]))[workflow.id]
        if loaded.workflow.run_id in (None, workflow.run_id):
            loaded.actor = actor
            return loaded
    raise Conflict(f"workflow {name!r} moves too fast; try again")


def pause(loaded: Loaded, now: Micros) -> Operation[None]:
    """Pause a workflow: it starts no more runs. An active run completes. Raises `Conflict` if the workflow is stopped
    for good."""
    _refuse_archived(loaded.workflow)
    if loaded.workflow.state is not WorkflowState.PAUSED:
        loaded.workflow.state = WorkflowState.PAUSED
        loaded.tell(now, "workflow:paused")
        yield from save([loaded], now)


def resume(loaded: Loaded, now: Micros, new_id: NewId) -> Operation[None]:
    """Resume a paused workflow. Handlers that became due meanwhile run now. Raises `Conflict` if the workflow is
    stopped for good."""
    _refuse_archived(loaded.workflow)
    if loaded.workflow.state is WorkflowState.PAUSED:
        loaded.workflow.state = WorkflowState.ACTIVE
        loaded.tell(now, "workflow:resumed")
        yield from _go_on(loaded, now, new_id)


def archive(loaded: Loaded, now: Micros) -> Operation[None]:
    """Stop a workflow for good. A run whose mutation has not begun is cancelled, so that its node cannot write the next
    checkpoint. A run whose mutation has begun completes. The records of the workflow are kept."""
    workflow = loaded.workflow
    if workflow.state is WorkflowState.ARCHIVED:
        return
    workflow.state = WorkflowState.ARCHIVED
    loaded.tell(now, "workflow:archived")
    if workflow.run_id is not None:
        record = yield from _cancellable(workflow.run_id)
        if record is not None and record.type is not HandlerType.FIXER:
            yield from _cancel_run(loaded, record, "its workflow was stopped", now)
    yield from save([loaded], now)


def run_now(loaded: Loaded, now: Micros, new_id: NewId) -> Operation[int]:
    """Make all producers due. Returns the number of producers. Raises `Conflict` while the workflow is paused, stopped
    or blocked, or has an unfinished run."""
    workflow = loaded.workflow
    _refuse_archived(workflow)
    if workflow.state is WorkflowState.PAUSED:
        raise Conflict(f"workflow {workflow.name!r} is paused; resume it first")
    if workflow.blocked is not None:
        raise Conflict(f"workflow {workflow.name!r} is blocked: {workflow.blocked.reason}")
    if workflow.run_id is not None:
        raise Conflict(f"workflow {workflow.name!r} has a run under way ({workflow.run_id}); wait until it is done")
    for producer in loaded.definition.producers:
        loaded.handler(producer.name).next_run = now
    loaded.tell(now, "workflow:run_requested")
    yield from _go_on(loaded, now, new_id)
    return len(loaded.definition.producers)


def resolve(loaded: Loaded, choice: Choice, run_id: str | None, now: Micros, new_id: NewId) -> Operation[None]:
    """Resolve the problem that blocks a workflow. Raises `Conflict` if the workflow is not blocked, if the fixer is at
    work, or if this choice does not apply. `run_id` is the run whose problem the user wants to resolve, or None. If
    another run blocks the workflow, `Conflict` is raised, so that a late answer cannot resolve a new problem."""
    workflow, blocked = loaded.workflow, loaded.workflow.blocked
    if blocked is None:
        raise Conflict(f"workflow {workflow.name!r} is not blocked; there is nothing to resolve")
    if blocked.fixing:
        raise Conflict(f"workflow {workflow.name!r} is being fixed; wait for the fixer, or deploy a new version")
    if run_id is not None and run_id != blocked.run_id:
        raise Conflict(f"workflow {workflow.name!r} is blocked by run {blocked.run_id}, not by {run_id}")
    asked, choice = choice, Choice.RESUME if choice is blocked.failure.put_right else choice
    (row,) = yield statement("workflow_runs", [(blocked.run_id,)])
    record = read_run(row)
    mutations = [read_mutation(row) for row in (yield statement("mutations_of", [(record.run_id,)]))]
    mutation = mutations[-1] if mutations else None
    record.updated = max(now, record.updated + 1)
    if blocked.failure is FailureClass.RECONCILIATION:
        yield from _resolve_mutation(loaded, record, mutation, choice, now)
    elif choice is Choice.RESUME and blocked.failure.resumes_in_place:
        yield from _resume_run(loaded, record, now)
    elif choice is Choice.RESUME:
        workflow.logic_failures = 0
        record.failures = record.crashes = 0
        yield statement("save_workflow_runs", [run_row(record)])
        workflow.blocked = replace(blocked, retry_at=now, fixing=False)
    elif choice is Choice.SKIP:
        yield from _skip_run(loaded, record, mutation, now)
    else:
        words = f"{blocked.failure.put_right.value} it, or skip"
        raise Conflict(f"workflow {workflow.name!r} is blocked by a failure of class {blocked.failure}; {words}")
    loaded.tell(now, "workflow:unblocked", run_id=record.run_id, choice=asked.value)
    yield from _go_on(loaded, now, new_id)


def _resolve_mutation(
    loaded: Loaded, record: HandlerRun, mutation: Mutation | None, choice: Choice, now: Micros
) -> Operation[None]:
    name, blocked = loaded.workflow.name, loaded.workflow.blocked
    assert mutation is not None
    assert blocked is not None
    if mutation.status is not MutationStatus.INDETERMINATE:
        raise Conflict(f"workflow {name!r}: it is still being verified whether {mutation.mutator} took effect; wait")
    mutation.updated = now
    if choice is Choice.TRY_AGAIN:
        if not mutation.attempts:
            raise Conflict(f"workflow {name!r}: {mutation.mutator} cannot be asked whether it took effect")
        mutation.status, mutation.attempts, mutation.resolved_by = MutationStatus.NEEDS_RECONCILE, 0, "user_retry"
        yield statement("save_mutations", [mutation_row(mutation)])
        yield from _resume_run(loaded, record, now)
    elif choice is Choice.DID_NOT_HAPPEN:
        mutation.status, mutation.resolved_by = MutationStatus.FAILED, "user_assert_failed"
        yield statement("save_mutations", [mutation_row(mutation)])
        record.failures = 0
        yield from _end_run(loaded, record, now, "its mutation did not take effect")
        loaded.workflow.run_id = None
        loaded.workflow.blocked = replace(blocked, failure=FailureClass.TRANSIENT, retry_at=now, checking_at=None)
    elif choice is Choice.SKIP:
        yield from _skip_run(loaded, record, mutation, now)
    else:
        raise Conflict(f"workflow {name!r}: choose try_again, did_not_happen or skip")


def _skip_run(loaded: Loaded, record: HandlerRun, mutation: Mutation | None, now: Micros) -> Operation[None]:
    """Skip the events of the run that blocks the workflow. `record` is this run's record. The handler's `next` is then
    called with the outcome `skipped`. Raises `Conflict` if the run is not `skippable`."""
    if not record.skippable:
        raise Conflict(_why_not_skippable(loaded.workflow.name, record))
    if mutation is not None:
        mutation.status, mutation.resolved_by, mutation.updated = MutationStatus.FAILED, "user_skip", now
        yield statement("save_mutations", [mutation_row(mutation)])
    record.outcome, record.phase = write_outcome(Outcome(OutcomeStatus.SKIPPED)), Phase.MUTATED
    if loaded.workflow.run_id == record.run_id:
        yield from _resume_run(loaded, record, now)
    else:
        yield statement("save_workflow_runs", [run_row(record)])
        assert loaded.workflow.blocked is not None
        loaded.workflow.blocked = replace(loaded.workflow.blocked, retry_at=now, fixing=False)


def _why_not_skippable(name: str, record: HandlerRun) -> str:
    words = f"workflow {name!r}: run {record.run_id} of {record.handler!r} holds no event that could be skipped"
    if record.phase is not Phase.PREPARING:
        return f"{words}; mend what is wrong, and resume it"
    skip, go_on = f"skip-event {name} TOPIC MESSAGE", f"resolve {name} resume"
    return f"{words}; skip the event at fault, then resume: ostinato workflows {skip}, ostinato workflows {go_on}"


def _resume_run(loaded: Loaded, record: HandlerRun, now: Micros) -> Operation[None]:
    """Continue a run that is paused in place."""
    record.status = RunStatus.ACTIVE
    loaded.workflow.blocked = None
    yield statement("save_workflow_runs", [run_row(record)])
    yield sql("drop_timers", [("run", record.run_id)])
    yield sql("set_ready", [(record.run_id, now)])
    yield sql("notify")


def _end_run(loaded: Loaded, record: HandlerRun, now: Micros, reason: str) -> Operation[None]:
    """End a paused run as failed. The caller must arrange the retry, which is a new run."""
    yield statement("save_workflow_runs", [run_row(record)])
    run = whole_run((yield sql("runs_for_update", [(record.run_id,)]))[0])
    loaded.events.append(event_row(now, run, "run:failed", reason=reason))
    yield sql("drop_timers", [("run", record.run_id)])
    yield sql("stop_runs", [(record.run_id, Status.FAILED.value, reason)], now=now)


def _go_on(loaded: Loaded, now: Micros, new_id: NewId) -> Operation[None]:
    yield from read_oldest([loaded])
    yield from advance([loaded], now, new_id)


def _refuse_archived(workflow: Workflow) -> None:
    if workflow.state is WorkflowState.ARCHIVED:
        raise Conflict(f"workflow {workflow.name!r} is stopped for good; deploy a new version to start it again")


def _cancellable(run_id: str) -> Operation[HandlerRun | None]:
    """Return the record of a run if the run can be cancelled, otherwise None. A run cannot be cancelled if its mutation
    is settled or may have taken effect."""
    (row,) = yield statement("workflow_runs", [(run_id,)])
    record = read_run(row)
    mutations = [read_mutation(row) for row in (yield statement("mutations_of", [(run_id,)]))]
    uncertain = any(mutation.status in UNCERTAIN for mutation in mutations)
    return None if record.phase.mutation_settled or uncertain else record


def _cancel_run(loaded: Loaded, record: HandlerRun, reason: str, now: Micros) -> Operation[None]:
    """Cancel the workflow's unfinished run, and release the run's events. The run's handler becomes due again."""
    record.status, record.updated = RunStatus.CANCELLED, max(now, record.updated + 1)
    yield statement("release_events", [(record.run_id,)], now=now)
    yield statement("save_workflow_runs", [run_row(record)])
    run = whole_run((yield sql("runs_for_update", [(record.run_id,)]))[0])
    yield sql("end_anywhere", [(run.id, Status.CANCELLED.value, reason, None)], now=now)
    yield sql("drop_timers", [("run", run.id)])
    loaded.events.append(event_row(now, run, "run:cancelled", reason=reason))
    loaded.workflow.run_id, loaded.workflow.blocked = None, None
    if record.handler in loaded.handlers:
        loaded.handler(record.handler).dirty = True


def skip_event(loaded: Loaded, topic: str, message_id: str, now: Micros, new_id: NewId) -> Operation[None]:
    """Skip one event.

    If an unfinished run has reserved the event, the run is cancelled. If a failed run has reserved the event, the run
    is retried. In both cases, the run's other events are prepared again. Raises `NotFound` if there is no such event.
    Raises `Conflict` if the event is consumed, or if the mutation of its run may have begun.
    """
    check_text(topic, "topic")
    check_text(message_id, "message_id")
    rows = yield statement("events_by_message", [(loaded.workflow.id, topic, message_id)])
    if not rows:
        raise NotFound(f"workflow {loaded.workflow.name!r}: topic {topic!r} has no event {message_id!r}")
    statuses = yield from _skip_events(loaded, [rows[0][0]], now, new_id)
    status = statuses[rows[0][0]]
    if status != EventStatus.SKIPPED:
        why = "is consumed" if status == EventStatus.CONSUMED else "is in a run whose effect may have begun"
        raise Conflict(
            f"workflow {loaded.workflow.name!r}: event {message_id!r} of topic {topic!r} {why}; nothing was skipped"
        )
    loaded.tell(now, "workflow:event_skipped", topic=topic, message_id=message_id)
    yield from save([loaded], now)


def skip_input(loaded: Loaded, input_id: str, now: Micros, new_id: NewId) -> Operation[dict[str, str]]:
    """Skip an input: all its events, including those that come later. Events that are consumed, or whose mutation may
    have begun, are not skipped. Returns a dict from event id to the event's new status. Raises `NotFound` if there is
    no such input."""
    check_text(input_id, "input_id")
    if not (yield statement("skip_inputs", [(loaded.workflow.id, input_id)])):
        raise NotFound(f"workflow {loaded.workflow.name!r} has no input {input_id!r}")
    ids = [row[0] for row in (yield statement("events_of_input", input=input_id))]
    statuses = yield from _skip_events(loaded, ids, now, new_id)
    loaded.tell(now, "workflow:input_skipped", input=input_id)
    yield from save([loaded], now)
    return statuses


def _skip_events(loaded: Loaded, ids: list[str], now: Micros, new_id: NewId) -> Operation[dict[str, str]]:
    """Skip those events that are pending, or reserved by a run whose mutation has not begun. Returns a dict from event
    id to the event's status after that."""
    workflow = loaded.workflow
    if not ids:
        return {}
    holders = {row[1] for row in (yield statement("skip_events", [(id,) for id in ids], now=now)) if row[1] is not None}
    for run_id in sorted(holders):
        record = yield from _cancellable(run_id)
        if record is None:
            continue
        yield statement("skip_reserved", [(id,) for id in ids], now=now)
        if workflow.run_id != run_id:  # it failed, and is to be tried again
            yield statement("release_events", [(run_id,)], now=now)
            if workflow.blocked is not None and not workflow.blocked.fixing:
                workflow.blocked = replace(workflow.blocked, retry_at=now)
                yield from _go_on(loaded, now, new_id)
            continue
        yield from _cancel_run(loaded, record, "its events were skipped", now)
        yield from _go_on(loaded, now, new_id)
    rows = yield statement("event_statuses", [(id,) for id in ids])
    return {row[0]: row[1] for row in rows}
