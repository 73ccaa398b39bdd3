"""Pause and resume a schedule. Resuming decides which due times of the pause get a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ostinato.schedules.decisions.catchup import generate
from ostinato.schedules.decisions.decide import Live, ScheduleDecision, decide, pass_over
from ostinato.schedules.decisions.due_times import next_time
from ostinato.schedules.model import GRACE, CatchUp, Reason, Schedule, State
from ostinato.schedules.operations.edit.apply_change import MAX_TIMES, Edit, change, process_due, with_next
from ostinato.schedules.operations.edit.user_call import Answer, Call
from ostinato.schedules.operations.write import write_decisions
from ostinato.schedules.rows import event_row
from ostinato.store.contract import Operation, Row


def pause(call: Call, note: str) -> Operation[Answer]:
    return change(call, pause_edit(call, note))


def pause_edit(call: Call, note: str) -> Edit:
    """Return an edit that pauses a schedule:

    - If the first due time is not late, the edit processes all due times before the pause begins.
    - If the first due time is late, the edit processes no due time. When the schedule is resumed, `resume_edit` decides
      about these times and about those that became due during the pause.
    """

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        due = next_time(schedule)
        if not schedule.paused and due is not None and call.now - due <= GRACE:
            schedule, live, events = yield from process_due(call, schedule, live)
        after = replace(schedule, paused=schedule.paused or call.now, notes=note, next=None)
        return after, [*events, event_row(call.now, after, "paused", call.actor, notes=note)], {}

    return edit


def resume(call: Call, note: str, catchup: CatchUp | None) -> Operation[Answer]:
    return change(call, resume_edit(call, note, catchup))


def resume_edit(call: Call, note: str, catchup: CatchUp | None = None) -> Edit:
    """Return an edit that resumes a paused or parked schedule. The policy `catchup` decides which of the times that
    were due meanwhile get a run. If `catchup` is None, no such time gets a run."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        late = will_run = 0
        stopped = schedule.paused or schedule.state is State.PARKED
        if stopped and schedule.state in (State.RUNNING, State.PARKED) and not schedule.exhausted:
            decision = _decide_after_stop(call, schedule, live, catchup)
            late = sum(one.added for one in decision.passed) + len(decision.start) + len(decision.hold)
            will_run = len(decision.start) + len(decision.hold)
            decision.late = 0  # the event `resumed` has the number
            events = yield from write_decisions([decision], call.now, call.maker, save=False)
            schedule = replace(decision.schedule, policies=schedule.policies)
        outcomes = replace(schedule.outcomes, failures=0)  # earlier failures no longer count
        after = replace(schedule, paused=None, notes=note, reason=None, outcomes=outcomes)
        if schedule.state is State.PARKED:
            after = replace(after, state=State.RUNNING)
        after = with_next(after, call.now)
        events.append(event_row(call.now, after, "resumed", call.actor, notes=note, late=late, will_run=will_run))
        return after, events, {"late": late, "will_run": will_run}

    return edit


def _decide_after_stop(
    call: Call, schedule: Schedule, live: Sequence[Live], catchup: CatchUp | None
) -> ScheduleDecision:
    if catchup is None:
        reason = Reason.PAUSED if schedule.paused else Reason.PARKED
        return pass_over(schedule, call.now, reason, call.new_id)
    resumed = replace(schedule, paused=None, policies=replace(schedule.policies, catchup=catchup))
    generated = generate(resumed, call.now, MAX_TIMES)
    occurrences = tuple(replace(one, asked=True) if one.reason is None else one for one in generated.occurrences)
    return decide(resumed, live, occurrences, call.now, call.new_id, generated)
