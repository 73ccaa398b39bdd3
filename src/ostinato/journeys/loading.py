"""The instance that a run is about: as it is on record, or as it begins."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from ostinato.journeys.bindings import first_run
from ostinato.journeys.fitting import check_start
from ostinato.journeys.language import Definition
from ostinato.journeys.library import Shelf, find, load
from ostinato.journeys.machine.advance import begin
from ostinato.journeys.machine.decision import Decision
from ostinato.journeys.machine.wanting import outcome_form
from ostinato.journeys.rows import Kept, read_kept
from ostinato.model import Run
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros

COMPENSATION = ("spec", "compensation")


@dataclass(frozen=True, slots=True)
class Loaded:
    """An instance to work on, and its definition. `decided`: it begins with this, and is not on record yet."""

    definition: Definition
    kept: Kept
    decided: Decision | None = None


def load_instance(run: Run, now: Micros, shelf: Shelf | None = None) -> Operation[Loaded]:
    """The instance of a run, or where it has none yet, the one that it is to begin with."""
    rows = yield sql("journeys_by_ids", [(run.id,)])
    if rows:
        kept = read_kept(rows[0])
        definition = yield from load(run.namespace, kept.instance.definition, kept.instance.version, shelf)
        return Loaded(definition, kept)
    return (yield from first_of(run, now))


def first_of(run: Run, now: Micros) -> Operation[Loaded]:
    """The beginning of a run that was put on record by its schedule, or by what it compensates."""
    given = orjson.loads(run.input) if run.input else {}
    if "compensates" in given:
        return (yield from _compensating(run, given["compensates"], now))
    if "binding" in given:
        definition, decided, generation = yield from first_run(run, given["binding"], now, given.get("generation"))
        return begun(run, definition, decided, given["binding"], generation)
    definition = yield from find(run.namespace, run.name, given.get("version"))
    check_start(definition, given.get("start"), given.get("context") or {})
    decided = begin(
        definition,
        run.id,
        given.get("context") or {},
        now,
        accepted=max(run.created, run.due),
        within=given.get("within"),
        start=given.get("start"),
        tags=tuple(definition.metadata.tags),
    )
    return begun(run, definition, decided)


def begun(
    run: Run, definition: Definition, decided: Decision, binding: str | None = None, generation: int | None = None
) -> Loaded:
    kept = Kept(decided.instance, run.namespace, 0, binding=binding, generation=generation)
    return Loaded(definition, kept, decided)


def _compensating(run: Run, parent: str, now: Micros) -> Operation[Loaded]:
    (row,) = yield sql("journeys_by_ids", [(parent,)])
    before = read_kept(row).instance
    definition = yield from load(run.namespace, before.definition, before.version)
    decided = begin(
        definition,
        run.id,
        before.context,
        now,
        graph=COMPENSATION,
        scheduled=before.scheduled,
        attributes={"parentJourneyId": parent},
        given={"outcome": outcome_form(before)},
    )
    return begun(run, definition, decided)
