"""Skip or move one coming occurrence, and put it back."""

from __future__ import annotations

from dataclasses import replace

from ostinato.errors import ArgumentError, list_choices
from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.decisions.due_times import neighbours, nominal_of, occurrence
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations.edit.apply_change import change, with_next
from ostinato.schedules.operations.edit.user_call import Answer, Call
from ostinato.schedules.rows import event_row
from ostinato.store.contract import Operation, Row
from ostinato.when.instants import Micros, on_clock


def leave_out(call: Call, at: Micros) -> Operation[Answer]:
    """Skip one coming occurrence. `at` is its nominal time, or the time that it was moved to."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        yield from ()
        nominal = nominal_of(schedule, at)
        _check_coming(schedule, nominal, call.now)
        memory = replace(schedule.memory, left_out=schedule.memory.left_out | {nominal})
        after = with_next(replace(schedule, memory=memory), call.now)
        return after, [event_row(call.now, after, "updated", call.actor, skip=nominal)], {}

    return change(call, edit)


def move(call: Call, at: Micros, to: Micros) -> Operation[Answer]:
    """Move one coming occurrence to the time `to`. Its nominal time does not change. Raises OstinatoError if `to` is in
    the past, or does not lie between the previous and the next occurrence."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        yield from ()
        nominal, zone = nominal_of(schedule, at), schedule.spec.tzinfo
        _check_coming(schedule, nominal, call.now)
        low, high = neighbours(schedule, nominal)
        low = max(low, call.now)
        if to <= low or (high is not None and to >= high):
            until = "" if high is None else f" and before {on_clock(high, zone)}"
            raise ArgumentError(
                f"to {on_clock(to, zone)} does not lie between the neighbours of {on_clock(nominal, zone)}: "
                f"choose a time after {on_clock(low, zone)}{until}",
                "to",
            )
        memory = replace(schedule.memory, moved={**schedule.memory.moved, nominal: to})
        after = with_next(replace(schedule, memory=memory), call.now)
        return after, [event_row(call.now, after, "updated", call.actor, move=nominal, to=to)], {}

    return change(call, edit)


def put_back(call: Call, at: Micros) -> Operation[Answer]:
    """Undo the skip or the move of a coming occurrence. `at` is its nominal time, or the time that it was moved to."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        yield from ()
        memory = schedule.memory
        nominal, zone = nominal_of(schedule, at), schedule.spec.tzinfo
        if nominal not in memory.left_out and nominal not in memory.moved:
            changed = [on_clock(one, zone) for one in sorted({*memory.left_out, *memory.moved})]
            hint = list_choices(changed) if changed else "no time of it is"
            words = f"at {on_clock(nominal, zone)} of schedule {schedule.name!r} is neither skipped nor moved; {hint}"
            raise ArgumentError(words, "at")
        _check_coming(schedule, nominal, call.now)
        moved = {one: to for one, to in memory.moved.items() if one != nominal}
        memory = replace(memory, left_out=memory.left_out - {nominal}, moved=moved)
        restored = replace(schedule, memory=memory)
        actual = occurrence(restored, nominal).actual
        if actual <= call.now:
            raise ArgumentError(f"at {on_clock(nominal, zone)} has passed; only a coming time can be put back", "at")
        low, high = neighbours(restored, nominal)
        if actual <= low or (high is not None and actual >= high):
            raise ArgumentError(
                f"at {on_clock(nominal, zone)} cannot be put back: its neighbour was moved past it, to "
                f"{on_clock(low if actual <= low or high is None else high, zone)}; put that one back first",
                "at",
            )
        after = with_next(restored, call.now)
        return after, [event_row(call.now, after, "updated", call.actor, put_back=nominal)], {}

    return change(call, edit)


def _check_coming(schedule: Schedule, nominal: Micros, now: Micros) -> None:
    come = nominal <= schedule.reached or nominal in schedule.memory.ahead
    if come or not schedule.spec.compiled.matches(nominal):
        zone = schedule.spec.tzinfo
        following = schedule.spec.compiled.next(max(schedule.reached, now))
        hint = "it has no more times" if following is None else f"its next one is {on_clock(following, zone)}"
        words = f"at {on_clock(nominal, zone)} is not a coming time of schedule {schedule.name!r}; {hint}"
        raise ArgumentError(words, "at")
