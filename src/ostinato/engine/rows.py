"""Runs, events and timers as rows, both ways."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import orjson

from ostinato.model import Event, Limit, Options, Retry, Run, Status, Timer
from ostinato.store.contract import Row
from ostinato.when.instants import Micros


def insert_row(run: Run) -> Row:
    """For `insert_runs`."""
    return (
        run.id,
        run.namespace,
        run.kind,
        run.name,
        run.key,
        run.status.value,
        run.reason,
        run.queue,
        run.priority,
        run.due,
        run.ready_at,
        run.created,
        run.root_id,
        run.retry_of,
        run.number,
        run.parent_id,
        run.serial_key,
        run.serial_hold,
        run.concurrency_key,
        run.hold,
        run.options,
        run.input,
        run.checkpoint,
        run.crashes,
        run.actor,
        run.schedule_id,
        run.detail,
    )


def start_row(run: Run) -> Row:
    """For `start_runs`."""
    return (
        run.id,
        run.namespace,
        run.kind,
        run.name,
        run.key,
        run.queue,
        run.priority,
        run.due,
        run.created,
        run.parent_id,
        run.options,
        run.input,
        run.actor,
    )


def claimed_run(row: Row, node: str, now: Micros) -> Run:
    """From what a claim returns."""
    (
        id,
        name,
        kind,
        namespace,
        queue,
        priority,
        due,
        created,
        root_id,
        number,
        parent_id,
        claim,
        serial_key,
        serial_hold,
        concurrency_key,
        options,
        input,
        checkpoint,
        crashes,
        actor,
        key,
        schedule_id,
        detail,
    ) = row
    return Run(  # by position, which is the quicker way: there is one of these for every run
        id,
        name,
        kind,
        namespace,
        key,
        Status.ACTIVE,
        None,
        queue,
        priority,
        due,
        None,
        created,
        now,
        None,
        root_id,
        None,
        number,
        parent_id,
        node,
        claim,
        serial_key,
        serial_hold,
        concurrency_key,
        None,
        options,
        input,
        None,
        None,
        checkpoint,
        None,
        None,
        False,
        crashes,
        actor,
        schedule_id,
        detail,
    )


def whole_run(row: Row) -> Run:
    """From `SELECT *`: the columns in the order of the schema."""
    (
        id,
        namespace,
        kind,
        name,
        key,
        status,
        reason,
        queue,
        priority,
        due,
        ready_at,
        created,
        started,
        finished,
        root_id,
        retry_of,
        number,
        parent_id,
        node,
        claim,
        _token,
        serial_key,
        serial_hold,
        concurrency_key,
        hold,
        options,
        input,
        result,
        error,
        checkpoint,
        progress,
        cancel_requested,
        superseded,
        crashes,
        actor,
        schedule_id,
        detail,
    ) = row
    return Run(
        id=id,
        name=name,
        kind=kind,
        namespace=namespace,
        key=key,
        status=Status(status),
        reason=reason,
        queue=queue,
        priority=priority,
        due=due,
        ready_at=ready_at,
        created=created,
        started=started,
        finished=finished,
        root_id=root_id,
        retry_of=retry_of,
        number=number,
        parent_id=parent_id,
        node=node,
        claim=claim,
        serial_key=serial_key,
        serial_hold=serial_hold,
        concurrency_key=concurrency_key,
        hold=hold,
        options=options,
        input=input,
        result=result,
        error=error,
        checkpoint=checkpoint,
        progress=progress,
        cancel_requested=cancel_requested,
        superseded=bool(superseded),
        crashes=crashes,
        actor=actor,
        schedule_id=schedule_id,
        detail=detail,
    )


def event_row(now: Micros, run: Run, name: str, **data: Any) -> Row:
    """A fact about a run; its subject is the chain. Written by hand: there are three of these for every run."""
    more = f",{orjson.dumps(data).decode()[1:]}" if data else "}"
    body = f'{{"name":{quoted(run.name)},"run_id":"{run.id}","attempt":{run.number}{more}'
    return (now, run.namespace, name, run.root_id, body, run.actor)


def audit(now: Micros, namespace: str, name: str, subject: str, actor: str | None, **data: Any) -> Row:
    """A fact about something else than a run or a schedule: who did what."""
    return (now, namespace, name, subject, orjson.dumps(data).decode(), actor)


def of_schedule(now: Micros, run: Run, name: str, **data: Any) -> Row:
    """The same fact as its schedule sees it: the subject is the schedule."""
    told = orjson.loads(run.detail) if run.detail else {}
    body = {
        "name": told.get("schedule"),
        "run_id": run.root_id,
        "attempt": run.number,
        "nominal": told.get("nominal"),
        "origin": told.get("origin"),
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
    found = orjson.loads(text)
    retry, limit = found.get("retry"), found.get("limit")
    return Options(
        retry=Retry.from_stored(retry) if retry else None,
        timeout=found.get("timeout"),
        deadline=found.get("deadline"),
        at_most_once=found.get("at_most_once"),
        limit=Limit.from_stored(limit) if limit else None,
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
    }
    return orjson.dumps({name: value for name, value in stored.items() if value is not None}).decode()
