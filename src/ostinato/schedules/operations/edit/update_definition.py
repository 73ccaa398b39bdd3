"""Update the definition of a schedule. A new spec applies to times from now on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ostinato.errors import Conflict
from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.decisions.due_times import neighbours, pending
from ostinato.schedules.model import Schedule, State
from ostinato.schedules.operations.edit.apply_change import Edit, change, process_due, with_next
from ostinato.schedules.operations.edit.user_call import Answer, Call
from ostinato.schedules.rows import event_row
from ostinato.schedules.validation import same_definition
from ostinato.store.contract import PAUSE, Operation, Row
from ostinato.when.instants import Micros


def update(call: Call, redefine: Callable[[Schedule], Schedule], *, repairs: bool = False) -> Operation[Answer]:
    """Change the definition of a schedule. `redefine` gets the schedule, and returns the changed schedule. If `repairs`
    is true, the stored schedule may be unreadable, because `redefine` replaces the unreadable part.

    A schedule may name a companion: an extension that stores additional rows for the schedule. If the companion has the
    text `changed_with`, the operation always raises `Conflict`. The message contains this text, which names the calls
    to use instead.
    """

    def redefine_own(schedule: Schedule) -> Schedule:
        companion = call.maker.companions.get(schedule.companion or "")
        if companion is not None and companion.changed_with is not None:
            raise Conflict(f"schedule {schedule.name!r} is not changed here; use {companion.changed_with}")
        return redefine(schedule)

    return change(call, update_edit(call, redefine_own), repairs=repairs)


def update_edit(call: Call, redefine: Callable[[Schedule], Schedule]) -> Edit:
    """Return an edit that changes the definition of a schedule. If the definition becomes different, the edit's answer
    has the schedule's `origin`. If the spec changes, the times that are due already are
    first processed by the old definition, and the new spec applies to later times. If the spec does not change, the
    changes also apply to late times that are not processed yet."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        events: list[Row] = []
        new = redefine(schedule)
        yield PAUSE  # reading, comparing and searching a large spec takes a while
        if new.spec != schedule.spec:
            schedule, live, events = yield from process_due(call, schedule, live)
            yield PAUSE
            new = _with_new_spec(redefine(schedule), schedule, call.now)
            yield PAUSE
        elif new.remaining != schedule.remaining and schedule.exhausted:
            new = replace(new, updated=call.now)  # times before were not due: no actions remained
        new = with_next(replace(new, state=State.RUNNING, reason=None, actor=call.actor), call.now)
        yield PAUSE
        events.append(event_row(call.now, new, "updated", call.actor, spec=new.spec.to_json(), paused=bool(new.paused)))
        return new, events, {} if same_definition(schedule, new) else {"origin": schedule.origin}

    return edit


def _with_new_spec(new: Schedule, before: Schedule, now: Micros) -> Schedule:
    """Return a copy of `new`, the schedule with the new spec. In the copy, the new spec applies from `now` on. `before`
    is the schedule with the old spec.

    - Delayed occurrences of the old spec still run. An occurrence is delayed if its nominal time has passed, and its
      due time is after `now` because of jitter or a user's move.
    - A user's skip is kept if the new spec has its nominal time. Otherwise the skip is dropped.
    - A user's move is kept if the new spec has its nominal time, and if the moved occurrence stays between the due
      times of the occurrences before and after it. Otherwise the move is dropped.
    """
    waits = {one.nominal: one.actual for one in pending(before, now) if one.reason is None}
    reached = max([new.reached, *waits])
    ahead = {*new.memory.ahead, *before.spec.compiled.between(now + 1, reached)}  # these have run already
    new = replace(new, reached=min(reached, now), updated=now)
    compiled = new.spec.compiled
    moved: dict[Micros, Micros] = {}
    for nominal, at in sorted(new.memory.moved.items()):
        if compiled.matches(nominal):
            low, high = neighbours(replace(new, memory=replace(new.memory, moved=moved)), nominal)
            if low < at and (high is None or at < high):
                moved[nominal] = at
    left_out = {nominal for nominal in new.memory.left_out if compiled.matches(nominal)}
    memory = replace(
        new.memory, kept={**new.memory.kept, **waits}, moved=moved, left_out=frozenset(left_out), ahead=frozenset(ahead)
    )
    return replace(new, memory=memory)
