"""Journeys over HTTP: started, looked at, answered, cancelled. Whoever knows an id is not allowed anything by that."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Body, Header, Path, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from ostinato.engine.access import Role
from ostinato.engine.requests import digest
from ostinato.errors import OstinatoError, shown
from ostinato.faces.door import Who
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.inbound import give_cookies, inbound
from ostinato.faces.http.keys import Key, done_once
from ostinato.faces.http.paging import BeforeRun, Limit
from ostinato.faces.http.shapes.common import NO_NUL
from ostinato.faces.http.shapes.journeys import (
    JourneyHeard,
    JourneyOutcomeShown,
    JourneysShown,
    JourneyStartResponse,
    JourneyStatusShown,
    Reason,
)
from ostinato.faces.http.who import JourneyOperator, JourneyReader, declared
from ostinato.journeys.checks.graph import LONGEST_ID
from ostinato.journeys.drawing import draw
from ostinato.journeys.machine.model import Instance
from ostinato.journeys.views import JourneyOutcome, JourneyStatus

router = APIRouter(route_class=Route, tags=["journeys"])
LIST, WRITE = declared(Role.READER), declared(Role.OPERATOR)
# A journey may read any name of the query: into its context, or as the key that its read guard asks for.
READ_ONE, ANSWER = declared(Role.READER, any_query=True), declared(Role.OPERATOR, any_query=True)
Name = Annotated[str, Path(min_length=1, max_length=200, pattern=NO_NUL)]
Id = Annotated[str, Path(min_length=1, max_length=64, pattern=NO_NUL)]
Step = Annotated[
    str,
    Path(min_length=1, max_length=LONGEST_ID, pattern=NO_NUL, description="The id of a wait or webhook."),
]
Version = Annotated[str | None, Query(max_length=100, pattern=NO_NUL, description="Another than the latest.")]
Label = Annotated[str | None, Query(max_length=256, pattern=NO_NUL)]
Labels = Annotated[list[Annotated[str, Query(max_length=300, pattern=NO_NUL)]] | None, Query(max_length=16)]
Prefer = Annotated[
    str | None,
    Header(
        max_length=200,
        description="RFC 7240: `respond-async` answers at once, `wait=10` after that many seconds at the latest.",
    ),
]
_WAIT = 20.0  # seconds that an answer is waited for
_LONGEST = 60.0
STARTED: dict[int | str, dict[str, Any]] = {
    200: {"model": JourneyOutcomeShown | JourneyStatusShown, "description": "It is over, or waits"},
    202: {"model": JourneyStartResponse, "description": "It is under way; `statusUrl` says where to look"},
}


class Answer(BaseModel):
    """What was answered to a call, for who makes it again."""

    status: int
    body: dict[str, Any]

    def response(self) -> JSONResponse:
        return JSONResponse(self.body, self.status)


@router.post("/journeys/{name}/start", responses=STARTED, response_model=None, **ANSWER)
async def start_journey(
    request: Request,
    who: JourneyOperator,
    name: Name,
    body: Annotated[Any, Body(description="The first context: an object.")] = None,
    version: Version = None,
    prefer: Prefer = None,
    key: Key = None,
) -> Response:
    """Start a journey. One that starts in sync is answered with its outcome, or with its status once it waits; if that
    takes long, or it starts in async, with where to look."""
    wait, at_once = _preferred(prefer)
    journeys = who.app.journeys
    seen = inbound(request, journeys.settings)

    async def start() -> Answer:
        status = await journeys.start(
            name,
            {} if body is None else body,
            version=version,
            id=None if key is None else f"request:{key}",
            mode="async" if at_once else None,
            wait=wait,
            request=seen,
        )
        return await _started(request, who, status, at_once)

    what = f"start journey {digest(name, version, body)}"
    answer = await done_once(who.app, key, what, Answer, start)
    response = answer.response()
    response.headers["Location"] = f"/api/v1/journeys/{answer.body['journeyId']}"
    return give_cookies(response, seen)


async def _started(request: Request, who: Who, status: JourneyStatus, at_once: bool) -> Answer:
    journeys = who.app.journeys
    if status.over:
        return Answer(status=200, body=outcome_form(request, await journeys.result(status.id)))
    lifecycle = (await journeys.read_definition(status.name, status.version)).spec.lifecycle
    at_once = at_once or (lifecycle is not None and lifecycle.start_mode == "async")
    if not at_once and (status.steps or (await who.app.get(status.id)).status == "waiting"):
        return Answer(status=200, body=status_form(request, status))
    found = {"journeyId": status.id, "journeyName": status.name, "statusUrl": _href(request, status.id)}
    return Answer(status=202, body=found | _status_links(request, status))


def _preferred(prefer: str | None) -> tuple[float, bool]:
    """How long to wait, and whether to answer at once."""
    parts = [one.strip().lower() for one in (prefer or "").split(",")]
    wait = _WAIT
    for one in parts:
        found = re.fullmatch(r"wait\s*=\s*(\d{1,6})", one)
        wait = min(float(found[1]), _LONGEST) if found else wait
    return wait, "respond-async" in parts


@router.get("/journeys", response_model=JourneysShown, response_model_exclude_none=False, **LIST)
async def list_journeys(
    request: Request,
    who: JourneyReader,
    journeyName: Label = None,
    phase: Literal["RUNNING", "SUCCEEDED", "FAILED"] | None = None,
    subjectId: Label = None,
    tenantId: Label = None,
    tag: Labels = None,
    attribute: Labels = None,
    before: BeforeRun = None,
    limit: Limit = 100,
) -> Response:
    """Instances, newest first, that have all of these; `attribute` is `name=value`. Those that the caller may not read
    are left out."""
    wanted = {"subjectId": subjectId, "tenantId": tenantId}
    for one in attribute or []:
        known, equals, value = one.partition("=")
        if not known or not equals:
            raise OstinatoError(f"attribute {shown(one)} is not name=value")
        wanted[known] = value
    found, more = await who.app.journeys.page(
        name=journeyName or "",
        phase=phase or "",
        tags=tag or (),
        attributes={known: value for known, value in wanted.items() if value is not None},
        before=before or "~",
        limit=limit,
        request=inbound(request, who.app.journeys.settings),
        guarded=True,
    )
    items = [status_form(request, one) for one in found]
    return JSONResponse({"items": items, "next": more, "nextPageToken": more})


@router.get("/journeys/{id}", response_model=JourneyStatusShown, **READ_ONE)
async def read_journey(request: Request, who: JourneyReader, id: Id) -> Response:
    """Where a journey stands, and what it waits for."""
    seen = inbound(request, who.app.journeys.settings)
    return JSONResponse(status_form(request, await who.app.journeys.status(id, request=seen, guarded=True)))


@router.get("/journeys/{id}/result", response_model=JourneyOutcomeShown, **READ_ONE)
async def read_result(request: Request, who: JourneyReader, id: Id) -> Response:
    """How a journey ended; a conflict while it has not."""
    seen = inbound(request, who.app.journeys.settings)
    return JSONResponse(outcome_form(request, await who.app.journeys.result(id, request=seen, guarded=True)))


@router.get(
    "/journeys/{id}/diagram.svg",
    response_class=Response,
    responses={200: {"content": {"image/svg+xml": {}}}},
    **READ_ONE,
)
async def draw_journey(request: Request, who: JourneyReader, id: Id) -> Response:
    """Its states as a picture, with the way it took and where it is."""
    seen = inbound(request, who.app.journeys.settings)
    definition, instance = await who.app.journeys.instance(id, request=seen, guarded=True)
    return Response(draw(definition, instance, await _way(who, instance)), media_type="image/svg+xml")


async def _way(who: Who, instance: Instance) -> list[dict[str, Any]]:
    """The states it has entered, as far as events are kept."""
    found: list[dict[str, Any]] = []
    after = 0
    while len(found) < 5000:
        events = await who.app.events(subject=instance.id, after=after, limit=1000)
        found += [dict(one.data) for one in events if one.name == "journey:state_entered"]
        if len(events) < 1000:
            break
        after = events[-1].seq
    return found


@router.post("/journeys/{id}/steps/cancel", response_model=JourneyStatusShown | JourneyHeard, **WRITE)
async def cancel_journey(
    request: Request, who: JourneyOperator, id: Id, body: Reason | None = None, key: Key = None
) -> Response:
    """End a journey wherever it stands, and compensate it. One that is over stays as it is."""
    reason = "" if body is None else body.reason

    async def cancel() -> Answer:
        return Answer(status=200, body=status_form(request, await who.app.journeys.cancel(id, reason)))

    answer = await done_once(who.app, key, f"cancel journey {digest(id, reason)}", Answer, cancel)
    return JSONResponse(await _told(request, who, id, answer.body), answer.status)


@router.post("/journeys/{id}/steps/{step}", response_model=JourneyStatusShown | JourneyHeard, **ANSWER)
async def submit_step(
    request: Request,
    who: JourneyOperator,
    id: Id,
    step: Step,
    body: Annotated[Any, Body(description="The input, as the step's schema has it.")] = None,
    prefer: Prefer = None,
    key: Key = None,
) -> Response:
    """Give a journey the input that it waits for. It goes on to where it next waits, or to its end, and the answer says
    where that is. With the same key the input is taken once, and answered as it was then."""
    wait, _ = _preferred(prefer)
    journeys = who.app.journeys
    seen = inbound(request, journeys.settings)
    status = await journeys.submit(id, step, body, key=key, wait=wait, request=seen)
    told = await _told(request, who, id, status_form(request, status), status.more)
    return give_cookies(JSONResponse(told), seen)


async def _told(
    request: Request, who: Who, id: str, form: dict[str, Any], more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The answer to a caller who has moved a journey. One whom the read guard does not let read it is told only that it
    was heard, and what the step shows to whoever brings its input."""
    if not await who.app.journeys.hidden([id], inbound(request, who.app.journeys.settings)):
        return form
    return {**(more or {}), "journeyId": form["journeyId"], "journeyName": form["journeyName"]}


# Envelopes


def status_form(request: Request, status: JourneyStatus) -> dict[str, Any]:
    return status.form() | _status_links(request, status)


def outcome_form(request: Request, outcome: JourneyOutcome) -> dict[str, Any]:
    found = {"self": _link(_href(request, outcome.id, "result")), "status": _link(_href(request, outcome.id))}
    return outcome.form() | ({"_links": found} if outcome.links else {})


def _status_links(request: Request, status: JourneyStatus) -> dict[str, Any]:
    if not status.links:
        return {}
    found = {"self": _link(_href(request, status.id)), "result": _link(_href(request, status.id, "result"))}
    found |= {one: _link(_href(request, status.id, "steps", one), "POST") for one in status.steps}
    if status.cancellable and not status.over:
        found["cancel"] = _link(_href(request, status.id, "steps", "cancel"), "POST")
    return {"_links": found}


def _link(href: str, method: str = "GET") -> dict[str, str]:
    return {"href": href, "method": method}


def _href(request: Request, *parts: str) -> str:
    namespace = request.query_params.get("namespace")
    within = "" if namespace is None else f"?namespace={quote(namespace, safe='')}"
    return "/".join(["/api/v1/journeys", *(quote(one, safe="") for one in parts)]) + within
