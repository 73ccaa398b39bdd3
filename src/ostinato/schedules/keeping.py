"""Keeping the record of schedules small: old answers, closed schedules, and what a schedule does not want kept. By a
timer like any other, a bounded bite at a time."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ostinato.engine.rows import timer_row
from ostinato.engine.timers import Fire
from ostinato.model import Timer
from ostinato.schedules.rows import key_range
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

ANSWERS: Micros = 86_400 * SECOND  # how long a request id is remembered
_BITE = 1000
_OFTEN: Micros = 3600 * SECOND
_SOON: Micros = SECOND // 10


def _timer(due: Micros, after: str = "") -> Timer:
    return Timer("schedules", "store", "keeping", due, data=after or None)


def first_timer(now: Micros) -> Operation[None]:
    yield sql("add_timers", [timer_row(_timer(now + _OFTEN))])


def purposes(keep_runs: Micros) -> dict[tuple[str, str], Fire]:
    def fire(timers: Sequence[Timer], now: Micros) -> Operation[list[Row]]:
        after, full = yield from keep(now, now - keep_runs, timers[0].data or "")
        again = now + (_SOON if full or after else _OFTEN)
        yield sql("set_timers", [timer_row(_timer(again, after))])
        return []

    return {("schedules", "keeping"): fire}


def keep(now: Micros, before: Micros, after: str) -> Operation[tuple[str, bool]]:
    """One bite. Returns how far the walk over schedules that keep only so many has come, and whether there is more
    of something else."""
    answers = yield sql("drop_requests", before=now - ANSWERS, limit=_BITE)
    closed = yield sql("drop_closed_schedules", before=before, limit=_BITE)
    filled = yield sql("drop_backfills", before=before, limit=_BITE)
    rows = yield sql("keeping_schedules", after=after, limit=_BITE)
    surplus = 0
    for id, namespace, policies in rows:
        most = orjson.loads(policies)["keep"]
        low, high = key_range(id)
        found = yield sql("beyond_kept", namespace=namespace, low=low, high=high, most=most, limit=_BITE)
        if found:
            yield sql("drop_logs", [(row[0],) for row in found])
            yield sql("drop_runs", [(row[0],) for row in found])
        surplus = max(surplus, len(found))
    full = max(len(answers), len(closed), len(filled), surplus) >= _BITE
    return rows[-1][0] if len(rows) == _BITE else "", full
