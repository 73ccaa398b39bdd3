"""Apply an edit to the locked row of a schedule, in one transaction. Before a new spec takes effect, the due times of
the old spec are processed, so every due time is processed exactly once. Most other edits leave due times to the beat,
the loop that fires timers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ostinato.engine.rows import timer_row
from ostinato.errors import Conflict
from ostinato.schedules.decisions.decide import Live, ScheduleDecision, advance, decide, idle, pass_over
from ostinato.schedules.decisions.due_times import next_time
from ostinato.schedules.model import GRACE, Reason, Schedule, State
from ostinato.schedules.operations.backfills import read_backfill
from ostinato.schedules.operations.edit.user_call import Answer, Call, load_locked
from ostinato.schedules.operations.load import load_live_runs
from ostinato.schedules.operations.search import relabel
from ostinato.schedules.operations.write import next_timer, write_decisions
from ostinato.schedules.rows import event_row, insert_schedule_row
from ostinato.store.contract import PAUSE, Operation, Row, sql
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros

MAX_TIMES = 1_000_000
# Gets the locked schedule and its unfinished runs. Returns the changed schedule, events to write, and its part of the
# call's answer.
Edit: TypeAlias = Callable[[Schedule, list[Live]], Operation[tuple[Schedule, list[Row], Answer]]]


def change(call: Call, edit: Edit, *, repairs: bool = False) -> Operation[Answer]:
    """Apply an edit to the schedule of a call, and write the result. Return the edit's answer together with the
    schedule's `id` and new `token`. If `repairs` is true, the stored schedule may be unreadable, because the edit
    replaces the unreadable part."""
    schedule = yield from load_locked(call, repairs)
    live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
    after, events, answer = yield from edit(schedule, live)
    yield PAUSE
    if schedule.state is State.PARKED and after.state is State.RUNNING:
        after, unpark_events = yield from _unpark(call, after)
        events += unpark_events
    if idle(after) and not (yield from load_live_runs([after.id]))[after.id]:
        after = replace(after, state=State.COMPLETED)
        if schedule.state is not State.COMPLETED:
            events.append(event_row(call.now, after, "completed", call.actor))
    after = replace(after, token=max(after.token, schedule.token) + 1)
    yield from save(after)
    gone, come = relabel(schedule, after)
    if gone:
        yield sql("unlabel_schedules", gone)
    if come:
        yield sql("label_schedules", come)
    yield sql("notify")
    yield sql("insert_events", events)
    return {"id": after.id, "token": after.token, **answer}


def _unpark(call: Call, schedule: Schedule) -> Operation[tuple[Schedule, list[Row]]]:
    """Continue with a schedule that was parked: start the waiting runs that nothing blocks, and set the timers of its
    running backfills to now. Return (changed schedule, events). The caller writes both."""
    live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
    decision = decide(schedule, live, [], call.now, call.new_id)
    events = yield from write_decisions([decision], call.now, call.maker, save=False)
    rows = yield sql("running_backfills", schedule=schedule.id)
    if rows:
        yield sql("set_timers", [timer_row(read_backfill(row).timer._replace(due=call.now)) for row in rows])
    return decision.schedule, events


def save(schedule: Schedule) -> Operation[None]:
    yield sql("replace_schedules", [insert_schedule_row(schedule)])
    if schedule.next is not None:
        yield sql("set_timers", [timer_row(next_timer(schedule, schedule.next))])
    else:
        yield sql("drop_timers", [("schedule", schedule.id)])


Processed: TypeAlias = tuple[Schedule, list[Live], list[Row]]


def process_due(
    call: Call, schedule: Schedule, live: list[Live], *, late: Reason | None = None
) -> Operation[Processed]:
    """Process the due times of a schedule before an edit changes its rules, and write the runs. Return (schedule,
    unfinished runs, events), all as they are afterwards. The caller writes the schedule and the events.

    - If the schedule is not running, if no actions remain, or if no time is due, nothing is done.
    - If the schedule is paused, no due time gets a run. The reason is PAUSED.
    - If `late` is not None and the first due time is late, no due time gets a run. The reason is `late`.
    - Otherwise the schedule's policies decide which due times get a run. Raises Conflict if more than `MAX_TIMES` times
      are due.
    """
    if schedule.state is not State.RUNNING or schedule.exhausted:
        return schedule, live, []
    due = next_time(replace(schedule, paused=None))
    if due is None or due > call.now:
        return schedule, live, []
    if schedule.paused:
        decision = pass_over(schedule, call.now, Reason.PAUSED, call.new_id)
    elif late is not None and call.now - due > GRACE:
        decision = pass_over(schedule, call.now, late, call.new_id)
    else:
        decision = advance(schedule, live, call.now, call.new_id, batch=MAX_TIMES)
        if decision.schedule.next is not None and decision.schedule.next <= call.now:
            raise Conflict(
                f"schedule {schedule.name!r} has more than {MAX_TIMES:,} times to catch up with; try again when it has"
            )
    if not _has_work(decision):
        return decision.schedule, live, []
    events = yield from write_decisions([decision], call.now, call.maker, save=False)
    live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
    return decision.schedule, live, events


def _has_work(decision: ScheduleDecision) -> bool:
    return bool(
        decision.start
        or decision.hold
        or decision.release
        or decision.drop
        or decision.passed
        or decision.stop
        or decision.completed
    )


def combine_edits(edits: Sequence[Edit]) -> Edit:
    """Combine edits into one. They run in order, all or none. The schedule's conflict token changes only once."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        answer: Answer = {}
        for number, single in enumerate(edits):
            if number:
                live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
            schedule, single_events, single_answer = yield from single(schedule, live)
            events += single_events
            answer |= single_answer
        return schedule, events, answer

    return edit


def with_next(schedule: Schedule, now: Micros = 0) -> Schedule:
    """Return a copy of the schedule with the current version of the time zone rules, and with `next` computed again:

    - If the schedule is paused or not running, `next` is None.
    - If a time is due already, but `next` is up to a second after `now`, `next` does not change. The beat (the loop
      that fires timers) has then postponed the other late times, so that no more runs start per second than the
      catch-up policy allows.
    - Otherwise `next` is the time at which the next occurrence is due, or None if no occurrence will come.
    """
    rules = rules_in_force().version
    if schedule.paused or schedule.state is not State.RUNNING:
        return replace(schedule, next=None, zone_rules=rules)
    following, before = next_time(schedule), schedule.next
    if following is not None and before is not None and following <= now < before <= now + SECOND:
        following = before
    return replace(schedule, next=following, zone_rules=rules)
