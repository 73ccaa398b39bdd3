"""Fire the timers of instances. A timer is applied only if the run of the instance is waiting. If the run is ready,
active or locked, the timer is postponed by up to a second. Outdated timers are ignored."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.claims import DirectClaim
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import timer_row, whole_run
from ostinato.engine.timers import ANY, Fire
from ostinato.journeys.definitions import load_definition
from ostinato.journeys.language import Definition
from ostinato.journeys.machine.advance import advance
from ostinato.journeys.machine.decision import TimerDue
from ostinato.journeys.machine.pending_effects import pending_effects
from ostinato.journeys.rows import KIND, read_record, run_id_of
from ostinato.journeys.runtime.commit import InstanceChange, write_changes
from ostinato.journeys.store import statement
from ostinato.model import Run, Status, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

_AT_WORK: Micros = SECOND  # delay if the run is active: the node that runs it fires its timers
_HELD: Micros = 5_000  # delay if the run is locked


def fire(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    ids = [(id,) for id in dict.fromkeys(timer.owner for timer in timers)]
    runs = {run.id: run for run in map(whole_run, (yield sql("free_runs", ids)))}
    held = [(id,) for (id,) in ids if id not in runs]
    existing = {row[0] for row in (yield sql("states_of", held))} if held else set()
    again: list[Timer] = []
    due: dict[str, list[Timer]] = {}
    for timer in timers:
        run = runs.get(timer.owner)
        if run is not None and run.status is Status.WAITING:
            due.setdefault(run.id, []).append(timer)
        elif run is not None and not run.status.over:
            again.append(timer._replace(due=now + _AT_WORK))
        elif timer.owner in existing:
            again.append(timer._replace(due=now + _HELD))
    if again:
        yield sql("set_timers", [timer_row(timer) for timer in again])
    return (yield from _fire_instances([runs[id] for id in due], due, now, kinds)) if due else []


def _fire_instances(
    runs: Sequence[Run], due: dict[str, list[Timer]], now: Micros, kinds: Kinds
) -> Operation[list[Row]]:
    rows = yield statement("journeys_by_ids", [(run.id,) for run in runs])
    records = {run_id_of(row): read_record(row) for row in rows}
    definitions: dict[tuple[str, str, str], Definition] = {}
    changes: list[InstanceChange] = []
    ready: list[Row] = []
    for run in runs:
        if run.id not in records:
            continue
        before = records[run.id]
        named = run.namespace, before.instance.definition, before.instance.version
        if named not in definitions:
            definitions[named] = yield from load_definition(*named)
        definition = definitions[named]
        inputs = [TimerDue(timer.purpose) for timer in sorted(due[run.id], key=lambda one: one.due)]
        decision = advance(definition, before.instance, inputs, now)
        if decision.instance == before.instance:
            continue
        change = InstanceChange(run, definition, before, before)
        change.add(decision)
        change.stamp(now)
        changes.append(change)
        if decision.instance.over or pending_effects(definition, decision.instance):
            ready.append((run.id, now))
    events = (yield from write_changes(changes, now, kinds)) if changes else []
    if ready:
        yield sql("set_ready", ready)
    return events


TIMERS: dict[tuple[str, str], Fire] = {(KIND, ANY): fire}
