"""What is different for runs that are journeys, in transactions: they are stopped by the language's own rules, and go
on where they were when their node is gone."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.kinds import Rule
from ostinato.engine.outcomes import CRASHES
from ostinato.engine.rows import event_row, whole_run
from ostinato.engine.runs import End, Ended, after_chains, end, lock_owners
from ostinato.engine.scanner import LONG, Finding
from ostinato.errors import OstinatoError
from ostinato.journeys.loading import load_instance
from ostinato.journeys.machine.advance import advance
from ostinato.journeys.machine.decision import Cancelled, Input, Stopped
from ostinato.journeys.machine.model import INTERNAL, Termination
from ostinato.journeys.machine.wanting import pending
from ostinato.journeys.moves import Move, end_of, end_runs, write
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros, format_instant

APART = "journey_and_run_differ"
_MOST = 200
_DAY = 86_400 * SECOND
_CRASHED = "its node was lost while it was at work, again and again"


def stop(run: Run, status: Status, reason: str | None, now: Micros) -> Operation[tuple[Status, list[Row], list[Ended]]]:
    """End an instance here and now, whichever node holds it, and compensate it unless it is terminated. One that is
    over stays as it is: its run ends as it did, if it has not yet. Returns the status of the run, events to write, and
    the ends."""
    match status:
        case Status.CANCELLED:
            given: Input = Cancelled() if reason in (None, "", "cancelled") else Cancelled(str(reason))
        case Status.TIMED_OUT:
            given = Stopped(Termination.TIMEOUT, "TIMEOUT", reason or "it took longer than it may")
        case _:
            given = Stopped(Termination.CANCEL, "JOURNEY_TERMINATED", reason or "terminated", compensates=False)
    move: Move | None
    try:
        move = yield from _as_it_is(run, now)
    except OstinatoError:
        move = None
    if move is None or (move.before is None and move.instance.over):
        # It never began, and cannot, or would be over at once: there is nothing to end or to compensate but its run.
        yield sql("end_anywhere", [(run.id, status.value, reason, None)], now=now)
        told = [event_row(now, run, f"run:{status.value}", reason=reason)]
        return status, told, [Ended(run, status, reason, None, None)]
    if move.instance.over:
        if pending(move.definition, move.instance):
            return run.status, [], []  # a node has yet to find out whether it is compensated; then the run ends
        events, over = yield from end_runs([move], now)
        return over[0].status, events, over
    if status is Status.CANCELLED:
        lifecycle = move.definition.spec.lifecycle
        if lifecycle is not None and not lifecycle.cancellable:
            return run.status, [], []
    _end(move, given, now)
    told, over = yield from end_runs([move], now, status)
    return status, told + (yield from write([move], now)), over


def _as_it_is(run: Run, now: Micros) -> Operation[Move]:
    """A move from where the instance of a run is, which may be its beginning."""
    loaded = yield from load_instance(run, now)
    move = Move(run, loaded.definition, None if loaded.decided is not None else loaded.kept, loaded.kept)
    if loaded.decided is not None:
        move.take(loaded.decided)
    return move


def _end(move: Move, given: Input, now: Micros) -> None:
    if not move.instance.over:
        move.take(advance(move.definition, move.instance, [given], now))
    move.stamp(now)


def recover(runs: Sequence[Run], node: str, now: Micros) -> Operation[None]:
    """They go on from what was written last; one that has cost several nodes their life ends."""
    lost = [run for run in runs if run.crashes + 1 >= CRASHES]
    others = [run for run in runs if run.crashes + 1 < CRASHES]
    if others:
        yield sql("count_crashes", [(run.id, run.crashes + 1) for run in others])
        yield from end([End(run, Status.READY, finished=False, event="run:resumed") for run in others], node, now)
    for run in lost:
        given = Stopped(Termination.RUNTIME_ERROR, INTERNAL, _CRASHED)
        try:
            move = yield from _as_it_is(run, now)
        except OstinatoError as problem:
            yield from end([End(run, Status.FAILED, f"{_CRASHED}, and cannot begin: {problem}"[:500])], node, now)
            continue
        move.rests = True
        _end(move, given, now)
        yield from end([end_of(move)], node, now, also=lambda move=move: write([move], now))  # type: ignore[misc]
        yield sql("pass_claims", [(run.id,)])  # what the lost node still tries to write is not to be taken for this


def scan(now: Micros, repair: bool) -> Operation[list[Finding]]:
    """Find journeys and runs that disagree about being over. A run that its journey has left behind ends as the
    journey did; the others are reported only."""
    found: list[Finding] = []
    for run in map(whole_run, (yield sql("runs_left_behind", long_ago=now - LONG, limit=_MOST))):
        owners = (yield from lock_owners([run])) if repair else []
        (row,) = yield sql("runs_for_update" if repair else "runs_by_ids", [(run.id,)])
        move = yield from _as_it_is(whole_run(row), now)
        if move.run.status.over or pending(move.definition, move.instance):
            continue  # a node is ending it, or has yet to find out whether it is compensated
        if repair:
            events, ended = yield from end_runs([move], now)
            yield sql("insert_events", events + (yield from after_chains(owners, ended, now)).events)
        words = f"its journey is {move.instance.phase} since {format_instant(move.after.finished or now)}"
        found.append(Finding(APART, run.id, f"is not over, but {words}", repair))
    rows = yield sql("journeys_left_behind", limit=_MOST)
    rows += yield sql("journeys_and_runs_apart", since=now - _DAY, limit=_MOST)
    return found + [Finding(APART, id, f"is {status}, but its journey is {phase}", False) for id, status, phase in rows]


def forget(ids: Sequence[str]) -> Operation[None]:
    rows = [(id,) for id in ids]
    yield sql("forget_labels", rows)
    yield sql("forget_answers", rows)
    yield sql("forget_journeys", rows)


RULE = Rule(stop, recover, forget, scan)
