"""What every call goes through: who asks is found out, what goes wrong becomes a status."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import unquote

from google.protobuf.message import Message

from ostinato.app import Ostinato
from ostinato.engine.access import PREFIX, Role
from ostinato.errors import NotFound, shown
from ostinato.faces.door import Door, Who
from ostinato.faces.temporal.attributes import registered
from ostinato.faces.temporal.errors import Absent, NoNamespace, Wrong, refuse
from ostinato.journeys.plugins import Request
from ostinato.schedules.forms import Forms

T = TypeVar("T")
LARGEST = 4 << 20  # bytes of a message
_OF_PROXIES = ("client-cert", "client-cert-chain")
_ID = 1000  # bytes of an id or a request id


class Wire:
    """What the services share. `closing` is set when the server is about to stop: nobody is kept waiting then."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.closing = asyncio.Event()

    async def admit(self, context: Any, role: Role, namespace: str | None) -> Who:
        given = None
        for key, value in context.invocation_metadata() or ():
            if key == "authorization":
                kind, _, token = str(value).partition(" ")
                given = token.strip() if kind.lower() == "bearer" else str(value)
        try:
            return await self.door.admit(given, _host(context.peer()), role, namespace or None)
        except NotFound:
            raise NoNamespace(namespace or "") from None


class Call:
    """One call of someone who may make it."""

    def __init__(self, wire: Wire, who: Who, context: Any) -> None:
        self.wire = wire
        self.who = who
        self.context = context

    @property
    def app(self) -> Ostinato:
        return self.who.app

    @property
    def forms(self) -> Forms:
        return Forms.of(self.app.schedules)

    async def attributes(self) -> dict[str, str]:
        """The search attributes that are registered in the namespace, with their types."""
        return await registered(self.app)

    async def hidden(self, ids: Iterable[str]) -> set[str]:
        """Of these runs, those of journeys whose read guard does not let the caller see them. The guard sees the call's
        metadata as headers, but for the token that opened our own door."""
        wanted = list(ids)
        if not wanted:
            return set()
        headers: dict[str, str] = {}
        for name, value in self.context.invocation_metadata() or ():
            if isinstance(value, str) and name not in _OF_PROXIES and not (name == "authorization" and PREFIX in value):
                headers[name] = value
        return await self.app.journeys.hidden(wanted, Request(headers, peer=_host(self.context.peer())))

    async def each(self, items: Iterable[T]) -> list[T]:
        """What is worked out for this caller, with pauses for everyone else."""
        return await self.app.computing.each(self.who.namespace, items)

    def remaining(self, most: float) -> float:
        """How many seconds may be spent on waiting before an answer, even an empty one, is due."""
        left = self.context.time_remaining()
        return most if left is None else max(0.0, min(most, left - 1.0))


class Calls:
    """Some calls of a service."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire


Method = Callable[[Any, Any, Call], Awaitable[Any]]


def call(role: Role, *, within: bool = True) -> Callable[[Method], Callable[[Any, Any, Any], Awaitable[Any]]]:
    """Make a method `(self, request, call)` a servicer's `(self, request, context)`, for those with this role. Not
    `within`: it is not about what is in a namespace."""

    def wrap(method: Method) -> Callable[[Any, Any, Any], Awaitable[Any]]:
        @wraps(method)
        async def answer(self: Any, request: Any, context: Any) -> Any:
            wire: Wire = self.wire
            try:
                namespace = getattr(request, "namespace", None) if within else None
                who = await wire.admit(context, role, namespace)
                _check_size(request)
                _check_texts(request)
                return await method(self, request, Call(wire, who, context))
            except Exception as problem:
                await refuse(context, problem)

        return answer

    return wrap


def _check_size(request: Message) -> None:
    """Refused here and not by gRPC, whose own answer to what is too large makes clients try again."""
    size = request.ByteSize()
    if size > LARGEST:
        parts = [(field.name, len(str(value))) for field, value in request.ListFields()]
        largest = max(parts, key=lambda part: part[1])[0]
        raise Wrong(largest, f"makes a message of {size:,} bytes; {LARGEST:,} are the most")


def _check_texts(request: Message) -> None:
    """No text may have a NUL in it: not every store can hold one, and a client would try again for nothing."""
    if b"\x00" in request.SerializeToString():
        for place, text in _texts(request, ""):
            if "\x00" in text:
                raise Wrong(place, f"{shown(text)} has a NUL in it")


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Message):
        for field, one in value.ListFields():
            yield from _texts(one, f"{place}.{field.name}" if place else field.name)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from _texts(key, place)
            yield from _texts(one, f"{place}.{key}")
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for number, one in enumerate(value):
            yield from _texts(one, f"{place}[{number}]")


def absent(name: str, why: str) -> Callable[[Any, Any, Any], Awaitable[Any]]:
    """A servicer's method for what is not there: it says so, and what there is instead."""

    @call(Role.READER)
    async def method(self: Any, request: Any, call: Call) -> Any:
        raise Absent(f"{name} is not part of Ostinato: {why}")

    return method


def read_id(value: str, field: str, *, most: int = _ID) -> str:
    if not value:
        raise Wrong(field, "is missing")
    if len(value.encode()) > most:
        raise Wrong(field, f"is longer than {most} bytes")
    return value


def read_request_id(value: str) -> str | None:
    """One that is absent makes the call its own."""
    return read_id(value, "request_id") if value else None


def _host(peer: str) -> str:
    """`ipv4:127.0.0.1:5000` → `127.0.0.1`."""
    kind, _, rest = unquote(peer).partition(":")
    return rest.rpartition(":")[0] if kind in ("ipv4", "ipv6") else kind
