"""Compute the next times of schedules again after the time zone rules of the machine have changed."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.rows import timer_row
from ostinato.schedules.model import State
from ostinato.schedules.operations.edit.apply_change import with_next
from ostinato.schedules.operations.write import next_timer
from ostinato.schedules.rows import advance_row, read_schedule
from ostinato.store.contract import Operation, Row, Store, sql
from ostinato.when import rules_in_force

_BATCH = 200


async def recompute_zones(store: Store) -> int:
    """Compute the next times again for all schedules that used older time zone rules. Return their number."""
    rules = rules_in_force().version

    def recompute_batch(_: int) -> Operation[int]:
        rows = yield sql("stale_schedules", rules=rules, limit=_BATCH)
        if rows:
            yield from recompute([id for (id,) in rows], rules)
        return len(rows)

    done = 0
    while count := await store.run(recompute_batch):
        done += count
    return done


def recompute(ids: Sequence[str], rules: str) -> Operation[None]:
    rows = yield sql("lock_schedules", [(id,) for id in ids])
    timers: list[Row] = []
    moved: list[Row] = []
    for row in rows:
        try:
            schedule = read_schedule(row)
            if schedule.state is not State.RUNNING or schedule.paused is not None:
                continue
            schedule = with_next(schedule)
        except Exception:  # the beat parks it when it is due
            continue
        moved.append(advance_row(schedule))
        if schedule.next is not None:
            timers.append(timer_row(next_timer(schedule, schedule.next)))
    yield sql("stamp_rules", [(id, rules) for id in ids])
    if moved:
        yield sql("advance_schedules", moved)
    if timers:
        yield sql("set_timers", timers)
