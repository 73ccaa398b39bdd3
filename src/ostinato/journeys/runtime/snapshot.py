"""Read an instance for a caller. An instance that has not begun is shown in its first state."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ostinato.engine.rows import whole_run
from ostinato.errors import NotFound
from ostinato.journeys.definitions import DefinitionCache, load_definition
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.model import ROOT, Frame
from ostinato.journeys.rows import KIND, JourneyRecord, read_record
from ostinato.journeys.runtime.load import begin_instance
from ostinato.journeys.store import statement
from ostinato.model import Run
from ostinato.store.contract import Operation, sql


@dataclass(frozen=True, slots=True)
class InstanceSnapshot:
    """An instance with its run and its definition, at the time of reading."""

    run: Run
    record: JourneyRecord
    definition: Definition


def read_snapshot(id: str, namespace: str, cache: DefinitionCache | None = None) -> Operation[InstanceSnapshot]:
    """Read an instance. Raise `NotFound` if there is none, or if its run ended before the instance was stored."""
    rows = yield sql("runs_by_ids", [(id,)])
    if not rows or (run := whole_run(rows[0])).namespace != namespace or run.kind != KIND:
        raise NotFound(f"there is no journey {id!r} in namespace {namespace!r}")
    rows_ = yield statement("journeys_by_ids", [(id,)])
    if not rows_ and run.status.over:
        raise NotFound(f"journey {id!r} never began: {run.reason}")
    if not rows_:
        return (yield from _snapshot_before_start(run))
    record = read_record(rows_[0])
    definition = yield from load_definition(namespace, record.instance.definition, record.instance.version, cache)
    return InstanceSnapshot(run, record, definition)


def _snapshot_before_start(run: Run) -> Operation[InstanceSnapshot]:
    loaded = yield from begin_instance(run, run.created)
    assert loaded.decision is not None
    instance = loaded.record.instance
    entered = next(one for one in loaded.decision.events if one.name == "journey:state_entered")
    before = Frame(ROOT, instance.root.path, str(entered.data["state"]), 0, instance.context)
    record = replace(loaded.record, instance=replace(instance, frames={ROOT: before}), updated=run.created)
    return InstanceSnapshot(run, record, loaded.definition)
