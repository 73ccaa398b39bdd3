"""Begin only a few requests in each pass of the event loop.

Otherwise, if many requests arrived together, all would begin in one pass, and other tasks would have to wait.
"""

from __future__ import annotations

import asyncio
from collections import deque

from starlette.types import ASGIApp, Receive, Scope, Send

MOST_AT_ONCE = 10  # requests that begin in one pass of the event loop; each takes about half a millisecond


class Pacing:
    """ASGI middleware that begins at most `MOST_AT_ONCE` requests in a pass of the event loop, in order of arrival."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._begun = 0  # in this pass
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._take_turn()
        await self._app(scope, receive, send)

    async def _take_turn(self) -> None:
        loop = asyncio.get_running_loop()
        if not self._begun:
            loop.call_soon(self._next_pass, loop)
        if self._begun < MOST_AT_ONCE and not self._waiting:
            self._begun += 1
            return
        turn = loop.create_future()
        self._waiting.append(turn)
        await turn

    def _next_pass(self, loop: asyncio.AbstractEventLoop) -> None:
        self._begun = 0
        while self._waiting and self._begun < MOST_AT_ONCE:
            turn = self._waiting.popleft()
            if not turn.done():  # else its request was cancelled
                turn.set_result(None)
                self._begun += 1
        if self._begun:
            loop.call_soon(self._next_pass, loop)
