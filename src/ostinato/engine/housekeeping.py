"""Delete old runs, old events and unused limits, and look for broken invariants. Timers start this every few hours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import orjson

from ostinato.engine.claims import DirectClaim
from ostinato.engine.invariants import scan
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import timer_row
from ostinato.engine.timers import Fire
from ostinato.model import DEFAULT_NAMESPACE, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

_BITE = 2000  # rows of each table to delete in one transaction
_OFTEN: Micros = 6 * 3600 * SECOND  # between two rounds
_SOON: Micros = SECOND // 10  # before the next transaction of a round


def first_timers(now: Micros) -> Operation[None]:
    """Set the timers of housekeeping and of the invariant scanner, unless they exist."""
    begin = [Timer("engine", "store", "housekeeping", now + _OFTEN), Timer("engine", "store", "scan", now + _OFTEN)]
    yield sql("add_timers", [timer_row(timer) for timer in begin])


def purposes(keep_runs: Micros, keep_events: Micros, new_id: Callable[[Micros], str]) -> dict[tuple[str, str], Fire]:
    """Return the functions that fire the timers of housekeeping and of the invariant scanner, by (kind, purpose)."""

    def fire(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
        removed = yield from prune(now - keep_runs, now - keep_events, now, kinds)
        again = now + (_SOON if removed >= _BITE else _OFTEN)
        yield sql("set_timers", [timer_row(Timer("engine", "store", "housekeeping", again))])
        return []

    def look(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
        findings = yield from scan(now, True, new_id, kinds)
        yield sql("set_timers", [timer_row(Timer("engine", "store", "scan", now + _OFTEN))])
        return [
            (now, DEFAULT_NAMESPACE, "engine:invariant_broken", f.subject, orjson.dumps(f.as_dict()).decode(), None)
            for f in findings
        ]

    return {("engine", "housekeeping"): fire, ("engine", "scan"): look}


def prune(runs_before: Micros, events_before: Micros, now: Micros, kinds: Kinds) -> Operation[int]:
    """Delete old rows, at most `_BITE` of each sort:

    - runs of the known `kinds`, if the whole chain (a run with its retries) ended before `runs_before`
    - events that were recorded before `events_before`
    - limits that no run holds or waits for

    Counts the deleted rows of each sort, and returns the largest of the three numbers. If this number is `_BITE`, more
    old rows may remain.
    """
    rows = yield sql("old_runs", before=runs_before, limit=_BITE, kinds=kinds.names)
    if rows:
        yield from remove(rows, kinds)
    events = yield sql("drop_events", before=events_before, limit=_BITE)
    limits = yield sql("drop_limits", now=now, limit=_BITE)
    return max(len(rows), len(events), len(limits))


def remove(rows: Sequence[Row], kinds: Kinds) -> Operation[None]:
    """Delete ended runs and everything that is stored about them. Each row is the (id, kind) of a run."""
    ids = [(row[0],) for row in rows]
    yield sql("drop_logs", ids)
    for forget_runs in kinds.forget:
        yield from forget_runs([row[0] for row in rows])
    for name, kind in kinds.runs.items():
        ids_of_kind = [row[0] for row in rows if row[1] == name]
        if ids_of_kind:
            yield from kind.forget(ids_of_kind)
    yield sql("drop_runs", ids)
