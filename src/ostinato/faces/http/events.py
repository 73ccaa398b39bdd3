"""Answer the HTTP calls that list events or stream them. A client can resume a stream."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Annotated

import orjson

from ostinato.engine.access import Role, still_good
from ostinato.engine.computing import Busy
from ostinato.errors import StoreError
from ostinato.faces.auth import Refused, Who
from ostinato.faces.http.authentication import JourneyReader, requires
from ostinato.faces.http.journey_request import inbound
from ostinato.faces.http.pagination import Limit, listing
from ostinato.faces.http.read_guard import visible_events
from ostinato.faces.http.routing import Header, HttpAnswer, Query, Router
from ostinato.faces.http.shapes.admin import Events, EventShown
from ostinato.faces.http.shapes.common import NO_NUL
from ostinato.journeys.task_kind import Request as Inbound
from ostinato.model import Event, event_data

if TYPE_CHECKING:  # named in signatures; loaded by what serves
    from fastapi import Request
    from fastapi.responses import StreamingResponse

router = Router(tags=["events"])
READ = requires(Role.READER)
_PAGE = 100  # events of a stream that are read at once
_PART = 256 << 10  # bytes of a stream's text that are put together at once
_ALIVE = 15.0  # seconds between signs of life on a silent stream
_LOOK = 1.0
MOST_STREAMS = 100  # of one namespace, at one server


def event_answer(event: Event) -> EventShown:
    return EventShown(
        seq=event.seq,
        at=event.at,
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
    subject: Annotated[
        str | None, Query(max_length=512, pattern=NO_NUL, description="The id of a run or a schedule.")
    ] = None,
    limit: Limit = 100,
    newest: Annotated[bool, Query(description="The last ones, instead of those after a number.")] = False,
) -> HttpAnswer | Events:
    """List events in the order of their commits."""
    seen = inbound(request, who)
    if newest:
        last = await who.app.events(after=after, subject=subject, limit=limit, newest=True)
        return Events(items=[event_answer(one) for one in await visible_events(who, seen, last)], next=None)

    async def fetch(after: int | None, limit: int) -> list[Event]:
        return await who.app.events(after=after or 0, subject=subject, limit=limit)

    async def visible(events: Sequence[Event]) -> Sequence[Event]:
        return await visible_events(who, seen, events)

    return await listing(who, after, limit, fetch, lambda event: event.seq, event_answer, visible)


@router.get(
    "/events/stream",
    response_class="StreamingResponse",
    responses={200: {"content": {"text/event-stream": {}}, "description": "Server-sent events; the id is the seq."}},
    **READ,
)
async def stream_events(
    request: Request,
    who: JourneyReader,
    pattern: Annotated[str, Query(max_length=200, pattern=NO_NUL, description="Names, such as `schedule:*`.")] = "*",
    subject: Annotated[str | None, Query(max_length=512, pattern=NO_NUL)] = None,
    after: Annotated[int | None, Query(ge=0, le=1 << 62, description="Begin after this seq; without it, now.")] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Stream events as they happen. A client that reconnects with `Last-Event-ID` misses nothing."""
    who.app.event_names.refuse_unknown(pattern)
    if last_event_id is not None:
        if not last_event_id.isascii() or not last_event_id.isdigit() or len(last_event_id) > 18:
            raise Refused(422, "invalid", f"Last-Event-ID {last_event_id!r} is not the number of an event")
        after = int(last_event_id)
    from ostinato.faces.http.counted_stream import CountedStream

    if after is None:
        after = await who.app.last_event()
    streams: Streams = request.app.state.streams
    turn = streams.turns[who.namespace]
    body = _stream(who, inbound(request, who), pattern, subject, after, request.app.state.closing, turn)
    return CountedStream(streams.open, who.namespace, body, MOST_STREAMS)


class Streams:
    """The event streams of one server. `open` counts the open streams of each namespace. `turns` has a lock for each
    namespace. A stream reads events only while it has the lock, so only one stream of a namespace reads at a time."""

    def __init__(self) -> None:
        self.open: Counter[str] = Counter()
        self.turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)


@dataclass
class _Reader:
    """Reads events for one stream in parts of at most `_PAGE` events and about `_PART` bytes."""

    who: Who
    seen: Inbound
    pattern: str
    subject: str | None
    after: int
    _limit: int = _PAGE

    async def read(self) -> tuple[bytes, bool]:
        """Return the next events as text, and whether more events may be ready. The text has only events that match the
        pattern and that the caller may see, so it may be empty."""
        events = await self.who.app.events(after=self.after, subject=self.subject, limit=self._limit)
        wanted = [event for event in events if fnmatchcase(event.name, self.pattern)]
        visible = {event.seq for event in await visible_events(self.who, self.seen, wanted)}
        text = bytearray()
        count = 0
        for event in events:
            if event.seq in visible:
                text += _as_text(event)
            self.after = event.seq
            count += 1
            if len(text) >= _PART:
                break
        more = count < len(events) or len(events) == self._limit
        # After large events read fewer at a time, so that little is read twice.
        self._limit = max(1, count) if len(text) >= _PART else min(_PAGE, self._limit * 2)
        return bytes(text), more


async def _stream(
    who: Who, seen: Inbound, pattern: str, subject: str | None, after: int, closing: asyncio.Event, turn: asyncio.Lock
) -> AsyncGenerator[bytes, None]:
    """Yield events until the server closes or the caller's token becomes invalid. A new event wakes all streams of a
    namespace. They share the lock `turn` and read one after the other, so that only one page is in memory."""
    loop = asyncio.get_running_loop()
    said = checked = loop.time()
    reader = _Reader(who, seen, pattern, subject, after)
    yield b"retry: 1000\n\n"
    with who.app.engine.listeners.watching() as some:
        while not closing.is_set():
            some.clear()
            text, more = b"", False
            try:
                if loop.time() - checked > _ALIVE:
                    if not await _token_is_valid(who):
                        return
                    checked = loop.time()
                async with turn:
                    last = await who.app.last_event()  # of all namespaces; a later read sees all events up to it
                    if last > reader.after:
                        text, more = await reader.read()
                        await asyncio.sleep(0)
            except (Busy, StoreError):  # temporary: retry from the same place
                await _first_of(closing)
                continue
            if text:
                yield text
                said = loop.time()
            if more:
                continue
            # Do not read other namespaces' events again while this stream is silent.
            reader.after = max(reader.after, last)
            if loop.time() - said > _ALIVE:
                yield f": {reader.after}\n\n".encode()
                said = loop.time()
            await _first_of(some, closing)


async def _first_of(*events: asyncio.Event) -> None:
    """Wait until one of `events` is set, for at most `_LOOK` seconds. Leave no task behind, even if cancelled."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


async def _token_is_valid(who: Who) -> bool:
    token, now = who.token, who.app.engine.clock.now()
    return token is None or await who.app.store.read(lambda _: still_good(token.id, now))


def _as_text(event: Event) -> bytes:
    data = orjson.dumps(event_answer(event).model_dump(mode="json"))
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event.seq, event.name.encode(), data)
