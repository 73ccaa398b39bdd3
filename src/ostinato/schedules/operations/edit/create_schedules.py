"""Create schedules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ostinato.engine.rows import timer_row
from ostinato.errors import Conflict
from ostinato.schedules.decisions.decide import idle
from ostinato.schedules.decisions.due_times import next_time
from ostinato.schedules.model import Schedule, State
from ostinato.schedules.operations.edit.trigger_run import run_now
from ostinato.schedules.operations.edit.user_call import Answer, Call
from ostinato.schedules.operations.search import relabel
from ostinato.schedules.operations.write import next_timer
from ostinato.schedules.rows import event_row, insert_schedule_row
from ostinato.store.contract import Operation, Row, sql, with_pauses
from ostinato.when import rules_in_force
from ostinato.when.instants import Micros


def create(call: Call, schedules: Sequence[Schedule], *, trigger: bool = False) -> Operation[Answer]:
    """Create schedules, all or none. If `trigger` is true, also run the action of the first schedule now. Raises
    AlreadyExists if a name is taken."""
    rules = rules_in_force().version

    def initial(draft: Schedule) -> Schedule:
        schedule = replace(
            draft, reached=call.now, updated=call.now, created=call.now, zone_rules=rules, actor=call.actor
        )
        schedule = replace(schedule, next=None if schedule.paused else next_time(schedule))
        return replace(schedule, state=State.COMPLETED) if idle(schedule) else schedule

    created = yield from with_pauses(map(initial, schedules))
    events = yield from insert_schedules(created, call.now, call.actor)
    answer: Answer = {"ids": [one.id for one in created], "token": created[0].token if created else 1}
    if trigger:
        after, trigger_events, run = yield from run_now(call, created[0], [], None, None)
        yield sql("replace_schedules", [insert_schedule_row(after)])
        events += trigger_events
        answer |= {"token": after.token, "run": run}
    yield sql("notify")
    yield sql("insert_events", events)
    return answer


def insert_schedules(schedules: Sequence[Schedule], now: Micros, actor: str | None) -> Operation[list[Row]]:
    """Insert schedules with their labels and timers. Return the events, which the caller writes. Raises AlreadyExists
    if a name is taken."""
    rows = yield from with_pauses(map(insert_schedule_row, schedules))
    inserted = {id for (id,) in (yield sql("insert_schedules", rows))}
    taken = [one.name for one in schedules if one.id not in inserted]
    if taken:
        raise AlreadyExists(taken[0])
    labels = [row for one in schedules for row in relabel(None, one)[1]]
    if labels:
        yield sql("label_schedules", labels)
    timers = [timer_row(next_timer(one, one.next)) for one in schedules if one.next is not None]
    if timers:
        yield sql("set_timers", timers)
    events = yield from with_pauses(event_row(now, one, "created", actor, spec=one.spec.to_json()) for one in schedules)
    return events + [event_row(now, one, "completed", actor) for one in schedules if one.state is State.COMPLETED]


class AlreadyExists(Conflict):
    def __init__(self, name: str) -> None:
        super().__init__(f"schedule {name!r} exists already; update it instead, or take another name")
        self.name = name
