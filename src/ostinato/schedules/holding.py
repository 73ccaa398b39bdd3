"""Getting hold of schedules without waiting for them, and setting aside those that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ostinato.engine.log import log
from ostinato.engine.rows import timer_row
from ostinato.model import Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

_AGAIN: Micros = 5_000


def free_schedules(
    timers: Sequence[Timer], ids: Sequence[str], now: Micros, brief: str | None = None
) -> Operation[list[Row]]:
    """These schedules, locked, without waiting; the timers of those that someone else holds are set again. `brief`: no
    more of them than a firing by these zone rules must know."""
    wanted = [(id,) for id in dict.fromkeys(ids)]
    if brief is None:
        rows = yield sql("lock_free_schedules", wanted)
    else:
        rows = yield sql("due_schedules", wanted, rules=brief)
    got = {row[0] for row in rows}
    held = [(timer, id) for timer, id in zip(timers, ids, strict=True) if id not in got]
    if held:
        there = {row[0] for row in (yield sql("schedules_there", [(id,) for _, id in held]))}
        again = [timer_row(timer._replace(due=now + _AGAIN)) for timer, id in held if id in there]
        if again:
            yield sql("set_timers", again)
    return rows


def park(parked: Sequence[tuple[Row, str]], now: Micros) -> Operation[list[Row]]:
    if not parked:
        return []
    yield sql("park_schedules", [(row[0], reason) for row, reason in parked])
    events: list[Row] = []
    for row, reason in parked:
        log.error("a schedule was parked", action="schedule_parked", schedule=row[2], reason=reason)
        data = orjson.dumps({"name": row[2], "reason": reason}).decode()
        events.append((now, row[1], "schedule:parked", row[0], data, None))
    return events


def park_owner(timer: Timer, reason: str, now: Micros) -> Operation[bool]:
    """A schedule whose timer cannot be fired is parked as one that cannot be read is: it shows, and can be resumed."""
    rows = yield sql("schedules_by_ids", [(timer.owner,)])
    if not rows:
        return False
    yield sql("insert_events", (yield from park([(rows[0], reason)], now)))
    return True
