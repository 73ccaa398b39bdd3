"""Do what a person requests: pause, resume, stop or run a workflow, resolve its problem, skip an event or an input."""

from __future__ import annotations

from dataclasses import replace

from ostinato.engine.rows import event_row, whole_run
from ostinato.errors import Conflict, NotFound, check_text
from ostinato.model import Status
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros
from ostinato.workflows.decisions.failures import UNCERTAIN
from ostinato.workflows.model import (
    EventStatus,
    FailureClass,
    HandlerRun,
    HandlerType,
    Mutation,
    MutationStatus,
    Outcome,
    OutcomeStatus,
    Phase,
    ResolutionChoice,
    RunStatus,
    Workflow,
    WorkflowState,
)
from ostinato.workflows.operations.deploy import check_name, find
from ostinato.workflows.operations.progress import write_outcome
from ostinato.workflows.operations.start_runs import Loaded, go_on, lock, save
from ostinato.workflows.rows import mutation_row, read_mutation, read_run, run_row
from ostinato.workflows.store import statement


def lock_workflow(namespace: str, name: str, actor: str | None) -> Operation[Loaded]:
    """Lock the unfinished run of a workflow, if any, and then the workflow. Return the workflow. `actor` is the user to
    record in events.

    If there is no such workflow, raise `NotFound`. If a new run has begun between the two locks, try again. After ten
    tries, raise `Conflict`.
    """
    check_name(name)
    for _ in range(10):
        workflow = yield from find(namespace, name)
        if workflow is None:
            raise NotFound(f"there is no workflow {name!r}")
        if workflow.run_id is not None:
            yield sql("runs_for_update", [(workflow.run_id,)])
        loaded = (yield from lock([workflow.id]))[workflow.id]
        if loaded.workflow.run_id in (None, workflow.run_id):
            loaded.actor = actor
            return loaded
    raise Conflict(f"workflow {name!r} moves too fast; try again")


def pause(loaded: Loaded, now: Micros) -> Operation[None]:
    """Pause a workflow: it starts no more runs, and an active run completes. Raises `Conflict` if the workflow is
    stopped for good."""
    _refuse_archived(loaded.workflow)
    if loaded.workflow.state is not WorkflowState.PAUSED:
        loaded.workflow.state = WorkflowState.PAUSED
        loaded.tell(now, "workflow:paused")
        yield from save([loaded], now)


def resume(loaded: Loaded, now: Micros) -> Operation[None]:
    """Resume a paused workflow, and start a due handler. Raises `Conflict` if the workflow is stopped for good."""
    _refuse_archived(loaded.workflow)
    if loaded.workflow.state is WorkflowState.PAUSED:
        loaded.workflow.state = WorkflowState.ACTIVE
        loaded.tell(now, "workflow:resumed")
        yield from go_on([loaded], now)


def archive(loaded: Loaded, now: Micros) -> Operation[None]:
    """Stop a workflow for good. If the workflow has an unfinished run, cancel the run, so that the run's node can write
    no more checkpoints. In these cases, let the run continue instead:

    - The run's mutation has a final outcome, or may have taken effect.
    - The run is a run of the workflow's fixer (the function that repairs the code after a logic error).
    """
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


def run_now(loaded: Loaded, now: Micros) -> Operation[None]:
    """Make all producers due. Raises `Conflict` if the workflow is not active, is blocked, or has an unfinished run."""
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
    yield from go_on([loaded], now)


def resolve(loaded: Loaded, choice: ResolutionChoice, run_id: str | None, now: Micros) -> Operation[None]:
    """Resolve the problem that blocks a workflow. Raises `Conflict` in these cases:

    - The workflow has no problem.
    - The workflow's fixer (the function that repairs the code after a logic error) is at work on the problem.
    - The node still tries to find out whether a mutation took effect.
    - The choice does not apply to the problem.
    - `run_id` is not None, and another run has caused the problem. A late choice must not resolve a new problem.
    """
    workflow, blocked = loaded.workflow, loaded.workflow.blocked
    if blocked is None:
        raise Conflict(f"workflow {workflow.name!r} is not blocked; there is nothing to resolve")
    if blocked.fixing:
        raise Conflict(f"workflow {workflow.name!r} is being fixed; wait for the fixer, or deploy a new version")
    if run_id is not None and run_id != blocked.run_id:
        raise Conflict(f"workflow {workflow.name!r} is blocked by run {blocked.run_id}, not by {run_id}")
    asked, choice = choice, ResolutionChoice.RESUME if choice is blocked.failure.put_right else choice
    (row,) = yield statement("workflow_runs", [(blocked.run_id,)])
    record = read_run(row)
    mutations = [read_mutation(row) for row in (yield statement("mutations_of", [(record.run_id,)]))]
    mutation = mutations[-1] if mutations else None
    record.updated = max(now, record.updated + 1)
    if blocked.failure is FailureClass.RECONCILIATION:
        yield from _resolve_mutation(loaded, record, mutation, choice, now)
    elif choice is ResolutionChoice.RESUME and blocked.failure.resumes_in_place:
        yield from _resume_run(loaded, record, now)
    elif choice is ResolutionChoice.RESUME:
        workflow.logic_failures = 0
        record.failures = record.crashes = 0
        yield statement("save_workflow_runs", [run_row(record)])
        workflow.blocked = replace(blocked, retry_at=now, fixing=False)
    elif choice is ResolutionChoice.SKIP:
        yield from _skip_run(loaded, record, mutation, now)
    else:
        words = f"{blocked.failure.put_right.value} it, or skip"
        raise Conflict(f"workflow {workflow.name!r} is blocked by a failure of class {blocked.failure}; {words}")
    loaded.tell(now, "workflow:unblocked", run_id=record.run_id, choice=asked.value)
    yield from go_on([loaded], now)


def _resolve_mutation(
    loaded: Loaded, record: HandlerRun, mutation: Mutation | None, choice: ResolutionChoice, now: Micros
) -> Operation[None]:
    name, blocked = loaded.workflow.name, loaded.workflow.blocked
    assert mutation is not None
    assert blocked is not None
    if mutation.status is not MutationStatus.INDETERMINATE:
        raise Conflict(f"workflow {name!r}: it is still being verified whether {mutation.mutator} took effect; wait")
    mutation.updated = now
    if choice is ResolutionChoice.TRY_AGAIN:
        if not mutation.attempts:
            raise Conflict(f"workflow {name!r}: {mutation.mutator} cannot be asked whether it took effect")
        mutation.status, mutation.attempts, mutation.resolved_by = MutationStatus.NEEDS_RECONCILE, 0, "user_retry"
        yield statement("save_mutations", [mutation_row(mutation)])
        yield from _resume_run(loaded, record, now)
    elif choice is ResolutionChoice.DID_NOT_HAPPEN:
        mutation.status, mutation.resolved_by = MutationStatus.FAILED, "user_assert_failed"
        yield statement("save_mutations", [mutation_row(mutation)])
        record.failures = 0
        yield from _end_run(loaded, record, now, "its mutation did not take effect")
        loaded.workflow.run_id = None
        loaded.workflow.blocked = replace(blocked, failure=FailureClass.TRANSIENT, retry_at=now, checking_at=None)
    elif choice is ResolutionChoice.SKIP:
        yield from _skip_run(loaded, record, mutation, now)
    else:
        raise Conflict(f"workflow {name!r}: choose try_again, did_not_happen or skip")


def _skip_run(loaded: Loaded, record: HandlerRun, mutation: Mutation | None, now: Micros) -> Operation[None]:
    """Skip the events of `record`, the run that blocks the workflow: write `skipped` as the outcome of the run's
    mutation. With this outcome, a node calls the handler's method `next`, if any, and marks the events as skipped.

    - If the run is paused, the same run continues with this outcome.
    - If the run has failed, a retry continues with this outcome.

    Raises `Conflict` if the run is not `skippable`.
    """
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


def _refuse_archived(workflow: Workflow) -> None:
    if workflow.state is WorkflowState.ARCHIVED:
        raise Conflict(f"workflow {workflow.name!r} is stopped for good; deploy a new version to start it again")


def _cancellable(run_id: str) -> Operation[HandlerRun | None]:
    """Return the run's record, or None if the run must not be cancelled, because its effect is final or uncertain."""
    (row,) = yield statement("workflow_runs", [(run_id,)])
    record = read_run(row)
    mutations = [read_mutation(row) for row in (yield statement("mutations_of", [(run_id,)]))]
    uncertain = any(mutation.status in UNCERTAIN for mutation in mutations)
    return None if record.phase.mutation_settled or uncertain else record


def _cancel_run(loaded: Loaded, record: HandlerRun, reason: str, now: Micros) -> Operation[None]:
    """Cancel the workflow's unfinished run, and release its events. The run's handler becomes due again."""
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


def skip_event(loaded: Loaded, topic: str, message_id: str, now: Micros) -> Operation[None]:
    """Skip one event. If a run has reserved the event, release the other events of that run, so that they are prepared
    again.

    - If the run is unfinished, cancel it.
    - If the run has failed, retry it now. While the workflow's fixer (the function that repairs the code after a logic
      error) is at work, no retry starts.

    Raises `NotFound` if there is no such event. Raises `Conflict` if the event is consumed, or if the mutation of the
    run that has reserved the event may have begun.
    """
    check_text(topic, "topic")
    check_text(message_id, "message_id")
    rows = yield statement("events_by_message", [(loaded.workflow.id, topic, message_id)])
    if not rows:
        raise NotFound(f"workflow {loaded.workflow.name!r}: topic {topic!r} has no event {message_id!r}")
    statuses = yield from _skip_events(loaded, [rows[0][0]], now)
    status = statuses[rows[0][0]]
    if status != EventStatus.SKIPPED:
        why = "is consumed" if status == EventStatus.CONSUMED else "is in a run whose effect may have begun"
        raise Conflict(
            f"workflow {loaded.workflow.name!r}: event {message_id!r} of topic {topic!r} {why}; nothing was skipped"
        )
    loaded.tell(now, "workflow:event_skipped", topic=topic, message_id=message_id)
    yield from save([loaded], now)


def skip_input(loaded: Loaded, input_id: str, now: Micros) -> Operation[None]:
    """Skip all events of an input, except those that are consumed or in a run whose mutation may have begun. A later
    event is skipped, too, if all inputs that cause it are skipped. Raises `NotFound` if there is no such input."""
    check_text(input_id, "input_id")
    if not (yield statement("skip_inputs", [(loaded.workflow.id, input_id)])):
        raise NotFound(f"workflow {loaded.workflow.name!r} has no input {input_id!r}")
    ids = [row[0] for row in (yield statement("events_of_input", input=input_id))]
    yield from _skip_events(loaded, ids, now)
    loaded.tell(now, "workflow:input_skipped", input=input_id)
    yield from save([loaded], now)


def _skip_events(loaded: Loaded, ids: list[str], now: Micros) -> Operation[dict[str, str]]:
    """Skip the events with these ids, if possible: an event must be pending, or reserved by a run whose mutation has
    not begun. Other events stay as they are. Return the status that each event now has, by event id."""
    workflow = loaded.workflow
    if not ids:
        return {}
    holders = {row[1] for row in (yield statement("skip_events", [(id,) for id in ids], now=now)) if row[1] is not None}
    for run_id in sorted(holders):
        record = yield from _cancellable(run_id)
        if record is None:
            continue
        yield statement("skip_reserved", [(id,) for id in ids], now=now, run=run_id)
        if workflow.run_id == run_id:
            yield from _cancel_run(loaded, record, "its events were skipped", now)
            yield from go_on([loaded], now)
            continue
        yield statement("release_events", [(run_id,)], now=now)
        if workflow.blocked is not None and not workflow.blocked.fixing:
            workflow.blocked = replace(workflow.blocked, retry_at=now)  # the run failed, and is to be tried again
            yield from go_on([loaded], now)
    rows = yield statement("event_statuses", [(id,) for id in ids])
    return {row[0]: row[1] for row in rows}
