"""Fire the timers of schedules. A timer starts the due occurrences of a schedule, runs a step of a backfill, or tries
again to build a run. If another transaction has locked a schedule, the beat (the loop that fires timers) does not wait
for the lock. It postpones the schedule's timer instead. Otherwise both transactions could wait for each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ostinato.engine.claims import DirectClaim
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import FOR_OTHERS
from ostinato.engine.timers import Fire
from ostinato.model import Timer
from ostinato.schedules.actions import Maker
from ostinato.schedules.decisions.catchup import BATCH
from ostinato.schedules.decisions.decide import ScheduleDecision, advance
from ostinato.schedules.model import Schedule, State
from ostinato.schedules.operations import backfills
from ostinato.schedules.operations.fast_path import Firing, plain_firing, write_firings
from ostinato.schedules.operations.load import load_live_runs, lock_free
from ostinato.schedules.operations.park import park
from ostinato.schedules.operations.retry_actions import remake
from ostinato.schedules.operations.write import next_timer, write_decisions
from ostinato.schedules.rows import id_of, read_anyway, read_schedule
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import rules_in_force
from ostinato.when.instants import Micros

_MAX_TIMES = 20_000
_MIN_BATCH = 200


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
    """Fire the schedules of these timers: decide about their due times, and write the decisions. Return the events,
    which the caller writes.

    - If a schedule cannot be read, decided or written, park it.
    - If another transaction has locked a schedule, postpone its timer.
    - If this node cannot start the runs of a schedule, postpone its timer, so that another node can fire it.
    - If a schedule is paused or not running, ignore its timer.
    """
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
    decisions: list[ScheduleDecision] = []
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
            left -= sum(one.added for one in decision.passed) + len(decision.start) + len(decision.hold)
            decisions.append(decision)
        except Exception as problem:
            parked.append((read_anyway(row), _describe(problem)))
    refused: list[tuple[ScheduleDecision, Exception]] = []
    events: list[Row] = []
    if for_others:
        yield sql("set_timers", [timer_row(timer) for timer in for_others])
    if plain:
        events += yield from write_firings(plain, now, direct)
    if decisions:
        events += yield from write_decisions(decisions, now, maker, refused=refused)
    parked += [(decision.schedule, _describe(problem)) for decision, problem in refused]
    return events + (yield from park(parked, now)) if parked else events


def _describe(problem: Exception) -> str:
    return f"{type(problem).__name__}: {problem}"[:500]
