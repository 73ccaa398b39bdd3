"""Schedules over HTTP. A schedule's conflict token is its ETag; `If-Match` makes a change depend on it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response

from ostinato.engine.access import Role
from ostinato.faces.door import Refused
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.hiding import shown_occurrences, shown_schedules
from ostinato.faces.http.keys import Key
from ostinato.faces.http.paging import After, Before, Limit, listing
from ostinato.faces.http.shapes.common import Moment
from ostinato.faces.http.shapes.schedules import (
    ChangedShown,
    Coming,
    ComingShown,
    Definition,
    ExplanationShown,
    History,
    MoveOne,
    NewSchedule,
    Note,
    OccurrenceShown,
    One,
    Resume,
    ScheduleShown,
    SchedulesShown,
    Times,
    Trigger,
    Upserted,
)
from ostinato.faces.http.who import JourneyReader, Operator, Reader, declared
from ostinato.schedules.calls import Changed
from ostinato.schedules.views import OccurrenceInfo, ScheduleInfo

router = APIRouter(route_class=Route, tags=["schedules"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)
Name = Annotated[str, Path(min_length=1, max_length=512)]
_TOKEN = 18  # digits
Match = Annotated[
    str | None, Header(alias="If-Match", description="The ETag the change depends on; without it, it does not.")
]


def token_of(match: str | None) -> int | None:
    """The conflict token that an If-Match asks for."""
    if match is None or match.strip() == "*":
        return None
    text = match.strip().removeprefix("W/").strip('"')
    if not text.isascii() or not text.isdigit() or len(text) > _TOKEN:
        raise Refused(412, "conflict token mismatch", f"If-Match {match!r} is not an ETag of this schedule")
    return int(text)


def tagged(response: Response, token: int) -> None:
    response.headers["ETag"] = f'"{token}"'


def changed(response: Response, done: Changed) -> ChangedShown:
    tagged(response, done.token)
    return ChangedShown.model_validate(done)


def shown(info: ScheduleInfo) -> ScheduleShown:
    return ScheduleShown.model_validate(info)


@router.get("/schedules", response_model=SchedulesShown, **READ)
async def list_schedules(
    request: Request,
    who: Reader,
    match: Annotated[str, Query(max_length=512, description="A pattern of names, such as `billing-*`.")] = "*",
    tag: str | None = None,
    state: str | None = None,
    job: str | None = None,
    after: After = None,
    limit: Limit = 100,
) -> Response:
    """Schedules by name."""

    async def fetch(after: str | None, limit: int) -> list[ScheduleInfo]:
        calls = who.app.schedules
        return await calls.list(match=match, tag=tag, state=state, job=job, after=after or "", limit=limit)

    visible = partial(shown_schedules, request, who)
    return await listing(who, after, limit, fetch, lambda info: info.name, shown, visible)


@router.post("/schedules", status_code=201, **WRITE)
async def create_schedule(who: Operator, body: NewSchedule, response: Response, key: Key = None) -> ChangedShown:
    """Create a schedule. A name that is taken is a conflict; use PUT to create or change."""
    done = await who.app.schedules.create(
        body.name, paused=body.paused, trigger=body.trigger, request_id=key, **body.given()
    )
    return changed(response, done)


@router.get("/schedules/{name}", **READ)
async def read_schedule(
    request: Request,
    who: JourneyReader,
    name: Name,
    response: Response,
    recent: Annotated[int, Query(ge=0, le=1000)] = 10,
) -> ScheduleShown:
    """A schedule as it stands, with its conflict token as the ETag."""
    info = await who.app.schedules.get(name, recent=recent)
    tagged(response, info.token)
    (found,) = await shown_schedules(request, who, [info])
    return shown(replace(found, recent=tuple(await shown_occurrences(request, who, info.recent))))


@router.put("/schedules/{name}", **WRITE)
async def upsert_schedule(who: Operator, name: Name, body: Definition, response: Response, key: Key = None) -> Upserted:
    """Create it, or make it as given. Its place in time, its counts and whether it is paused stay."""
    done, answer = await who.app.schedules.upsert(name, request_id=key, **body.given())
    tagged(response, answer.token)
    return Upserted(done=done, **ChangedShown.model_validate(answer).model_dump())  # type: ignore[arg-type]


@router.patch("/schedules/{name}", **WRITE)
async def update_schedule(
    who: Operator, name: Name, body: Definition, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Change what is given. No time comes twice by it, and none is lost."""
    done = await who.app.schedules.update(name, token=token_of(match), request_id=key, **body.given())
    return changed(response, done)


@router.delete("/schedules/{name}", **WRITE)
async def delete_schedule(
    who: Operator,
    name: Name,
    response: Response,
    running: Annotated[str, Query(pattern="^(leave|cancel|terminate)$")] = "leave",
    key: Key = None,
    match: Match = None,
) -> ChangedShown:
    """Close it. What waits is given up; what runs is left alone, or stopped on request."""
    done = await who.app.schedules.delete(name, running=running, token=token_of(match), request_id=key)
    return changed(response, done)


@router.post("/schedules/{name}/pause", **WRITE)
async def pause_schedule(
    who: Operator,
    name: Name,
    body: Annotated[Note, Body(default_factory=Note)],
    response: Response,
    key: Key = None,
    match: Match = None,
) -> ChangedShown:
    """No automatic run until it is resumed."""
    return changed(response, await who.app.schedules.pause(name, body.note, token=token_of(match), request_id=key))


@router.post("/schedules/{name}/resume", **WRITE)
async def resume_schedule(
    who: Operator,
    name: Name,
    body: Annotated[Resume, Body(default_factory=Resume)],
    response: Response,
    key: Key = None,
    match: Match = None,
) -> ChangedShown:
    """Let it run again; say what is to become of the times that passed meanwhile."""
    done = await who.app.schedules.resume(name, body.note, catchup=body.catchup, token=token_of(match), request_id=key)
    return changed(response, done)


@router.post("/schedules/{name}/trigger", **WRITE)
async def trigger_schedule(
    who: Operator,
    name: Name,
    body: Annotated[Trigger, Body(default_factory=Trigger)],
    response: Response,
    key: Key = None,
    match: Match = None,
) -> ChangedShown:
    """Run it now, perhaps with another input. The answer says whether it started, waits or was skipped."""
    done = await who.app.schedules.trigger(
        name, input=body.input, overlap=body.overlap, token=token_of(match), request_id=key
    )
    return changed(response, done)


@router.post("/schedules/{name}/skip", **WRITE)
async def skip_one(
    who: Operator, name: Name, body: One, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Leave out exactly one coming occurrence, by its nominal time."""
    return changed(response, await who.app.schedules.skip(name, body.at, token=token_of(match), request_id=key))


@router.post("/schedules/{name}/move", **WRITE)
async def move_one(
    who: Operator, name: Name, body: MoveOne, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Move exactly one coming occurrence, between its neighbours."""
    done = await who.app.schedules.move(name, body.at, body.to, token=token_of(match), request_id=key)
    return changed(response, done)


@router.post("/schedules/{name}/put-back", **WRITE)
async def put_back(
    who: Operator, name: Name, body: One, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Take back a skip or a move of one coming occurrence."""
    return changed(response, await who.app.schedules.put_back(name, body.at, token=token_of(match), request_id=key))


@router.get("/schedules/{name}/history", response_model=History, **READ)
async def history(
    request: Request,
    who: JourneyReader,
    name: Name,
    first: Moment | None = None,
    last: Moment | None = None,
    before: Before = None,
    limit: Limit = 100,
) -> Response:
    """What became of its times, the newest first."""

    async def fetch(before: str | None, limit: int) -> list[OccurrenceInfo]:
        return await who.app.schedules.history(name, first=first, last=last, before=before, limit=limit)

    visible = partial(shown_occurrences, request, who)
    return await listing(who, before, limit, fetch, lambda one: one.cursor, OccurrenceShown.model_validate, visible)


@router.get("/schedules/{name}/times", **READ)
async def matching_times(
    who: Reader,
    name: Name,
    first: Moment,
    last: Moment,
    after: Annotated[Moment | None, Query(description="`next` of the page before.")] = None,
    limit: Limit = 1000,
) -> Times:
    """The nominal times of its spec in a period, both ends included."""
    begin = first if after is None else max(first, after + timedelta(microseconds=1))
    found = await who.app.schedules.times(name, begin, last, limit=limit)
    return Times(items=found, next=found[-1] if len(found) == limit else None)


@router.get("/schedules/{name}/explain", **READ)
async def explain(request: Request, who: Reader, name: Name, at: Moment) -> ExplanationShown:
    """Why it ran at a moment, why it did not, or whether it will."""
    visible = partial(shown_occurrences, request, who)
    return ExplanationShown.model_validate(await who.app.schedules.explain(name, at, visible=visible))


@router.get("/upcoming", **READ)
async def upcoming(who: Reader, limit: Limit = 50) -> Coming:
    """What is to come, of all schedules, soonest first; what is late, with what will become of it."""
    found = await who.app.schedules.upcoming(limit)
    return Coming(items=[ComingShown.model_validate(one) for one in found])
