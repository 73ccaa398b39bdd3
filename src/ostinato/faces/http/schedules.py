"""Answer the HTTP calls that read, change, trigger and explain schedules.

The conflict token of a schedule is its ETag. A change with `If-Match` is refused if the schedule has another token.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, cast

from ostinato.engine.access import Role
from ostinato.faces.http.authentication import JourneyReader, Operator, Reader, requires
from ostinato.faces.http.etags import Match, set_etag, token_of
from ostinato.faces.http.idempotency import Key
from ostinato.faces.http.mistake_places import naming_places
from ostinato.faces.http.pagination import After, Before, Limit, list_after, list_before
from ostinato.faces.http.read_guard import visible_occurrences, visible_schedules
from ostinato.faces.http.routing import Body, HttpAnswer, Path, Query, Router
from ostinato.faces.http.shapes.common import NO_NUL, Moment
from ostinato.faces.http.shapes.schedules import (
    ChangedShown,
    Coming,
    ComingShown,
    Definition,
    ExplanationShown,
    History,
    MoveOne,
    NewSchedule,
    NoteBody,
    OccurrenceShown,
    One,
    Resume,
    ScheduleShown,
    SchedulesShown,
    Times,
    Trigger,
    Upserted,
    WholeDefinition,
)
from ostinato.faces.http.unknown_jobs import note_action, note_schedule
from ostinato.schedules.api.changes import Changed
from ostinato.schedules.model import StateName

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request, Response

router = Router(tags=["schedules"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
Name = Annotated[str, Path(min_length=1, max_length=512, pattern=NO_NUL)]
ResumeBody = Annotated[Resume, Body(default_factory=Resume)]
TriggerBody = Annotated[Trigger, Body(default_factory=Trigger)]
Each = Annotated[int | None, Query(ge=1, le=1000, description="The most times of one schedule.")]


def change_answer(response: Response, done: Changed, note: str | None = None) -> ChangedShown:
    set_etag(response, done.token)
    shown = ChangedShown.model_validate(done)
    shown.note = "; ".join(filter(None, [note, done.note])) or None
    return shown


@router.get("/schedules", response_model=SchedulesShown, **READ)
async def list_schedules(
    request: Request,
    who: Reader,
    match: Annotated[
        str, Query(max_length=512, pattern=NO_NUL, description="A pattern of names, such as `billing-*`.")
    ] = "*",
    tag: Annotated[str | None, Query(max_length=512, pattern=NO_NUL)] = None,
    state: str | None = None,
    job: Annotated[str | None, Query(max_length=512, pattern=NO_NUL)] = None,
    after: After = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List schedules, ordered by name."""
    fetch = partial(who.app.schedules.list, match=match, tag=tag, state=cast(StateName | None, state), job=job)
    visible = partial(visible_schedules, request, who)
    return await list_after(who, after, limit, fetch, lambda info: info.name, ScheduleShown.model_validate, visible)


@router.post("/schedules", status_code=201, **WRITE)
async def create_schedule(who: Operator, body: NewSchedule, response: Response, key: Key = None) -> ChangedShown:
    """Create a schedule. A name that is already in use is a conflict (409); use PUT to create or change a schedule."""
    note = await note_action(who.app, body.action)
    fields = body.fields()
    async with naming_places(who.app, body.name, fields):
        done = await who.app.schedules.create(
            body.name, paused=body.paused, trigger=body.trigger, request_id=key, **fields
        )
    return change_answer(response, done, note)


@router.get("/schedules/{name}", **READ)
async def read_schedule(
    request: Request,
    who: JourneyReader,
    name: Name,
    response: Response,
    recent: Annotated[int, Query(ge=0, le=1000)] = 10,
) -> ScheduleShown:
    """Read a schedule, with its conflict token as the ETag."""
    info = await who.app.schedules.get(name, recent=recent)
    set_etag(response, info.token)
    (schedule,) = await visible_schedules(request, who, [info])
    return ScheduleShown.model_validate(
        replace(schedule, recent=tuple(await visible_occurrences(request, who, info.recent)))
    )


@router.put("/schedules/{name}", **WRITE)
async def upsert_schedule(
    who: Operator, name: Name, body: WholeDefinition, response: Response, key: Key = None
) -> Upserted:
    """Create a schedule, or replace its definition. An existing schedule keeps its progress, counts and pause. The
    `spec` is required, because without it a schedule would lose its times."""
    note = await note_action(who.app, body.action)
    fields = body.fields()
    async with naming_places(who.app, name, fields):
        done, answer = await who.app.schedules.upsert(name, request_id=key, **fields)
    shown = change_answer(response, answer, note)
    return Upserted(done=done, **shown.model_dump())  # type: ignore[arg-type]


@router.patch("/schedules/{name}", **WRITE)
async def update_schedule(
    who: Operator, name: Name, body: Definition, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Change the given fields. No occurrence is lost or repeated by the change."""
    note = await note_action(who.app, body.action)
    fields = body.fields()
    async with naming_places(who.app, name, fields):
        done = await who.app.schedules.update(name, token=token_of(match), request_id=key, **fields)
    return change_answer(response, done, note)


@router.delete("/schedules/{name}", **WRITE)
async def delete_schedule(
    who: Operator,
    name: Name,
    response: Response,
    running: Literal["leave", "cancel", "terminate"] = "leave",
    key: Key = None,
    match: Match = None,
) -> ChangedShown:
    """Close a schedule. Waiting runs are dropped; active runs continue, or are stopped on request."""
    done = await who.app.schedules.delete(name, running=running, token=token_of(match), request_id=key)
    return change_answer(response, done)


@router.post("/schedules/{name}/pause", **WRITE)
async def pause_schedule(
    who: Operator, name: Name, body: NoteBody, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Pause a schedule: no scheduled run starts until it is resumed."""
    done = await who.app.schedules.pause(name, body.note, token=token_of(match), request_id=key)
    return change_answer(response, done)


@router.post("/schedules/{name}/resume", **WRITE)
async def resume_schedule(
    who: Operator, name: Name, body: ResumeBody, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Resume a schedule. `catchup` says what to do with the times that passed meanwhile."""
    done = await who.app.schedules.resume(name, body.note, catchup=body.catchup, token=token_of(match), request_id=key)
    return change_answer(response, done)


@router.post("/schedules/{name}/trigger", **WRITE)
async def trigger_schedule(
    who: Operator, name: Name, body: TriggerBody, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Trigger a schedule now, optionally with another input. The answer says whether the run started, waits or was
    skipped."""
    note = await note_schedule(who.app, name)
    done = await who.app.schedules.trigger(
        name, input=body.input, overlap=body.overlap, token=token_of(match), request_id=key
    )
    return change_answer(response, done, note)


@router.post("/schedules/{name}/skip", **WRITE)
async def skip_one(
    who: Operator, name: Name, body: One, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Skip one coming occurrence, by its nominal time."""
    return change_answer(response, await who.app.schedules.skip(name, body.at, token=token_of(match), request_id=key))


@router.post("/schedules/{name}/move", **WRITE)
async def move_one(
    who: Operator, name: Name, body: MoveOne, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Move one coming occurrence to a time between its neighbours."""
    done = await who.app.schedules.move(name, body.at, body.to, token=token_of(match), request_id=key)
    return change_answer(response, done)


@router.post("/schedules/{name}/put-back", **WRITE)
async def put_back(
    who: Operator, name: Name, body: One, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Undo a skip or a move of one coming occurrence."""
    done = await who.app.schedules.put_back(name, body.at, token=token_of(match), request_id=key)
    return change_answer(response, done)


@router.get("/schedules/{name}/history", response_model=History, **READ)
async def history(
    request: Request,
    who: JourneyReader,
    name: Name,
    first: Moment | None = None,
    last: Moment | None = None,
    before: Before = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List past occurrences and their outcomes, the newest first."""
    fetch = partial(who.app.schedules.history, name, first=first, last=last)
    visible = partial(visible_occurrences, request, who)
    return await list_before(who, before, limit, fetch, lambda one: one.cursor, OccurrenceShown.model_validate, visible)


@router.get("/schedules/{name}/times", **READ)
async def matching_times(
    who: Reader,
    name: Name,
    first: Moment,
    last: Moment,
    after: Annotated[Moment | None, Query(description="`next` of the page before.")] = None,
    limit: Limit = 1000,
) -> Times:
    """List the nominal times of a schedule's spec in a period, both ends included."""
    begin = first if after is None else max(first, after + timedelta(microseconds=1))
    times = await who.app.schedules.times(name, begin, last, limit=limit)
    return Times(items=times, next=times[-1] if len(times) == limit else None)


@router.get("/schedules/{name}/explain", **READ)
async def explain(request: Request, who: Reader, name: Name, at: Moment) -> ExplanationShown:
    """Explain why a schedule ran at a time, why it did not, or whether it will."""
    visible = partial(visible_occurrences, request, who)
    return ExplanationShown.model_validate(await who.app.schedules.explain(name, at, visible=visible))


@router.get("/upcoming", **READ)
async def upcoming(who: Reader, limit: Limit = 50, each: Each = None) -> Coming:
    """List the next times of all schedules, the soonest first. `each` limits the number of items of one schedule. If
    times of a schedule have passed without being processed, one item represents all these late times. The `lateness` of
    the item says how many times are late, and how many of these will run."""
    times = await who.app.schedules.upcoming(limit, each=each)
    return Coming(items=[ComingShown.model_validate(one) for one in times])
