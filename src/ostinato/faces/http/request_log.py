"""Log a debug line for each request: method, path, status and time.

The query and the headers are never logged, because they may contain tokens.
"""

from __future__ import annotations

import time
from typing import Any

from ostinato.engine.log import log


class RequestLog:
    """ASGI middleware that logs requests. It does nothing unless the log level is debug."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not log.debugging:
            await self._app(scope, receive, send)
            return
        status: int | None = None
        begin = time.monotonic()

        async def sending(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, sending)
        finally:
            client = scope.get("client")
            log.debug(
                f"{scope['method']} {scope['path']!r} {status or 'without an answer'}",
                action="http_request",
                status=status,
                seconds=round(time.monotonic() - begin, 4),
                client=None if client is None else client[0],
            )
