"""Timers of instances: what waits for its time goes on when it has come. One whose instance is at work, or held by
somebody, comes again; one for a stay that is over finds nobody, and is gone."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.claims import Hands
from ostinato.engine.rows import timer_row, whole_run
from ostinato.engine.timers import ANY, Fire
from ostinato.journeys.language import Definition
from ostinato.journeys.library import load
from ostinato.journeys.machine.advance import advance
from ostinato.journeys.machine.decision import Fired
from ostinato.journeys.machine.wanting import pending
from ostinato.journeys.moves import KIND, Move, write
from ostinato.journeys.rows import read_kept
from ostinato.model import Run, Status, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

_AT_WORK: Micros = SECOND  # its node looks at its times itself
_HELD: Micros = 5_000


def purposes() -> dict[tuple[str, str], Fire]:
    return {(KIND, ANY): fire}


def fire(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
    ids = [(id,) for id in dict.fromkeys(timer.owner for timer in timers)]
    runs = {run.id: run for run in map(whole_run, (yield sql("free_runs", ids)))}
    held = [(id,) for (id,) in ids if id not in runs]
    there = {row[0] for row in (yield sql("states_of", held))} if held else set()
    again: list[Timer] = []
    due: dict[str, list[Timer]] = {}
    for timer in timers:
        run = runs.get(timer.owner)
        if run is not None and run.status is Status.WAITING:
            due.setdefault(run.id, []).append(timer)
        elif run is not None and not run.status.over:
            again.append(timer._replace(due=now + _AT_WORK))
        elif timer.owner in there:
            again.append(timer._replace(due=now + _HELD))
    if again:
        yield sql("set_timers", [timer_row(timer) for timer in again])
    return (yield from _fired([runs[id] for id in due], due, now)) if due else []


def _fired(runs: Sequence[Run], due: dict[str, list[Timer]], now: Micros) -> Operation[list[Row]]:
    kept = {row[0]: read_kept(row) for row in (yield sql("journeys_by_ids", [(run.id,) for run in runs]))}
    definitions: dict[tuple[str, str, str], Definition] = {}
    moves: list[Move] = []
    ready: list[Row] = []
    for run in runs:
        if run.id not in kept:
            continue
        before = kept[run.id]
        named = run.namespace, before.instance.definition, before.instance.version
        if named not in definitions:
            definitions[named] = yield from load(*named)
        definition = definitions[named]
        inputs = [Fired(timer.purpose) for timer in sorted(due[run.id], key=lambda one: one.due)]
        decision = advance(definition, before.instance, inputs, now)
        if decision.instance == before.instance:
            continue
        move = Move(run, definition, before, before)
        move.take(decision)
        move.stamp(now)
        moves.append(move)
        if decision.instance.over or pending(definition, decision.instance):
            ready.append((run.id, now))
    events = (yield from write(moves, now)) if moves else []
    if ready:
        yield sql("set_ready", ready)
    return events
