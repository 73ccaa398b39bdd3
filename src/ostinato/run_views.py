"""Convert runs into objects for users, with parsed JSON and datetimes. All attempts of a run have the same `id`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from ostinato.model import Run, StatusName
from ostinato.when.instants import optional_datetime, to_datetime


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One attempt of a run, as callers see it. All attempts have the same `id`; `run_id` is the id of this attempt."""

    id: str
    name: str
    kind: str
    namespace: str
    key: str | None
    status: StatusName
    reason: str | None
    attempt: int
    queue: str
    priority: int
    due: datetime
    created: datetime
    started: datetime | None
    finished: datetime | None
    input: Any
    result: Any
    error: Any
    checkpoint: Any
    progress: Any
    node: str | None
    parent_id: str | None
    serial_key: str | None
    concurrency_key: str | None
    actor: str | None
    run_id: str

    @property
    def over(self) -> bool:
        return self.finished is not None


def run_info(run: Run) -> RunInfo:
    return RunInfo(
        id=run.root_id,
        name=run.name,
        kind=run.kind,
        namespace=run.namespace,
        key=run.key,
        status=run.status.value,
        reason=run.reason,
        attempt=run.number,
        queue=run.queue,
        priority=run.priority,
        due=to_datetime(run.due),
        created=to_datetime(run.created),
        started=optional_datetime(run.started),
        finished=optional_datetime(run.finished),
        input=_json(run.input),
        result=_json(run.result),
        error=_json(run.error),
        checkpoint=_json(run.checkpoint),
        progress=_json(run.progress),
        node=run.node,
        parent_id=run.parent_id,
        serial_key=run.serial_key,
        concurrency_key=run.concurrency_key,
        actor=run.actor,
        run_id=run.id,
    )


def _json(text: str | None) -> Any:
    return None if text is None else orjson.loads(text)


@dataclass(frozen=True, slots=True)
class LogLine:
    at: datetime
    level: str
    message: str
