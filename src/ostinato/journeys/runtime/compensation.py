"""Compensate an ended instance. The compensation has a run of its own.

The module `machine.advance` decides whether an instance is compensated. The transaction that stores this decision
(`commit.write_changes`) also inserts the run of the compensation.
"""

from __future__ import annotations

import orjson

from ostinato.journeys.definitions import load_definition
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.decision import Decision
from ostinato.journeys.machine.pending_effects import outcome_json
from ostinato.journeys.rows import KIND, read_record
from ostinato.journeys.store import statement
from ostinato.model import Run, Status
from ostinato.store.contract import Operation
from ostinato.when.instants import Micros

_GRAPH = ("spec", "compensation")


def compensation_id(run_id: str) -> str:
    return f"{run_id}c"


def compensation_run(run: Run, now: Micros) -> Run:
    """Return a new run that compensates `run`. Its key contains the id of `run`, so it can be stored only once."""
    id = compensation_id(run.id)
    return Run(
        id=id,
        root_id=id,
        name=run.name,
        kind=KIND,
        namespace=run.namespace,
        key=f"{KIND}/{run.id}/compensation",
        status=Status.READY,
        queue=run.queue,
        priority=run.priority,
        due=now,
        ready_at=now,
        created=now,
        parent_id=run.id,
        input=orjson.dumps({"compensates": run.id}).decode(),
        actor=run.actor,
    )


def begin_compensation(run: Run, parent: str, now: Micros) -> Operation[tuple[Definition, Decision]]:
    """Begin the instance of `run`, which compensates the ended instance with the id `parent`. The new instance starts
    with the final context of the ended instance. Return (definition of both instances, first decision of the new
    instance)."""
    (row,) = yield statement("journeys_by_ids", [(parent,)])
    before = read_record(row).instance
    definition = yield from load_definition(run.namespace, before.definition, before.version)
    decision = begin(
        definition,
        run.id,
        before.context,
        now,
        graph=_GRAPH,
        scheduled=before.scheduled,
        attributes={"parentJourneyId": parent},
        extra_bindings={"outcome": outcome_json(before)},
    )
    return definition, decision
