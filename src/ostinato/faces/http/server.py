"""Build the HTTP API as one ASGI application, and serve it for an open app."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import uvicorn
from fastapi import APIRouter, Depends, FastAPI
from fastapi.encoders import jsonable_encoder
from starlette.routing import BaseRoute

from ostinato.app import Ostinato
from ostinato.engine.ways import Ways, load
from ostinato.errors import OstinatoError
from ostinato.faces.auth import Door, is_loopback
from ostinato.faces.http import (
    admin,
    backfills,
    declared,
    docs_page,
    error_responses,
    events,
    health,
    runs,
    schedules,
    simulation,
)
from ostinato.faces.http.authentication import SCHEMES
from ostinato.faces.http.error_responses import Problem
from ostinato.faces.http.framework import fastapi_router
from ostinato.faces.http.pacing import Pacing
from ostinato.faces.http.parameters import refuse_unknown_parameters
from ostinato.faces.http.problem_details import MEDIA
from ostinato.faces.http.protocol import HEAD_SECONDS, Protocol
from ostinato.faces.http.proxies import Proxies
from ostinato.faces.http.request_guard import _LOOPBACK, Guard
from ostinato.faces.http.request_log import RequestLog
from ostinato.faces.http.routing import Router
from ostinato.store.contract import Operation, sql
from ostinato.version import __version__

_WORK = (schedules.router, backfills.router, declared.router, simulation.router, runs.router, events.router)
_OPERATION = (admin.router, health.router)
_PROBLEM = {"schema": {"$ref": "#/components/schemas/Problem"}}
_BACKLOG = 2048  # connections that wait to be accepted
_ACCEPTED = 16  # connections accepted in one go; they are open before the protocol can count them and close others
# Without a `model`: FastAPI would build one for each of these errors and each route, which takes half of the start.
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"description": words, "content": {MEDIA: _PROBLEM}}
    for code, words in {
        400: "The request cannot be read as HTTP, its body not as JSON, or the journey does not take it as input",
        401: "Without a valid token",
        403: "Not with this role, or not from this page",
        404: "There is no such thing in this namespace",
        405: "The path has no such method; `Allow` lists its methods",
        408: "The request did not arrive in time",
        409: "It contradicts what exists",
        412: "The schedule is not as the caller knows it",
        413: "Too large",
        415: "Not JSON",
        421: "Wrong host",
        422: "Something given is not right; `field` says what",
        429: "Too many wrong tokens",
        431: "The first line and the headers are too long, or too many",
        503: "The store does not answer; try again",
    }.items()
}
_ERRORS[405]["headers"] = {"Allow": {"description": "The methods of the path.", "schema": {"type": "string"}}}


@dataclass(frozen=True, slots=True)
class Listening:
    """The address on which a server listens, and the names, origins and proxies that the server trusts.

    - `hosts`: further names of this server
    - `origins`: further origins of this server, such as the origin of a proxy; pages of these origins may make changes
    - `trusted_proxies`: the addresses and networks whose header `X-Forwarded-For` is used
    """

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
        """Return whether callers on this machine need no token."""
        return self.loopback and not self.require_token

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)


def api(
    app: Ostinato, listening: Listening | None = None, entry: Door | None = None, *, inside: bool = False
) -> FastAPI:
    """Return the ASGI application for an open app.

    - `entry`: a `Door` that is shared with another interface; if it is None, the application creates its own
    - `inside`: whether only this process calls the application; if so, callers see the texts of store errors
    """
    where = listening or Listening()
    application = FastAPI(openapi_url=None)  # `docs_page` serves it: FastAPI would build it on the event loop
    application.state.door = entry or Door(app, open_on_loopback=where.open)
    application.state.proxies = Proxies(where.trusted_proxies)
    application.state.inside = inside
    application.state.streams = events.Streams()
    application.state.closing = asyncio.Event()
    application.state.description = None  # a task, after the first request for the description
    routers = routers_of(app.ways)
    application.router.routes += _routes(routers)
    error_responses.install(application)
    for router in routers:
        if router.install is not None:
            router.install(application)
    application.openapi = partial(_describe, routers)  # type: ignore[method-assign]
    hosts = (*_LOOPBACK, *where.hosts) if where.loopback else tuple(where.hosts)
    application.add_middleware(Guard, hosts=hosts, origins=tuple(where.origins))
    application.add_middleware(RequestLog)
    application.add_middleware(Pacing)
    return application


def routers_of(ways: Ways) -> tuple[Router, ...]:
    """Return the routers of an application: Ostinato's own routers, and the routers of the extensions in `ways`."""
    return *_WORK, *map(load, ways.routers.values()), *_OPERATION


@cache
def _routes(routers: tuple[Router, ...]) -> list[BaseRoute]:
    """Return the routes of the routers. Applications with equal routers share the routes, so a route must not have
    state."""
    routes, strict = APIRouter(), [Depends(refuse_unknown_parameters)]
    for router in routers:
        routes.include_router(fastapi_router(router), prefix="/api/v1", responses=_ERRORS, dependencies=strict)
    routes.include_router(docs_page.router)
    return routes.routes


@cache
def _describe(routers: tuple[Router, ...]) -> dict[str, Any]:
    """Return the OpenAPI description of the routers, with the schema of errors and the security schemes. Building the
    description takes half a second of CPU time, so all applications with equal routers share it. Callers must not
    change the description."""
    words = "A durable scheduler: schedules, jobs, journeys, runs and events."
    application = FastAPI(title="Ostinato", version=__version__, description=words)
    application.router.routes[:] = _routes(routers)
    description = application.openapi()
    description["components"]["schemas"]["Problem"] = jsonable_encoder(Problem.model_json_schema(), exclude_none=True)
    description["components"]["securitySchemes"] = SCHEMES
    return description


def build_routes(application: FastAPI) -> None:
    """Build the parameters of every route before the first request. This takes half a second of CPU time.

    FastAPI builds a route's parameters when it first compares the route with a path. So this function compares each
    route with a path that matches none.
    """
    scope = {"type": "http", "method": "GET", "path": "//", "root_path": "", "headers": []}
    for route in application.routes:
        route.matches(scope)


async def check_listening(app: Ostinato, where: Listening) -> None:
    """Raise `OstinatoError` if the address is reachable from other machines and the store has no valid token."""
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
    """A uvicorn server that ends streams before it stops, and has no signal handlers.

    When uvicorn's own handlers get a signal, they stop the server and then raise the signal again. That would end the
    process before the engine has drained. So whoever starts this server must also stop it.
    """

    def __init__(self, config: uvicorn.Config, application: FastAPI) -> None:
        super().__init__(config)
        self._application = application
        self._closing: asyncio.Event = application.state.closing

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Build all routes in a thread. Then start as uvicorn does, but limit the time of a TLS handshake."""
        config, loop = self.config, asyncio.get_running_loop()
        await asyncio.to_thread(build_routes, self._application)  # in a thread, because the engine is running
        patience = None if config.ssl is None else HEAD_SECONDS
        make = partial(Protocol, config=config, server_state=self.server_state, app_state={})
        self.servers = []
        for listener in sockets or [config.bind_socket()]:
            # asyncio uses `backlog` twice: for the kernel's queue, and for how many it accepts in one go.
            server = await loop.create_server(
                make, sock=listener, ssl=config.ssl, backlog=_ACCEPTED, ssl_handshake_timeout=patience
            )
            listener.listen(_BACKLOG)
            self.servers.append(server)
        self.started = True

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._closing.set()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(where: Listening, *, any_port: bool = False) -> socket.socket:
    """Return a socket that listens on the address in `where`. Connections wait until the server is ready.

    If the port is in use and `any_port` is true, a free port is used instead. Raises `OstinatoError` if the address
    cannot be used. Call this before the engine starts, so that the error comes before any work begins.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(
            where.host, where.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as problem:
        raise OstinatoError(f"the host {where.host!r} is not an address of this machine: {problem}") from None
    try:
        return _listen_on(family, address)
    except OSError as problem:
        in_use = problem.errno == errno.EADDRINUSE
        if any_port and in_use:
            return _listen_on(family, (address[0], 0))
        why = "it is in use; take another with --port" if in_use else str(problem)
        raise OstinatoError(f"cannot listen on {where.host}, port {where.port}: {why}") from None


def _listen_on(family: int, address: Any) -> socket.socket:
    """Bind a socket, and listen at once. Two processes can bind the same address, but only one of them can listen."""
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def address_of(listener: socket.socket, where: Listening) -> str:
    """Return the URL of the server on a socket."""
    host = f"[{where.host}]" if ":" in where.host else where.host
    scheme = "http" if where.tls_certificate is None else "https"
    return f"{scheme}://{host}:{listener.getsockname()[1]}"


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
        proxy_headers=False,  # uvicorn would trust every process on this machine
        lifespan="off",
        timeout_graceful_shutdown=10,
        ssl_certfile=where.tls_certificate,
        ssl_keyfile=where.tls_key,
        server_header=False,
    )
    try:
        config.load()
    except OSError as problem:  # ssl.SSLError is a subclass
        raise OstinatoError(f"the TLS certificate {where.tls_certificate} cannot be used: {problem}") from None
    return Server(config, application)


async def serve(
    app: Ostinato,
    where: Listening,
    listener: socket.socket,
    stop: asyncio.Event,
    *,
    listening: Callable[[str], None] = lambda _: None,
    linger: float = 0.0,
    entry: Door | None = None,
) -> None:
    """Answer requests until `stop` is set, and then close. `listening` is called with the URL after the start.

    When `stop` is set, the server first reports that it is not ready, and ends the streams. It still answers requests
    for `linger` seconds, so that load balancers notice. Then it closes the socket, and finishes requests in progress.
    """
    await check_listening(app, where)
    application = api(app, where, entry)
    server = make_server(application, where)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    stopped = asyncio.create_task(stop.wait())
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started and not stop.is_set():
            listening(address_of(listener, where))
        await asyncio.wait([serving, stopped], return_when=asyncio.FIRST_COMPLETED)
        application.state.closing.set()
        if not serving.done():
            await asyncio.sleep(linger)
    finally:
        stopped.cancel()
        application.state.closing.set()
        server.should_exit = True
        await serving
