"""Apply an edit to the locked row of a schedule, in one transaction. Each kind of change has its own module in this
package.

Before a new spec takes effect, the due times of the old spec are processed. So every due time is processed exactly
once. Most other edits leave due times to the beat, the loop that fires timers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from ostinato.engine.rows import timer_row
from ostinato.errors import Conflict
from ostinato.schedules.decisions.decide import Decision, Live, advance, decide, idle, pass_over
from ostinato.schedules.decisions.due_times import next_time
from ostinato.schedules.model import GRACE, Reason, Schedule, State
from ostinato.schedules.operations.backfills import read_backfill
from ostinato.schedules.operations.edit.user_call import Answer, Call, load_locked
from ostinato.schedules.operations.load import load_live_runs
from ostinato.schedules.operations.search import relabel
from ostinato.schedules.operations.write import next_timer, write_decisions
from ostinato.schedules.rows import (
    event_row,
    insert_schedule_row,
)
from ostinato.store.contract import PAUSE, Operation, Row, sql
from ostinato.when import rules_in_force
from ostinato.when.instants import SECOND, Micros

MAX_TIMES = 1_000_000
# Gets the locked schedule and its unfinished runs. Returns the changed schedule, events to write, and its part of the
# call's answer.
Edit: TypeAlias = Callable[[Schedule, list[Live]], Operation[tuple[Schedule, list[Row], Answer]]]


def change(call: Call, edit: Edit, *, repairs: bool = False) -> Operation[Answer]:
    """Apply an edit to the schedule of a call, and write the result. Returns the answer of the edit, plus the
    schedule's `id` and its new `token`. With `repairs`, the schedule may be unreadable, because the edit replaces the
    part that cannot be read. Raises the errors of `load_locked` and of the edit."""
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
    """Resume a schedule that was parked: continue its backfills, and start the waiting runs that nothing blocks any
    more. Returns the schedule after that, and events to write."""
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
    """Process the due times by the old rules, before an edit changes the schedule. Return (schedule, unfinished runs,
    events to write).

    - If `late` is given and the first due time is overdue, no due time gets a run. `late` is stored as the reason.
    - If more than `MAX_TIMES` times are due, raise Conflict.
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


def _has_work(decision: Decision) -> bool:
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
    """Combine several edits into one. They run in order, all or none. The conflict token of the schedule changes only
    once."""

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
    """Return the schedule with its next time computed again. The next time is None if the schedule is paused or not
    running. During a catch-up, the present next time is kept, so that the catch-up does not exceed its pace."""
    rules = rules_in_force().version
    if schedule.paused or schedule.state is not State.RUNNING:
        return replace(schedule, next=None, zone_rules=rules)
    following, before = next_time(schedule), schedule.next
    if following is not None and before is not None and following <= now < before <= now + SECOND:
        following = before
    return replace(schedule, next=following, zone_rules=rules)
