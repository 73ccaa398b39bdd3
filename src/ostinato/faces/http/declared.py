"""Answer the HTTP calls that plan, apply and export files of schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import orjson

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.errors import OstinatoError
from ostinato.faces.auth import Who
from ostinato.faces.http.authentication import Operator, Reader, requires
from ostinato.faces.http.idempotency import Key, answer_once
from ostinato.faces.http.pagination import LARGEST_PAGE, STEP, After, Limit
from ostinato.faces.http.routing import HttpAnswer, Query, Router
from ostinato.faces.http.shapes.common import NO_NUL
from ostinato.faces.http.shapes.declared import Exported, File, PlanShown
from ostinato.schedules.actions import ActionKinds, shapes_of
from ostinato.schedules.declared.files import ScheduleFile, parse_schedules, write_document
from ostinato.schedules.declared.plan import Plan

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request

router = Router(tags=["schedules"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
MOST_SCHEDULES = 1_000  # in one file


@router.post("/schedules:plan", response_model=PlanShown, **READ)
async def plan_file(request: Request, who: Reader, body: File) -> HttpAnswer:
    """Return what applying a file of schedules would do, without changing anything."""
    plan = await who.app.schedules.plan(await _read(request, who, body), prune=body.prune, take=body.take)
    return HttpAnswer(await _write_plan(who, plan, done=False))


@router.post("/schedules:apply", response_model=PlanShown, **WRITE)
async def apply_file(request: Request, who: Operator, body: File, key: Key = None) -> HttpAnswer:
    """Create and update schedules so that they match a file. If one of them cannot be created or updated, none is
    changed. Schedules that the file no longer declares stay, unless `prune` is true; then they are closed."""
    document = await _read(request, who, body)

    async def apply() -> bytes:
        plan = await who.app.schedules.apply(document, prune=body.prune, take=body.take)
        return await _write_plan(who, plan, done=True)

    async def apply_once() -> PlanShown:
        return PlanShown.model_validate_json(await apply())

    if key is None:
        return HttpAnswer(await apply())
    shown = await answer_once(who.app, key, f"apply {digest(body.model_dump())}", PlanShown, apply_once)
    return HttpAnswer(shown.model_dump_json().encode())


async def _write_plan(who: Who, plan: Plan, *, done: bool) -> bytes:
    """Return a plan as JSON, in the form of `PlanShown`. `done` says whether the plan was carried out. A long plan is
    written bit by bit, so that other requests are answered meanwhile."""
    steps = await who.app.computing.each(who.namespace, (orjson.dumps(step.as_dict()) for step in plan.steps))
    rest = (orjson.dumps(part) for part in (done, plan.counts, plan.pruned, plan.notes))
    return b'{"steps":[%s],"done":%s,"counts":%s,"pruned":%s,"notes":%s}' % (b",".join(steps), *rest)


@router.get("/schedules:export", response_model=Exported, **READ)
async def export_file(
    who: Reader,
    match: Annotated[
        str, Query(max_length=512, pattern=NO_NUL, description="A pattern of names, such as `billing-*`.")
    ] = "*",
    tag: Annotated[str | None, Query(max_length=512, pattern=NO_NUL)] = None,
    after: After = None,
    limit: Limit = 1000,
) -> HttpAnswer:
    """Export schedules in the form of a file of schedules. All pages together are a file that can be applied. Schedules
    that a file cannot declare, such as those of agents, are in `left_out`."""
    parts: list[bytes] = []
    left_out: dict[str, str] = {}
    size, following = 0, after
    while (count := len(parts) + len(left_out)) < limit:
        wanted = min(STEP, limit - count)
        entries = await who.app.schedules.entries(match=match, tag=tag, after=following or "", limit=wanted)
        left_out |= {one.name: one.left_out for one in entries if one.left_out is not None}
        kept = (one for one in entries if one.left_out is None)
        texts = (b"%s:%s" % (orjson.dumps(one.name), orjson.dumps(one.fields)) for one in kept)
        some = await who.app.computing.each(who.namespace, texts)
        parts += some
        size += sum(map(len, some))
        following = entries[-1].name if len(entries) == wanted else None
        if following is None or size > LARGEST_PAGE:
            break
    rest = orjson.dumps(left_out), orjson.dumps(following)
    return HttpAnswer(b'{"schedules":{%s},"left_out":%s,"next":%s}' % (b",".join(parts), *rest))


async def _read(request: Request, who: Who, body: File) -> ScheduleFile:
    if (body.text is None) == (body.schedules is None):
        raise OstinatoError("give either text, a file as it is written, or schedules, what would be in it")
    most = None if request.app.state.inside else MOST_SCHEDULES
    source = body.text, body.schedules, body.file, body.name, most, shapes_of(who.app.action_kinds)
    return await who.app.computing.call(who.namespace, read_file, *source)


def read_file(
    text: str | None,
    schedules: dict[str, Any] | None,
    file: str,
    name: str | None,
    most: int | None,
    kinds: ActionKinds,
) -> ScheduleFile:
    """Parse a file of schedules, given as `text` or as the dict `schedules`. Runs in a worker process. Raises
    `FileError` if there are mistakes, and `OstinatoError` if there are more than `most` schedules."""
    written = text if text is not None else write_document(schedules or {}, form="json")
    document = parse_schedules(written, file, name=name, kinds=kinds)
    if most is not None and len(document.entries) > most:
        count = len(document.entries)
        raise OstinatoError(f"a file has at most {most:,} schedules here, and this has {count:,}; make several of it")
    return document
