"""Answer the HTTP calls that start, read, draw and cancel journeys and submit their steps.

A caller who knows a journey's id still needs permission.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import quote

from pydantic import BaseModel, Field

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.errors import OstinatoError, short_repr
from ostinato.faces.auth import Who
from ostinato.faces.http.authentication import JourneyOperator, JourneyReader, requires
from ostinato.faces.http.idempotency import Key, answer_once
from ostinato.faces.http.journey_request import give_cookies, inbound
from ostinato.faces.http.pagination import BeforeRun, Limit
from ostinato.faces.http.routing import SVG, Body, Header, HttpAnswer, Path, Query, Router, json_answer, svg_answer
from ostinato.faces.http.shapes.common import NO_NUL
from ostinato.faces.http.shapes.journeys import (
    JourneyHeard,
    JourneyOutcomeShown,
    JourneysShown,
    JourneyStartResponse,
    JourneyStatusShown,
    Reason,
)
from ostinato.journeys.api.views import JourneyOutcome, JourneyStatus
from ostinato.journeys.checks.graph import LONGEST_ID
from ostinato.journeys.drawing import draw
from ostinato.journeys.machine.model import Instance

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request

router = Router(tags=["journeys"])
LIST, WRITE = requires(Role.READER), requires(Role.OPERATOR)
# A journey may read any query parameter: into its context, or as the key that its read guard requires.
READ_ONE, ANSWER = requires(Role.READER, any_query=True), requires(Role.OPERATOR, any_query=True)
Name = Annotated[str, Path(min_length=1, max_length=200, pattern=NO_NUL)]
Id = Annotated[str, Path(min_length=1, max_length=64, pattern=NO_NUL)]
Step = Annotated[
    str, Path(min_length=1, max_length=LONGEST_ID, pattern=NO_NUL, description="The id of a wait or webhook.")
]
Version = Annotated[str | None, Query(max_length=100, pattern=NO_NUL, description="A version other than the latest.")]
Label = Annotated[str | None, Query(max_length=256, pattern=NO_NUL)]
Labels = Annotated[list[Annotated[str, Field(max_length=300, pattern=NO_NUL)]] | None, Query(max_length=16)]
Prefer = Annotated[
    str | None,
    Header(
        max_length=200,
        description="RFC 7240: `respond-async` answers at once, `wait=10` after that many seconds at the latest.",
    ),
]
_WAIT = 20.0  # seconds to wait for an answer by default
_LONGEST = 60.0
STARTED: dict[int | str, dict[str, Any]] = {
    200: {"model": JourneyOutcomeShown | JourneyStatusShown, "description": "It is over, or waits"},
    202: {"model": JourneyStartResponse, "description": "It is under way; `statusUrl` says where to look"},
}


class StoredAnswer(BaseModel):
    """A stored answer to a call. A repeated call with the same key gets it again."""

    status: int
    body: dict[str, Any]


@router.post("/journeys/{name}/start", responses=STARTED, response_model=None, **ANSWER)
async def start_journey(
    request: Request,
    who: JourneyOperator,
    name: Name,
    body: Annotated[Any, Body(description="The first context: an object.")] = None,
    version: Version = None,
    prefer: Prefer = None,
    key: Key = None,
) -> HttpAnswer:
    """Start a journey. The answer is its outcome if it ends, or its status if it waits for something. If neither
    happens in time, or if the journey starts in async mode, the answer is the URL of its status."""
    wait, at_once = _preferred(prefer)
    journeys = who.app.journeys
    seen = inbound(request, who)

    async def start() -> StoredAnswer:
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
    kept = await answer_once(who.app, key, what, StoredAnswer, start)
    answer = json_answer(kept.body, kept.status)
    answer.headers["Location"] = f"/api/v1/journeys/{kept.body['journeyId']}"
    return give_cookies(answer, seen)


async def _started(request: Request, who: Who, status: JourneyStatus, at_once: bool) -> StoredAnswer:
    journeys = who.app.journeys
    if status.over:
        return StoredAnswer(status=200, body=outcome_form(request, await journeys.result(status.id)))
    lifecycle = (await journeys.read_definition(status.name, status.version)).spec.lifecycle
    at_once = at_once or (lifecycle is not None and lifecycle.start_mode == "async")
    if not at_once and (status.steps or (await who.app.get(status.id)).status == "waiting"):
        return StoredAnswer(status=200, body=status_form(request, status))
    started = {"journeyId": status.id, "journeyName": status.name, "statusUrl": _href(request, status.id)}
    if status.note is not None:
        started["_note"] = status.note
    return StoredAnswer(status=202, body=started | _status_links(request, status))


def _preferred(prefer: str | None) -> tuple[float, bool]:
    """Read a Prefer header: how many seconds to wait (`wait=5`), and whether to answer at once (`respond-async`)."""
    parts = [part.strip().lower() for part in (prefer or "").split(",")]
    wait = _WAIT
    for part in parts:
        match = re.fullmatch(r"wait\s*=\s*(\d{1,18})", part)
        wait = min(float(match[1]), _LONGEST) if match else wait
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
) -> HttpAnswer:
    """List instances of journeys that match all filters, the newest first. An `attribute` has the form `name=value`.
    Instances that the caller may not read are left out."""
    wanted = {"subjectId": subjectId, "tenantId": tenantId}
    for label in attribute or []:
        label_name, equals, value = label.partition("=")
        if not label_name or not equals:
            raise OstinatoError(f"attribute {short_repr(label)} is not name=value")
        wanted[label_name] = value
    journeys, more = await who.app.journeys.page(
        name=journeyName or "",
        phase=phase or "",
        tags=tag or (),
        attributes={label_name: value for label_name, value in wanted.items() if value is not None},
        before=before or "~",
        limit=limit,
        request=inbound(request, who),
        guarded=True,
    )
    items = [status_form(request, label) for label in journeys]
    return json_answer({"items": items, "next": more, "nextPageToken": more})


@router.get("/journeys/{id}", response_model=JourneyStatusShown, **READ_ONE)
async def read_journey(request: Request, who: JourneyReader, id: Id) -> HttpAnswer:
    """Read the status of a journey, and what it waits for."""
    status = await who.app.journeys.status(id, request=inbound(request, who), guarded=True)
    return json_answer(status_form(request, status))


@router.get("/journeys/{id}/result", response_model=JourneyOutcomeShown, **READ_ONE)
async def read_result(request: Request, who: JourneyReader, id: Id) -> HttpAnswer:
    """Read the outcome of a journey. While the journey is running, the answer is a conflict (409)."""
    outcome = await who.app.journeys.result(id, request=inbound(request, who), guarded=True)
    return json_answer(outcome_form(request, outcome))


@router.get("/journeys/{id}/diagram.svg", **SVG, **READ_ONE)
async def draw_journey(request: Request, who: JourneyReader, id: Id) -> HttpAnswer:
    """Draw the states of a journey as SVG, with the path it took and its current state."""
    definition, instance = await who.app.journeys.instance(id, request=inbound(request, who), guarded=True)
    return svg_answer(draw(definition, instance, await _entered_states(who, instance)))


async def _entered_states(who: Who, instance: Instance) -> list[dict[str, Any]]:
    """Return the data of the stored `journey:state_entered` events of an instance."""
    states: list[dict[str, Any]] = []
    after = 0
    while len(states) < 5000:
        events = await who.app.events(subject=instance.id, after=after, limit=1000)
        states += [dict(one.data) for one in events if one.name == "journey:state_entered"]
        if len(events) < 1000:
            break
        after = events[-1].seq
    return states


@router.post("/journeys/{id}/steps/cancel", response_model=JourneyStatusShown | JourneyHeard, **WRITE)
async def cancel_journey(
    request: Request, who: JourneyOperator, id: Id, body: Reason | None = None, key: Key = None
) -> HttpAnswer:
    """Cancel a journey and run its compensations. If the journey has already ended, the call changes nothing."""
    reason = "" if body is None else body.reason

    async def cancel() -> StoredAnswer:
        return StoredAnswer(status=200, body=status_form(request, await who.app.journeys.cancel(id, reason)))

    kept = await answer_once(who.app, key, f"cancel journey {digest(id, reason)}", StoredAnswer, cancel)
    return json_answer(await _answer_as_guarded(request, who, id, kept.body), kept.status)


@router.post("/journeys/{id}/steps/{step}", response_model=JourneyStatusShown | JourneyHeard, **ANSWER)
async def submit_step(
    request: Request,
    who: JourneyOperator,
    id: Id,
    step: Step,
    body: Annotated[Any, Body(description="The input, as the step's schema has it.")] = None,
    prefer: Prefer = None,
    key: Key = None,
) -> HttpAnswer:
    """Submit the input that a journey waits for. The journey continues until it waits again or ends; the answer is its
    status at that time. The input is applied once for each key, and a repeated call with the same key gets the same
    answer."""
    wait, _ = _preferred(prefer)
    journeys = who.app.journeys
    seen = inbound(request, who)
    status = await journeys.submit(id, step, body, key=key, wait=wait, request=seen)
    answer = await _answer_as_guarded(request, who, id, status_form(request, status), status.more)
    return give_cookies(json_answer(answer), seen)


async def _answer_as_guarded(
    request: Request, who: Who, id: str, form: dict[str, Any], more: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return `form`, the answer about a journey, if the caller may read the journey. Otherwise return only the
    journey's id, name and note, together with the fields in `more`."""
    if not await who.app.journeys.hidden([id], inbound(request, who)):
        return form
    return {**(more or {}), **{key: form[key] for key in ("journeyId", "journeyName", "_note") if key in form}}


# Envelopes


def status_form(request: Request, status: JourneyStatus) -> dict[str, Any]:
    return status.to_json() | _status_links(request, status)


def outcome_form(request: Request, outcome: JourneyOutcome) -> dict[str, Any]:
    links = {"self": _link(_href(request, outcome.id, "result")), "status": _link(_href(request, outcome.id))}
    return outcome.to_json() | ({"_links": links} if outcome.links else {})


def _status_links(request: Request, status: JourneyStatus) -> dict[str, Any]:
    if not status.links:
        return {}
    links = {"self": _link(_href(request, status.id)), "result": _link(_href(request, status.id, "result"))}
    links |= {one: _link(_href(request, status.id, "steps", one), "POST") for one in status.steps}
    if status.cancellable and not status.over:
        links["cancel"] = _link(_href(request, status.id, "steps", "cancel"), "POST")
    return {"_links": links}


def _link(href: str, method: str = "GET") -> dict[str, str]:
    return {"href": href, "method": method}


def _href(request: Request, *parts: str) -> str:
    namespace = request.query_params.get("namespace")
    within = "" if namespace is None else f"?namespace={quote(namespace, safe='')}"
    return "/".join(["/api/v1/journeys", *(quote(one, safe="") for one in parts)]) + within
