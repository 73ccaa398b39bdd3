"""What the beat does with schedules: their due times, their backfills' steps, and actions that could not be made.

The beat holds the timers it fires, so it never waits for a schedule that someone is changing at that moment, who may be
about to set a timer: it looks again a moment later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import orjson

from ostinato.engine.claims import Hands
from ostinato.engine.reporting import report_failure, tried_again
from ostinato.engine.rows import timer_row, whole_run
from ostinato.engine.runs import Ended, to_the_gates
from ostinato.engine.timers import Fire
from ostinato.model import Run, Status, Timer
from ostinato.schedules import backfiller
from ostinato.schedules.carrying import carry_out, live_of, remake_timer, step_back
from ostinato.schedules.completing import conclude
from ostinato.schedules.decide import Decision, advance
from ostinato.schedules.generator import BATCH
from ostinato.schedules.holding import free_schedules, park
from ostinato.schedules.making import Maker
from ostinato.schedules.model import Schedule, State
from ostinato.schedules.plain import Firing, plain_firing, write_firings
from ostinato.schedules.rows import read_detail, read_schedule
from ostinato.schedules.targets import unfit
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros

_AT_ONCE = 20_000
_EACH = 200
TRIES = 5  # how often an action that cannot be made is tried


def purposes(maker: Maker, new_id: Callable[[Micros], str], backfill_batch: int) -> dict[tuple[str, str], Fire]:
    def due(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
        return (yield from fire_due(timers, now, maker, new_id, hands))

    def fill(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
        return (yield from backfiller.fire(timers, now, maker, new_id, backfill_batch))

    def make(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
        return (yield from remake(timers, now, maker))

    return {("schedule", "next"): due, ("schedule", "backfill"): fill, ("schedule", "make"): make}


def fire_due(
    timers: Sequence[Timer], now: Micros, maker: Maker, new_id: Callable[[Micros], str], hands: Hands
) -> Operation[list[Row]]:
    """Schedules whose time has come. One that cannot be read or decided upon, or whose decision cannot be
    put on record, is parked; the others go on."""
    rules = rules_in_force().version
    briefs = yield from free_schedules(timers, [t.owner for t in timers], now, brief=rules)
    live = yield from live_of([row[0] for row in briefs], hold=True)
    named = bool((yield sql("any_form")))  # runs that have names of their own on the wire
    plain: list[Firing] = []
    others: list[Row] = []
    for brief in briefs:
        firing = None if named or live[brief[0]] else plain_firing(brief, now, maker, new_id)
        if firing is None:
            others.append((brief[0],))
        else:
            plain.append(firing)
    rows = (yield sql("schedules_by_ids", others)) if others else []
    decisions: list[Decision] = []
    parked: list[tuple[Row, str]] = []
    left = _AT_ONCE  # occurrences of this beat; a schedule that is far behind takes several
    for row in rows:
        try:
            schedule = read_schedule(row)
            if schedule.state is not State.RUNNING or schedule.paused:
                continue  # whoever resumes it sets a timer again
            if schedule.zone_rules != rules:
                schedule = replace(schedule, zone_rules=rules)
            batch = max(_EACH, min(BATCH, left))
            found = advance(schedule, live[schedule.id], now, lambda: new_id(now), batch=batch)
            left -= sum(one.count for one in found.passed) + len(found.start) + len(found.hold)
            decisions.append(found)
        except Exception as problem:
            parked.append((row, _said(problem)))
    refused: list[tuple[Decision, Exception]] = []
    events: list[Row] = []
    if plain:
        events += yield from write_firings(plain, now, hands)
    if decisions:
        events += yield from carry_out(decisions, now, maker, refused=refused)
    by_id = {row[0]: row for row in rows}
    parked += [(by_id[decision.schedule.id], _said(problem)) for decision, problem in refused]
    return events + (yield from park(parked, now))


def _said(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"[:500]


def remake(timers: Sequence[Timer], now: Micros, maker: Maker) -> Operation[list[Row]]:
    """Actions that could not be made: tried again, with the schedule's action as it is now, or given up."""
    rows = yield sql("runs_by_ids", [(t.owner,) for t in timers])
    runs = {run.id: run for run in map(whole_run, rows) if run.status is Status.WAITING and run.schedule_id}
    known = [t for t in timers if t.owner in runs]
    owners = yield from free_schedules(known, [runs[t.owner].schedule_id or "" for t in known], now)
    schedules: dict[str, Schedule] = {}
    unmakeable: dict[str, Exception] = {}
    for row in owners:
        try:
            schedules[row[0]] = read_schedule(row)
        except Exception as problem:
            unmakeable[row[0]] = problem
    unmakeable |= yield from unfit(maker, schedules.values())
    made: list[Run] = []
    failed: list[Ended] = []
    saved: list[Row] = []
    timed: list[Row] = []
    for timer in known:
        run = runs[timer.owner]
        owner = run.schedule_id or ""
        if owner not in schedules and owner not in unmakeable:
            continue
        try:
            if owner in unmakeable:
                raise unmakeable[owner]
            found, deadline = _made(schedules[owner], run, maker)
            made.append(found)
            saved.append(_saved(found))
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
                pause = SECOND << detail["tries"] - 1
                timed.append(timer_row(remake_timer(run, now + pause)))
                saved.append(_saved(run))
                report_failure(run, Status.FAILED, run.reason, tried_again(pause / SECOND))
    if saved:
        yield sql("remake_runs", saved)
    if timed:
        yield sql("set_timers", timed)
    free = [run for run in made if run.serial_key is None and run.concurrency_key is None]
    if free:
        yield sql("set_ready", [(run.id, now) for run in free])
    yield from to_the_gates([r for r in made if r.serial_key is not None or r.concurrency_key is not None], now)
    if not failed:
        return []
    yield sql("stop_runs", [(one.run.id, one.status.value, one.reason) for one in failed], now=now)
    return (yield from conclude([(row[0], row[13], row[16]) for row in owners], failed, now)).events


def _made(schedule: Schedule, run: Run, maker: Maker) -> tuple[Run, Timer | None]:
    """The run as it was to be from the beginning: its deadline counts from when it came on record."""
    detail = dict(read_detail(run.detail))
    given = detail.pop("input", None)
    detail.pop("tries", None)
    found, deadline = maker.run(schedule, run.id, run.due, run.created, detail, given)
    found.status = Status.WAITING
    step_back(found, detail["origin"])
    return found, deadline


def _saved(run: Run) -> Row:
    return (
        run.id,
        run.name,
        run.queue,
        run.priority,
        run.serial_key,
        run.serial_hold,
        run.concurrency_key,
        run.options,
        run.input,
        run.detail,
        run.reason,
    )
