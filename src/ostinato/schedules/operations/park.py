"""Park schedules that cause errors: they do not fire until a user repairs or resumes them."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ostinato.engine.log import log
from ostinato.model import Timer
from ostinato.schedules.model import Schedule
from ostinato.schedules.rows import read_anyway
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros


def park(parked: Sequence[tuple[Schedule, str]], now: Micros) -> Operation[list[Row]]:
    """Park schedules after errors. A parked schedule does not fire until a user repairs or resumes it. `parked` has a
    pair (schedule, reason) for each schedule. Users can see the reason. Return the events, which the caller writes."""
    if not parked:
        return []
    yield sql("park_schedules", [(schedule.id, reason) for schedule, reason in parked])
    events: list[Row] = []
    for schedule, reason in parked:
        log.error("a schedule was parked", action="schedule_parked", schedule=schedule.name, reason=reason)
        data = orjson.dumps({"name": schedule.name, "reason": reason}).decode()
        events.append((now, schedule.namespace, "schedule:parked", schedule.id, data, None))
    return events


def park_owner(timer: Timer, reason: str, now: Micros) -> Operation[bool]:
    """Park the schedule that owns `timer`, because the timer cannot be fired, and write the event. Return True if the
    schedule was parked, and False if it does not exist."""
    rows = yield sql("schedules_by_ids", [(timer.owner,)])
    if not rows:
        return False
    yield sql("insert_events", (yield from park([(read_anyway(rows[0]), reason)], now)))
    return True
