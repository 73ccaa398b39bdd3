"""What is read of a request before its body has an end, however it comes in."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ostinato.faces.http.protocol import LARGEST_HEAD
from tests.web import Live

HEAD = b"Host: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path: Path = tmp_path_factory.mktemp("protocol")
    with Live(f"sqlite:///{path}/live.db", node=False) as found:
        yield found


def sent(live: Live, *parts: bytes, answers: int = 1) -> bytes:
    """What comes back for what is sent, until so many answers have come or the door is shut."""
    with socket.create_connection(("127.0.0.1", urlsplit(live.url).port or 0), timeout=20) as line:
        found = b""
        try:
            for part in parts:
                line.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was shut before all was sent
        while found.count(b"HTTP/1.1 ") < answers or not found.endswith(b"}"):
            try:
                some = line.recv(1 << 16)
            except ConnectionResetError:
                break
            if not some:
                break
            found += some
        return found


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * (LARGEST_HEAD * 4),
        b"GET /api/v1/health/live HTTP/1.1\r\nX-Long: " + b"a" * (LARGEST_HEAD * 4),
        b"GET /api/v1/health/live HTTP/1.1\r\n" + b"X: y\r\n" * LARGEST_HEAD,
    ],
)
def test_a_head_without_end_is_cut_off(live: Live, head: bytes) -> None:
    pieces = [head[at : at + 10_000] for at in range(0, len(head), 10_000)]
    assert sent(live, *pieces).partition(b"\r\n")[0] in (b"HTTP/1.1 400 Bad Request", b"")
    whole = sent(live, b"GET /api/v1/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert whole.startswith(b"HTTP/1.1 200")  # others are answered


def test_a_long_body_is_not_a_long_head(live: Live) -> None:
    body = b'{"notes": "' + b"a" * (LARGEST_HEAD * 8) + b'"}'
    head = b"PUT /api/v1/schedules/a HTTP/1.1\r\n" + HEAD + b"Content-Length: %d\r\n\r\n" % len(body)
    assert sent(live, head + body).startswith(b"HTTP/1.1 422")
    pieces = [body[at : at + 10_000] for at in range(0, len(body), 10_000)]
    assert sent(live, head, *pieces).startswith(b"HTTP/1.1 422")


def test_many_requests_on_one_line_are_all_answered(live: Live) -> None:
    one = b"GET /api/v1/health/live HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20_000 + b"\r\n\r\n"
    assert sent(live, *[one] * 8, answers=8).count(b"HTTP/1.1 200") == 8
