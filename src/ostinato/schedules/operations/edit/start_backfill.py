"""Start, pause, resume and cancel a backfill. `operations.backfills` runs its steps."""

from __future__ import annotations

from dataclasses import replace
from datetime import tzinfo

from ostinato.errors import ArgumentError, Conflict, NotFound
from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations import backfills
from ostinato.schedules.operations.backfills import Backfill, read_backfill
from ostinato.schedules.operations.edit.apply_change import Edit, change
from ostinato.schedules.operations.edit.user_call import Answer, Call
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros, on_clock


def check_order(first: Micros, last: Micros, zone: tzinfo) -> None:
    """Raise ArgumentError if a backfill would end before it begins. The error shows both times in the zone."""
    if last < first:
        words = f"a backfill from {on_clock(first, zone)} cannot end at {on_clock(last, zone)}; end it later"
        raise ArgumentError(words, "last")


def check_past(schedule: Schedule, first: Micros, last: Micros, now: Micros) -> None:
    """Raise ArgumentError if a backfill would have times that are still to come."""
    coming = next(iter(schedule.spec.compiled.between(max(first, now + 1), last)), None)
    if coming is not None:
        zone = schedule.spec.tzinfo
        raise ArgumentError(
            f"a backfill to {on_clock(last, zone)} has times that are still to come, from {on_clock(coming, zone)} on: "
            f"the schedule runs those itself; end it at {on_clock(now, zone)} or before, or trigger the schedule",
            "last",
        )


def backfill_edit(call: Call, wanted: Backfill, batch: int = 0) -> Edit:
    """Return an edit that starts a backfill and, if `batch` is not 0, runs the first step with up to `batch` runs."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        backfill = replace(wanted, schedule_id=schedule.id)
        after, events = yield from backfills.start(backfill, schedule, call.now)
        if batch:
            after, step_events = yield from backfills.advance(
                backfill, after, call.now, call.maker, lambda _: call.new_id(), batch, save=False
            )
            events += step_events
        return after, events, {"backfill": wanted.id}

    return edit


def set_backfill_state(call: Call, id: str, state: str, reason: str | None) -> Operation[Answer]:
    """Pause, resume or cancel a backfill. Raises NotFound for an unknown id, and Conflict if the backfill has ended."""

    def edit(schedule: Schedule, live: list[Live]) -> Operation[tuple[Schedule, list[Row], Answer]]:
        rows = yield sql("backfill", id=id)
        backfill = read_backfill(rows[0]) if rows else None
        if backfill is None or backfill.schedule_id != schedule.id:
            raise NotFound(f"schedule {schedule.name!r} has no backfill {id!r}")
        if backfill.state in ("completed", "cancelled"):
            raise Conflict(f"backfill {id!r} is {backfill.state}; start another")
        if backfill.state == state:
            return schedule, [], {"state": state}
        after, events = yield from backfills.set_state(backfill, schedule, state, call.now, call.maker, reason)
        return after, [(*fact, call.actor or actor) for *fact, actor in events], {"state": state}

    return change(call, edit)
