"""Start several instances in one transaction.

Each instance is started by a request, which is never stored: only the node that received the request has it, in memory.
So the same transaction claims the new run of each instance for that node.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import event_row, insert_row, whole_run
from ostinato.engine.runs import End, created_event
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.pending_effects import pending_effects
from ostinato.journeys.rows import KIND, read_record
from ostinato.journeys.runtime.commit import InstanceChange, end_runs, run_end, write_changes
from ostinato.journeys.runtime.load import LoadedInstance, new_instance
from ostinato.journeys.runtime.requests import StartRequest
from ostinato.journeys.store import statement
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class InstanceChanged:
    """The result of a start or a submit.

    - `run`: the run of the instance; for a start whose key is in use, the earlier run
    - `loaded`: the stored instance; None if a start found its key in use
    - `end`: the end of the run, or None if the run did not end at once
    """

    run: Run
    loaded: LoadedInstance | None = None
    end: End | None = None

    def continues_on(self, node: str | None, claim: int) -> bool:
        """Return whether `node` has claimed the run under the claim number `claim`. If so, `node` must continue the
        run."""
        run = self.run
        return node is not None and run.status is Status.ACTIVE and run.node == node and run.claim == claim


def new_run(definition: Definition, id: str, namespace: str, actor: str | None, key: str | None, now: Micros) -> Run:
    return Run(
        id=id,
        root_id=id,
        name=definition.name,
        kind=KIND,
        namespace=namespace,
        key=None if key is None else f"{KIND}/{key}",
        status=Status.READY,
        due=now,
        ready_at=now,
        created=now,
        actor=actor,
    )


@dataclass(frozen=True, slots=True)
class PendingStart:
    """An instance to start. If `node` is not None, the run is claimed for that node."""

    run: Run
    definition: Definition
    request: StartRequest
    node: str | None


def start_instances(starts: Sequence[PendingStart], now: Micros, kinds: Kinds) -> Operation[list[InstanceChanged]]:
    """Store new instances. Return one result per start, in order:

    - Normally, the result has the new run and its instance.
    - If an earlier attempt has already stored the run, the result has the stored run and its instance.
    - If another run has the same key, the result has that earlier run and no instance.
    """
    runs = [replace(start.run) for start in starts]
    inserted = {row[0] for row in (yield sql("insert_runs", [insert_row(run) for run in runs]))}
    started: dict[str, InstanceChanged] = {}
    for start, run in zip(starts, runs, strict=True):
        if run.id not in inserted:
            started[run.id] = yield from _find_earlier_start(start.definition, run)
    fresh = [(start, run) for start, run in zip(starts, runs, strict=True) if run.id in inserted]
    events = [created_event(run, now) for _, run in fresh]
    events += yield from claim_runs([(run, start.node) for start, run in fresh], now)
    changes: list[InstanceChange] = []
    for start, run in fresh:
        context, tags, attributes = start.request.context, start.request.tags, start.request.attributes
        decision = begin(start.definition, run.id, context, run.created, tags=tags, attributes=attributes)
        change = InstanceChange(run, start.definition, None, new_instance(run, start.definition, decision).record)
        change.add(decision)
        change.stamp(now)
        changes.append(change)
    if changes:
        events += yield from write_changes(changes, now, kinds)
        over = [change for change in changes if is_done(change)]
        if over:
            events += (yield from end_runs(over, now))[0]
        yield sql("notify")
        yield sql("insert_events", events)
    for change in changes:
        end = run_end(change) if is_done(change) else None
        started[change.run.id] = InstanceChanged(change.run, LoadedInstance(change.definition, change.after), end)
    return [started[run.id] for run in runs]


def is_done(change: InstanceChange) -> bool:
    """Return whether the run ends with this change: the instance has ended and has no pending effects."""
    return change.instance.over and not pending_effects(change.definition, change.instance)


def _find_earlier_start(definition: Definition, run: Run) -> Operation[InstanceChanged]:
    """Return the result of a start whose run could not be inserted. If an earlier attempt has stored `run` itself, the
    result has the stored run and its instance. Otherwise the result has the earlier run with the same key."""
    named = [] if run.key is None else (yield sql("runs_by_keys", [(run.namespace, run.key)]))
    if named and named[0][2] != run.id:
        return InstanceChanged(Run(id=named[0][2], root_id=named[0][2], name=run.name, namespace=run.namespace))
    record = read_record((yield statement("journeys_by_ids", [(run.id,)]))[0])
    claimed = (yield sql("runs_by_ids", [(run.id,)]))[0]
    return InstanceChanged(whole_run(claimed), LoadedInstance(definition, record))


def claim_runs(runs: Sequence[tuple[Run, str | None]], now: Micros) -> Operation[list[Row]]:
    """Claim runs for nodes, and update the claimed `Run` objects. `runs` has pairs (run, node). A run is not claimed if
    its node is None or not registered. Return the rows of the events; the caller must insert them."""
    events: list[Row] = []
    for node in dict.fromkeys(node for _, node in runs if node is not None):
        wanted = {run.id: run for run, of in runs if of == node}
        rows = yield sql("take_runs", [(run.id, run.claim) for run in wanted.values()], node=node, now=now)
        for (id,) in rows:
            run = wanted[id]
            run.status, run.node, run.claim, run.started = Status.ACTIVE, node, run.claim + 1, now
            events.append(event_row(now, run, "run:started", node=node))
    return events
