"""Try again to build a run that could not be built when its row was inserted. There are up to four retries, after
pauses of 1, 2, 4 and 8 s. If the last retry fails, the run fails. If the overlap policy held the run back, the first
retry has no pause: it follows at once when the policy lets the run start."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ostinato.backoff import backoff
from ostinato.engine.rows import timer_row, whole_run
from ostinato.engine.run_logging import report_failure, tried_again
from ostinato.engine.runs import Ended, to_the_gates
from ostinato.model import Run, Status, Timer
from ostinato.schedules.actions import Maker
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations.load import lock_free
from ostinato.schedules.operations.run_ended import conclude
from ostinato.schedules.operations.write import lower_priority, remake_timer
from ostinato.schedules.rows import id_of, owner_of, read_detail, read_schedule
from ostinato.store.columns import writer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

TRIES = 5  # to build the action of a run, before the run fails


def remake(timers: Sequence[Timer], now: Micros, maker: Maker) -> Operation[list[Row]]:
    """Try again to build runs that could not be built before. `timers` has a timer for each run. Return the events,
    which the caller writes.

    - If the run can be built now, it becomes ready, or waits for its serial key or concurrency limit.
    - If the run still cannot be built, set its timer again. After `TRIES` tries, the first one included, the run fails.
    - If the status of the run is no longer WAITING, ignore its timer.
    - If another transaction has locked the run's schedule, postpone the timer.
    """
    rows = yield sql("runs_by_ids", [(t.owner,) for t in timers])
    runs = {run.id: run for run in map(whole_run, rows) if run.status is Status.WAITING and run.schedule_id}
    waiting = [t for t in timers if t.owner in runs]
    owners = yield from lock_free(waiting, [runs[t.owner].schedule_id or "" for t in waiting], now)
    schedules: dict[str, Schedule] = {}
    unfit: dict[str, Exception] = {}
    for row in owners:
        try:
            schedules[id_of(row)] = read_schedule(row)
        except Exception as problem:
            unfit[id_of(row)] = problem
    unfit |= yield from maker.find_unfit(schedules.values())
    remade: list[Run] = []
    failed: list[Ended] = []
    rows_to_save: list[Row] = []
    timed: list[Row] = []
    for timer in waiting:
        run = runs[timer.owner]
        owner = run.schedule_id or ""
        if owner not in schedules and owner not in unfit:
            continue
        try:
            if owner in unfit:
                raise unfit[owner]
            new_run, deadline = _remake_run(schedules[owner], run, maker)
            remade.append(new_run)
            rows_to_save.append(_remade_row(new_run))
            if deadline is not None:
                timed.append(timer_row(deadline))
        except Exception as problem:
            detail = dict(read_detail(run.detail))
            detail["tries"] = detail.get("tries", 0) + 1
            run.reason, run.detail = f"cannot start: {problem}"[:500], orjson.dumps(detail).decode()
            if detail["tries"] >= TRIES:
                failed.append(Ended(run, Status.FAILED, run.reason))
                report_failure(run, Status.FAILED, run.reason, f"gives up after {detail['tries']} tries")
            else:
                pause = int(backoff(detail["tries"], SECOND, 60 * SECOND))
                timed.append(timer_row(remake_timer(run, now + pause)))
                rows_to_save.append(_remade_row(run))
                report_failure(run, Status.FAILED, run.reason, tried_again(pause / SECOND))
    if rows_to_save:
        yield sql("remake_runs", rows_to_save)
    if timed:
        yield sql("set_timers", timed)
    free = [run for run in remade if run.serial_key is None and run.concurrency_key is None]
    if free:
        yield sql("set_ready", [(run.id, now) for run in free])
    yield from to_the_gates([r for r in remade if r.serial_key is not None or r.concurrency_key is not None], now)
    if not failed:
        return []
    yield sql("stop_runs", [(one.run.id, one.status.value, one.reason) for one in failed], now=now)
    concluded = yield from conclude(
        list(map(owner_of, owners)), failed, now, maker.run_kinds, companions=maker.companions
    )
    return concluded.events


def _remake_run(schedule: Schedule, run: Run, maker: Maker) -> tuple[Run, Timer | None]:
    """Build `run` again. Return (run, timer of its deadline); the timer is None if the run has no deadline. The
    deadline counts from the time when the row of the run was created."""
    detail = dict(read_detail(run.detail))
    input = detail.pop("input", None)
    detail.pop("tries", None)
    new_run, deadline = maker.run(schedule, run.id, run.due, run.created, detail, input)
    new_run.status = Status.WAITING
    lower_priority(new_run, detail["origin"])
    return new_run, deadline


_remade_row = writer(  # for `remake_runs`
    "id name queue priority serial_key serial_hold concurrency_key options input detail reason".split()
)
