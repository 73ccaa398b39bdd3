"""Start an instance, and submit an input to one, each in one transaction. The node that handles the request claims the
run in the same transaction, so that the request need not be stored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import event_row, insert_row, whole_run
from ostinato.engine.runs import End, after_chains, created, lock_owners
from ostinato.errors import Conflict, NotFound, did_you_mean
from ostinato.journeys.definitions import DefinitionCache, load_definition
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import advance, begin
from ostinato.journeys.machine.decision import Submitted
from ostinato.journeys.machine.model import ROOT, Frame
from ostinato.journeys.machine.pending_effects import pending_effects
from ostinato.journeys.rows import KIND, JourneyRecord, read_record
from ostinato.journeys.runtime.commit import Change, ExtraWrite, end_runs, run_end, write_changes
from ostinato.journeys.runtime.load import LoadedInstance, begin_instance, new_instance
from ostinato.journeys.runtime.requests import StartRequest
from ostinato.journeys.task_kind import TaskProblem
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros


class StepNotActive(Conflict):
    """Raised if the journey does not wait for this step: it was answered, has timed out, or was not reached yet."""

    def __init__(self, journey: str, step: str, waiting: Collection[str] = ()) -> None:
        """`waiting` lists the steps that the journey waits for."""
        hint = did_you_mean(step, waiting) or (f"it waits for {', '.join(map(repr, waiting))}" if waiting else "")
        words = f"journey {journey!r} does not wait for an input of step {step!r}"
        super().__init__(f"{words}; {hint}" if hint else words)


class StepAnswered(Conflict):
    """Raised if the key was used before with another input."""


class Outdated(Exception):
    """Raised if the run has changed since it was read. The caller reads it again."""


@dataclass(frozen=True, slots=True)
class StartedInstance:
    """The result of a start. `new` is False if an earlier start used the key; `run` is then the run of that start.
    `end` is set if the instance and its run ended at once."""

    run: Run
    new: bool
    loaded: LoadedInstance | None = None
    end: End | None = None


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
    """An instance to start. With a `node`, that node claims its run."""

    run: Run
    definition: Definition
    request: StartRequest
    node: str | None


def start_instances(starts: Sequence[PendingStart], now: Micros, kinds: Kinds) -> Operation[list[StartedInstance]]:
    """Store new instances, each once."""
    runs = [replace(start.run) for start in starts]
    inserted = {row[0] for row in (yield sql("insert_runs", [insert_row(run) for run in runs]))}
    started: dict[str, StartedInstance] = {}
    for start, run in zip(starts, runs, strict=True):
        if run.id not in inserted:
            started[run.id] = yield from _find_earlier_start(start.definition, run)
    fresh = [(start, run) for start, run in zip(starts, runs, strict=True) if run.id in inserted]
    events = [created(run, now) for _, run in fresh]
    events += yield from _claim_runs([(run, start.node) for start, run in fresh], now)
    changes: list[Change] = []
    for start, run in fresh:
        context, tags, attributes = start.request.context, start.request.tags, start.request.attributes
        decision = begin(start.definition, run.id, context, run.created, tags=tags, attributes=attributes)
        change = Change(run, start.definition, None, new_instance(run, start.definition, decision).record)
        change.add(decision)
        change.stamp(now)
        changes.append(change)
    if changes:
        events += yield from write_changes(changes, now, kinds)
        over = [change for change in changes if _is_done(change)]
        if over:
            events += (yield from end_runs(over, now))[0]
        yield sql("notify")
        yield sql("insert_events", events)
    for change in changes:
        end = run_end(change) if _is_done(change) else None
        started[change.run.id] = StartedInstance(change.run, True, LoadedInstance(change.definition, change.after), end)
    return [started[run.id] for run in runs]


def _is_done(change: Change) -> bool:
    """Return whether the run ends with this change: the instance has ended and needs nothing more."""
    return change.instance.over and not pending_effects(change.definition, change.instance)


def _find_earlier_start(definition: Definition, run: Run) -> Operation[StartedInstance]:
    """Return the instance of the earlier start that used the key, which may be an earlier try of this call."""
    named = [] if run.key is None else (yield sql("runs_by_keys", [(run.namespace, run.key)]))
    if named and named[0][2] != run.id:
        return StartedInstance(Run(id=named[0][2], root_id=named[0][2], name=run.name, namespace=run.namespace), False)
    record = read_record((yield sql("journeys_by_ids", [(run.id,)]))[0])
    claimed = (yield sql("runs_by_ids", [(run.id,)]))[0]
    return StartedInstance(whole_run(claimed), True, LoadedInstance(definition, record))


def _claim_runs(runs: Sequence[tuple[Run, str | None]], now: Micros) -> Operation[list[Row]]:
    """Claim each run for its node, if that node is still registered; otherwise leave it ready. Return events to
    write."""
    events: list[Row] = []
    for node in dict.fromkeys(node for _, node in runs if node is not None):
        wanted = {run.id: run for run, of in runs if of == node}
        rows = yield sql("take_runs", [(run.id, run.claim) for run in wanted.values()], node=node, now=now)
        for (id,) in rows:
            run = wanted[id]
            run.status, run.node, run.claim, run.started = Status.ACTIVE, node, run.claim + 1, now
            events.append(event_row(now, run, "run:started", node=node))
    return events


@dataclass(frozen=True, slots=True)
class InstanceSnapshot:
    """An instance as it was read."""

    run: Run
    record: JourneyRecord
    definition: Definition


def read_snapshot(id: str, namespace: str, cache: DefinitionCache | None = None) -> Operation[InstanceSnapshot]:
    """Read an instance. Raise `NotFound`."""
    rows = yield sql("runs_by_ids", [(id,)])
    if not rows or (run := whole_run(rows[0])).namespace != namespace or run.kind != KIND:
        raise NotFound(f"there is no journey {id!r} in namespace {namespace!r}")
    rows_ = yield sql("journeys_by_ids", [(id,)])
    if not rows_ and run.status.over:
        raise NotFound(f"journey {id!r} never began: {run.reason}")
    if not rows_:
        return (yield from _snapshot_before_start(run))
    record = read_record(rows_[0])
    definition = yield from load_definition(namespace, record.instance.definition, record.instance.version, cache)
    return InstanceSnapshot(run, record, definition)


def _snapshot_before_start(run: Run) -> Operation[InstanceSnapshot]:
    """Return the snapshot of an instance that was scheduled and has not begun. It is before its first state."""
    loaded = yield from begin_instance(run, run.created)
    assert loaded.decision is not None
    instance = loaded.record.instance
    entered = next(one for one in loaded.decision.events if one.name == "journey:state_entered")
    before = Frame(ROOT, instance.root.path, str(entered.data["state"]), 0, instance.context)
    record = replace(loaded.record, instance=replace(instance, frames={ROOT: before}), updated=run.created)
    return InstanceSnapshot(run, record, loaded.definition)


def keep_answer(run: str, step: str, key: str, digest: str, *, only: bool = False) -> ExtraWrite:
    """Reserve the row of a step's answer, in the transaction that applies the input. With `only`, raise `Outdated` if
    another call has reserved it."""

    def perform(_: Run, now: Micros, kinds: Kinds) -> Operation[list[Row] | TaskProblem]:
        record = yield sql("keep_step_answer", run_id=run, step=step, key=key, digest=digest, answer="", at=now)
        if only and not record:
            raise Outdated
        return []

    return perform


def input_taken(run: str, call: str) -> Operation[bool]:
    """Return whether the instance has accepted the input of this call, for a retry after a lost answer."""
    return bool((yield sql("input_taken", subject=run, call=f'%"call":"{call}"%')))


@dataclass(frozen=True, slots=True)
class SubmitResult:
    """The result of a submit. `end` is set if the instance and its run ended by this input."""

    run: Run
    loaded: LoadedInstance
    end: End | None = None

    def continues_on(self, node: str | None, claim: int) -> bool:
        """Return whether this node claimed the run with this input, and must run it."""
        run = self.run
        return node is not None and run.status is Status.ACTIVE and run.node == node and run.claim == claim


def submit(
    snapshot: InstanceSnapshot,
    submitted: Submitted,
    extra_write: ExtraWrite | None,
    node: str | None,
    now: Micros,
    kinds: Kinds,
    actor: str | None = None,
    tries: int = 0,
) -> Operation[SubmitResult]:
    """Apply an input to an instance that does not run here. If another node holds the run, it loses the claim; effects
    in progress there are repeated under the same keys. Events name `actor` as the sender.

    Raise `StepNotActive` if the instance does not wait for the input, and `Outdated` if the run has changed since the
    snapshot. A retry of this call is recognized by the call's id."""
    owners = yield from lock_owners([snapshot.run], kinds)
    (row,) = yield sql("runs_for_update", [(snapshot.run.id,)])
    run = whole_run(row)
    run.actor = actor or run.actor
    (journey_row,) = yield sql("journeys_by_ids", [(run.id,)])
    record = read_record(journey_row)
    if tries and submitted.call is not None and (yield from input_taken(run.id, submitted.call)):
        return SubmitResult(run, LoadedInstance(snapshot.definition, record))
    if run.claim != snapshot.run.claim or run.status.over:
        raise Outdated
    decision = advance(snapshot.definition, record.instance, [submitted], now)
    if decision.refused:
        raise StepNotActive(run.id, submitted.step)
    change = Change(run, snapshot.definition, record, record)
    change.add(decision)
    change.stamp(now)
    if extra_write is not None:
        change.extra_writes = [extra_write]
    if _is_done(change):
        events, ended = yield from end_runs([change], now)
        events += yield from write_changes([change], now, kinds)
        events += (yield from after_chains(owners, ended, now, kinds)).events
    else:
        events = yield from _claim_runs([(run, node)], now)
        if not events:
            yield sql("release_runs", [(run.id, run.claim)], now=now)
        events += yield from write_changes([change], now, kinds)
    yield sql("notify")
    yield sql("insert_events", events)
    return SubmitResult(
        run, LoadedInstance(snapshot.definition, change.after), run_end(change) if _is_done(change) else None
    )
