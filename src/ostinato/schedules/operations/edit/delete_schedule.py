"""Delete a schedule: close it, cancel its backfills, and drop its waiting runs."""

from __future__ import annotations

from dataclasses import replace

from ostinato.engine.runs import stop_chain
from ostinato.model import Status
from ostinato.schedules.decisions.decide import Live, ScheduleDecision, give_up
from ostinato.schedules.model import Reason, Schedule, State
from ostinato.schedules.operations import backfills
from ostinato.schedules.operations.backfills import read_backfill
from ostinato.schedules.operations.edit.apply_change import change, process_due
from ostinato.schedules.operations.edit.user_call import Answer, Call
from ostinato.schedules.operations.load import load_live_runs
from ostinato.schedules.operations.write import stopped_event, write_decisions
from ostinato.schedules.rows import event_row
from ostinato.store.contract import Operation, Row, sql


def delete(call: Call, running: str) -> Operation[Answer]:
    """Close a schedule, cancel its backfills, and drop the runs that its overlap policy holds back. `running` says what
    happens to its other unfinished runs: "leave", "cancel" or "terminate". The answer has the schedule's `origin`."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        schedule, live, events = yield from process_due(call, schedule, live, late=Reason.CLOSED)
        for row in (yield sql("unfinished_backfills", schedule=schedule.id)):
            schedule, stop_events = yield from backfills.set_state(
                read_backfill(row), schedule, "cancelled", call.now, call.maker, "schedule deleted"
            )
            events += stop_events
        live = (yield from load_live_runs([schedule.id], hold=True))[schedule.id]
        decision = ScheduleDecision(replace(schedule, memory=replace(schedule.memory, waiting=0)))
        if waiting := [one for one in live if one.waiting]:
            give_up(decision, waiting, Reason.CLOSED)
        events += yield from write_decisions([decision], call.now, call.maker, save=False)
        schedule = decision.schedule
        if running != "leave":
            status = Status.TERMINATED if running == "terminate" else Status.CANCELLED
            for run in live:
                if not run.waiting:
                    reason = "its schedule was deleted"
                    _, stop_events, ended = yield from stop_chain(
                        run.root_id, status, reason, call.now, running == "terminate", call.maker.run_kinds
                    )
                    events += stop_events
                    events += [stopped_event(call.now, over.run, reason, status) for over in ended]
        after = replace(schedule, state=State.CLOSED, closed=call.now, next=None)
        events.append(event_row(call.now, after, "deleted", call.actor))
        return after, events, {"origin": schedule.origin}

    return change(call, edit, repairs=True)
