"""Schedules over HTTP. A schedule's conflict token is its ETag; `If-Match` makes a change depend on it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Response
from pydantic import BeforeValidator

from ostinato.engine.access import Role
from ostinato.engine.requests import digest
from ostinato.errors import OstinatoError
from ostinato.faces.http.guard import named
from ostinato.faces.http.keys import Key, done_once
from ostinato.faces.http.paging import After, Before, Limit
from ostinato.faces.http.problems import Refused
from ostinato.faces.http.shapes.common import Moment, Stop
from ostinato.faces.http.shapes.schedules import (
    Backfills,
    BackfillShown,
    Bulk,
    BulkDone,
    ChangedShown,
    Coming,
    ComingShown,
    Definition,
    ExplanationShown,
    Fill,
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
from ostinato.faces.http.shapes.simulation import Simulate, SimulatedShown, SimulationShown
from ostinato.faces.http.who import Operator, Reader, Who, declared
from ostinato.schedules.calls import Changed
from ostinato.schedules.simulate import Simulation
from ostinato.schedules.timeline import timeline
from ostinato.schedules.views import ScheduleInfo
from ostinato.when.instants import SECOND, Micros, to_datetime

router = APIRouter(tags=["schedules"])
READ, WRITE = declared(Role.READER), declared(Role.OPERATOR)
Name = Annotated[str, Path(min_length=1, max_length=512), BeforeValidator(named)]
Match = Annotated[
    str | None, Header(alias="If-Match", description="The ETag the change depends on; without it, it does not.")
]


def token_of(match: str | None) -> int | None:
    """The conflict token that an If-Match asks for."""
    if match is None or match.strip() == "*":
        return None
    text = match.strip().removeprefix("W/").strip('"')
    if not text.isdigit():
        raise Refused(412, "conflict token mismatch", f"If-Match {match!r} is not an ETag of this schedule")
    return int(text)


def tagged(response: Response, token: int) -> None:
    response.headers["ETag"] = f'"{token}"'


def changed(response: Response, done: Changed) -> ChangedShown:
    tagged(response, done.token)
    return ChangedShown.model_validate(done)


def shown(info: ScheduleInfo) -> ScheduleShown:
    return ScheduleShown.model_validate(info)


@router.get("/schedules", **READ)
async def list_schedules(
    who: Reader,
    match: Annotated[str, Query(max_length=512, description="A pattern of names, such as `billing-*`.")] = "*",
    tag: str | None = None,
    state: str | None = None,
    job: str | None = None,
    after: After = None,
    limit: Limit = 100,
) -> SchedulesShown:
    """Schedules by name."""
    found = await who.app.schedules.find(match=match, tag=tag, state=state, job=job, after=after or "", limit=limit)
    return SchedulesShown(items=[shown(one) for one in found], next=found[-1].name if len(found) == limit else None)


@router.post("/schedules", status_code=201, **WRITE)
async def create_schedule(who: Operator, body: NewSchedule, response: Response, key: Key = None) -> ChangedShown:
    """Create a schedule. A name that is taken is a conflict; use PUT to create or change."""
    done = await who.app.schedules.create(
        body.name, paused=body.paused, trigger=body.trigger, request_id=key, **body.given()
    )
    return changed(response, done)


@router.get("/schedules/{name}", **READ)
async def read_schedule(
    who: Reader, name: Name, response: Response, recent: Annotated[int, Query(ge=0, le=1000)] = 10
) -> ScheduleShown:
    """A schedule as it stands, with its conflict token as the ETag."""
    info = await who.app.schedules.get(name, recent=recent)
    tagged(response, info.token)
    return shown(info)


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
    who: Operator, name: Name, body: Note, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """No automatic run until it is resumed."""
    return changed(response, await who.app.schedules.pause(name, body.note, token=token_of(match), request_id=key))


@router.post("/schedules/{name}/resume", **WRITE)
async def resume_schedule(
    who: Operator, name: Name, body: Resume, response: Response, key: Key = None, match: Match = None
) -> ChangedShown:
    """Let it run again; say what is to become of the times that passed meanwhile."""
    done = await who.app.schedules.resume(name, body.note, catchup=body.catchup, token=token_of(match), request_id=key)
    return changed(response, done)


@router.post("/schedules/{name}/trigger", **WRITE)
async def trigger_schedule(
    who: Operator, name: Name, body: Trigger, response: Response, key: Key = None, match: Match = None
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


@router.get("/schedules/{name}/history", **READ)
async def history(
    who: Reader,
    name: Name,
    first: Moment | None = None,
    last: Moment | None = None,
    before: Before = None,
    limit: Limit = 100,
) -> History:
    """What became of its times, the newest first."""
    found = await who.app.schedules.history(name, first=first, last=last, before=before, limit=limit)
    more = found[-1].cursor if len(found) == limit else None
    return History(items=[OccurrenceShown.model_validate(one) for one in found], next=more)


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
async def explain(who: Reader, name: Name, at: Moment) -> ExplanationShown:
    """Why it ran at a moment, why it did not, or whether it will."""
    return ExplanationShown.model_validate(await who.app.schedules.explain(name, at))


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
    who: Operator, name: Name, id: Name, body: Stop, response: Response, key: Key = None
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


@router.get("/upcoming", **READ)
async def upcoming(who: Reader, limit: Limit = 50) -> Coming:
    """What is to come, of all schedules, soonest first; what is late, with what will become of it."""
    found = await who.app.schedules.upcoming(limit)
    return Coming(items=[ComingShown.model_validate(one) for one in found])


@router.post("/simulate", response_model=SimulationShown, **READ)
async def simulate(who: Reader, body: Simulate) -> Response:
    """What would happen, by the engine's own decisions. Nothing is changed."""
    found = await _simulated(who, body)
    # Up to 100,000 occurrences: written in a thread, as they were worked out, so that nothing else waits for it.
    text = await asyncio.to_thread(lambda: _simulation(found).model_dump_json())
    return Response(text, media_type="application/json")


@router.post("/simulate.svg", response_class=Response, responses={200: {"content": {"image/svg+xml": {}}}}, **READ)
async def simulate_svg(who: Reader, body: Simulate) -> Response:
    """The same as a picture."""
    found = await _simulated(who, body)
    picture = await asyncio.to_thread(timeline, found, UTC, body.schedule or "draft")
    return Response(picture, media_type="image/svg+xml")


async def _simulated(who: Who, body: Simulate) -> Simulation:
    if (body.schedule is None) == (body.draft is None):
        raise OstinatoError("give either schedule, a name, or draft, a definition")
    calls = who.app.schedules
    what = body.schedule if body.draft is None else calls.draft("draft", **{"action": "job", **body.draft.given()})
    assert what is not None
    lengths = body.run_time if isinstance(body.run_time, list) else [body.run_time]
    return await calls.simulate(
        what,
        body.first,
        body.last,
        run_time=[int(one * SECOND) for one in lengths],
        outages=body.outages,
        pauses=body.pauses,
        seed=body.seed,
    )


def _simulation(found: Simulation) -> SimulationShown:
    def moment(at: Micros | None) -> Any:
        return None if at is None else to_datetime(at)

    return SimulationShown(
        counts=found.counts(),
        items=[
            SimulatedShown(
                nominal=moment(one.nominal),
                due=moment(one.actual),
                outcome=one.outcome,
                reason=None if one.reason is None else one.reason.value,
                started=moment(one.started),
                ended=moment(one.ended),
                blocked_by=moment(one.blocked_by),
                stands_for=one.stands_for,
            )
            for one in found.occurrences
        ],
    )
