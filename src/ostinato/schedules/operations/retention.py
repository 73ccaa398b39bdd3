"""Delete old rows in batches: answers to requests, closed schedules, ended backfills, and occurrences beyond the policy
`keep`. A timer starts each batch. When this timer fires, search labels are also added to schedules that an earlier
version of Ostinato wrote."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.engine.claims import DirectClaim
from ostinato.engine.housekeeping import remove
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import timer_row
from ostinato.engine.timers import Fire
from ostinato.model import Timer
from ostinato.schedules.actions import ActionKinds
from ostinato.schedules.companions import Companions
from ostinato.schedules.operations.search import label_all
from ostinato.schedules.rows import key_range, read_memory, read_policies_text
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import SECOND, Micros

KEEP_ANSWERS: Micros = 86_400 * SECOND  # how long a request id is remembered
_BATCH = 1000
_INTERVAL: Micros = 3600 * SECOND
_LONG_INTERVAL: Micros = 6 * _INTERVAL  # while no schedule has the policy `keep`
_NEXT_BATCH: Micros = SECOND // 10


def _timer(due: Micros, after: str = "") -> Timer:
    return Timer("schedules", "store", "keeping", due, data=after or None)


def first_timer(now: Micros) -> Operation[None]:
    yield sql("add_timers", [timer_row(_timer(now + _INTERVAL))])


def purposes(keep_runs: Micros, actions: ActionKinds, companions: Companions) -> dict[tuple[str, str], Fire]:
    def fire(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
        # One timer has the cursors of both: nodes of earlier versions know no other timer.
        before, _, labelled = (timers[0].data or "").partition("|")
        kept, more, any_keep = yield from keep(now, now - keep_runs, before, actions, companions, kinds)
        _, further = yield from label_all(labelled, _BATCH)
        pause = _NEXT_BATCH if more or further else _INTERVAL if any_keep or before else _LONG_INTERVAL
        yield sql("set_timers", [timer_row(_timer(now + pause, f"{kept}|{further}" if further else kept))])
        return []

    return {("schedules", "keeping"): fire}


def keep(
    now: Micros, before: Micros, after: str, actions: ActionKinds, companions: Companions, kinds: Kinds
) -> Operation[tuple[str, bool, bool]]:
    """Delete one batch of old rows of each kind:

    - Answers to requests: delete answers that are older than `KEEP_ANSWERS`.
    - Closed schedules and backfills: delete those that ended before `before`.
    - Occurrences: read one batch of schedules with ids after `after`. If a schedule has the policy `keep`
      (`Policies.keep`), keep its unfinished occurrences, the newest `keep` finished ones, and a shared row that may
      still get further times (`Stretch.run`). Delete the others, at most one batch per schedule.

    Return (cursor, more, any_keep). The cursor is the `after` of the next call, or "" after the last schedule. `more`
    is true if one of the batches was full, so that more rows may remain to delete. `any_keep` is true if a schedule of
    the batch has the policy `keep`.
    """
    answers = yield sql("drop_requests", before=now - KEEP_ANSWERS, limit=_BATCH)
    closed = yield sql("drop_closed_schedules", before=before, limit=_BATCH)
    if closed:
        ids = [row[0] for row in closed]
        for companion in companions.values():
            yield from companion.forget_schedules(ids)
        for action in actions.values():
            if action.forget is not None:
                yield from action.forget(ids)
    filled = yield sql("drop_backfills", before=before, limit=_BATCH)
    rows = yield sql("keeping_schedules", after=after, limit=_BATCH)
    surplus = 0
    for id, namespace, policies, memory in rows:
        try:
            most, stretch = read_policies_text(policies).keep, read_memory(memory).stretch
        except Exception:  # the beat parks it; its rows are kept until it is repaired
            continue
        if most is None:
            continue
        low, high = key_range(id)
        surplus_rows = yield sql(
            "beyond_kept", namespace=namespace, low=low, high=high, most=most, limit=_BATCH, kinds=kinds.names
        )
        # Keep the row of a range that still grows: it is as new as its last time.
        old = [(run_id, kind) for run_id, kind in surplus_rows if stretch is None or run_id != stretch.run]
        if old:
            yield from remove(old, kinds)
        surplus = max(surplus, len(surplus_rows))
    more = max(len(answers), len(closed), len(filled), len(rows), surplus) >= _BATCH
    return rows[-1][0] if len(rows) == _BATCH else "", more, bool(rows)
