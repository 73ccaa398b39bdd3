"""Authenticate the callers of Temporal's calls, check the requests, and turn errors into gRPC statuses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import unquote

import orjson
from google.protobuf.message import Message

from ostinato.app import Ostinato
from ostinato.engine.access import PREFIX, Role
from ostinato.errors import NotFound, short_repr
from ostinato.faces.auth import Door, Who
from ostinato.faces.related_runs import journeys_of_run, merge_names
from ostinato.faces.temporal.attributes import registered
from ostinato.faces.temporal.errors import Absent, NoNamespace, Wrong, refuse
from ostinato.faces.temporal.wire_schedules import WireSchedules
from ostinato.journeys.task_kind import Request
from ostinato.model import Run
from ostinato.webhooks import JOB as DELIVERY

T = TypeVar("T")
LARGEST = 4 << 20  # bytes of a message
# A read guard does not get these: a caller could set the certificates of a proxy, and the third is a token of Ostinato.
_HIDDEN_HEADERS = ("client-cert", "client-cert-chain", "ostinato-token")
_LONGEST_ID = 1000  # bytes of an id or a request id


class Wire:
    """The objects that the gRPC services share. A server that stops sets `closing`, so that waiting calls return."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.closing = asyncio.Event()

    async def admit(self, context: Any, role: Role, namespace: str | None) -> Who:
        """Authenticate and return the caller.

        Raises `Refused` if the caller's token is not valid or does not have the role. Raises `NoNamespace` if the
        namespace does not exist, or if the caller may not see it.
        """
        secret = None
        for key, value in context.invocation_metadata() or ():
            if key == "authorization":
                kind, _, token = str(value).partition(" ")
                secret = token.strip() if kind.lower() == "bearer" else str(value)
        try:
            return await self.door.admit(secret, _host(context.peer()), role, namespace or None)
        except NotFound:
            raise NoNamespace(namespace or "") from None


@dataclass(frozen=True, slots=True)
class TemporalCall:
    """A call by an authorized caller."""

    wire: Wire
    who: Who
    context: Any

    @property
    def app(self) -> Ostinato:
        return self.who.app

    @property
    def schedules(self) -> WireSchedules:
        return WireSchedules.of(self.app.schedules)

    async def attribute_types(self) -> dict[str, str]:
        """Return the search attributes that are registered in the namespace, as a dict from name to type."""
        return await registered(self.app)

    async def find_hidden_runs(self, runs: Iterable[Run]) -> set[str]:
        """Return the ids of the given runs that the caller may not see.

        These are the journeys that a read guard hides, and the runs that deliver an event about such a journey. For a
        run with retries, the id is that of the first attempt.
        """
        journeys = {}  # from the id of a run to the journeys that it is about
        for run in runs:
            input = orjson.loads(run.input) if run.name == DELIVERY and run.input is not None else None
            journeys[run.root_id] = journeys_of_run(run.root_id, run.kind, run.name, input)
        names = merge_names(journeys.values())
        hidden = await self.find_hidden_journeys(names, names)
        return {id for id, journeys_of_one in journeys.items() if hidden.intersection(journeys_of_one)}

    async def find_hidden_journeys(self, ids: Iterable[str], names: Mapping[str, str] | None = None) -> set[str]:
        """Return the ids of the journeys that a read guard hides from the caller. Only the journeys in `ids` are
        checked.

        `names` is a dict from the id of a journey to its name. A deleted journey must be in this dict, because its name
        is no longer stored. The read guards get the call's metadata as headers, without Ostinato's own token and
        without client certificates.
        """
        run_ids = list(ids)
        if not run_ids:
            return set()
        headers: dict[str, str] = {}
        for name, value in self.context.invocation_metadata() or ():
            if (
                isinstance(value, str)
                and name not in _HIDDEN_HEADERS
                and not (name == "authorization" and PREFIX in value)
            ):
                headers[name] = value
        return await self.app.journeys.hidden(run_ids, Request(headers, peer=_host(self.context.peer())), names)

    async def each(self, items: Iterable[T]) -> list[T]:
        """Return the items of a lazy iterable as a list. Pause between items, so that other calls can proceed."""
        return await self.app.computing.each(self.who.namespace, items)

    def limit_wait(self, longest: float) -> float:
        """Return how many seconds the call may wait: `longest`, or less if the call's deadline comes earlier."""
        left = self.context.time_remaining()
        return longest if left is None else max(0.0, min(longest, left - 1.0))


class ServiceCalls:
    """The base class of classes that implement some of a service's calls."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire


Method = Callable[[Any, Any, TemporalCall], Awaitable[Any]]


def call(role: Role, *, within: bool = True) -> Callable[[Method], Callable[[Any, Any, Any], Awaitable[Any]]]:
    """Return a decorator that turns a method `(self, request, call)` into a gRPC method `(self, request, context)`.

    The gRPC method first checks that the caller has `role` and may see the namespace in the request. If `within` is
    false, the namespace in the request is ignored. If a check or the method fails, the gRPC method ends with the status
    for the error.
    """

    def wrap(method: Method) -> Callable[[Any, Any, Any], Awaitable[Any]]:
        @wraps(method)
        async def answer(self: Any, request: Any, context: Any) -> Any:
            wire: Wire = self.wire
            try:
                namespace = getattr(request, "namespace", None) if within else None
                who = await wire.admit(context, role, namespace)
                _check_size(request)
                _check_texts(request)
                return await method(self, request, TemporalCall(wire, who, context))
            except Exception as problem:
                await refuse(context, problem)

        return answer

    return wrap


def _check_size(request: Message) -> None:
    """Raise `Wrong` if a request is too large. gRPC's own check would answer with a status that makes clients retry."""
    size = request.ByteSize()
    if size > LARGEST:
        parts = [(field.name, len(str(value))) for field, value in request.ListFields()]
        largest = max(parts, key=lambda part: part[1])[0]
        raise Wrong(largest, f"makes a message of {size:,} bytes; at most {LARGEST:,} are allowed")


def _check_texts(request: Message) -> None:
    """Raise `Wrong` if a text in a request contains a NUL character, which PostgreSQL cannot store."""
    if b"\x00" in request.SerializeToString():
        for place, text in _texts(request, ""):
            if "\x00" in text:
                raise Wrong(place, f"{short_repr(text)} contains a NUL character")


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Message):
        for field, part in value.ListFields():
            yield from _texts(part, f"{place}.{field.name}" if place else field.name)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _texts(key, place)
            yield from _texts(part, f"{place}.{key}")
    elif isinstance(value, Sequence) and not isinstance(value, bytes):
        for number, part in enumerate(value):
            yield from _texts(part, f"{place}[{number}]")


def absent(name: str, why: str) -> Callable[[Any, Any, Any], Awaitable[Any]]:
    """Return a gRPC method for a call that Ostinato does not support.

    The method raises `Absent`. The message contains `name`, the name of the call, and the reason `why`.
    """

    @call(Role.READER)
    async def method(self: Any, request: Any, call: TemporalCall) -> Any:
        raise Absent(f"{name} is not part of Ostinato: {why}")

    return method


def read_id(value: str, field: str, *, most: int = _LONGEST_ID) -> str:
    if not value:
        raise Wrong(field, "is missing")
    if len(value.encode()) > most:
        raise Wrong(field, f"is longer than {most} bytes")
    return value


def read_request_id(value: str) -> str | None:
    """Return the id of a request. Return None if the id is empty: such a request never counts as a repetition."""
    return read_id(value, "request_id") if value else None


def _host(peer: str) -> str:
    """Return the host of a gRPC peer: `127.0.0.1` for `ipv4:127.0.0.1:5000`."""
    kind, _, rest = unquote(peer).partition(":")
    return rest.rpartition(":")[0] if kind in ("ipv4", "ipv6") else kind
