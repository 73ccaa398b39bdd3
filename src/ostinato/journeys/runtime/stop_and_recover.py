"""Stop, recover, delete and scan the runs of journeys. The engine calls these functions for runs of this kind."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from ostinato.engine.crashes import is_crash_loop
from ostinato.engine.invariants import LONG, Finding
from ostinato.engine.kinds import Kinds, RunKind
from ostinato.engine.rows import whole_run
from ostinato.engine.runs import End, Ended, Owners, after_chains, end, lock_owners, resume, stop_anywhere
from ostinato.errors import OstinatoError
from ostinato.journeys.machine.advance import advance
from ostinato.journeys.machine.decision import Cancelled, Input, Stopped
from ostinato.journeys.machine.model import INTERNAL, Termination
from ostinato.journeys.machine.pending_effects import pending_effects
from ostinato.journeys.runtime.commit import InstanceChange, end_runs, run_end, write_changes
from ostinato.journeys.runtime.load import load_instance
from ostinato.journeys.store import statement
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros, format_instant

DISAGREE = "journey_and_run_differ"
_REMEDY = (
    "if only the journey has ended, `ostinato doctor --repair` ends its run; otherwise trust the journey, and report "
    "this with the events of the run"
)
_MOST = 200
_DAY = 86_400 * SECOND
_CRASHED = "its node crashed repeatedly while running it"


def stop(
    run: Run, status: Status, reason: str | None, now: Micros, kinds: Kinds
) -> Operation[tuple[Status, list[Row], list[Ended]]]:
    """End an instance and its run with `status`, even if a node runs the instance. If no instance is stored yet, begin
    a new instance and end it. If `status` is `TERMINATED`, the instance is not compensated. Return (status of the run,
    rows of the events, an `Ended` for each ended run). The caller must insert the events.

    There are exceptions. If several apply, only the first one counts:

    - If the instance cannot be loaded or begun, end only the run, with `status`.
    - If a new instance would end as soon as it begins, end only the run, with `status`.
    - If the stored instance has ended, and a node is still deciding whether to compensate it, change nothing. The run
      ends after that decision.
    - If the stored instance has ended, and no such decision is open, end only the run, with the status of the instance.
    - If `status` is `CANCELLED` and the journey is not cancellable, change nothing.
    """
    match status:
        case Status.CANCELLED:
            input: Input = Cancelled() if reason in (None, "", "cancelled") else Cancelled(str(reason))
        case Status.TIMED_OUT:
            input = Stopped(Termination.TIMEOUT, "TIMEOUT", reason or "it exceeded its time limit")
        case _:
            input = Stopped(Termination.CANCEL, "JOURNEY_TERMINATED", reason or "terminated", compensates=False)
    change: InstanceChange | None = None
    with suppress(OstinatoError):
        change = yield from _current_change(run, now)
    if change is None or (change.before is None and change.instance.over):
        # It never began, or would end at once: there is only the run to end.
        return (yield from stop_anywhere(run, status, reason, now))
    if change.instance.over:
        if pending_effects(change.definition, change.instance):
            return run.status, [], []  # a node still decides whether it is compensated; then the run ends
        events, over = yield from end_runs([change], now)
        return over[0].status, events, over
    if status is Status.CANCELLED:
        lifecycle = change.definition.spec.lifecycle
        if lifecycle is not None and not lifecycle.cancellable:
            return run.status, [], []
    _end(change, input, now)
    events, over = yield from end_runs([change], now, status)
    return status, events + (yield from write_changes([change], now, kinds)), over


def _current_change(run: Run, now: Micros) -> Operation[InstanceChange]:
    """Return an `InstanceChange` to which the caller can add decisions. If an instance of the run is stored, the
    `InstanceChange` contains this instance, unchanged. Otherwise begin a new instance: the `InstanceChange` contains
    the new instance and its first decision, and its `before` is None."""
    loaded = yield from load_instance(run, now)
    change = InstanceChange(
        run, loaded.definition, None if loaded.decision is not None else loaded.record, loaded.record
    )
    if loaded.decision is not None:
        change.add(loaded.decision)
    return change


def _end(change: InstanceChange, input: Input, now: Micros) -> None:
    if not change.instance.over:
        change.add(advance(change.definition, change.instance, [input], now))
    change.stamp(now)


def recover(runs: Sequence[Run], node: str, now: Micros, kinds: Kinds) -> Operation[None]:
    """Make the runs of a dead node ready again. If `CRASHES` nodes in a row have died while running an instance, end
    that instance with an internal error instead."""
    lost = [run for run in runs if is_crash_loop(run)]
    others = [run for run in runs if not is_crash_loop(run)]
    if others:
        yield sql("count_crashes", [(run.id, run.crashes + 1) for run in others])
        yield from resume(others, node, now, kinds)
    for run in lost:
        stopped = Stopped(Termination.RUNTIME_ERROR, INTERNAL, _CRASHED)
        try:
            change = yield from _current_change(run, now)
        except OstinatoError as problem:
            reason = f"{_CRASHED}, and cannot begin: {problem}"[:500]
            yield from end([End(run, Status.FAILED, reason)], node, now, kinds)
            continue
        change.rests = True
        _end(change, stopped, now)
        yield from end(
            [run_end(change)],
            node,
            now,
            kinds,
            also=lambda change=change: write_changes([change], now, kinds),  # type: ignore[misc]
        )
        yield sql("pass_claims", [(run.id,)])  # a late write of the lost node must not be mistaken for this one


def scan(now: Micros, repair: bool, kinds: Kinds) -> Operation[list[Finding]]:
    """Return a finding for each instance that disagrees with its run: only one of the two has ended, or their outcomes
    differ. If `repair` is true, end each run that has not ended although its instance has ended. Other disagreements
    are not repaired."""
    findings: list[Finding] = []
    for run in map(whole_run, (yield statement("runs_left_behind", long_ago=now - LONG, limit=_MOST))):
        owners = (yield from lock_owners([run], kinds)) if repair else Owners()
        (row,) = yield sql("runs_for_update" if repair else "runs_by_ids", [(run.id,)])
        change = yield from _current_change(whole_run(row), now)
        if change.run.status.over or pending_effects(change.definition, change.instance):
            continue  # a node is ending it, or still decides whether it is compensated
        if repair:
            events, ended = yield from end_runs([change], now)
            yield sql("insert_events", events + (yield from after_chains(owners, ended, now, kinds)).events)
        words = f"its journey is {change.instance.phase} since {format_instant(change.after.finished or now)}"
        findings.append(Finding(DISAGREE, run.id, f"is not over, but {words}", repair, _REMEDY))
    rows = yield statement("journeys_left_behind", limit=_MOST)
    rows += yield statement("journeys_and_runs_apart", since=now - _DAY, limit=_MOST)
    return findings + [
        Finding(DISAGREE, id, f"is {status}, but its journey is {phase}", False, _REMEDY) for id, status, phase in rows
    ]


def forget(ids: Sequence[str]) -> Operation[None]:
    rows = [(id,) for id in ids]
    yield statement("forget_labels", rows)
    yield statement("forget_answers", rows)
    yield statement("forget_journeys", rows)


RUN_KIND = RunKind(stop, recover, forget, scan)
