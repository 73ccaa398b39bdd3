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
from ostinato.schedules.rows import (
    event_row,
)
from ostinato.store.contract import PAUSE, Operation, Row
from ostinato.when.instants import Micros


def update(call: Call, redefine: Callable[[Schedule], Schedule], *, repairs: bool = False) -> Operation[Answer]:
    """Change the definition of a schedule. Raises Conflict if the schedule has a companion that allows such changes
    only through its own calls (`Companion.changed_with`)."""

    def redefine_own(schedule: Schedule) -> Schedule:
        companion = call.maker.companions.get(schedule.companion or "")
        if companion is not None and companion.changed_with is not None:
            raise Conflict(f"schedule {schedule.name!r} is not changed here; use {companion.changed_with}")
        return redefine(schedule)

    return change(call, update_edit(call, redefine_own), repairs=repairs)


def update_edit(call: Call, redefine: Callable[[Schedule], Schedule]) -> Edit:
    """Return an edit that changes a schedule's definition. A new spec applies to times from now on; times that are due
    already follow the old spec. All other changes also apply to late times."""

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
        return new, events, {}

    return edit


def _with_new_spec(new: Schedule, before: Schedule, now: Micros) -> Schedule:
    """Return the schedule `new`, with its spec in force from `now` on.

    Jitter or a move may delay an occurrence of the old spec beyond `now`. If its nominal time has passed, the
    occurrence still runs. Skips and moves of single times are kept where they fit the new spec.
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
        new.memory,
        kept={**new.memory.kept, **waits},
        moved=moved,
        left_out=frozenset(left_out),
        ahead=frozenset(ahead),
    )
    return replace(new, memory=memory)
