"""Runs by the ids that Temporal knows them by: finding them, and starting them under the policies for ids.

A run that did not come over the wire is found by the id it was started with, or its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from temporalio.api.enums.v1 import WorkflowIdConflictPolicy, WorkflowIdReusePolicy
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo

from ostinato.app import Ostinato
from ostinato.engine.context import to_json
from ostinato.engine.executor import Stop
from ostinato.engine.requests import call_id, digest, once
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import start, stop
from ostinato.errors import NotFound
from ostinato.faces.temporal.errors import AlreadyStarted
from ostinato.faces.temporal.journeys import with_output
from ostinato.faces.temporal.payloads import unpack
from ostinato.ids import made_at
from ostinato.model import Run, Status, Timer
from ostinato.schedules.looks import newest_of
from ostinato.store.contract import Operation, Row, sql

_OF_ONE_ID = 10_000
_REUSE = WorkflowIdReusePolicy
_CONFLICT = WorkflowIdConflictPolicy


@dataclass(frozen=True, slots=True)
class Workflow:
    """A chain as Temporal sees it: `first` is its first attempt, `run` the newest; `form` what it was started with."""

    id: str
    first: Run
    run: Run
    form: NewWorkflowExecutionInfo | None = None
    request_id: str = ""

    @property
    def run_id(self) -> str:
        return self.first.root_id

    @property
    def over(self) -> bool:
        return self.run.status.over


def shown(run: Run) -> bool:
    """Whether Temporal would know of it: what was passed over never started, what waits for its turn has not yet."""
    waits = run.status is Status.BUFFERED and run.hold == "overlap"
    return run.status not in (Status.SKIPPED, Status.MISSED) and not waits


def workflows_of(runs: Sequence[Run]) -> Operation[list[Workflow]]:
    """The newest attempts of chains, as workflows."""
    roots = [(run.root_id,) for run in runs]
    named: dict[str, Row] = {row[0]: row for row in (yield sql("workflows_of", roots))} if roots else {}
    again = [(run.root_id,) for run in runs if run.number > 1]
    first = {run.id: run for run in map(whole_run, (yield sql("runs_by_ids", again)))} if again else {}
    return [_workflow(run, first.get(run.root_id, run), named.get(run.root_id)) for run in runs]


def _workflow(run: Run, first: Run, row: Row | None) -> Workflow:
    if row is None:
        given = first.key if first.schedule_id is None else None
        return Workflow(given or run.root_id, first, run)
    return Workflow(row[1], first, run, unpack(row[3], NewWorkflowExecutionInfo()), row[2])


def find(namespace: str, workflow_id: str, run_id: str = "") -> Operation[Workflow]:
    """The newest run of an id, or one of its runs."""
    root = run_id
    if not root:
        rows = yield sql("workflow_by_id", namespace=namespace, id=workflow_id)
        rows = rows or (yield sql("run_by_key", namespace=namespace, key=workflow_id))
        root = rows[0][0] if rows else workflow_id
    newest = yield sql("run_of_chain", root=root)
    runs = [run for run in map(whole_run, newest) if run.namespace == namespace and shown(run)]
    found = yield from workflows_of(runs)
    if not found or found[0].id != workflow_id or (run_id and found[0].run_id != run_id):
        raise not_found(workflow_id, run_id)
    return found[0]


def find_all(namespace: str, workflow_id: str) -> Operation[list[Workflow]]:
    """All runs of an id, the newest first."""
    rows = yield sql("workflows_by_id", namespace=namespace, id=workflow_id, limit=_OF_ONE_ID)
    if not rows:
        one = yield from _current(namespace, workflow_id)
        return [] if one is None else [one]
    first = [whole_run(row) for row in (yield sql("runs_by_ids", [(row[0],) for row in rows]))]
    runs = [run for run in (yield from newest_of(first)) if shown(run)]
    return (yield from workflows_of(sorted(runs, key=lambda run: run.root_id, reverse=True)))


def not_found(workflow_id: str, run_id: str) -> NotFound:
    of = f" with run id {run_id!r}" if run_id else ""
    return NotFound(f"workflow not found for ID: {workflow_id}{of}")


async def look(app: Ostinato, workflow_id: str, run_id: str = "") -> Workflow:
    found = await app.store.read(lambda _: find(app.namespace, workflow_id, run_id))
    return replace(found, run=await with_output(app, found.run))


@dataclass(frozen=True, slots=True)
class Asked:
    """A start by an id. `request` makes it the same start however often it comes."""

    workflow_id: str
    request: str
    what: str
    reuse: int
    conflict: int
    form: str


async def start_by_id(app: Ostinato, asked: Asked, run: Run, deadline: Timer | None) -> tuple[str, bool]:
    """One transaction. Returns the run's id, and whether it was started by this."""
    now = app.engine.clock.now()
    stopped: list[Run] = []

    def work() -> Operation[list[Any]]:
        stopped.clear()
        yield sql("lock_workflow", namespace=app.namespace, id=asked.workflow_id)
        there = yield from _current(app.namespace, asked.workflow_id)
        if there is not None:
            if not there.over and _uses(asked):
                return [there.run_id, False]
            _check(asked, there)
            if not there.over:
                yield from stop(there.run_id, Status.TERMINATED, _MAKES_PLACE, now, force=True, actor=app.actor)
                stopped.append(there.run)
        own, timer = _following(app, run, deadline, there)
        (started,) = yield from start([own], now, [timer] if timer is not None else [])
        yield sql("put_workflows", [(started.id, app.namespace, asked.workflow_id, asked.request, asked.form)])
        return [started.id, True]

    id, new = await app.store.run(lambda _: once(app.namespace, asked.request, asked.what, now, work()))
    for one in stopped:
        app.engine.bodies.cancel_here(one.id, Stop(Status.CRASHED, None))
        await app.engine.waiters.look([one.root_id])
    app.engine.nudge()
    return id, new


def _following(app: Ostinato, run: Run, deadline: Timer | None, there: Workflow | None) -> tuple[Run, Timer | None]:
    """The run with an id that sorts after the one before it: by that the newest run of a workflow is found. The ids
    that callers made at the same moment, or by different clocks, may sort in another order than they came through."""
    if there is None or run.id > there.run_id:
        return run, deadline
    id = app._ids.new(max(run.created, made_at(there.run_id) + 1000))
    return replace(run, id=id, root_id=id), None if deadline is None else deadline._replace(owner=id)


@dataclass(frozen=True, slots=True)
class Meant:
    """The run that a call is about: the newest of a workflow id, or one of its runs."""

    workflow_id: str
    run_id: str = ""
    first_run_id: str = ""


async def stop_by_id(
    app: Ostinato,
    meant: Meant,
    status: Status,
    reason: str,
    request: str | None = None,
    *,
    details: str | None = None,
) -> None:
    """Cancel or terminate a run, once for each request id of its workflow. The run is looked for in the transaction
    that stops it, so that no other takes its id in between. `details` are kept with one that is terminated. Raises
    NotFound where it is over."""
    now, force = app.engine.clock.now(), status is Status.TERMINATED

    def work() -> Operation[list[Any]]:
        yield sql("lock_workflow", namespace=app.namespace, id=meant.workflow_id)
        there = yield from find(app.namespace, meant.workflow_id, meant.run_id)
        if meant.first_run_id not in ("", there.run_id):
            raise NotFound(f"workflow not found for ID: {there.id} with first run id {meant.first_run_id!r}")
        if there.over:
            raise NotFound(OVER)
        found, _ = yield from stop(there.run_id, status, reason or status.value, now, force=force, actor=app.actor)
        if found.over and found is not status:
            raise NotFound(OVER)  # it ended by itself before the call got to it
        if details is not None:
            yield sql("set_error", root=there.run_id, error=to_json({"details": details}, "the details"))
        return [there.run_id, found.value]

    what = f"{status.value} workflow {digest(meant.workflow_id, meant.run_id, meant.first_run_id, reason)}"
    own = (
        f"{request or call_id()}/{meant.workflow_id}"  # a request id is one among those of its workflow, as Temporal's
    )
    root, found = await app.store.run(lambda _: once(app.namespace, own, what, now, work()))
    newest = await app.get(root)
    if force:
        app.engine.bodies.cancel_here(newest.run_id, Stop(Status.CRASHED, None))
    elif found == Status.ACTIVE.value:
        app.engine.bodies.cancel_here(newest.run_id, Stop(status, reason or status.value))
    await app.engine.waiters.look([root])
    app.engine.nudge()


OVER = "workflow execution already completed"
_MAKES_PLACE = "terminated by the start of another workflow with its id"


def _current(namespace: str, workflow_id: str) -> Operation[Workflow | None]:
    try:
        return (yield from find(namespace, workflow_id))
    except NotFound:
        return None


def _uses(asked: Asked) -> bool:
    return asked.conflict == _CONFLICT.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING


def _check(asked: Asked, there: Workflow) -> None:
    """Raise what the policies say against another run of this id."""
    if not there.over:
        terminates = (
            asked.conflict == _CONFLICT.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING
            or asked.reuse == _REUSE.WORKFLOW_ID_REUSE_POLICY_TERMINATE_IF_RUNNING
        )
        if not terminates:
            words = f"Workflow execution is already running. WorkflowId: {there.id}, RunId: {there.run_id}."
            raise AlreadyStarted(words, there.run_id, there.request_id)
        return
    failed_only = asked.reuse == _REUSE.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY
    if asked.reuse == _REUSE.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE or (
        failed_only and there.run.status is Status.SUCCEEDED
    ):
        words = (
            f"Workflow execution already finished{' successfully' if failed_only else ''}. "
            f"WorkflowId: {there.id}, RunId: {there.run_id}. Workflow Id reuse policy: {_REUSE.Name(asked.reuse)}."  # type: ignore[arg-type]
        )
        raise AlreadyStarted(words, there.run_id, there.request_id)
