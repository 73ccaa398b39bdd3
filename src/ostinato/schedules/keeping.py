"""Keeping the record of schedules small: old answers, closed schedules, and what a schedule does not want kept. And
complete: what nodes of an earlier version have not labelled. By a timer like any other, a bounded bite at a time."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.claims import Hands
from ostinato.engine.housekeeping import remove
from ostinato.engine.rows import timer_row
from ostinato.engine.timers import Fire
from ostinato.model import Timer
from ostinato.schedules.finding import label_all
from ostinato.schedules.rows import key_range, read_memory, read_policies_text
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
    def fire(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
        # Two walks have one timer: nodes of earlier versions know no other.
        kept, _, labelled = (timers[0].data or "").partition("|")
        kept, full = yield from keep(now, now - keep_runs, kept)
        _, further = yield from label_all(labelled, _BITE)
        again = now + (_SOON if full or kept or further else _OFTEN)
        yield sql("set_timers", [timer_row(_timer(again, f"{kept}|{further}" if further else kept))])
        return []

    return {("schedules", "keeping"): fire}


def keep(now: Micros, before: Micros, after: str) -> Operation[tuple[str, bool]]:
    """One bite. Returns how far the walk over schedules that keep only so many has come, and whether there is more
    of something else."""
    answers = yield sql("drop_requests", before=now - ANSWERS, limit=_BITE)
    closed = yield sql("drop_closed_schedules", before=before, limit=_BITE)
    if closed:
        yield sql("drop_forms", [(row[0],) for row in closed])
        yield sql("forget_bindings", [(row[0],) for row in closed])
    filled = yield sql("drop_backfills", before=before, limit=_BITE)
    rows = yield sql("keeping_schedules", after=after, limit=_BITE)
    surplus = 0
    for id, namespace, policies, memory in rows:
        try:
            most, stretch = read_policies_text(policies).keep, read_memory(memory).stretch
        except Exception:  # it is parked when its time comes, and its record is kept until someone mends it
            continue
        if most is None:
            continue
        low, high = key_range(id)
        found = yield sql("beyond_kept", namespace=namespace, low=low, high=high, most=most, limit=_BITE)
        # The row of a stretch that still grows is as new as its last time.
        old = [row for row in found if stretch is None or row[0] != stretch.run]
        if old:
            yield from remove(old)
        surplus = max(surplus, len(found))
    full = max(len(answers), len(closed), len(filled), surplus) >= _BITE
    return rows[-1][0] if len(rows) == _BITE else "", full
