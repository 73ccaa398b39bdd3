"""Stop, recover and scan runs of workflows. If the engine deletes a run, the workflow keeps its own record of this
run."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.invariants import Finding
from ostinato.engine.kinds import Kinds, RunKind
from ostinato.engine.rows import event_row
from ostinato.engine.runs import End, Ended, end
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros
from ostinato.workflows.decisions.failures import UNCERTAIN, RunFailure
from ostinato.workflows.model import FailureClass, HandlerType, RunStatus
from ostinato.workflows.operations.progress import block, lose_fixer, start_fixers
from ostinato.workflows.operations.start_runs import advance, go_on, lock, read_oldest
from ostinato.workflows.rows import read_mutation, read_run, run_row
from ostinato.workflows.store import statement

_LOST = "its node was lost while it was at work"


def stop(
    run: Run, status: Status, reason: str | None, now: Micros, kinds: Kinds
) -> Operation[tuple[Status, list[Row], list[Ended]]]:
    """Stop a run, and release its events. Return three values: the status of the run after this call, the events that
    the caller must write, and an `Ended` for each run that has ended.

    - If the run's mutation has a final outcome or may have taken effect, do not stop the run, because the outcome must
      be recorded. Return the present status and two empty lists.
    - If it is a run of the workflow's fixer (the function that repairs the code after a logic error), a person must act
      after the stop.
    - If it is a run of another handler, the handler becomes due again.
    """
    (row,) = yield statement("workflow_runs", [(run.id,)])
    record = read_run(row)
    loaded = (yield from lock([record.workflow_id]))[record.workflow_id]
    mutations = [read_mutation(row) for row in (yield statement("mutations_of", [(run.id,)]))]
    if record.phase.mutation_settled or any(mutation.status in UNCERTAIN for mutation in mutations):
        return run.status, [], []
    record.status, record.updated = RunStatus.CANCELLED, max(now, record.updated + 1)
    yield statement("save_workflow_runs", [run_row(record)])
    yield statement("release_events", [(run.id,)], now=now)
    yield sql("end_anywhere", [(run.id, status.value, reason, None)], now=now)
    yield sql("drop_timers", [("run", run.id)])
    loaded.workflow.run_id = None
    loaded.unblock(run.id)
    if record.type is HandlerType.FIXER:
        lose_fixer(loaded, record, now, again=False)
    elif record.handler in loaded.handlers:
        loaded.handler(record.handler).dirty = True
    yield from go_on([loaded], now)
    return status, [event_row(now, run, f"run:{status.value}", reason=reason)], [Ended(run, status, reason)]


def recover(runs: Sequence[Run], node: str, now: Micros, kinds: Kinds) -> Operation[None]:
    """Mark the runs of a dead node as crashed, and retry each. If a run has crashed `policy.crash_attempts` times in a
    row, it is not retried, and a person must act."""
    keys = [(run.id,) for run in runs]
    records = {record.run_id: record for record in map(read_run, (yield statement("workflow_runs", keys)))}
    loaded = yield from lock(record.workflow_id for record in records.values())
    crashes: dict[str, int] = {}
    for record in records.values():
        if record.type is HandlerType.FIXER:
            record.status = RunStatus.CRASHED
            lose_fixer(loaded[record.workflow_id], record, now, again=True)
            crashes[record.workflow_id] = record.crashes
        else:
            block(loaded[record.workflow_id], record, RunFailure(FailureClass.CRASH, _LOST), now)
        record.updated = max(now, record.updated + 1)
    yield statement("save_workflow_runs", [run_row(record) for record in records.values()])
    yield from end([End(run, Status.CRASHED, _LOST) for run in runs], node, now, kinds)
    workflows = list(loaded.values())
    yield from read_oldest(workflows)
    yield from start_fixers(workflows, now, crashes)
    yield from advance(workflows, now)


def forget(ids: Sequence[str]) -> Operation[None]:
    """Delete nothing: the inputs, events and effects of workflows are kept longer than the engine's runs."""
    return
    yield


def scan(now: Micros, repair: bool, kinds: Kinds) -> Operation[list[Finding]]:
    """Report reserved events that no run will process. The run that has reserved such an event is finished, and it does
    not block the workflow, so it gets no retry. Report at most 200 events. `repair` has no effect."""
    rows = yield statement("orphaned_reservations", limit=200)
    words = "is reserved by run {}, which is {}"
    return [Finding("workflow_event_orphaned", id, words.format(run, status), False) for id, run, status in rows]


RUN_KIND = RunKind(stop, recover, forget, scan)
