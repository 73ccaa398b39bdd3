"""Fire the timers of schedules: due times, steps of backfills, and runs whose actions could not be built before.

The beat has locked the timers that it fires. Suppose it waited for a schedule that another transaction has locked, and
that transaction set one of these timers: both would wait for each other. So the beat skips a locked schedule and
postpones its timer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import orjson

from ostinato.backoff import backoff
from ostinato.engine.direct_claim import DirectClaim
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import timer_row, whole_run
from ostinato.engine.run_logging import report_failure, tried_again
from ostinato.engine.runs import FOR_OTHERS, Ended, to_the_gates
from ostinato.engine.timers import Fire
from ostinato.model import Run, Status, Timer
from ostinato.schedules.actions import Maker
from ostinato.schedules.decisions.decide import Decision, advance
from ostinato.schedules.decisions.due_times import BATCH
from ostinato.schedules.model import Schedule, State
from ostinato.schedules.operations import backfills
from ostinato.schedules.operations.fast_path import Firing, plain_firing, write_firings
from ostinato.schedules.operations.load import load_live_runs, lock_free, park
from ostinato.schedules.operations.run_ended import conclude
from ostinato.schedules.operations.write import lower_priority, next_timer, remake_timer, write_decisions
from ostinato.schedules.rows import id_of, owner_of, read_anyway, read_detail, read_schedule
from ostinato.store.columns import writer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros

_MAX_TIMES = 20_000
_MIN_BATCH = 200
TRIES = 5  # to build the action of a run, before the run fails


def purposes(maker: Maker, new_id: Callable[[Micros], str], backfill_batch: int) -> dict[tuple[str, str], Fire]:
    def due(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
        return (yield from fire_due(timers, now, maker, new_id, direct))

    def fill(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
        return (yield from backfills.fire(timers, now, maker, new_id, backfill_batch))

    def make(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
        return (yield from remake(timers, now, maker))

    return {("schedule", "next"): due, ("schedule", "backfill"): fill, ("schedule", "make"): make}


def fire_due(
    timers: Sequence[Timer], now: Micros, maker: Maker, new_id: Callable[[Micros], str], direct: DirectClaim
) -> Operation[list[Row]]:
    """Fire the schedules that are due. Returns events to write.

    A schedule that cannot be read or decided, or whose decision cannot be written, is parked; the others continue."""
    rules = rules_in_force().version
    briefs = yield from lock_free(timers, [t.owner for t in timers], now, brief=rules)
    live = yield from load_live_runs([id_of(brief) for brief in briefs], hold=True)
    plain: list[Firing] = []
    others: list[Row] = []
    for brief in briefs:
        id = id_of(brief)
        firing = None if live[id] else plain_firing(brief, now, maker, new_id)
        if firing is None:
            others.append((id,))
        else:
            plain.append(firing)
    rows = (yield sql("schedules_by_ids", others)) if others else []
    decisions: list[Decision] = []
    parked: list[tuple[Schedule, str]] = []
    for_others: list[Timer] = []
    left = _MAX_TIMES  # occurrences of this beat; a schedule that is far behind needs several beats
    for row in rows:
        try:
            schedule = read_schedule(row)
            if schedule.state is not State.RUNNING or schedule.paused:
                continue  # resuming it sets the timer again
            if not maker.starts(schedule):
                for_others.append(next_timer(schedule, now + FOR_OTHERS))
                continue
            if schedule.zone_rules != rules:
                schedule = replace(schedule, zone_rules=rules)
            batch = max(_MIN_BATCH, min(BATCH, left))
            decision = advance(schedule, live[schedule.id], now, lambda: new_id(now), batch=batch)
            left -= sum(one.count for one in decision.passed) + len(decision.start) + len(decision.hold)
            decisions.append(decision)
        except Exception as problem:
            parked.append((read_anyway(row), _describe(problem)))
    refused: list[tuple[Decision, Exception]] = []
    events: list[Row] = []
    if for_others:
        yield sql("set_timers", [timer_row(timer) for timer in for_others])
    if plain:
        events += yield from write_firings(plain, now, direct)
    if decisions:
        events += yield from write_decisions(decisions, now, maker, refused=refused)
    parked += [(decision.schedule, _describe(problem)) for decision, problem in refused]
    return events + (yield from park(parked, now))


def _describe(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"[:500]


def remake(timers: Sequence[Timer], now: Micros, maker: Maker) -> Operation[list[Row]]:
    """Build the actions of runs that could not be built before, from the schedules as they are now. After `TRIES`
    tries the run fails. Returns events to write."""
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
    return (yield from conclude(list(map(owner_of, owners)), failed, now, maker.run_kinds)).events


def _remake_run(schedule: Schedule, run: Run, maker: Maker) -> tuple[Run, Timer | None]:
    """Build a run and the timer of its deadline, which counts from the creation of the run's row."""
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
