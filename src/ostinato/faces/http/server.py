"""The API as one ASGI application, and a server that runs it beside the engine.

A later step adds a router to `ROUTERS` and nothing else.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import uvicorn
from fastapi import APIRouter, Depends, FastAPI

from ostinato.app import Ostinato
from ostinato.errors import OstinatoError
from ostinato.faces.door import Door
from ostinato.faces.http import (
    admin,
    apis,
    backfills,
    declared,
    events,
    health,
    journey_bindings,
    journey_definitions,
    journeys,
    pages,
    problems,
    runs,
    schedules,
    simulation,
    webhooks,
)
from ostinato.faces.http.guard import _LOOPBACK, Guard
from ostinato.faces.http.mistakes import refuse_unknown_parameters
from ostinato.faces.http.problems import Problem
from ostinato.faces.http.protocol import HEAD_SECONDS, Protocol
from ostinato.faces.http.proxies import Proxies
from ostinato.faces.http.request_log import RequestLog
from ostinato.faces.http.who import SCHEMES
from ostinato.store.contract import Operation, sql
from ostinato.version import __version__

ROUTERS: list[APIRouter] = [
    schedules.router,
    backfills.router,
    declared.router,
    simulation.router,
    runs.router,
    events.router,
    webhooks.router,
    journeys.router,
    journey_definitions.router,
    journey_bindings.router,
    apis.router,
    admin.router,
    health.router,
]
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": words, "content": {problems.MEDIA: {}}}
    for code, words in {
        400: "The body cannot be read as JSON, or is not an input that the journey takes",
        401: "Without a valid token",
        403: "Not with this role, or not from this page",
        404: "There is no such thing in this namespace",
        409: "It contradicts what is there",
        412: "The schedule is not as the caller knows it",
        413: "Too large",
        415: "Not JSON",
        421: "Wrong host",
        422: "Something given is not right; `field` says what",
        429: "Too many wrong tokens",
        503: "The store does not answer; try again",
    }.items()
}


@dataclass(frozen=True, slots=True)
class Listening:
    """Where to listen, and to whom. `hosts`: other names this server is called by. `trusted_proxies`: addresses and
    networks whose `X-Forwarded-For` is believed."""

    host: str = "127.0.0.1"
    port: int = 8471
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    trusted_proxies: Sequence[str] = ()
    require_token: bool = False
    tls_certificate: str | None = None
    tls_key: str | None = None

    @property
    def open(self) -> bool:
        """Whether the machine's own user needs no token."""
        return self.loopback and not self.require_token

    @property
    def loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def api(
    app: Ostinato, listening: Listening | None = None, entry: Door | None = None, *, inside: bool = False
) -> FastAPI:
    """The ASGI application for an app that is running. `entry`: a door that another face shares. `inside`: it is called
    within this process only, by the store's own user, who is told what is wrong with the store."""
    where = listening or Listening()
    found = FastAPI(
        title="Ostinato",
        version=__version__,
        description="One durable clockwork: schedules, jobs, runs and events.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    found.state.door = entry or Door(app, open_on_loopback=where.open)
    found.state.proxies = Proxies(where.trusted_proxies)
    found.state.inside = inside
    found.state.streams = Counter()
    found.state.closing = asyncio.Event()
    strict = [Depends(refuse_unknown_parameters)]
    for router in ROUTERS:
        found.include_router(router, prefix="/api/v1", responses=_ERRORS, dependencies=strict)
    found.include_router(pages.router)
    problems.install(found)
    apis.install(found)
    found.openapi = partial(_described, found.openapi)  # type: ignore[method-assign]
    hosts = (*_LOOPBACK, *where.hosts) if where.loopback else tuple(where.hosts)
    found.add_middleware(Guard, hosts=hosts, origins=tuple(where.origins))
    found.add_middleware(RequestLog)
    return found


def _described(describe: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The description, with how to say who is asking."""
    found = describe()
    found["components"]["securitySchemes"] = SCHEMES
    return found


async def check_listening(app: Ostinato, where: Listening) -> None:
    """Refuse to listen beyond this machine while nobody has a token."""
    if where.loopback:
        return
    now = app.engine.clock.now()

    def any_token(_: int) -> Operation[bool]:
        return bool((yield sql("any_token", now=now)))

    if not await app.store.read(any_token):
        raise OstinatoError(
            f"{where.host} is reachable from elsewhere, and there is no token yet: make one with "
            "`ostinato token create --role admin`, or listen on 127.0.0.1"
        )


class Server(uvicorn.Server):
    """uvicorn, telling streams that it is about to stop, and without signal handlers of its own: it would raise a
    signal again once it has stopped, and so end the process before the engine has drained. Whoever runs it says when
    it ends."""

    def __init__(self, config: uvicorn.Config, closing: asyncio.Event) -> None:
        super().__init__(config)
        self._closing = closing

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does it, but for how long a client may take to begin with TLS."""
        config, loop = self.config, asyncio.get_running_loop()
        patience = None if config.ssl is None else HEAD_SECONDS
        make = partial(Protocol, config=config, server_state=self.server_state, app_state={})
        self.servers = [
            await loop.create_server(
                make, sock=door, ssl=config.ssl, backlog=config.backlog, ssl_handshake_timeout=patience
            )
            for door in sockets or [config.bind_socket()]
        ]
        self.started = True

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._closing.set()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bind(where: Listening, *, any_port: bool = False) -> socket.socket:
    """The door, not yet open: taken before the engine starts, so that a port in use is known before any work begins.
    With `any_port` a port that is taken is replaced by a free one."""
    try:
        family, _, _, _, address = socket.getaddrinfo(
            where.host, where.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as problem:
        raise OstinatoError(f"the host {where.host!r} is not an address of this machine: {problem}") from None
    door = socket.socket(family, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind(address)
    except OSError as problem:
        if any_port and problem.errno == errno.EADDRINUSE:
            door.bind((address[0], 0))
            return door
        door.close()
        why = "it is in use; take another with --port" if problem.errno == errno.EADDRINUSE else str(problem)
        raise OstinatoError(f"cannot listen on {where.host}, port {where.port}: {why}") from None
    return door


def address_of(door: socket.socket, where: Listening) -> str:
    """The URL that the door is reached by."""
    host = f"[{where.host}]" if ":" in where.host else where.host
    scheme = "http" if where.tls_certificate is None else "https"
    return f"{scheme}://{host}:{door.getsockname()[1]}"


def make_server(application: FastAPI, where: Listening) -> Server:
    config = uvicorn.Config(
        application,
        host=where.host,
        port=where.port,
        http=Protocol,
        log_config=None,
        log_level="warning",
        access_log=False,
        ws="none",
        proxy_headers=False,  # which would believe anything that runs on this machine
        lifespan="off",
        timeout_graceful_shutdown=10,
        ssl_certfile=where.tls_certificate,
        ssl_keyfile=where.tls_key,
        server_header=False,
    )
    try:
        config.load()
    except OSError as problem:  # ssl.SSLError is one
        raise OstinatoError(f"the TLS certificate {where.tls_certificate} cannot be used: {problem}") from None
    return Server(config, application.state.closing)


async def serve(
    app: Ostinato,
    where: Listening,
    door: socket.socket,
    stop: asyncio.Event,
    *,
    listening: Callable[[str], None] = lambda _: None,
    linger: float = 0.0,
    entry: Door | None = None,
) -> None:
    """Answer requests until `stop`. Then: not ready any more, and streams end; for `linger` seconds requests are still
    answered, so that whoever sends them here can notice; then the door is closed and what was begun is finished."""
    await check_listening(app, where)
    application = api(app, where, entry)
    server = make_server(application, where)
    serving = asyncio.create_task(server.serve(sockets=[door]))
    stopped = asyncio.create_task(stop.wait())
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            listening(address_of(door, where))
        await asyncio.wait([serving, stopped], return_when=asyncio.FIRST_COMPLETED)
        application.state.closing.set()
        if not serving.done():
            await asyncio.sleep(linger)
    finally:
        stopped.cancel()
        application.state.closing.set()
        server.should_exit = True
        await serving
