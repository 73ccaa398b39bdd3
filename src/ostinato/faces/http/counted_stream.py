"""Limit how many streaming responses a namespace can have open."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import aclosing

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ostinato.faces.auth import Refused


class CountedStream(StreamingResponse):
    """A streaming response that counts as an open stream of `namespace` while it is sent. `open_streams` maps each
    namespace to the number of its open streams. If `namespace` already has `most` or more open streams, sending raises
    `Refused`."""

    def __init__(
        self, open_streams: Counter[str], namespace: str, body: AsyncGenerator[bytes, None], most: int
    ) -> None:
        super().__init__(body, media_type="text/event-stream", headers={"Cache-Control": "no-store"})
        self._open = open_streams
        self._namespace = namespace
        self._body = body
        self._most = most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._open[self._namespace] >= self._most:
            words = f"namespace {self._namespace!r} has {self._most} streams open, which is the most"
            raise Refused(429, "too many streams", words, {"Retry-After": "10"})
        self._open[self._namespace] += 1
        try:
            async with aclosing(self._body):
                await super().__call__(scope, receive, send)
        finally:
            self._open[self._namespace] -= 1
