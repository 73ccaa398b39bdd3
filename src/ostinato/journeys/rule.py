"""What is different for runs that are journeys, in transactions: they are stopped by the language's own rules, and go
on where they were when their node is gone."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.kinds import Rule
from ostinato.engine.outcomes import CRASHES
from ostinato.engine.rows import event_row
from ostinato.engine.runs import End, Ended, end
from ostinato.errors import OstinatoError
from ostinato.journeys.loading import load_instance
from ostinato.journeys.machine.advance import advance
from ostinato.journeys.machine.decision import Cancelled, Input, Stopped
from ostinato.journeys.machine.model import INTERNAL, Termination
from ostinato.journeys.moves import Move, end_of, write
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

_CRASHED = "its node was lost while it was at work, again and again"


def stop(run: Run, status: Status, reason: str | None, now: Micros) -> Operation[tuple[Status, list[Row], list[Ended]]]:
    """Whoever holds it, it ends here and now, and is compensated; but for one that is terminated."""
    match status:
        case Status.CANCELLED:
            given: Input = Cancelled() if reason in (None, "", "cancelled") else Cancelled(str(reason))
        case Status.TIMED_OUT:
            given = Stopped(Termination.TIMEOUT, "TIMEOUT", reason or "it took longer than it may")
        case _:
            given = Stopped(Termination.CANCEL, "JOURNEY_TERMINATED", reason or "terminated", compensates=False)
    try:
        move = yield from _stopped(run, given, now)
    except OstinatoError:  # it never began and cannot, so there is nothing to end or to make up for but its run
        yield sql("end_anywhere", [(run.id, status.value, reason, None)], now=now)
        told = [event_row(now, run, f"run:{status.value}", reason=reason)]
        return status, told, [Ended(run, status, reason, None, None)]
    if status is Status.CANCELLED:
        lifecycle = move.definition.spec.lifecycle
        if lifecycle is not None and not lifecycle.cancellable:
            return run.status, [], []
    events, over = yield from _over([move], now, status)
    return status, events, over


def _stopped(run: Run, given: Input, now: Micros) -> Operation[Move]:
    loaded = yield from load_instance(run, now)
    decided = loaded.decided
    move = Move(run, loaded.definition, None if decided is not None else loaded.kept, loaded.kept)
    if decided is not None:
        move.take(decided)
    if not move.instance.over:
        move.take(advance(loaded.definition, move.instance, [given], now))
    move.stamp(now)
    return move


def _over(moves: Sequence[Move], now: Micros, status: Status | None = None) -> Operation[tuple[list[Row], list[Ended]]]:
    """Runs, locked, that end wherever they stand. The claim moves on, so that who holds one is refused."""
    ends = [end_of(move) for move in moves]
    rows = [(e.run.id, (status or e.status).value, e.reason, e.error) for e in ends]
    yield sql("end_anywhere", rows, now=now)
    events = yield from write(moves, now)
    told = [event_row(now, e.run, f"run:{(status or e.status).value}", reason=e.reason) for e in ends]
    return told + events, [Ended(e.run, status or e.status, e.reason, None, e.error) for e in ends]


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
            move = yield from _stopped(run, given, now)
        except OstinatoError as problem:
            yield from end([End(run, Status.FAILED, f"{_CRASHED}, and cannot begin: {problem}"[:500])], node, now)
            continue
        move.rests = True
        yield from end([end_of(move)], node, now, also=lambda move=move: write([move], now))  # type: ignore[misc]


def forget(ids: Sequence[str]) -> Operation[None]:
    rows = [(id,) for id in ids]
    yield sql("forget_labels", rows)
    yield sql("forget_answers", rows)
    yield sql("forget_journeys", rows)


RULE = Rule(stop, recover, forget)
