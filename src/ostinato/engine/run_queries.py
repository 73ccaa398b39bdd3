"""List runs, newest first, through the indexes that fit the filters."""

from __future__ import annotations

from functools import partial
from typing import Any

from ostinato.model import Status
from ostinato.store.columns import RUN_COLUMNS, getter
from ostinato.store.contract import Operation, Row, Statement, sql
from ostinato.store.intersect import RowSource, intersect_rows

BEYOND = "~"  # sorts after every id
_id, _namespace, _status = (getter(RUN_COLUMNS, name) for name in ("id", "namespace", "status"))
_LIVE = {Status.ACTIVE: "active_runs", Status.READY: "ready_runs"}


def list_runs(
    namespace: str,
    *,
    name: str | None = None,
    status: str | None = None,
    parent: str | None = None,
    before: str | None = None,
    attempts: bool = False,
    limit: int = 100,
) -> Operation[list[Row]]:
    """Return the rows of runs that match all filters, newest first. If `before` is the id of a run, return only older
    runs. If `attempts` is true, return all attempts. Otherwise return only the last attempt of each run. If the result
    has fewer than `limit` rows, there are no more."""
    start = before or BEYOND
    parameters: dict[str, Any] = {"namespace": namespace, "superseded": 1 if attempts else 0}
    sources: list[RowSource] = []
    if parent is not None:
        sources.append(partial(_keys, "child_runs", {"superseded": parameters["superseded"], "parent": parent}))
    if name is not None:
        sources.append(partial(_keys, "named_runs", {**parameters, "name": name}))
    if status is not None and status in _LIVE:
        sources.append(partial(_keys, _LIVE[Status(status)], {"namespace": namespace}))
    elif status is not None and status != Status.SUCCEEDED:
        statement = "attempts_in_status" if attempts else "runs_in_status"
        sources.append(partial(_keys, statement, {**parameters, "status": status}))
    if not sources:
        return (yield sql("list_runs", **parameters, before=start, status=status or "", limit=limit))

    def fetch(ids: list[str]) -> Operation[list[Row]]:
        rows = yield sql("runs_by_ids", [(id,) for id in ids])
        fits = (row for row in rows if _namespace(row) == namespace and status in (None, _status(row)))
        return sorted(fits, key=_id, reverse=True)

    return (yield from intersect_rows(sources, fetch, start, start, limit, down=True))


def _keys(statement: str, parameters: dict[str, Any], start: str, skip: str, limit: int) -> Statement:
    return sql(statement, **parameters, start=start, skip=skip, limit=limit)
