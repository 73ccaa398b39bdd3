"""What the end of a run means to its schedule, in the same transaction: the next that waits goes, what happened is
remembered, and after so many failures in a row the schedule is paused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from ostinato.engine import rows as engine_rows
from ostinato.engine.log import log
from ostinato.engine.rows import timer_row
from ostinato.engine.runs import AFTER_END, After, Ended
from ostinato.model import Status, Timer
from ostinato.schedules.carrying import carry_out
from ostinato.schedules.decide import Decision, decide, decide_by_the_first, first_ones_tell, settled
from ostinato.schedules.live import live_of
from ostinato.schedules.making import Maker
from ostinato.schedules.model import Outcomes, Schedule
from ostinato.schedules.plain import plain_success
from ostinato.schedules.rows import event_row, outcome_row, read_schedule
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

_FAILURES = (Status.FAILED, Status.TIMED_OUT)
PAUSED_BY_FAILURES = "paused after "  # begins the notes of a schedule that its failures have paused
FIRST = 20  # so many of those that wait are read, where they tell about the others
_NOBODY = Maker(lambda name: None)  # the end of a run makes no new ones


def remember(schedule: Schedule, ended: Ended, now: Micros) -> tuple[Schedule, list[Row]]:
    """One end: the outcome, and a pause if there were too many failures. Pure."""
    before = schedule.outcomes
    told: dict[str, Any] = {} if ended.reason is None else {"reason": ended.reason}
    if ended.status is Status.SUCCEEDED:
        result = None if ended.result is None else orjson.loads(ended.result)
        after = Outcomes(result, None, 0, now, now)
        told_as = "run_completed"
    elif ended.status in _FAILURES:
        failure = {"run_id": ended.run.root_id, "status": ended.status.value, "reason": ended.reason}
        after = replace(before, failure=failure, failures=before.failures + 1, ended_at=now)
        told_as = "run_failed"
        told["status"] = ended.status.value
    else:
        after = replace(before, ended_at=now)
        told_as = "canceled"
        told["status"] = ended.status.value
    schedule = replace(schedule, outcomes=after)
    events = [engine_rows.of_schedule(now, ended.run, f"schedule:{told_as}", **told)]
    most = schedule.policies.pause_after_failures
    open = not schedule.paused and not schedule.closed
    if most is not None and after.failures >= most and told_as == "run_failed" and open:
        times = "a failure" if after.failures == 1 else f"{after.failures} failures in a row"
        # Runs of other kinds may be guarded: not everyone who may see the schedule may see them.
        name = f", {ended.run.root_id}" if ended.run.kind == "job" else ""
        notes = f"{PAUSED_BY_FAILURES}{times}: {ended.status.value.replace('_', ' ')}{name}"
        schedule = replace(schedule, paused=now, next=None, notes=notes, token=schedule.token + 1)
        events.append(event_row(now, schedule, "paused", notes=notes, by="pause_after_failures"))
    return schedule, events


def conclude(owners: Sequence[Row], ended: Sequence[Ended], now: Micros) -> Operation[After]:
    """Ends of runs of these schedules, which are locked: `owners` are what `lock_owners` says."""
    by_schedule: dict[str, list[Ended]] = {}
    for one in ended:
        by_schedule.setdefault(one.run.schedule_id or "", []).append(one)
    events: list[Row] = []
    plain: list[Row] = []
    others: list[str] = []
    for owner in owners:
        ends = by_schedule.get(owner[0], [])
        noted = None
        if ends and all(one.status is Status.SUCCEEDED for one in ends):
            noted = plain_success(owner, ends[-1].result, now)
        if noted is not None:
            plain.append(noted)
            events += [engine_rows.of_schedule(now, one.run, "schedule:run_completed") for one in ends]
        elif ends:
            others.append(owner[0])
    if plain:
        yield sql("note_outcomes", plain)
    if others:
        events += yield from _conclude_whole(others, by_schedule, now)
    return After(events, stirs=bool(others))


def _conclude_whole(ids: Sequence[str], ended: Mapping[str, Sequence[Ended]], now: Micros) -> Operation[list[Row]]:
    """The ends that more may follow from: a failure, someone who waits, the last time of all."""
    events: list[Row] = []
    schedules: list[Schedule] = []
    coming: set[str] = set()  # those that had a time to come
    for row in (yield sql("schedules_by_ids", [(id,) for id in ids])):
        try:
            schedule = read_schedule(row)
            if schedule.next is not None:
                coming.add(schedule.id)
            for one in ended[schedule.id]:
                running = not schedule.paused
                schedule, told = remember(schedule, one, now)
                events += told
                if running and schedule.paused:
                    log.warning(
                        f"schedule {schedule.name!r} is {schedule.notes}",
                        action="schedule_paused",
                        schedule=schedule.name,
                        failures=schedule.outcomes.failures,
                        run=one.run.root_id,
                    )
            schedules.append(schedule)
        except Exception as problem:  # the beat parks it; the end of a run is not to fail because of its schedule
            log.error("a schedule cannot be read", action="schedule_unreadable", schedule=row[2], problem=str(problem))
    if not schedules:
        return events
    decisions = yield from _decide(schedules, now)
    events += yield from carry_out(decisions, now, _NOBODY, save=False)
    yield sql("conclude_schedules", [outcome_row(d.schedule) for d in decisions])
    over = [("schedule", d.schedule.id) for d in decisions if d.schedule.next is None and d.schedule.id in coming]
    if over:  # paused, or out of actions: nothing is to come any more
        yield sql("drop_timers", over)
    filling = [(s.id,) for s in schedules if s.memory.backfills]
    if filling:
        found = yield sql("open_backfills", filling)
        wake = [timer_row(Timer("schedule", id, "backfill", now, namespace)) for id, _, namespace in found]
        if wake:
            yield sql("set_timers", wake)
    return events


def _decide(schedules: Sequence[Schedule], now: Micros) -> Operation[list[Decision]]:
    """Who of those that wait goes now. Of a long buffer no more is read than it takes to say so."""
    looked = [s for s in schedules if not s.closed and (s.memory.waiting or s.memory.backfills or s.next is None)]
    decided = {s.id: Decision(s) for s in schedules}
    short = [s for s in looked if s.memory.waiting > FIRST and first_ones_tell(s)]
    live = yield from live_of([s.id for s in short], hold=True, first=FIRST)
    done: set[str] = set()
    for schedule in short:
        if sum(one.waiting for one in live[schedule.id]) < FIRST:
            continue  # these are all
        told = decide_by_the_first(schedule, live.pop(schedule.id), now)
        if told is not None:
            decided[schedule.id] = told
            done.add(schedule.id)
    rest = [s for s in looked if s.id not in done]
    live |= yield from live_of([s.id for s in rest if s.id not in live], hold=True)
    for schedule in rest:
        decision = decide(schedule, live[schedule.id], [], now, lambda: "")
        decided[schedule.id] = settled(decision, live[schedule.id])
    return [decided[s.id] for s in schedules]


AFTER_END["schedule"] = conclude
