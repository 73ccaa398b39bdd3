"""Find, start and stop runs by the ids that Temporal clients use. A run with its retries is a workflow execution.

A Temporal client chooses the workflow ids of the runs that it starts. For all other runs, the workflow id is the id
that the caller chose. If the caller chose none, the workflow id is the run's own id.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from temporalio.api.enums.v1 import WorkflowIdConflictPolicy, WorkflowIdReusePolicy
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo

from ostinato.app import Ostinato
from ostinato.engine.context import to_json
from ostinato.engine.executor import BodyStop
from ostinato.engine.idempotency import call_id, digest, run_once
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import stop
from ostinato.errors import Conflict, NotFound
from ostinato.faces.temporal.errors import AlreadyStarted
from ostinato.faces.temporal.journeys import with_output
from ostinato.faces.temporal.payloads import unpack
from ostinato.functions.model import KIND as FUNCTION
from ostinato.functions.model import Message
from ostinato.functions.operations import Sending, refusal, send, start_with_messages
from ostinato.ids import creation_time
from ostinato.model import Run, Status, Timer
from ostinato.schedules.api.queries import newest_attempts
from ostinato.schedules.model import JOB
from ostinato.store.contract import Operation, Row, sql
from ostinato.temporal_workflow_ids.store import statement
from ostinato.when.instants import Micros

_OF_ONE_ID = 10_000
_REUSE = WorkflowIdReusePolicy
_CONFLICT = WorkflowIdConflictPolicy
OVER = "workflow execution already completed"
_REPLACED = "terminated by the start of another workflow with its id"


@dataclass(frozen=True, slots=True)
class Execution:
    """A run with its retries, as a Temporal execution. `id` is the workflow id."""

    id: str
    first: Run  # the first attempt
    run: Run  # the newest attempt
    form: NewWorkflowExecutionInfo | None = None  # the message that started it
    request_id: str = ""

    @property
    def run_id(self) -> str:
        return self.first.root_id

    @property
    def over(self) -> bool:
        return self.run.status.over


def is_execution(run: Run) -> bool:
    """Return whether Temporal's clients see a run as an execution.

    The clients do not see a run that was skipped or missed, or that waits for earlier runs of its schedule.
    """
    waits = run.status is Status.BUFFERED and run.hold == "overlap"
    return run.status not in (Status.SKIPPED, Status.MISSED) and not waits


def executions_of(runs: Sequence[Run]) -> Operation[list[Execution]]:
    """Return one execution for each run, in the same order. Each run must be the newest attempt of its execution."""
    roots = [(run.root_id,) for run in runs]
    rows: dict[str, Row] = {row[0]: row for row in (yield statement("temporal_executions_of", roots))} if roots else {}
    retried = [(run.root_id,) for run in runs if run.number > 1]
    first = {run.id: run for run in map(whole_run, (yield sql("runs_by_ids", retried)))} if retried else {}
    return [_execution(run, first.get(run.root_id, run), rows.get(run.root_id)) for run in runs]


def _execution(run: Run, first: Run, row: Row | None) -> Execution:
    if row is None:
        key = first.key if first.schedule_id is None else None
        return Execution(key or run.root_id, first, run)
    _, workflow_id, request_id, action = row
    return Execution(workflow_id, first, run, unpack(action, NewWorkflowExecutionInfo()), request_id)


def find(namespace: str, workflow_id: str, run_id: str = "") -> Operation[Execution]:
    """Return the execution with the given ids. If `run_id` is empty, return the newest execution with the workflow id.
    Raises `NotFound` if there is none."""
    root = run_id
    if not root:
        rows = yield statement("temporal_execution_by_id", namespace=namespace, id=workflow_id)
        rows = rows or (yield sql("run_by_key", namespace=namespace, key=workflow_id))
        root = rows[0][0] if rows else workflow_id
    rows = yield sql("run_of_chain", root=root)
    runs = [run for run in map(whole_run, rows) if run.namespace == namespace and is_execution(run)]
    executions = yield from executions_of(runs)
    if not executions or executions[0].id != workflow_id or (run_id and executions[0].run_id != run_id):
        raise not_found(workflow_id, run_id)
    return executions[0]


def find_all(namespace: str, workflow_id: str) -> Operation[list[Execution]]:
    """Return the executions with a workflow id, the newest first, but at most `_OF_ONE_ID`."""
    rows = yield statement("temporal_executions_by_id", namespace=namespace, id=workflow_id, limit=_OF_ONE_ID)
    if not rows:
        execution = yield from _newest(namespace, workflow_id)
        return [] if execution is None else [execution]
    first = [whole_run(row) for row in (yield sql("runs_by_ids", [(row[0],) for row in rows]))]
    runs = [run for run in (yield from newest_attempts(first)) if is_execution(run)]
    return (yield from executions_of(sorted(runs, key=lambda run: run.root_id, reverse=True)))


def _newest(namespace: str, workflow_id: str) -> Operation[Execution | None]:
    try:
        return (yield from find(namespace, workflow_id))
    except NotFound:
        return None


def not_found(workflow_id: str, run_id: str) -> NotFound:
    which = f" with run id {run_id!r}" if run_id else ""
    return NotFound(f"workflow not found for ID: {workflow_id}{which}")


async def read_execution(app: Ostinato, workflow_id: str, run_id: str = "") -> Execution:
    """Return the execution with the given ids. If `run_id` is empty, return the newest execution with the workflow id.
    If the execution is a journey that has succeeded, the `result` of its run is the journey's output. Raises `NotFound`
    if there is no such execution."""
    execution = await app.store.read(lambda _: find(app.namespace, workflow_id, run_id))
    return replace(execution, run=await with_output(app, execution.run))


@dataclass(frozen=True, slots=True)
class StartRequest:
    """A request to start an execution. The policies `reuse` and `conflict` apply if the workflow id was used before."""

    workflow_id: str
    request_id: str  # requests with the same id are carried out once
    summary: str  # identifies the arguments of the request
    reuse: int  # one of Temporal's `WorkflowIdReusePolicy`
    conflict: int  # one of Temporal's `WorkflowIdConflictPolicy`
    form: str  # the message to store


async def start_by_id(
    app: Ostinato, request: StartRequest, run: Run, deadline: Timer | None, message: Message | None = None
) -> tuple[str, bool]:
    """Start an execution in one transaction. Return the execution's run id, and whether the execution is new.

    The policies in `request` decide what happens if the workflow id was used before:

    - If an execution with this workflow id is running, return that execution, terminate it before the start, or raise
      `AlreadyStarted`.
    - If the last execution with this workflow id has ended, start another one or raise `AlreadyStarted`.

    If `message` is given, send it to the returned execution. Raises `Conflict` if that execution cannot receive
    messages.
    """
    now = app.engine.clock.now()
    stopped: list[Run] = []

    def work() -> Operation[list[Any]]:
        stopped.clear()
        yield statement("lock_temporal_execution", namespace=app.namespace, id=request.workflow_id)
        before = yield from _newest(app.namespace, request.workflow_id)
        if (
            before is not None
            and not before.over
            and request.conflict == _CONFLICT.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
        ):
            if message is None or (yield from _send(app.namespace, before, message, now)):
                return [before.run_id, False]
            before = yield from _newest(app.namespace, request.workflow_id)  # the execution ended before it was locked
        if before is not None:
            _check_policies(request, before)
            if not before.over:
                yield from stop(
                    before.run_id, Status.TERMINATED, _REPLACED, now, app.engine.kinds, force=True, actor=app.actor
                )
                stopped.append(before.run)
        next_run, timer = _sort_after(app, run, deadline, before)
        started = yield from start_with_messages(next_run, timer, [message] if message is not None else [], now)
        row = (started.id, app.namespace, request.workflow_id, request.request_id, request.form)
        yield statement("put_temporal_executions", [row])
        return [started.id, True]

    id, new = await run_once(app.store, app.namespace, request.request_id, request.summary, now, work)
    for stopped_run in stopped:
        app.engine.bodies.cancel_here(stopped_run.id, BodyStop(Status.CRASHED, None))
        await app.engine.waiters.look([stopped_run.root_id])
    app.engine.nudge()
    return id, new


def _send(namespace: str, execution: Execution, message: Message, now: Micros) -> Operation[bool]:
    """Send a message to an execution. Return False if the execution has ended. Raises `Conflict` or `NotFound` if the
    message is refused for another reason."""
    run = execution.run
    if run.kind != FUNCTION:
        raise takes_no_signals(run, message.name)
    (answer,) = yield from send([Sending(replace(message, run_id=run.id), namespace)], now)
    if answer and not (answer in set(Status) and Status(answer).over):
        raise refusal(execution.id, answer)
    return not answer


def takes_no_signals(run: Run, signal: str) -> Conflict:
    return Conflict(
        f"workflow type {run.name!r} is a {run.kind}, and a {run.kind} takes no signals; "
        f"signal {signal!r} was not delivered"
    )


def _sort_after(app: Ostinato, run: Run, deadline: Timer | None, before: Execution | None) -> tuple[Run, Timer | None]:
    """Return `run` and its timer `deadline`, with a new id if necessary. Of several executions with the same workflow
    id, the one with the greatest run id counts as the newest. So if the id of `run` is not greater than the run id of
    `before`, `run` and its timer get a new id that is greater."""
    # The execution with the greatest id counts as the newest. Two ids may be of the same millisecond or of two clocks.
    if before is None or run.id > before.run_id:
        return run, deadline
    id = app._ids.new(max(run.created, creation_time(before.run_id) + 1000))
    return replace(run, id=id, root_id=id), None if deadline is None else deadline._replace(owner=id)


def _check_policies(request: StartRequest, before: Execution) -> None:
    """Check that `request` may start an execution. `before` is the newest execution with the same workflow id.

    - If `before` is running, raise `AlreadyStarted`, unless `request.conflict` or `request.reuse` says to terminate it.
    - If `before` has ended, raise `AlreadyStarted` if `request.reuse` forbids another execution with this workflow id.
    """
    if not before.over:
        terminates = (
            request.conflict == _CONFLICT.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
            or request.reuse == _REUSE.WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING
        )
        if not terminates:
            words = f"Workflow execution is already running. WorkflowId: {before.id}, RunId: {before.run_id}."
            raise AlreadyStarted(words, before.run_id, before.request_id)
        return
    failed_only = request.reuse == _REUSE.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
    if request.reuse == _REUSE.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE or (
        failed_only and before.run.status is Status.SUCCEEDED
    ):
        words = (
            f"Workflow execution already finished{' successfully' if failed_only else ''}. "
            f"WorkflowId: {before.id}, RunId: {before.run_id}. Workflow Id reuse policy: {_REUSE.Name(request.reuse)}."  # type: ignore[arg-type]
        )
        raise AlreadyStarted(words, before.run_id, before.request_id)


@dataclass(frozen=True, slots=True)
class ExecutionTarget:
    """Names the execution to stop.

    - `run_id`: the run id of the execution. If it is empty, the newest execution with the workflow id is meant.
    - `first_run_id`: a run id to compare. If it is not empty, it must equal the run id of the execution that was found.
      If it differs, `stop_by_id` raises `NotFound`.
    """

    workflow_id: str
    run_id: str = ""
    first_run_id: str = ""


async def stop_by_id(
    app: Ostinato,
    target: ExecutionTarget,
    status: Status,
    reason: str,
    request_id: str | None = None,
    *,
    details: str | None = None,
) -> None:
    """Cancel or terminate an execution. A repeated call with the same `request_id` changes nothing.

    `details` is stored with the execution. Raises `NotFound` if the execution does not exist or has ended.
    """
    now, force = app.engine.clock.now(), status is Status.TERMINATED

    def work() -> Operation[list[Any]]:
        yield statement("lock_temporal_execution", namespace=app.namespace, id=target.workflow_id)
        # Look it up in the transaction that stops it, so that no other execution can take its id in between.
        execution = yield from find(app.namespace, target.workflow_id, target.run_id)
        if target.first_run_id not in ("", execution.run_id):
            raise NotFound(f"workflow not found for ID: {execution.id} with first run id {target.first_run_id!r}")
        if execution.over:
            raise NotFound(OVER)
        root = execution.run_id
        after, _ = yield from stop(
            root, status, reason or status.value, now, app.engine.kinds, force=force, actor=app.actor
        )
        if after.over and after is not status:
            raise NotFound(OVER)  # it ended by itself before it was locked
        if details is not None:
            yield sql("set_error", root=root, error=to_json({"details": details}, "the details"))
        return [root, after.value]

    summary = f"{status.value} workflow {digest(target.workflow_id, target.run_id, target.first_run_id, reason)}"
    # Temporal's request ids of cancellations are unique within a workflow id only.
    request = digest(request_id or call_id(), target.workflow_id)
    root, after = await run_once(app.store, app.namespace, request, summary, now, work)
    newest = await app.get(root)
    if force:
        app.engine.bodies.cancel_here(newest.run_id, BodyStop(Status.CRASHED, None))
    elif after == Status.ACTIVE.value and newest.kind == JOB:  # other kinds stop by themselves
        app.engine.bodies.cancel_here(newest.run_id, BodyStop(status, reason or status.value))
    await app.engine.waiters.look([root])
    app.engine.nudge()
