"""What is on record of a schedule, and what should be."""

from __future__ import annotations

from typing import Any

from ostinato import Ostinato
from ostinato.engine.rows import whole_run
from ostinato.schedules.rows import key_range, read_detail
from ostinato.store.contract import Operation, Row, sql
from ostinato.when import read_spec


async def records_of(app: Ostinato, id: str) -> list[tuple[int, str, str]]:
    """What is on record of a schedule, deleted ones too: nominal time, origin, status."""

    def read(_: int) -> Operation[list[Row]]:
        low, high = key_range(id)
        return (yield sql("history", namespace=app.namespace, low=low, high=high, limit=100_000))

    runs = [whole_run(row) for row in await app.store.read(read)]
    details = [read_detail(run.detail) for run in runs]
    assert all("count" not in detail for detail in details), "no stretch is that long here"
    return [(one["nominal"], one["origin"], run.status.value) for one, run in zip(details, runs, strict=True)]


def due_by(events: list[Any], now: int) -> list[int]:
    """The times that were due, by the schedule's own story of what its spec was from when to when."""
    times: list[int] = []
    spec, since = None, 0
    for event in [*events, None]:
        name = "" if event is None else event.name.removeprefix("schedule:")
        if name not in ("", "created", "updated", "deleted"):
            continue
        at = now if event is None else event.instant
        if spec is not None:
            times += spec.compiled.between(max(since, *times[-1:], 0) + 1, at)
        since = at
        spec = None if event is None or name == "deleted" else read_spec(event.data["spec"])
    return times
