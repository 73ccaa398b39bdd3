"""Answer the HTTP calls that start, watch and stop durable functions and send them messages."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

from ostinato.engine.access import Role
from ostinato.engine.idempotency import digest
from ostinato.errors import Conflict, RunEnded
from ostinato.faces.auth import Who
from ostinato.faces.http.authentication import JourneyReader, Operator, Reader, requires
from ostinato.faces.http.idempotency import Key, answer_once
from ostinato.faces.http.pagination import AfterNumber, BeforeRun, Limit, list_before, listing, numbered_page
from ostinato.faces.http.read_guard import visible_steps
from ostinato.faces.http.routing import SVG, HttpAnswer, Path, Query, Router, svg_answer
from ostinato.faces.http.shapes.common import NO_NUL, StopBody
from ostinato.faces.http.shapes.functions import (
    DeclaredFunctions,
    DeclaredShown,
    DrainList,
    DrainShown,
    FunctionOutcome,
    FunctionShown,
    FunctionsShown,
    FunctionStarted,
    MessageTaken,
    SendMessage,
    StartFunction,
    StepShown,
    StepsShown,
)
from ostinato.faces.http.shapes.runs import Stopped
from ostinato.functions.drawing import draw_steps
from ostinato.functions.views import StepInfo
from ostinato.model import Status

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request, Response

router = Router(tags=["functions"])
READ, WRITE = requires(Role.READER), requires(Role.OPERATOR)
Id = Annotated[
    str, Path(min_length=1, max_length=600, pattern=NO_NUL, description="A run's id, or the id it was started with.")
]
_LONGEST_WAIT = 20  # seconds; less than clients wait for an answer


@router.post("/functions", status_code=201, **WRITE)
async def start_function(who: Operator, body: StartFunction, response: Response, key: Key = None) -> FunctionStarted:
    """Start a function, now or later. The messages in `send` are in its mailbox from the beginning."""
    handle = await who.app.functions.start(
        body.function, body.input, id=body.id, at=body.at, send=body.send, request_id=key, **body.options()
    )
    response.headers["Location"] = f"/api/v1/functions/{handle.id}"
    return FunctionStarted.model_validate(handle)


@router.get("/functions", response_model=FunctionsShown, **READ)
async def list_functions(
    who: Reader,
    name: Annotated[str | None, Query(max_length=512, pattern=NO_NUL)] = None,
    status: Status | None = None,
    before: BeforeRun = None,
    limit: Limit = 100,
) -> HttpAnswer:
    """List runs of functions, the newest first."""
    fetch = partial(who.app.functions.list, name=name, status=None if status is None else status.value)
    return await list_before(who, before, limit, fetch, lambda run: run.id, FunctionShown.model_validate)


@router.get("/functions/declared", **READ)
async def list_declared_functions(who: Reader, after: AfterNumber = None, limit: Limit = 100) -> DeclaredFunctions:
    """List the functions that nodes have declared, ordered by name and version."""
    codes, more = numbered_page(await who.app.functions.declared(), after, limit)
    return DeclaredFunctions(items=[DeclaredShown.model_validate(code) for code in codes], next=more)


@router.get("/functions/drain", **READ)
async def drain_functions(who: Reader, after: AfterNumber = None, limit: Limit = 100) -> DrainList:
    """List the code versions that unfinished runs began with. A pinned run needs its version until it has ended."""
    codes, more = numbered_page(await who.app.functions.drain(), after, limit)
    return DrainList(items=[DrainShown.model_validate(code) for code in codes], next=more)


@router.get("/functions/{id}", **READ)
async def read_function(who: Reader, id: Id) -> FunctionShown:
    """Read a run of a function: its status, what it waits for, and the state that its code set (`ctx.set_state`)."""
    return FunctionShown.model_validate(await who.app.functions.get(id))


@router.get("/functions/{id}/result", **READ)
async def read_function_result(
    who: Reader,
    id: Id,
    wait: Annotated[float, Query(ge=0, le=_LONGEST_WAIT, description="How many seconds to wait for its end.")] = 0,
) -> FunctionOutcome:
    """Read how a run ended. While the run is not over, the answer is a conflict (409)."""
    functions = who.app.functions
    info = await functions.get(id)
    if not info.over and wait:
        with suppress(RunEnded, TimeoutError):  # the answer shows the status
            await functions.result(info.id, wait)
        info = await functions.get(info.id)
    if not info.over:
        words = f"{info.status}, it waits for {info.waits_for}" if info.waits_for else info.status
        raise Conflict(f"function run {id!r} is not over: {words}")
    return FunctionOutcome.model_validate(info)


@router.get("/functions/{id}/steps", response_model=StepsShown, **READ)
async def list_function_steps(
    request: Request, who: JourneyReader, id: Id, after: AfterNumber = None, limit: Limit = 100
) -> HttpAnswer:
    """List the recorded operations of a run, in the order in which they began."""
    steps = list(enumerate(await _steps(request, who, id), 1))

    async def fetch(after: int | None, limit: int) -> Sequence[tuple[int, StepInfo]]:
        return steps[after or 0 :][:limit]

    return await listing(
        who, after, limit, fetch, lambda numbered: numbered[0], lambda numbered: StepShown.model_validate(numbered[1])
    )


@router.get("/functions/{id}/timeline.svg", **SVG, **READ)
async def draw_function(request: Request, who: JourneyReader, id: Id) -> HttpAnswer:
    """Draw the steps of a run as a timeline."""
    info = await who.app.functions.get(id)
    return svg_answer(draw_steps(info, await _steps(request, who, info.id), who.app.engine.clock.now()))


@router.post("/functions/{id}/messages", status_code=202, **WRITE)
async def send_message(who: Operator, id: Id, body: SendMessage, key: Key = None) -> MessageTaken:
    """Send a message to a run. The answer is a conflict (409) if the run is over, or 429 if the run has too many
    messages that it has not received."""
    message_id = body.id or (None if key is None else digest("message", key))

    async def send() -> MessageTaken:
        await who.app.functions.send(id, body.name, body.payload, id=message_id)
        return MessageTaken(run_id=(await who.app.functions.get(id)).id, name=body.name)

    what = f"send message {digest(id, body.name, body.payload, body.id)}"
    return await answer_once(who.app, key, what, MessageTaken, send)


@router.post("/functions/{id}/cancel", **WRITE)
async def cancel_function(who: Operator, id: Id, body: StopBody, key: Key = None) -> Stopped:
    """Cancel a run: its code gets `Cancelled` where it waits, and may clean up. Doing it again changes nothing."""
    return Stopped(status=await who.app.functions.cancel(id, body.reason, request_id=key))


@router.post("/functions/{id}/terminate", **WRITE)
async def terminate_function(who: Operator, id: Id, body: StopBody, key: Key = None) -> Stopped:
    """End a run at once, without notifying its code. Repeating the call changes nothing."""
    return Stopped(status=await who.app.functions.terminate(id, body.reason, request_id=key))


async def _steps(request: Request, who: Who, id: str) -> Sequence[StepInfo]:
    return await visible_steps(request, who, await who.app.functions.steps(id))
