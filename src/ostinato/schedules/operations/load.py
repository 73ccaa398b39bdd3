"""Lock and load schedules and their unfinished runs for a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ostinato.engine.rows import timer_row
from ostinato.model import Status, Timer
from ostinato.schedules.decisions.decide import Live
from ostinato.schedules.rows import id_of, read_detail
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

_RETRY_AFTER: Micros = 5_000  # how long the timer of a locked schedule is postponed


def lock_free(
    timers: Sequence[Timer], ids: Sequence[str], now: Micros, brief: str | None = None
) -> Operation[list[Row]]:
    """Lock the schedules `ids`, and return their rows. If another transaction has locked a schedule, leave the schedule
    out, and postpone its timer. If a schedule no longer exists, leave it out.

    - `timers`: the timers that are due
    - `ids`: for each timer, the id of its schedule
    - `brief`: if None, the rows have all columns. Otherwise the statement `due_schedules` reads shorter rows, and
      `brief` must be the current version of the time zone rules, which this statement needs.
    """
    wanted = [(id,) for id in dict.fromkeys(ids)]
    if brief is None:
        rows = yield sql("lock_free_schedules", wanted)
    else:
        rows = yield sql("due_schedules", wanted, rules=brief)
    locked = set(map(id_of, rows))
    others = [(timer, id) for timer, id in zip(timers, ids, strict=True) if id not in locked]
    if others:
        existing = {id for (id,) in (yield sql("existing_schedules", [(id,) for _, id in others]))}
        postponed = [timer_row(timer._replace(due=now + _RETRY_AFTER)) for timer, id in others if id in existing]
        if postponed:
            yield sql("set_timers", postponed)
    return rows


def load_live_runs(
    ids: Sequence[str], *, hold: bool = False, first: int | None = None
) -> Operation[dict[str, list[Live]]]:
    """Return a dict from schedule id to unfinished runs.

    - `hold`: whether to lock the runs that a node could claim, until the commit. Pass True if the caller may stop runs:
      no node can then claim them, so they stop at once. A run that a node has claimed stops only later.
    - `first`: if given, read at most `first` waiting runs of each schedule, the oldest ones.
    """
    live_runs: dict[str, list[Live]] = {id: [] for id in ids}
    if not ids:
        return live_runs
    owners = [(id,) for id in ids]
    if first is None:
        rows = yield sql("live_of_schedules", owners)
    else:
        rows = yield sql("first_of_schedules", owners, first=first)
    for schedule_id, id, root_id, status, held, due, detail in rows:
        waits = status == "buffered" and held == "overlap"
        live_runs[schedule_id].append(Live(id, root_id, Status(status), waits, due, read_detail(detail)))
    unclaimed = [
        run for runs in live_runs.values() for run in runs if not run.waiting and run.status is not Status.ACTIVE
    ]
    if hold and unclaimed:
        statuses = {row[0]: row[1] for row in (yield sql("hold_runs", [(run.id,) for run in unclaimed]))}
        for schedule_id, runs in live_runs.items():
            live_runs[schedule_id] = [replace(run, status=Status(statuses.get(run.id, run.status))) for run in runs]
    return live_runs
