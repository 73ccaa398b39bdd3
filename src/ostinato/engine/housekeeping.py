"""Keeping the store small: what is over and old is removed, a bounded bite at a time, by a timer like any other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import orjson

from ostinato.engine.claims import Hands
from ostinato.engine.kinds import RULES
from ostinato.engine.rows import timer_row
from ostinato.engine.scanner import scan
from ostinato.engine.timers import Fire
from ostinato.model import DEFAULT_NAMESPACE, Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

_BITE = 2000
_OFTEN: Micros = 6 * 3600 * SECOND
_SOON: Micros = SECOND // 10


def first_timers(now: Micros) -> Operation[None]:
    """Housekeeping begins with the first node, and every later one finds it there."""
    begin = [Timer("engine", "store", "housekeeping", now + _OFTEN), Timer("engine", "store", "scan", now + _OFTEN)]
    yield sql("add_timers", [timer_row(timer) for timer in begin])


def purposes(keep_runs: Micros, keep_events: Micros, new_id: Callable[[Micros], str]) -> dict[tuple[str, str], Fire]:
    def fire(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
        removed = yield from prune(now - keep_runs, now - keep_events, now)
        again = now + (_SOON if removed >= _BITE else _OFTEN)
        yield sql("set_timers", [timer_row(Timer("engine", "store", "housekeeping", again))])
        return []

    def look(timers: Sequence[Timer], now: Micros, hands: Hands) -> Operation[list[Row]]:
        """The invariant scanner, by itself: what it finds is mended where that is safe, and always an event."""
        findings = yield from scan(now, True, new_id)
        yield sql("set_timers", [timer_row(Timer("engine", "store", "scan", now + _OFTEN))])
        return [
            (now, DEFAULT_NAMESPACE, "engine:invariant_broken", f.subject, orjson.dumps(f.as_dict()).decode(), None)
            for f in findings
        ]

    return {("engine", "housekeeping"): fire, ("engine", "scan"): look}


def prune(runs_before: Micros, events_before: Micros, now: Micros) -> Operation[int]:
    """Remove up to a bite of runs that ended, and of events, before these moments, and of limits that are not in use.
    Whole chains only."""
    rows = yield sql("old_runs", before=runs_before, limit=_BITE)
    if rows:
        yield from remove(rows)
    events = yield sql("drop_events", before=events_before, limit=_BITE)
    limits = yield sql("drop_limits", now=now, limit=_BITE)
    return max(len(rows), len(events), len(limits))


def remove(rows: Sequence[Row]) -> Operation[None]:
    """Runs that are over, by id and kind, and all that is kept of them."""
    ids = [(row[0],) for row in rows]
    yield sql("drop_logs", ids)
    yield sql("drop_workflows", ids)
    for kind, rule in RULES.items():
        own = [row[0] for row in rows if row[1] == kind]
        if own:
            yield from rule.forget(own)
    yield sql("drop_runs", ids)
