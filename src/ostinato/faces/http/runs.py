"""Answer the HTTP calls that list, read, start, stop and retry runs. Jobs are listed here, too."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

from ostinato.engine.access import Role
from ostinato.faces.http.authentication import JourneyOperator, JourneyReader, Operator, Reader, requires
from ostinato.faces.http.idempotency import Key
from ostinato.faces.http.pagination import After, AfterNumber, BeforeRun, Limit, list_before, numbered_page, page
from ostinato.faces.http.read_guard import visible_run, visible_runs
from ostinato.faces.http.routing import Body, HttpAnswer, Path, Query, Router
from ostinato.faces.http.shapes.common import NO_NUL, StopBody
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
from ostinato.faces.http.unknown_jobs import note_unknown_job
from ostinato.model import Status, StatusName

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request, Response

router = Router(tags=["runs"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
Id = Annotated[
    str, Path(min_length=1, max_length=600, pattern=NO_NUL, description="A run's id, or the id it was started with.")
]
Job = Annotated[str, Path(min_length=1, max_length=512, pattern=NO_NUL)]


@router.get("/runs", response_model=Runs, **READ)
async def list_runs(
    request: Request,
    who: JourneyReader,
    name: Annotated[str | None, Query(max_length=512, pattern=NO_NUL)] = None,
    status: Status | None = None,
    parent: Annotated[str | None, Query(max_length=512, pattern=NO_NUL)] = None,
    attempts: bool = False,
    before: BeforeRun = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List runs, the newest first."""
    wanted: StatusName | None = None if status is None else status.value
    fetch = partial(who.app.runs, name=name, status=wanted, parent=parent, attempts=attempts)
    visible = partial(visible_runs, request, who)
    return await list_before(who, before, limit, fetch, lambda run: run.run_id, RunShown.model_validate, visible)


@router.get("/runs/{id}", **READ)
async def read_run(request: Request, who: JourneyReader, id: Id) -> RunShown:
    """Read the newest attempt of a run."""
    return RunShown.model_validate(await visible_run(request, who, id))


@router.get("/runs/{id}/attempts", **READ)
async def list_attempts(
    request: Request, who: JourneyReader, id: Id, after: AfterNumber = None, limit: Limit = 100
) -> Attempts:
    """List all attempts of a run, the first one first."""
    await visible_run(request, who, id)
    attempts, more = page(await who.app.attempts(id), lambda one: one.attempt, after, limit)
    return Attempts(items=[RunShown.model_validate(run) for run in attempts], next=more)


@router.get("/runs/{id}/log", **READ)
async def read_log(request: Request, who: JourneyReader, id: Id, after: AfterNumber = None, limit: Limit = 1000) -> Log:
    """Read the log lines of all attempts of a run."""
    await visible_run(request, who, id)
    lines, more = numbered_page(await who.app.logs(id), after, limit)
    return Log(items=[LogShown.model_validate(line) for line in lines], next=more)


@router.post("/runs/{id}/cancel", **WRITE)
async def cancel_run(request: Request, who: JourneyOperator, id: Id, body: StopBody, key: Key = None) -> Stopped:
    """Ask a run to stop. Repeating the call changes nothing."""
    await visible_run(request, who, id)
    return Stopped(status=await who.app.cancel(id, body.reason, request_id=key))


@router.post("/runs/{id}/terminate", **WRITE)
async def terminate_run(request: Request, who: JourneyOperator, id: Id, body: StopBody, key: Key = None) -> Stopped:
    """End a run at once, without waiting for its function. Repeating the call changes nothing."""
    await visible_run(request, who, id)
    return Stopped(status=await who.app.terminate(id, body.reason, request_id=key))


@router.post("/runs/{id}/retry", status_code=201, **WRITE)
async def retry_run(request: Request, who: JourneyOperator, id: Id, key: Key = None) -> Started:
    """Start a new run with the input of a run that has ended."""
    await visible_run(request, who, id)
    return Started.model_validate(await who.app.retry(id, request_id=key))


@router.get("/jobs", tags=["jobs"], **READ)
async def list_jobs(who: Reader, after: After = None, limit: Limit = 100) -> Jobs:
    """List the jobs that this process or any node has declared."""
    engine = who.app.engine
    await engine.read_declared()
    here = {name: handler.declaration for name, handler in engine.handlers.items()}
    jobs, more = page({**engine.declared, **here}.items(), lambda job: job[0], after, limit)
    return Jobs(
        items=[
            JobShown(
                name=name,
                queue=job.queue,
                priority=job.priority,
                serial_key=job.serial_key,
                at_most_once=job.at_most_once,
                here=name in here,
            )
            for name, job in jobs
        ],
        next=more,
    )


@router.post("/jobs/{name}/start", status_code=201, tags=["jobs"], **WRITE)
async def start_job(
    who: Operator, name: Job, body: Annotated[Start, Body(default_factory=Start)], response: Response, key: Key = None
) -> Started:
    """Start a run, now or later. If no node knows the job, the run waits until one does."""
    note = await note_unknown_job(who.app, name)
    handle = await who.app.start(name, body.input, id=body.id, at=body.at, request_id=key, **body.options())
    response.headers["Location"] = f"/api/v1/runs/{handle.id}"
    return Started(id=handle.id, new=handle.new, note=note)


@router.post("/jobs/{name}/start-many", status_code=201, tags=["jobs"], **WRITE)
async def start_many(who: Operator, name: Job, body: StartMany, key: Key = None) -> ManyStarted:
    """Start many runs of one job in as few transactions as possible."""
    note = await note_unknown_job(who.app, name)
    handles = await who.app.start_many(name, body.inputs, ids=body.ids, at=body.at, request_id=key, **body.options())
    return ManyStarted(items=[Started(id=handle.id, new=handle.new, note=note) for handle in handles])
