"""Lists of runs, newest first, through the indexes of what is asked for."""

from __future__ import annotations

from functools import partial
from typing import Any

from ostinato.model import Status
from ostinato.store.contract import Operation, Row, Statement, sql
from ostinato.store.crossing import Source, crossed

BEYOND = "~"  # after every id
_ID, _NAMESPACE, _STATUS = 0, 1, 5  # their places in a row
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
    """Runs by what they are, from a cursor on; only the last attempt of each chain unless `attempts`. Fewer than
    `limit` are the last."""
    start = before or BEYOND
    given: dict[str, Any] = {"namespace": namespace, "superseded": 1 if attempts else 0}
    sources: list[Source] = []
    if parent is not None:
        sources.append(partial(_keys, "child_runs", {"superseded": given["superseded"], "parent": parent}))
    if name is not None:
        sources.append(partial(_keys, "named_runs", {**given, "name": name}))
    if status is not None and status in _LIVE:
        sources.append(partial(_keys, _LIVE[Status(status)], {"namespace": namespace}))
    elif status is not None and status != Status.SUCCEEDED:
        standing = "attempts_standing" if attempts else "runs_standing"
        sources.append(partial(_keys, standing, {**given, "status": status}))
    if not sources:
        return (yield sql("list_runs", **given, before=start, status=status or "", limit=limit))

    def fetch(ids: list[str]) -> Operation[list[Row]]:
        rows = yield sql("runs_by_ids", [(id,) for id in ids])
        fits = (row for row in rows if row[_NAMESPACE] == namespace and status in (None, row[_STATUS]))
        return sorted(fits, key=lambda row: row[_ID], reverse=True)

    return (yield from crossed(sources, fetch, start, start, limit, down=True))


def _keys(statement: str, given: dict[str, Any], start: str, skip: str, limit: int) -> Statement:
    return sql(statement, **given, start=start, skip=skip, limit=limit)
