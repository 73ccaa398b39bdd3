"""Real MCP clients, of the SDK, for servers over standard input and output and over HTTP on loopback."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from starlette.types import ASGIApp

from ostinato.faces.mcp.serving import serve_http


@asynccontextmanager
async def over_stdio(*args: str, **environ: str) -> AsyncIterator[Client]:
    """A client of `ostinato …` in a process of its own."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OSTINATO_")} | environ
    async with Client(StdioServerParameters(command=sys.executable, args=["-m", "ostinato", *args], env=env)) as client:
        yield client


@asynccontextmanager
async def over_http(url: str, token: str | None = None, mode: str = "auto") -> AsyncIterator[Client]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode, cache=None) as client,
    ):
        yield client


@asynccontextmanager
async def serving(application: ASGIApp) -> AsyncIterator[str]:
    """Serve an application on a free port of loopback. Yields its URL."""
    stop = asyncio.Event()
    listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve_http(application, "127.0.0.1", 0, stop, listening.set_result))
    try:
        async with asyncio.timeout(20):
            url = await listening
        yield url
    finally:
        stop.set()
        await task


async def ask(client: Client, tool: str, **arguments: Any) -> tuple[bool, Any]:
    """Call a tool. Returns whether it succeeded, and its result or the words of the error."""
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text  # type: ignore[union-attr]
    return (False, text) if result.is_error else (True, json.loads(text))


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]
