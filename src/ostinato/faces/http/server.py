"""The API as one ASGI application, and a server that runs it beside the engine.

A later step adds a router to `ROUTERS` and nothing else.
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import uvicorn
from fastapi import APIRouter, FastAPI

from ostinato.app import Ostinato
from ostinato.errors import OstinatoError
from ostinato.faces.http import admin, events, health, pages, problems, runs, schedules, webhooks
from ostinato.faces.http.guard import _LOOPBACK, Guard
from ostinato.faces.http.problems import Problem
from ostinato.faces.http.who import Door
from ostinato.store.contract import Operation, sql
from ostinato.version import __version__

ROUTERS: list[APIRouter] = [
    schedules.router,
    runs.router,
    events.router,
    webhooks.router,
    admin.router,
    health.router,
]
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": words, "content": {problems.MEDIA: {}}}
    for code, words in {
        400: "The body cannot be read as JSON",
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
    """Where to listen, and to whom. `hosts`: other names this server is called by."""

    host: str = "127.0.0.1"
    port: int = 8471
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    require_token: bool = False
    tls_certificate: str | None = None
    tls_key: str | None = None

    @property
    def loopback(self) -> bool:
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def api(app: Ostinato, listening: Listening | None = None) -> FastAPI:
    """The ASGI application for an app that is running."""
    where = listening or Listening()
    found = FastAPI(
        title="Ostinato",
        version=__version__,
        description="One durable clockwork: schedules, jobs, runs and events.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    found.state.door = Door(app, open_on_loopback=where.loopback and not where.require_token)
    found.state.closing = asyncio.Event()
    for router in ROUTERS:
        found.include_router(router, prefix="/api/v1", responses=_ERRORS)
    found.include_router(pages.router)
    problems.install(found)
    hosts = (*_LOOPBACK, *where.hosts) if where.loopback else tuple(where.hosts)
    found.add_middleware(Guard, hosts=hosts, origins=tuple(where.origins))
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
    """uvicorn, telling streams that it is about to stop."""

    def __init__(self, config: uvicorn.Config, closing: asyncio.Event) -> None:
        super().__init__(config)
        self._closing = closing

    def handle_exit(self, sig: int, frame: Any) -> None:
        self._closing.set()
        super().handle_exit(sig, frame)


def make_server(application: FastAPI, where: Listening) -> Server:
    config = uvicorn.Config(
        application,
        host=where.host,
        port=where.port,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=10,
        ssl_certfile=where.tls_certificate,
        ssl_keyfile=where.tls_key,
        server_header=False,
    )
    return Server(config, application.state.closing)
