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
    """Park schedules after errors: a parked schedule does not fire until a user repairs or resumes it. `parked` has
    each schedule with the reason, which is shown to users. Return events to write."""
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
    """Park the schedule of a timer that cannot be fired. Return False if the schedule does not exist."""
    rows = yield sql("schedules_by_ids", [(timer.owner,)])
    if not rows:
        return False
    yield sql("insert_events", (yield from park([(read_anyway(rows[0]), reason)], now)))
    return True
