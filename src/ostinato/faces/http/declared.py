"""Schedules declared as a whole, over HTTP: a file is planned, applied, or written."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request, Response

from ostinato.engine.access import Role
from ostinato.engine.requests import digest
from ostinato.errors import OstinatoError
from ostinato.faces.door import Who
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.keys import Key, done_once
from ostinato.faces.http.paging import LARGEST_PAGE, STEP, After, Limit
from ostinato.faces.http.shapes.declared import Exported, File, PlanShown
from ostinato.faces.http.who import Operator, Reader, declared
from ostinato.schedules.files import Document, parse_schedules, write_document

router = APIRouter(route_class=Route, tags=["schedules"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)
MOST_SCHEDULES = 1_000  # in one file


@router.post("/schedules:plan", **READ)
async def plan_file(request: Request, who: Reader, body: File) -> PlanShown:
    """What applying a file of schedules would do. Nothing is changed."""
    found = await who.app.schedules.plan(await _read(request, who, body), prune=body.prune, take=body.take)
    return PlanShown(done=False, **found.as_dict())


@router.post("/schedules:apply", **WRITE)
async def apply_file(request: Request, who: Operator, body: File, key: Key = None) -> PlanShown:
    """Make the schedules say what a file says: all of it, or nothing. What the file declared before and declares no
    longer goes on, unless `prune` closes it."""
    document = await _read(request, who, body)

    async def apply() -> PlanShown:
        found = await who.app.schedules.apply(document, prune=body.prune, take=body.take)
        return PlanShown(done=True, **found.as_dict())

    if key is None:
        return await apply()
    return await done_once(who.app, key, f"apply {digest(body.model_dump())}", PlanShown, apply)


@router.get("/schedules:export", response_model=Exported, **READ)
async def export_file(
    who: Reader,
    match: Annotated[str, Query(max_length=512, description="A pattern of names, such as `billing-*`.")] = "*",
    tag: Annotated[str | None, Query(max_length=512)] = None,
    after: After = None,
    limit: Limit = 1000,
) -> Response:
    """Schedules as a file says them; the pages together are a file that can be applied."""
    parts: list[bytes] = []
    size, following = 0, after
    while len(parts) < limit:
        wanted = min(STEP, limit - len(parts))
        found = await who.app.schedules.entries(match=match, tag=tag, after=following or "", limit=wanted)
        texts = (b"%s:%s" % (orjson.dumps(name), orjson.dumps(entry)) for name, entry in found.items())
        some = await who.app.computing.each(who.namespace, texts)
        parts += some
        size += sum(map(len, some))
        following = list(found)[-1] if len(found) == wanted else None
        if following is None or size > LARGEST_PAGE:
            break
    body = b'{"schedules":{%s},"next":%s}' % (b",".join(parts), orjson.dumps(following))
    return Response(body, media_type="application/json")


async def _read(request: Request, who: Who, body: File) -> Document:
    if (body.text is None) == (body.schedules is None):
        raise OstinatoError("give either text, a file as it is written, or schedules, what would be in it")
    most = None if request.app.state.inside else MOST_SCHEDULES
    given = body.text, body.schedules, body.file, body.name, most
    return await who.app.computing.call(who.namespace, read_file, *given)


def read_file(
    text: str | None, schedules: dict[str, Any] | None, file: str, name: str | None, most: int | None
) -> Document:
    """A file as it is written, or what would be in it. Called in a process of its own."""
    written = text if text is not None else write_document(schedules or {}, form="json")
    found = parse_schedules(written, file, name=name)
    if most is not None and len(found.entries) > most:
        words = f"a file has at most {most:,} schedules here, and this has {len(found.entries):,}; make several of it"
        raise OstinatoError(words)
    return found
