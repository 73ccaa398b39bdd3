"""Runs and jobs over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request, Response

from ostinato.engine.access import Role
from ostinato.errors import OstinatoError
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.hiding import shown_run, shown_runs
from ostinato.faces.http.keys import Key
from ostinato.faces.http.paging import After, AfterNumber, BeforeRun, Limit, listing, page
from ostinato.faces.http.shapes.common import Stop
from ostinato.faces.http.shapes.runs import (
    Attempts,
    Jobs,
    JobShown,
    Log,
    LogShown,
    ManyStarted,
    Runs,
    RunShown,
    Start,
    Started,
    StartMany,
    Stopped,
)
from ostinato.faces.http.who import JourneyOperator, JourneyReader, Operator, Reader, declared
from ostinato.model import Status
from ostinato.views import RunInfo

router = APIRouter(route_class=Route, tags=["runs"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)
Id = Annotated[
    str,
    Path(min_length=1, max_length=600, description="A run's id, or the id it was started with."),
]
Job = Annotated[str, Path(min_length=1, max_length=512)]


def shown(run: RunInfo) -> RunShown:
    return RunShown.model_validate(run)


@router.get("/runs", response_model=Runs, **READ)
async def list_runs(
    request: Request,
    who: JourneyReader,
    name: Annotated[str | None, Query(max_length=512)] = None,
    status: Status | None = None,
    parent: Annotated[str | None, Query(max_length=512)] = None,
    attempts: bool = False,
    before: BeforeRun = None,
    limit: Limit = 100,
) -> Response:
    """Runs, newest first."""
    standing = None if status is None else status.value

    async def fetch(before: str | None, limit: int) -> list[RunInfo]:
        return await who.app.runs(
            name=name, status=standing, parent=parent, attempts=attempts, before=before, limit=limit
        )

    async def visible(found: Sequence[RunInfo]) -> Sequence[RunInfo]:
        return await shown_runs(request, who, found)

    return await listing(who, before, limit, fetch, lambda run: run.run_id, shown, visible)


@router.get("/runs/{id}", **READ)
async def read_run(request: Request, who: JourneyReader, id: Id) -> RunShown:
    """A run: its newest attempt."""
    return shown(await shown_run(request, who, id))


@router.get("/runs/{id}/attempts", **READ)
async def list_attempts(
    request: Request, who: JourneyReader, id: Id, after: AfterNumber = None, limit: Limit = 100
) -> Attempts:
    """Every attempt of a run, the first one first."""
    await shown_run(request, who, id)
    found, more = page(await who.app.attempts(id), lambda one: one.attempt, after, limit)
    return Attempts(items=[shown(run) for run in found], next=more)


@router.get("/runs/{id}/log", **READ)
async def read_log(request: Request, who: JourneyReader, id: Id, after: AfterNumber = None, limit: Limit = 1000) -> Log:
    """What every attempt has logged."""
    await shown_run(request, who, id)
    lines, more = page(enumerate(await who.app.logs(id), 1), lambda numbered: numbered[0], after, limit)
    return Log(items=[LogShown.model_validate(line) for _, line in lines], next=more)


@router.post("/runs/{id}/cancel", **WRITE)
async def cancel_run(
    request: Request,
    who: JourneyOperator,
    id: Id,
    body: Annotated[Stop, Body(default_factory=Stop)],
    key: Key = None,
) -> Stopped:
    """Ask a run to stop. Doing it again changes nothing."""
    await shown_run(request, who, id)
    return Stopped(status=await who.app.cancel(id, body.reason, request_id=key))


@router.post("/runs/{id}/terminate", **WRITE)
async def terminate_run(
    request: Request,
    who: JourneyOperator,
    id: Id,
    body: Annotated[Stop, Body(default_factory=Stop)],
    key: Key = None,
) -> Stopped:
    """End a run at once, whatever it is doing. Doing it again changes nothing."""
    await shown_run(request, who, id)
    return Stopped(status=await who.app.terminate(id, body.reason, request_id=key))


@router.post("/runs/{id}/retry", status_code=201, **WRITE)
async def retry_run(request: Request, who: JourneyOperator, id: Id, key: Key = None) -> Started:
    """Do a run that is over once more, as another run with the same input."""
    await shown_run(request, who, id)
    handle = await who.app.retry(id, request_id=key)
    return Started(id=handle.id, new=handle.new)


@router.get("/jobs", tags=["jobs"], **READ)
async def list_jobs(who: Reader, after: After = None, limit: Limit = 100) -> Jobs:
    """The jobs that are known, here or to any node."""
    engine = who.app.engine
    here = {name: handler.declaration for name, handler in engine.handlers.items()}
    found, more = page({**engine.declared, **here}.items(), lambda one: one[0], after, limit)
    return Jobs(
        items=[
            JobShown(
                name=name,
                queue=one.queue,
                priority=one.priority,
                serial_key=one.serial_key,
                at_most_once=one.at_most_once,
                here=name in here,
            )
            for name, one in found
        ],
        next=more,
    )


@router.post("/jobs/{name}/start", status_code=201, tags=["jobs"], **WRITE)
async def start_job(
    who: Operator, name: Job, body: Annotated[Start, Body(default_factory=Start)], response: Response, key: Key = None
) -> Started:
    """Start a run, now or later. A job that no node knows waits until one does."""
    handle = await who.app.start(name, body.input, id=body.id, at=body.at, request_id=key, **body.options())
    response.headers["Location"] = f"/api/v1/runs/{handle.id}"
    return Started(id=handle.id, new=handle.new)


@router.post("/jobs/{name}/start-many", status_code=201, tags=["jobs"], **WRITE)
async def start_many(who: Operator, name: Job, body: StartMany, key: Key = None) -> ManyStarted:
    """Start many runs of one job in as few transactions as may be."""
    if body.id is not None or body.input:
        raise OstinatoError("start-many takes inputs and ids, not input and id")
    handles = await who.app.start_many(name, body.inputs, ids=body.ids, at=body.at, request_id=key, **body.options())
    return ManyStarted(items=[Started(id=one.id, new=one.new) for one in handles])
