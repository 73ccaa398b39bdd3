"""The unfinished runs of schedules, as decisions about them need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ostinato.model import Status
from ostinato.schedules.decide import Live
from ostinato.schedules.rows import read_detail
from ostinato.store.contract import Operation, sql


def live_of(ids: Sequence[str], *, hold: bool = False, first: int | None = None) -> Operation[dict[str, list[Live]]]:
    """Unfinished runs per schedule; `first` limits the waiting ones. `hold` locks unclaimed runs until commit, for who
    decides about them: one that is stopped makes room at once, one that runs does not."""
    found: dict[str, list[Live]] = {id: [] for id in ids}
    if not ids:
        return found
    owners = [(id,) for id in ids]
    if first is None:
        rows = yield sql("live_of_schedules", owners)
    else:
        rows = yield sql("first_of_schedules", owners, first=first)
    for schedule_id, id, root_id, status, held, due, _, detail in rows:
        waits = status == "buffered" and held == "overlap"
        found[schedule_id].append(Live(id, root_id, Status(status), waits, due, read_detail(detail)))
    free = [one for live in found.values() for one in live if not one.waiting and one.status is not Status.ACTIVE]
    if hold and free:
        stands = {row[0]: row[1] for row in (yield sql("hold_runs", [(one.id,) for one in free]))}
        for id, live in found.items():
            found[id] = [replace(one, status=Status(stands.get(one.id, one.status))) for one in live]
    return found
