"""`ostinato mcp`: serve tools for operators to an MCP client, over standard input and output or over HTTP."""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ostinato.client import Client
from ostinato.engine.access import Role, read_role
from ostinato.errors import OstinatoError, install_hint
from ostinato.faces.cli.completion import roles
from ostinato.faces.cli.output import CommandOutput
from ostinato.faces.cli.session import PATIENCE, StoreOrServer, certificates, require_existing

if TYPE_CHECKING:
    from ostinato.faces.mcp.operators import ToolCaller


async def mcp(
    place: StoreOrServer,
    out: CommandOutput,
    http: Annotated[
        str | None, typer.Option(help="Serve over HTTP at HOST:PORT instead of standard input and output.")
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(
            help="The highest role that callers may use. [default: the role of the token; reader without a token]",
            autocompletion=roles,
        ),
    ] = None,
    url: Annotated[str | None, typer.Option(help="A server instead of a store, as --server.")] = None,
) -> None:
    """Serve tools for operators to an MCP client. Over HTTP, each request uses the token of its caller. Without --role,
    the token of a caller limits what the caller may do, and a caller without a token may only read."""
    if find_spec("mcp") is None:
        raise OstinatoError(f"`ostinato mcp` needs the extra mcp; {install_hint('mcp')}")
    most = None if role is None else read_role(role)
    if most is Role.AGENT:
        raise OstinatoError("--role agent is for the tools of an agent; give reader, operator or admin")
    if url is not None:
        place = replace(place, server=url)
    from ostinato.faces.auth import is_loopback
    from ostinato.faces.mcp.operators import operator_server
    from ostinato.faces.mcp.serving import http_app, read_address, serve_http, serve_stdio, token_of

    host, port = ("127.0.0.1", 0) if http is None else read_address(http)
    async with AsyncExitStack() as opened:
        client_of = await _clients(place, is_loopback(host), opened)

        def caller_of(request: Any) -> ToolCaller:
            from ostinato.faces.mcp.operators import ToolCaller

            token = place.token if http is None else token_of(request)
            cap = most if most is not None or token is not None else Role.READER
            return ToolCaller(lambda: client_of(token), cap)

        server = operator_server(caller_of)
        if http is None:
            await serve_stdio(server)
            return

        async def check(token: str | None, _: str) -> None:
            from ostinato.faces.auth import Refused

            if token is None and not is_loopback(host):
                raise Refused(401, "unauthorized", "a token is needed: Authorization: Bearer …")

        stop = asyncio.Event()
        for name in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(name, stop.set)
        application = http_app(server, check, host=host)
        await serve_http(application, host, port, stop, lambda address: out.say({"url": address}, address))


async def _clients(place: StoreOrServer, loopback: bool, opened: AsyncExitStack) -> Any:
    """Return a function that gets a token, and returns a client whose calls of the API use this token.

    - If `place` is a server, the client calls that server.
    - If `place` is a store, this function opens the store, and the client calls the API in this process. If `loopback`
      is true, the API needs no token. The store is closed when the caller closes `opened`.
    """
    options: dict[str, Any] = {"namespace": place.namespace, "patience": PATIENCE}
    if place.server is not None:
        server, verify = place.server, certificates(place)
        return lambda token: Client(server, token=token, verify=verify, **options)
    import httpx

    from ostinato.app import Ostinato
    from ostinato.faces.cli.configuration import command_egress
    from ostinato.faces.cli.named_ways import more_ways
    from ostinato.faces.http.server import Listening, api
    from ostinato.store.schema_version import check_usable

    require_existing(place.store)
    await check_usable(place.store, create=False)
    app = Ostinato(place.store, ways=more_ways(), egress=command_egress())
    await opened.enter_async_context(app.connected())
    application = api(app, Listening(require_token=not loopback))

    def client_of(token: str | None) -> Client:
        transport = httpx.ASGITransport(application, raise_app_exceptions=False)
        return Client("http://127.0.0.1", token=token, transport=transport, **options)

    return client_of
