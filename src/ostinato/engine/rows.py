"""Convert runs, events, timers and options to rows, and back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from ostinato.model import Event, Limit, Options, Retry, Run, Status, Timer
from ostinato.store.columns import CLAIMED_RUN_COLUMNS, NEW_RUN_COLUMNS, RUN_COLUMNS, reader, writer
from ostinato.store.contract import Row
from ostinato.when.instants import Micros

# Read a run from a row with the columns `{run_columns}`.
whole_run = reader(Run, RUN_COLUMNS, status=Status, superseded=bool)
_read_claimed = reader(Run, CLAIMED_RUN_COLUMNS)
# Make the row of a run for `insert_runs`.
insert_row = writer("status.value" if name == "status" else name for name in NEW_RUN_COLUMNS)
# Make the row of a run for `start_runs`.
start_row = writer("id namespace kind name key queue priority due created parent_id options input actor".split())


def claimed_run(row: Row, node: str, now: Micros) -> Run:
    """Return the run that `node` has just claimed. `row` has the columns `CLAIMED_RUN_COLUMNS`."""
    run = _read_claimed(row)
    run.status, run.node, run.started = Status.ACTIVE, node, now
    return run


def event_row(now: Micros, run: Run, name: str, **data: Any) -> Row:
    """Return the row of an event about a run. The subject of the event is the run's chain, which is the run with its
    retries. `data` has further fields of the event."""
    # Every run has several events, and joining texts takes less time than building a dict and writing it as JSON.
    more = f",{orjson.dumps(data).decode()[1:]}" if data else "}"
    body = f'{{"name":{quoted(run.name)},"run_id":"{run.id}","attempt":{run.number}{more}'
    return (now, run.namespace, name, run.root_id, body, run.actor)


def audit(now: Micros, namespace: str, name: str, subject: str, actor: str | None, **data: Any) -> Row:
    """Return the row of an event about something other than a run or a schedule, such as a token."""
    return (now, namespace, name, subject, orjson.dumps(data).decode(), actor)


def of_schedule(now: Micros, run: Run, name: str, **data: Any) -> Row:
    """Return the row of an event about a run. The subject of the event is the schedule that started the run."""
    detail = orjson.loads(run.detail) if run.detail else {}
    body = {
        "name": detail.get("schedule"),
        "run_id": run.root_id,
        "attempt": run.number,
        "nominal": detail.get("nominal"),
        "origin": detail.get("origin"),
        **detail.get("facts", {}),
        **data,
    }
    return (now, run.namespace, name, run.schedule_id, orjson.dumps(body).decode(), run.actor)


@lru_cache(maxsize=1024)
def quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def read_event(row: Row) -> Event:
    seq, at, namespace, name, subject, data, actor = row
    return Event(seq, at, namespace, name, subject, orjson.loads(data) if data else {}, actor)


def timer_row(timer: Timer) -> Row:
    return (timer.kind, timer.owner, timer.purpose, timer.due, timer.namespace, timer.data)


_NONE = Options()


def read_options(text: str | None) -> Options:
    if not text:
        return _NONE
    stored = orjson.loads(text)
    retry, limit = stored.get("retry"), stored.get("limit")
    return Options(
        retry=Retry.from_stored(retry) if retry else None,
        timeout=stored.get("timeout"),
        deadline=stored.get("deadline"),
        at_most_once=stored.get("at_most_once"),
        limit=Limit.from_stored(limit) if limit else None,
        crashes=stored.get("crashes"),
    )


def write_options(options: Options) -> str | None:
    if options == _NONE:
        return None
    stored = {
        "retry": options.retry and options.retry.as_stored(),
        "timeout": options.timeout,
        "deadline": options.deadline,
        "at_most_once": options.at_most_once,
        "limit": options.limit and options.limit.as_stored(),
        "crashes": options.crashes,
    }
    return orjson.dumps({name: value for name, value in stored.items() if value is not None}).decode()
