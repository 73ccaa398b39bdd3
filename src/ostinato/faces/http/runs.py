"""Runs and jobs over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import BeforeValidator

from ostinato.engine.access import Role
from ostinato.errors import OstinatoError
from ostinato.faces.http import shapes
from ostinato.faces.http.guard import named
from ostinato.faces.http.keys import Key
from ostinato.faces.http.who import Operator, Reader, declared
from ostinato.model import Status
from ostinato.views import RunInfo

router = APIRouter(tags=["runs"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)
Id = Annotated[
    str,
    Path(min_length=1, max_length=600, description="A run's id, or the id it was started with."),
    BeforeValidator(named),
]
Job = Annotated[str, Path(min_length=1, max_length=512), BeforeValidator(named)]


def shown(run: RunInfo) -> shapes.RunShown:
    return shapes.RunShown.model_validate(run)


@router.get("/runs", **READ)
async def list_runs(
    who: Reader,
    name: Annotated[str | None, Query(max_length=512)] = None,
    status: Status | None = None,
    parent: Annotated[str | None, Query(max_length=512)] = None,
    attempts: bool = False,
    before: Annotated[str | None, Query(max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> shapes.Runs:
    """Runs, newest first."""
    found = await who.app.runs(
        name=name,
        status=None if status is None else status.value,
        parent=parent,
        attempts=attempts,
        before=before,
        limit=limit,
    )
    return shapes.Runs(items=[shown(run) for run in found], next=found[-1].run_id if len(found) == limit else None)


@router.get("/runs/{id}", **READ)
async def read_run(who: Reader, id: Id) -> shapes.RunShown:
    """A run: its newest attempt."""
    return shown(await who.app.get(id))


@router.get("/runs/{id}/attempts", **READ)
async def list_attempts(who: Reader, id: Id) -> shapes.Runs:
    """Every attempt of a run, the first one first."""
    return shapes.Runs(items=[shown(run) for run in await who.app.attempts(id)], next=None)


@router.get("/runs/{id}/log", **READ)
async def read_log(who: Reader, id: Id) -> list[shapes.LogShown]:
    """What every attempt has logged."""
    return [shapes.LogShown.model_validate(line) for line in await who.app.logs(id)]


@router.post("/runs/{id}/cancel", **WRITE)
async def cancel_run(who: Operator, id: Id, body: shapes.Stop, key: Key = None) -> shapes.Stopped:
    """Ask a run to stop. Doing it again changes nothing."""
    return shapes.Stopped(status=await who.app.cancel(id, body.reason, request_id=key))


@router.post("/runs/{id}/terminate", **WRITE)
async def terminate_run(who: Operator, id: Id, body: shapes.Stop, key: Key = None) -> shapes.Stopped:
    """End a run at once, whatever it is doing. Doing it again changes nothing."""
    return shapes.Stopped(status=await who.app.terminate(id, body.reason, request_id=key))


@router.post("/runs/{id}/retry", status_code=201, **WRITE)
async def retry_run(who: Operator, id: Id, key: Key = None) -> shapes.Started:
    """Do a run that is over once more, as another run with the same input."""
    handle = await who.app.retry(id, request_id=key)
    return shapes.Started(id=handle.id, new=handle.new)


@router.get("/jobs", tags=["jobs"], **READ)
async def list_jobs(who: Reader) -> shapes.Jobs:
    """The jobs that are known, here or to any node."""
    engine = who.app.engine
    here = {name: handler.declaration for name, handler in engine.handlers.items()}
    found = {**engine.declared, **here}
    return shapes.Jobs(
        items=[
            shapes.JobShown(
                name=name,
                queue=one.queue,
                priority=one.priority,
                serial_key=one.serial_key,
                at_most_once=one.at_most_once,
                here=name in here,
            )
            for name, one in sorted(found.items())
        ]
    )


@router.post("/jobs/{name}/start", status_code=201, tags=["jobs"], **WRITE)
async def start_job(
    who: Operator, name: Job, body: shapes.Start, response: Response, key: Key = None
) -> shapes.Started:
    """Start a run, now or later. A job that no node knows waits until one does."""
    handle = await who.app.start(name, body.input, id=body.id, at=body.at, request_id=key, **body.options())
    response.headers["Location"] = f"/api/v1/runs/{handle.id}"
    return shapes.Started(id=handle.id, new=handle.new)


@router.post("/jobs/{name}/start-many", status_code=201, tags=["jobs"], **WRITE)
async def start_many(who: Operator, name: Job, body: shapes.StartMany, key: Key = None) -> shapes.ManyStarted:
    """Start many runs of one job in as few transactions as may be."""
    if body.id is not None or body.input:
        raise OstinatoError("start-many takes inputs and ids, not input and id")
    handles = await who.app.start_many(name, body.inputs, ids=body.ids, at=body.at, request_id=key, **body.options())
    return shapes.ManyStarted(items=[shapes.Started(id=one.id, new=one.new) for one in handles])
