"""Backfills over HTTP: ranges of times that are run now, as objects of their own; and the same for many schedules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Body, Response

from ostinato.engine.access import Role
from ostinato.engine.requests import digest
from ostinato.errors import OstinatoError
from ostinato.faces.door import Who
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.keys import Key, done_once
from ostinato.faces.http.paging import Before, Limit
from ostinato.faces.http.schedules import Match, Name, changed, token_of
from ostinato.faces.http.shapes.common import Stop
from ostinato.faces.http.shapes.schedules import Backfills, BackfillShown, Bulk, BulkDone, ChangedShown, Fill
from ostinato.faces.http.who import Operator, Reader, declared

router = APIRouter(route_class=Route, tags=["schedules"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)


@router.get("/schedules/{name}/backfills", **READ)
async def list_backfills(who: Reader, name: Name, before: Before = None, limit: Limit = 100) -> Backfills:
    """Its backfills with their progress, newest first."""
    found = await who.app.schedules.backfills(name, before=before, limit=limit)
    more = found[-1].id if len(found) == limit else None
    return Backfills(items=[BackfillShown.model_validate(one) for one in found], next=more)


@router.post("/schedules/{name}/backfills", status_code=202, **WRITE)
async def start_backfill(
    who: Operator, name: Name, body: Fill, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Run a range of its times now, as an object of its own."""
    done = await who.app.schedules.backfill(
        name,
        body.first,
        body.last,
        overlap=body.overlap,
        input=body.input,
        rate=body.rate,
        token=token_of(match),
        request_id=key,
    )
    return changed(response, done)


@router.post("/schedules/{name}/backfills/{id}/pause", **WRITE)
async def pause_backfill(who: Operator, name: Name, id: Name, response: Response, key: Key = None) -> ChangedShown:
    """Make no more of its times for now."""
    return changed(response, await who.app.schedules.pause_backfill(name, id, request_id=key))


@router.post("/schedules/{name}/backfills/{id}/resume", **WRITE)
async def resume_backfill(who: Operator, name: Name, id: Name, response: Response, key: Key = None) -> ChangedShown:
    """Go on where it was paused."""
    return changed(response, await who.app.schedules.resume_backfill(name, id, request_id=key))


@router.post("/schedules/{name}/backfills/{id}/cancel", **WRITE)
async def cancel_backfill(
    who: Operator,
    name: Name,
    id: Name,
    body: Annotated[Stop, Body(default_factory=Stop)],
    response: Response,
    key: Key = None,
) -> ChangedShown:
    """Make no more of its times; those that wait are given up, those that run run on."""
    return changed(response, await who.app.schedules.cancel_backfill(name, id, body.reason, request_id=key))


@router.post("/schedules:bulk", **WRITE)
async def bulk(who: Operator, body: Bulk, key: Key = None) -> BulkDone:
    """Do the same to every schedule that fits. Each is a change of its own; what failed is named."""
    doing = _doing(who, body, key)

    async def work() -> BulkDone:
        done = await who.app.schedules.each(doing, match=body.match, tag=body.tag, state=body.state, job=body.job)
        failed = {name: str(problem) for name, problem in done.items() if problem is not None}
        return BulkDone(done=len(done) - len(failed), failed=failed)

    return await done_once(who.app, key, f"bulk {digest(body.model_dump(mode='json'))}", BulkDone, work)


def _doing(who: Who, body: Bulk, key: str | None) -> Callable[[str], Awaitable[Any]]:
    calls = who.app.schedules
    if body.do == "backfill" and (body.first is None or body.last is None):
        raise OstinatoError("do backfill: first and last are needed")

    async def do(name: str) -> None:
        own = None if key is None else f"{key}/{name}"[:1000]
        match body.do:
            case "pause":
                await calls.pause(name, body.note, request_id=own)
            case "resume":
                await calls.resume(name, body.note, catchup=body.catchup, request_id=own)
            case "delete":
                await calls.delete(name, request_id=own)
            case "trigger":
                await calls.trigger(name, request_id=own)
            case "backfill":
                assert body.first is not None
                assert body.last is not None
                await calls.backfill(name, body.first, body.last, request_id=own)

    return do
