"""Events over HTTP: by the page, and as a stream that is taken up again where it broke off."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from fnmatch import fnmatchcase
from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from ostinato.engine.access import Role, still_good
from ostinato.event_names import refuse_unknown
from ostinato.faces.door import Refused, Who
from ostinato.faces.http.bodies import Route
from ostinato.faces.http.hiding import seen_by, shown_events
from ostinato.faces.http.paging import Limit, listing
from ostinato.faces.http.shapes.admin import Events, EventShown
from ostinato.faces.http.who import JourneyReader, declared
from ostinato.journeys.plugins import Request as Inbound
from ostinato.model import Event, event_data
from ostinato.when.instants import to_datetime

router = APIRouter(route_class=Route, tags=["events"])
READ = declared(Role.READER)
_PAGE = 500
_ALIVE = 15.0  # seconds between signs of life on a silent stream
_LOOK = 1.0
MOST_STREAMS = 100  # of one namespace, at one server


def shown(event: Event) -> EventShown:
    return EventShown(
        seq=event.seq,
        at=to_datetime(event.at),
        namespace=event.namespace,
        name=event.name,
        subject=event.subject,
        data=event_data(event),
        actor=event.actor,
    )


@router.get("/events", response_model=Events, **READ)
async def list_events(
    request: Request,
    who: JourneyReader,
    after: Annotated[int, Query(ge=0, le=1 << 62)] = 0,
    subject: Annotated[str | None, Query(max_length=512, description="The id of a run or a schedule.")] = None,
    limit: Limit = 100,
    newest: Annotated[bool, Query(description="The last ones, instead of those after a number.")] = False,
) -> Response | Events:
    """Facts in the order of their commits."""
    seen = seen_by(request, who)
    if newest:
        last = await who.app.events(after=after, subject=subject, limit=limit, newest=True)
        return Events(items=[shown(one) for one in await shown_events(who, seen, last)], next=None)

    async def fetch(after: int | None, limit: int) -> list[Event]:
        return await who.app.events(after=after or 0, subject=subject, limit=limit)

    async def visible(found: Sequence[Event]) -> Sequence[Event]:
        return await shown_events(who, seen, found)

    return await listing(who, after, limit, fetch, lambda event: event.seq, shown, visible)


@router.get(
    "/events/stream",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Server-sent events; the id is the seq."}},
    **READ,
)
async def stream_events(
    request: Request,
    who: JourneyReader,
    pattern: Annotated[str, Query(max_length=200, description="Names, such as `schedule:*`.")] = "*",
    subject: Annotated[str | None, Query(max_length=512)] = None,
    after: Annotated[int | None, Query(ge=0, le=1 << 62, description="Begin after this seq; without it, now.")] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Facts as they happen. A client that comes back with `Last-Event-ID` misses nothing."""
    refuse_unknown(pattern)
    if last_event_id is not None:
        if not last_event_id.isascii() or not last_event_id.isdigit() or len(last_event_id) > 18:
            raise Refused(422, "invalid", f"Last-Event-ID {last_event_id!r} is not the number of an event")
        after = int(last_event_id)
    streams: Counter[str] = request.app.state.streams
    if streams[who.namespace] >= MOST_STREAMS:
        words = f"namespace {who.namespace!r} has {MOST_STREAMS} streams open, which is the most"
        raise Refused(429, "too many streams", words, {"Retry-After": "10"})
    if after is None:
        after = await who.app.last_event()
    closing: asyncio.Event = request.app.state.closing
    body = _stream(who, seen_by(request, who), pattern, subject, after, closing)
    counted = _counted(streams, who.namespace, body)
    return StreamingResponse(counted, media_type="text/event-stream", headers={"Cache-Control": "no-store"})


async def _counted(streams: Counter[str], namespace: str, body: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
    streams[namespace] += 1
    try:
        async with aclosing(body):
            async for part in body:
                yield part
    finally:
        streams[namespace] -= 1


async def _stream(
    who: Who, seen: Inbound, pattern: str, subject: str | None, after: int, closing: asyncio.Event
) -> AsyncGenerator[bytes, None]:
    loop = asyncio.get_running_loop()
    said = checked = loop.time()
    yield b"retry: 1000\n\n"
    with who.app.engine.listeners.watching() as some:
        while not closing.is_set():
            some.clear()
            last = await who.app.last_event()  # of all namespaces; whatever is read after this has all up to it
            found = await who.app.events(after=after, subject=subject, limit=_PAGE)
            wanted = [event for event in found if fnmatchcase(event.name, pattern)]
            for event in await shown_events(who, seen, wanted):
                yield _said(event)
                said = loop.time()
            after = found[-1].seq if found else after
            if len(found) == _PAGE:
                continue
            after = max(after, last)  # what others wrote is not looked through again, however long this one is silent
            if loop.time() - checked > _ALIVE:
                checked = loop.time()
                if not await _still_welcome(who):
                    return
            if loop.time() - said > _ALIVE:
                yield f": {after}\n\n".encode()
                said = loop.time()
            await _first_of(some, closing)


async def _first_of(*events: asyncio.Event) -> None:
    """Wait until one of them is set, or for a while. Whoever goes away meanwhile leaves nothing behind."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


async def _still_welcome(who: Who) -> bool:
    """A stream outlives the moment its token was checked in."""
    token, now = who.token, who.app.engine.clock.now()
    return token is None or await who.app.store.read(lambda _: still_good(token.id, now))


def _said(event: Event) -> bytes:
    data = orjson.dumps(shown(event).model_dump(mode="json"))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.name.encode(), data)
