"""Add limits on requests and connections to uvicorn's HTTP/1.1 protocol.

httptools parses requests in C. In Python, parsing would take as long as answering. The limits apply even before a
client is authenticated:

- The first line and the headers have at most `LARGEST_HEAD` bytes and `MOST_HEADERS` headers.
- Trailers have the same limits. All trailers are dropped, because a proxy that filters headers may let trailers pass.
- The first line and the headers arrive within `HEAD_SECONDS`. Each `PROGRESS` bytes of a body arrive within
  `BODY_SECONDS`.
- A client that does not read its answer for `WRITE_SECONDS` is disconnected.
- At most `MOST_PIPELINED` requests of one connection wait for the answers to earlier ones.
- At most `most_connections` connections are open. When one more is opened, the connection that has been idle longest is
  closed. If none is idle, the new connection is refused.
"""

from __future__ import annotations

import asyncio
import json
import socket
from http import HTTPStatus
from typing import Any

from httptools import HttpParserError, HttpParserUpgrade
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from ostinato.faces.http.problem_details import MEDIA, fault

LARGEST_HEAD = 64 << 10  # bytes of the first line and the headers; the same limit applies to trailers
MOST_HEADERS = 256
MOST_PIPELINED = 32  # requests on one connection that wait for the answers to earlier ones
HEAD_SECONDS = 10.0
BODY_SECONDS = 30.0
WRITE_SECONDS = 60.0
PROGRESS = 64 << 10  # bytes
_OPEN_FILES = 1024  # the assumed limit, if the system does not tell it
_MOST = 1000

_LONG = f"The first line and the headers have at most {LARGEST_HEAD:,} bytes and {MOST_HEADERS} headers."
_TRAILERS = f"Trailers have at most {LARGEST_HEAD:,} bytes and {MOST_HEADERS} fields."


class _Refused(Exception):
    """Raised while a request is parsed, to refuse the request and close the connection. The client gets the message."""

    def __init__(self, words: str, status: int = 400) -> None:
        super().__init__(words)
        self.status = status


def _is_elsewhere(target: bytes, host: bytes) -> bool:
    """Return whether a request target names another server than the Host header `host`. For example, the target
    `http://server/path` names `server`. A target that is only a path names no server."""
    authority = target.partition(b"://")[2].partition(b"/")[0].partition(b"?")[0]
    return bool(authority) and authority.lower() != host.strip().lower()


def most_connections() -> int:
    """Return how many connections may be open: half of the limit of open files, but at least 16 and at most 1,000."""
    try:
        import resource

        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    except ImportError:  # the system does not have this module
        files = _OPEN_FILES
    return min(_MOST, max(16, files // 2)) if files > 0 else _MOST


def _send_at_once(connection: socket.socket) -> None:
    """Let the kernel send each part of an answer at once. Otherwise the body waits until the client has acknowledged
    the headers, which clients do only after 40 ms. asyncio sets this for sockets that were created for TCP by number,
    which sockets of uvicorn are not."""
    if connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class Protocol(HttpToolsProtocol):
    """The protocol of one connection. It does not log invalid requests, because anyone could fill a disk with them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._in_head = True
        self._progress = False  # the last data completed a head, a chunk's first line, a part of a body or a request
        self._raw = 0  # bytes received since the last progress
        self._held = 0  # bytes of a head or of trailers that the parser has read
        self._fields = 0
        self._arrived = 0  # bytes of the body since the deadline was set
        self._deadline: asyncio.TimerHandle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._since = 0.0  # when the server began to wait for this client; the earliest is closed first

    # Connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        _send_at_once(transport.get_extra_info("socket"))
        self._await_head()
        if len(self.connections) > most_connections() and not self._make_room():
            self._answer(503, "Too many connections.", "retry-after: 1\r\n")

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_writing()
        super().connection_lost(exc)

    def _make_room(self) -> bool:
        """Make room for this connection: of all other connections that are idle, close the one that has been idle
        longest. Return True if a connection was closed, and False if no other connection is idle."""
        waiting = [one for one in self.connections if one is not self and isinstance(one, Protocol) and one.idle]
        if not waiting:
            return False
        oldest: Protocol = min(waiting, key=lambda one: one._since)
        oldest.transport.abort()
        self.connections.discard(oldest)
        return True

    @property
    def idle(self) -> bool:
        """Return whether the server waits for this client to send a request, or the rest of a request."""
        return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

    # Reading

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._in_head and self._deadline is None:
            self._await_head()
        self._progress = False
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except HttpParserError as problem:
            refused = problem.__context__
            if isinstance(refused, _Refused):
                self._answer(refused.status, str(refused))
            else:
                self._answer(400, "The request is not valid HTTP/1.1.")
            return
        except HttpParserUpgrade:
            return  # answer the request without an upgrade: there is no other protocol here
        self._raw = 0 if self._progress else self._raw + len(data)
        if self._raw > LARGEST_HEAD:  # of a head, of a line of the trailers, or of a chunk's first line
            self._answer(431, _LONG if self._in_head else _TRAILERS)

    def on_url(self, url: bytes) -> None:
        self._hold(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields += 1
        self._hold(len(name) + len(value))
        if self._in_head:
            super().on_header(name, value)

    def _hold(self, size: int) -> None:
        self._held += size
        if self._fields > MOST_HEADERS or self._held > LARGEST_HEAD:
            raise _Refused(_LONG if self._in_head else _TRAILERS, 431)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= MOST_PIPELINED:
            raise _Refused(f"At most {MOST_PIPELINED} requests may wait for their answers on one connection.")
        if not self.url.startswith(b"/") and _is_elsewhere(self.url, dict(self.headers).get(b"host", b"")):
            raise _Refused("The first line and the Host header name different servers.")
        self._in_head, self._progress, self._held, self._fields = False, True, 0, 0
        super().on_headers_complete()
        self._await_body()

    def on_chunk_header(self) -> None:
        self._progress = True

    def on_body(self, body: bytes) -> None:
        self._progress = True
        self._arrived += len(body)
        if self._arrived > PROGRESS:
            self._await_body()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_head, self._progress, self._held, self._fields = True, True, 0, 0
        self._stop_waiting()
        super().on_message_complete()

    # Waiting

    def _await_head(self) -> None:
        self._wait(HEAD_SECONDS, "The first line and the headers did not arrive")
        self._since = self.loop.time()

    def _await_body(self) -> None:
        self._arrived = 0
        self._wait(BODY_SECONDS, "The body did not arrive")

    def _wait(self, seconds: float, what: str) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(seconds, self._too_slow, f"{what} within {seconds:g} s.")

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self, words: str) -> None:
        self._deadline = None
        if self.flow is not None and self.flow.read_paused:  # the server itself has paused reading
            self._await_body()
            return
        self._answer(408, words)

    def _answer(self, status: int, words: str, headers: str = "") -> None:
        """Send problem details and close the connection. If the response to an earlier request is not complete, only
        close the connection, because the client would read the details as that response."""
        self._stop_waiting()
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is None or cycle.response_complete or (cycle.more_body and not cycle.response_started):
            body = json.dumps(fault(status, HTTPStatus(status).phrase.lower(), words).body).encode()
            head = f"content-type: {MEDIA}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n"
            self.transport.write(STATUS_LINE[status] + head.encode() + headers.encode() + b"\r\n" + body)
        self.transport.close()

    # Writing

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._writing is None:
            self._writing = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_writing()

    def _stop_writing(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None

    def on_response_complete(self) -> None:
        self._since = self.loop.time()
        super().on_response_complete()
