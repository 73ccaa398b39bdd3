"""Schedules declared as a whole, over HTTP: a file is planned, applied, or written."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query

from ostinato.engine.access import Role
from ostinato.engine.requests import digest
from ostinato.errors import OstinatoError
from ostinato.faces.door import Who
from ostinato.faces.http.keys import Key, done_once
from ostinato.faces.http.paging import After, Limit
from ostinato.faces.http.shapes.declared import Exported, File, PlanShown
from ostinato.faces.http.who import Operator, Reader, declared
from ostinato.schedules.files import Document, parse_schedules, write_document

router = APIRouter(tags=["schedules"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)


@router.post("/schedules:plan", **READ)
async def plan_file(who: Reader, body: File) -> PlanShown:
    """What applying a file of schedules would do. Nothing is changed."""
    found = await who.app.schedules.plan(await _read(who, body), prune=body.prune, take=body.take)
    return PlanShown(done=False, **found.as_dict())


@router.post("/schedules:apply", **WRITE)
async def apply_file(who: Operator, body: File, key: Key = None) -> PlanShown:
    """Make the schedules say what a file says: all of it, or nothing. What the file declared before and declares no
    longer goes on, unless `prune` closes it."""
    document = await _read(who, body)

    async def apply() -> PlanShown:
        found = await who.app.schedules.apply(document, prune=body.prune, take=body.take)
        return PlanShown(done=True, **found.as_dict())

    return await done_once(who.app, key, f"apply {digest(body.model_dump())}", PlanShown, apply)


@router.get("/schedules:export", **READ)
async def export_file(
    who: Reader,
    match: Annotated[str, Query(max_length=512, description="A pattern of names, such as `billing-*`.")] = "*",
    tag: Annotated[str | None, Query(max_length=512)] = None,
    after: After = None,
    limit: Limit = 1000,
) -> Exported:
    """Schedules as a file says them; the pages together are a file that can be applied."""
    found = await who.app.schedules.entries(match=match, tag=tag, after=after or "", limit=limit)
    return Exported(schedules=found, next=list(found)[-1] if len(found) == limit else None)


async def _read(who: Who, body: File) -> Document:
    if (body.text is None) == (body.schedules is None):
        raise OstinatoError("give either text, a file as it is written, or schedules, what would be in it")
    read = partial(parse_schedules, name=body.name)
    return await who.app.computing.call(who.namespace, read, _text(body), body.file)


def _text(body: File) -> str:
    return body.text if body.text is not None else write_document(body.schedules or {}, form="json")
