"""A mailbox and a sheet on loopback. The sheet is busy, breaks off, and lies, in turn."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import parse_qs, urlsplit

FAULTS = ("busy", "lost call", "lost answer", "lie", None)  # of calls that append a row; then all is well


class Services:
    """`mails` are the subjects in the mailbox, numbered from `first`; `rows` is the sheet, by key; `outbox` holds the
    digests."""

    def __init__(self, mails: list[str], faults: tuple[str | None, ...] = FAULTS, first: int = 1) -> None:
        self.mails = mails
        self.first = first
        self.rows: dict[str, Any] = {}
        self.outbox: list[Any] = []
        self.appended = 0
        self._faults = list(faults)
        services = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                services.get(self)

            def do_POST(self) -> None:
                services.post(self)

            def log_message(self, *_: Any) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Services:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def get(self, request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        if parts.path == "/messages":
            after = int(parse_qs(parts.query).get("after", ["0"])[0])
            numbered = enumerate(list(self.mails), self.first)
            answer(request, 200, [{"id": id, "from": "ada", "subject": text} for id, text in numbered if id > after])
        else:
            row = self.rows.get(parts.path.rpartition("/")[2])
            answer(request, 404 if row is None else 200, row)

    def post(self, request: BaseHTTPRequestHandler) -> None:
        body = json.loads(request.rfile.read(int(request.headers["Content-Length"])))
        if request.path == "/outbox":
            self.outbox.append(body["subjects"])
            answer(request, 202, None)
            return
        fault = self._faults.pop(0) if self._faults else None
        if fault == "busy":
            answer(request, 429, None)
        elif fault == "lost call":
            request.connection.close()
        else:
            self.rows[request.headers["Idempotency-Key"]] = body
            self.appended += 1
            if fault == "lost answer":
                request.connection.close()
            else:
                answer(request, 500 if fault == "lie" else 201, {"row": self.appended})


def answer(request: BaseHTTPRequestHandler, status: int, body: Any) -> None:
    content = b"" if body is None else json.dumps(body).encode()
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)
