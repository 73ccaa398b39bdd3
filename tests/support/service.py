"""A real HTTP service on loopback, for whatever calls out: it answers as told and remembers what it was sent."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]  # by lower-cased name
    body: bytes


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    wait_for: threading.Event | None = None  # hold the answer until then


Answering = Reply | Callable[[Received], Reply]


class Service:
    """Answers with `replies` one after the other, and with the last of them from then on."""

    def __init__(self, *replies: Answering) -> None:
        self.replies: list[Answering] = list(replies) or [Reply()]
        self.received: list[Received] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Service:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, received: Received) -> Reply:
        self.received.append(received)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply(received) if callable(reply) else reply

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                reply = service._answer(Received(self.command, self.path, headers, self.rfile.read(length)))
                if reply.wait_for is not None:
                    reply.wait_for.wait(30)
                with suppress(ConnectionError):  # whoever asked may have hung up
                    self.send_response(reply.status)
                    for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(reply.body)

            do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = do_PATCH = answer

            def log_message(self, format: str, *args: Any) -> None: ...

        return Handler
