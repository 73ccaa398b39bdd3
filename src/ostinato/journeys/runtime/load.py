"""Load the instance of a run, or begin it."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from ostinato.journeys.action_kind import check_start
from ostinato.journeys.bindings import begin_run
from ostinato.journeys.definitions import DefinitionCache, find_definition, load_definition
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.decision import Decision
from ostinato.journeys.rows import JourneyRecord, read_record
from ostinato.journeys.runtime.compensation import begin_compensation
from ostinato.journeys.store import statement
from ostinato.model import Run
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class LoadedInstance:
    """An instance with its definition. `decision` is the first decision of a new instance, or None for a stored one."""

    definition: Definition
    record: JourneyRecord
    decision: Decision | None = None


def load_instance(run: Run, now: Micros, cache: DefinitionCache | None = None) -> Operation[LoadedInstance]:
    """Return the stored instance of a run. If there is none, begin a new instance and return it."""
    rows = yield statement("journeys_by_ids", [(run.id,)])
    if rows:
        record = read_record(rows[0])
        instance = record.instance
        definition = yield from load_definition(run.namespace, instance.definition, instance.version, cache)
        return LoadedInstance(definition, record)
    return (yield from begin_instance(run, now))


def begin_instance(run: Run, now: Micros) -> Operation[LoadedInstance]:
    """Begin the instance of a run that was created by a schedule or as a compensation."""
    input = orjson.loads(run.input) if run.input else {}
    if "compensates" in input:
        return new_instance(run, *(yield from begin_compensation(run, input["compensates"], now)))
    if "binding" in input:
        definition, decision, generation = yield from begin_run(run, input["binding"], now, input.get("generation"))
        return new_instance(run, definition, decision, input["binding"], generation)
    definition = yield from find_definition(run.namespace, run.name, input.get("version"))
    check_start(definition, input.get("start"), input.get("context") or {})
    decision = begin(
        definition,
        run.id,
        input.get("context") or {},
        now,
        accepted=max(run.created, run.due),
        within=input.get("within"),
        start=input.get("start"),
        tags=tuple(definition.metadata.tags),
    )
    return new_instance(run, definition, decision)


def new_instance(
    run: Run, definition: Definition, decision: Decision, binding: str | None = None, generation: int | None = None
) -> LoadedInstance:
    record = JourneyRecord(decision.instance, run.namespace, 0, binding=binding, generation=generation)
    return LoadedInstance(definition, record, decision)
