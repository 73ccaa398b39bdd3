"""Stop, recover, wake, delete and scan runs of durable functions, for the engine."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.claims import DirectClaim
from ostinato.engine.crashes import is_crash_loop
from ostinato.engine.invariants import LONG, Finding
from ostinato.engine.kinds import Kinds, RunKind
from ostinato.engine.limits import let_out
from ostinato.engine.rows import event_row, timer_row, whole_run
from ostinato.engine.runs import After, End, Ended, after_chains, end, lock_owners, resume, stop_anywhere, wake
from ostinato.functions.model import CHILDREN, GRACE, KIND, NO_CODE, WAKE
from ostinato.functions.operations import close_runs
from ostinato.functions.stop_children import stop_children
from ostinato.functions.store import statement
from ostinato.model import Run, Status, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

_HELD: Micros = 5_000  # after which a run that another transaction has locked is looked at again
_FINDINGS = 200
_LATE = "cancelled; its clean-up took longer than the grace"


def stop(
    run: Run, status: Status, reason: str | None, now: Micros, kinds: Kinds
) -> Operation[tuple[Status, list[Row], list[Ended]]]:
    """Stop a run, so that it ends with `status`. Return three values: the status of the run after this call, the events
    that the caller must write, and an `Ended` for each run that has ended.

    - If `status` is `CANCELLED` and a `FunctionRecord` of the run is stored, request a cancellation. The run does not
      end yet: its code gets `Cancelled` and may clean up first.
    - Otherwise end the run at once.
    """
    if status is Status.CANCELLED:
        rows = yield statement("functions_by_ids", [(run.id,)])
        if rows:
            requested = yield statement("request_cancel_functions", [(run.id, reason)], now=now)
            if run.status is Status.WAITING:
                yield from wake([run.id], now)
            events = [event_row(now, run, "run:cancel_requested", reason=reason)] if requested else []
            return run.status, events, []
    return (yield from _end_at_once(run, status, reason, now))


def _end_at_once(
    run: Run, status: Status, reason: str | None, now: Micros
) -> Operation[tuple[Status, list[Row], list[Ended]]]:
    """End a locked run, even if a node holds it. Release the run's serial key and concurrency key. Return the same
    three values as `stop`."""
    yield from close_runs([run], now)
    yield sql("drop_timers", [("run", run.id)])
    held_limit = [run] if run.concurrency_key is not None and run.status in (Status.READY, Status.ACTIVE) else []
    held_serial = [run] if run.serial_key is not None else []
    ended = yield from stop_anywhere(run, status, reason, now)
    if held_limit or held_serial:
        yield from let_out(held_serial, held_limit, now)
    return ended


def recover(runs: Sequence[Run], node: str, now: Micros, kinds: Kinds) -> Operation[None]:
    """Make the runs of a dead node ready again, so that they continue from their records. But end a run as failed if it
    is in a crash loop: too many nodes in a row have crashed while they worked on it, and none of them recorded a
    step."""
    lost = [run for run in runs if is_crash_loop(run)]
    others = [run for run in runs if not is_crash_loop(run)]
    if others:
        yield sql("count_crashes", [(run.id, run.crashes + 1) for run in others])
        yield from resume(others, node, now, kinds)
    if lost:
        yield from lock_owners(lost, kinds)
        yield from close_runs(lost, now)
        yield from end([End(run, Status.FAILED, "crash_loop") for run in lost], node, now, kinds)


def forget(ids: Sequence[str]) -> Operation[None]:
    rows = [(id,) for id in ids]
    for name in ("drop_steps", "forget_messages", "forget_children", "forget_functions"):
        yield statement(name, rows)


def scan(now: Micros, repair: bool, kinds: Kinds) -> Operation[list[Finding]]:
    """Find runs that still wait, although the message, child or time that they wait for came some time ago. If `repair`
    is true, wake these runs."""
    rows = yield statement("overslept_functions", no_code=NO_CODE, long_ago=now - LONG, limit=_FINDINGS)
    if rows and repair:
        yield from wake(sorted({id for id, _, _ in rows}), now)
    words = "waits for {} {!r}, which has come"
    return [Finding("function_not_woken", id, words.format(kind, name), repair) for id, kind, name in rows]


def child_ended(parents: Sequence[Run], ended: Sequence[Ended], now: Micros, kinds: Kinds) -> Operation[After]:
    """Wake each waiting parent, so that it reads the outcome of its ended child from the store. Skip parents that have
    not begun yet. Return an `After` without events. Its `stirs` is true if a parent was woken."""
    waiting = [run.id for run in parents if run.status is Status.WAITING and run.claim]
    if waiting:
        yield from wake(waiting, now)
    return After([], stirs=bool(waiting))


def wake_up(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    """Wake the runs of these timers. Always return an empty list, because there are no events to write.

    - If a run waits, make it ready.
    - If another transaction has locked a run, set the run's timer to a later time.
    - If a run is ready or active, do nothing, because the run will set a new timer when it parks.
    """
    ids = [(id,) for id in dict.fromkeys(timer.owner for timer in timers)]
    runs = {run.id: run for run in map(whole_run, (yield sql("free_runs", ids)))}
    waiting = [id for id, run in runs.items() if run.status is Status.WAITING]
    if waiting:
        yield from wake(waiting, now)
    held = [timer for timer in timers if timer.owner not in runs]
    existing = {row[0] for row in (yield sql("states_of", [(timer.owner,) for timer in held]))} if held else set()
    again = [timer_row(timer._replace(due=now + _HELD)) for timer in held if timer.owner in existing]
    if again:
        yield sql("set_timers", again)
    return []


def end_grace(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
    """End the cancelled runs of these timers, because their clean-up took longer than `CANCEL_GRACE`. Return the events
    that the caller must write."""
    rows = yield sql("runs_by_ids", [(timer.owner,) for timer in timers])
    owners = yield from lock_owners([whole_run(row) for row in rows], kinds)
    events: list[Row] = []
    ended: list[Ended] = []
    for row in (yield sql("runs_for_update", [(timer.owner,) for timer in timers])):
        run = whole_run(row)
        if not run.status.over:
            _, more, over = yield from _end_at_once(run, Status.CANCELLED, _LATE, now)
            events += more
            ended += over
    return events + (yield from after_chains(owners, ended, now, kinds)).events


RUN_KIND = RunKind(stop, recover, forget, scan, child_ended)
TIMERS = {(KIND, WAKE): wake_up, (KIND, GRACE): end_grace, (KIND, CHILDREN): stop_children}
