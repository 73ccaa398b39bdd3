"""Trigger the action of a schedule now. The overlap policy still applies, so the run may wait or be skipped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ostinato.schedules.decisions.decide import Live, decide
from ostinato.schedules.model import Occurrence, Overlap, Schedule, State
from ostinato.schedules.operations.edit.apply_change import Edit, change
from ostinato.schedules.operations.edit.user_call import Answer, Call
from ostinato.schedules.operations.write import write_decisions
from ostinato.store.contract import Operation, Row


def trigger(call: Call, overlap: Overlap | None, input: Mapping[str, Any] | None) -> Operation[Answer]:
    return change(call, trigger_edit(call, overlap, input))


def trigger_edit(call: Call, overlap: Overlap | None, input: Mapping[str, Any] | None = None) -> Edit:
    """Return an edit that runs the schedule's action now. If `overlap` is not None, it replaces the schedule's overlap
    policy for this run. If `input` is not None, it replaces the action's input. The edit raises InputError or
    ArgumentError if the action cannot start with `input`."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        if input is not None:
            call.maker.check_input(schedule, input)
        after, events, run = yield from run_now(call, schedule, live, overlap, input)
        return after, events, {"run": run}

    return edit


def run_now(
    call: Call, schedule: Schedule, live: Sequence[Live], overlap: Overlap | None, input: Mapping[str, Any] | None
) -> Operation[tuple[Schedule, list[Row], Answer]]:
    origin = f"trigger-{call.new_id()}"
    if schedule.state is State.COMPLETED:
        schedule = replace(schedule, state=State.RUNNING)
    due = Occurrence(call.now, call.now, origin=origin, overlap=overlap)
    # The actor of the run and its events is the caller, not the creator of the schedule.
    as_caller = replace(schedule, actor=call.actor or schedule.actor)
    decision = decide(as_caller, live, [due], call.now, call.new_id)
    inputs = None if input is None else {origin: input}
    not_started: dict[str, str] = {}
    events = yield from write_decisions(
        [decision], call.now, call.maker, inputs=inputs, save=False, not_started=not_started
    )
    run: Answer = {"origin": origin}
    if decision.start:
        id = decision.start[0].id
        run |= (
            {"id": id, "status": "waiting", "reason": not_started[id]}
            if id in not_started
            else {"id": id, "status": "started"}
        )
    elif decision.hold:
        run |= {"id": decision.hold[0].id, "status": "buffered"}
    else:
        (passed,) = decision.passed
        run |= {"id": passed.id, "status": "skipped", "reason": passed.reason, "blocked_by": passed.blocked_by}
    return replace(decision.schedule, actor=schedule.actor), events, run
