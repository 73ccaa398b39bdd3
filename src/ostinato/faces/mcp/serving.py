"""Serve an MCP server over standard input and output, or over streamable HTTP.

Over HTTP, every request brings its own token, and there are no MCP sessions. So no caller can continue the MCP session
of another caller.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from typing import Any

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from ostinato.errors import OstinatoError
from ostinato.faces.auth import Refused, bearer_token, is_loopback

PATH = "/mcp"
_LARGEST = 1 << 20  # bytes of a request
Check = Callable[[str | None, str], Awaitable[None]]


async def serve_stdio(server: Server[Any]) -> None:
    """Answer an MCP client over standard input and output, until the client closes them."""
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def http_app(server: Server[Any], check: Check, *, host: str = "127.0.0.1", hosts: Sequence[str] = ()) -> ASGIApp:
    """Return the ASGI application that serves `server` at `/mcp`. The application needs ASGI lifespan events.

    `check` gets the token and the address of each caller, and raises `Refused` to refuse the caller.

    `hosts` are the names that a request's `Host` header may have. If `host`, the address of the application, is a
    loopback address, loopback names such as `localhost` are allowed, too. If `host` is another address and `hosts` is
    empty, every name is allowed.
    """
    names = [*hosts, *(("127.0.0.1", "localhost", "[::1]") if is_loopback(host.strip("[]")) else ())]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(names),
        allowed_hosts=[allowed for name in names for allowed in (name, f"{name}:*")],
        allowed_origins=[f"{scheme}://{name}:*" for name in names for scheme in ("http", "https")],
    )
    application = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        max_request_body_size=_LARGEST,
        transport_security=security,
    )

    async def checked(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            try:
                await check(bearer_token(headers.get("authorization")), (scope.get("client") or ("?",))[0])
            except Refused as problem:
                await _refuse(send, problem)
                return
        await application(scope, receive, send)

    return checked


async def _refuse(send: Send, problem: Refused) -> None:
    body = json.dumps({"error": problem.title, "detail": str(problem)}).encode()
    headers = {"content-type": "application/json", **{key.lower(): value for key, value in problem.headers.items()}}
    raw = [(key.encode(), value.encode()) for key, value in headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": raw})
    await send({"type": "http.response.body", "body": body})


def token_of(request: Any) -> str | None:
    """Return the bearer token of an HTTP request. Return None if it has none, or if there is no HTTP request."""
    return None if request is None else bearer_token(request.headers.get("authorization"))


def read_address(text: str) -> tuple[str, int]:
    """Read `HOST:PORT`, and return host and port. Raises `OstinatoError` if the text has another form."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or int(port) > 65_535:
        raise OstinatoError(f"--http {text!r} is not HOST:PORT; write 127.0.0.1:8472")
    return host.strip("[]"), int(port)


async def serve_http(
    application: ASGIApp, host: str, port: int, stop: asyncio.Event, listening: Callable[[str], None]
) -> None:
    """Serve until `stop` is set, and then finish the requests in progress.

    `listening` is called with the URL when the server has started.
    """
    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        log_config=None,
        log_level="warning",
        access_log=False,
        lifespan="on",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )
    server = _Server(config)
    serving = asyncio.create_task(server.serve())
    stopped = asyncio.create_task(stop.wait())
    try:
        while not server.started and not serving.done():
            await asyncio.sleep(0.01)
        if server.started:
            shown = f"[{host}]" if ":" in host else host
            listening(f"http://{shown}:{server.servers[0].sockets[0].getsockname()[1]}{PATH}")
        await asyncio.wait([serving, stopped], return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        server.should_exit = True
        await serving


class _Server(uvicorn.Server):
    """A uvicorn server that installs no signal handlers, because its caller handles signals."""

    def capture_signals(self) -> Any:
        return nullcontext()
