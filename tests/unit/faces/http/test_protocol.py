"""What is read of a request before its body has an end, however it comes in."""

from __future__ import annotations

import json
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from ostinato.faces.http import protocol
from ostinato.faces.http.bodies import LARGEST
from ostinato.faces.http.protocol import LARGEST_HEAD, MOST_HEADERS, MOST_PIPELINED
from ostinato.faces.http.server import Listening
from tests.support.web import Live

TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large"
LOOK = b"GET /api/v1/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = b"Host: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    path: Path = tmp_path_factory.mktemp("protocol")
    with Live(f"sqlite:///{path}/live.db", node=False) as server:
        yield server


def sent(live: Live, *parts: bytes, answers: int = 1) -> bytes:
    """What comes back for what is sent, until so many answers have come or the door is shut."""
    with socket.create_connection(("127.0.0.1", urlsplit(live.url).port or 0), timeout=20) as line:
        answer = b""
        try:
            for part in parts:
                line.sendall(part)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was shut before all was sent
        while answer.count(b"HTTP/1.1 ") < answers or not answer.endswith(b"}"):
            try:
                some = line.recv(1 << 16)
            except ConnectionResetError:
                break
            if not some:
                break
            answer += some
        return answer


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
    assert sent(live, *pieces).partition(b"\r\n")[0] in (TOO_LONG, b"")
    whole = sent(live, b"GET /api/v1/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert whole.startswith(b"HTTP/1.1 200")  # others are answered


def test_answers_do_not_wait_for_the_acknowledgement_of_their_first_part(live: Live) -> None:
    async def options() -> list[int]:
        lines = [one.transport.get_extra_info("socket") for one in live._server.server_state.connections]
        return [line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for line in lines]

    with socket.create_connection(("127.0.0.1", urlsplit(live.url).port or 0), timeout=20) as line:
        line.sendall(LOOK)
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 200")
        assert set(live.call(options())) == {1}


def test_a_long_body_is_not_a_long_head(live: Live) -> None:
    body = b'{"notes": "' + b"a" * (LARGEST_HEAD * 8) + b'"}'
    head = b"PUT /api/v1/schedules/a HTTP/1.1\r\n" + HEAD + b"Content-Length: %d\r\n\r\n" % len(body)
    assert sent(live, head + body).startswith(b"HTTP/1.1 422")
    pieces = [body[at : at + 10_000] for at in range(0, len(body), 10_000)]
    assert sent(live, head, *pieces).startswith(b"HTTP/1.1 422")


def test_many_requests_on_one_line_are_all_answered(live: Live) -> None:
    request = b"GET /api/v1/health/live HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 20_000 + b"\r\n\r\n"
    assert sent(live, *[request] * 8, answers=8).count(b"HTTP/1.1 200") == 8


def answered(live: Live) -> bool:
    return sent(live, LOOK).startswith(b"HTTP/1.1 200")


def connected(live: Live) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(live.url).port or 0), timeout=20)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * LARGEST_HEAD + b" HTTP/1.1\r\n\r\n",
        b"GET /api/v1/health/live HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * LARGEST_HEAD + b"\r\n\r\n",
        b"GET /api/v1/health/live HTTP/1.1\r\n" + b"X: y\r\n" * (MOST_HEADERS + 1) + b"\r\n",
    ],
)
def test_a_head_that_comes_whole_is_bounded_as_well(live: Live, head: bytes) -> None:
    top, _, body = sent(live, head).partition(b"\r\n\r\n")
    assert top.startswith(TOO_LONG)
    assert b"content-type: application/problem+json\r\n" in top
    assert json.loads(body) == {
        "type": "urn:ostinato:request-header-fields-too-large",
        "title": "request header fields too large",
        "status": 431,
        "detail": "The first line and the headers have at most 65,536 bytes and 256 headers.",
    }
    assert answered(live)


def test_what_is_no_http_is_answered_with_a_problem_as_well(live: Live) -> None:
    top, _, body = sent(live, b"frobnicate\r\n\r\n").partition(b"\r\n\r\n")
    assert top.startswith(b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/problem+json\r\n")
    problem = json.loads(body)
    assert (problem["title"], problem["detail"]) == ("bad request", "The request is not valid HTTP/1.1.")


CHUNKED = b"POST /api/v1/jobs/note/start HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"


def test_trailers_are_not_headers(live: Live) -> None:
    whole = CHUNKED + b"0\r\nIdempotency-Key: one\r\nHost: attacker.example\r\nContent-Type: text/plain\r\n\r\n"
    first, second = sent(live, whole), sent(live, whole)
    assert first.startswith(b"HTTP/1.1 201")
    assert first.rpartition(b"\r\n")[2] != second.rpartition(b"\r\n")[2]  # two runs: no key was seen


@pytest.mark.parametrize("piece", [b"a" * 100_000, b"X: y\r\n" * 20_000, (b"X: " + b"a" * 1000 + b"\r\n") * 100])
def test_trailers_without_end_are_cut_off(live: Live, piece: bytes) -> None:
    assert answered(live)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    answer = sent(live, CHUNKED + b"0\r\nX: ", *[piece] * 1000)
    assert answer.partition(b"\r\n")[0] in (TOO_LONG, b"")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 << 10  # KiB, of the 100 MB that were sent
    assert answered(live)


def test_a_body_in_the_smallest_chunks_is_read(live: Live) -> None:
    body = b"".join(b"1;" + b"e" * 100 + b"\r\n%c\r\n" % one for one in b'{"input": {"n": 1}}' + b" " * 2000)
    head = CHUNKED.partition(b"2\r\n{}")[0]
    assert sent(live, head + body + b"0\r\n\r\n").startswith(b"HTTP/1.1 201")


@pytest.mark.parametrize(
    ("limit", "part"),
    [
        ("HEAD_SECONDS", b""),
        ("HEAD_SECONDS", b"GET /api/v1/health/live HTTP/1.1\r\nHost: loc"),
        ("BODY_SECONDS", b"POST /api/v1/jobs/note/start HTTP/1.1\r\n" + HEAD + b"Content-Length: 10\r\n\r\n{"),
        ("BODY_SECONDS", CHUNKED),
        ("BODY_SECONDS", CHUNKED + b"0\r\nX: y\r\n"),
    ],
)
def test_half_a_request_is_not_waited_for(live: Live, monkeypatch: pytest.MonkeyPatch, limit: str, part: bytes) -> None:
    monkeypatch.setattr(protocol, limit, 0.2)
    with connected(live) as line:
        line.sendall(part)
        assert line.recv(1 << 16).startswith(b"HTTP/1.1 408")
        assert line.recv(1 << 16) == b""
    assert answered(live)


def test_a_request_that_comes_slowly_is_not_given_time_for_each_byte(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    begin = time.monotonic()
    with connected(live) as line:
        line.setblocking(False)
        line.sendall(b"GET /")
        while not (answer := _there(line)):
            line.sendall(b"a")
            time.sleep(0.05)
            assert time.monotonic() - begin < 10
    assert answer.startswith(b"HTTP/1.1 408")


def _there(line: socket.socket) -> bytes:
    try:
        return line.recv(1 << 16)
    except BlockingIOError:
        return b""


def test_when_there_are_too_many_connections_those_that_say_nothing_go(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "most_connections", lambda: 8)
    with ExitStack() as lines:
        silent = [lines.enter_context(connected(live)) for _ in range(30)]
        for connection in silent[-5:]:
            connection.sendall(b"GET /api/v1/health/live HTTP/1.1\r\n")
        assert answered(live)  # those who ask are answered all the while
        assert silent[0].recv(10) == b""
        assert answered(live)


def test_requests_that_wait_on_one_connection_are_bounded(live: Live) -> None:
    assert sent(live, LOOK * (MOST_PIPELINED * 4), answers=MOST_PIPELINED * 4).count(b"200 OK") < MOST_PIPELINED * 4
    assert answered(live)


def test_the_body_of_a_stranger_is_not_read(tmp_path: Path) -> None:
    with Live(f"sqlite:///{tmp_path}/live.db", node=False, listening=Listening(port=0, require_token=True)) as live:
        for path in ("jobs/note/start", "schedules:apply", "journeys/a/start"):
            head = b"POST /api/v1/" + path.encode() + b" HTTP/1.1\r\n" + HEAD
            assert sent(live, head + b"Content-Length: %d\r\n\r\n" % LARGEST).startswith(b"HTTP/1.1 401"), path
            assert sent(live, head + b"Transfer-Encoding: chunked\r\n\r\n").startswith(b"HTTP/1.1 401"), path


def test_what_this_machine_says_of_its_clients_is_not_believed(tmp_path: Path) -> None:
    def guessed(live: Live, number: int) -> bytes:
        said = b"X-Forwarded-For: 9.9.9.%d\r\nAuthorization: Bearer ost_wrong\r\n\r\n" % number
        return sent(live, b"GET /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n" + said)

    with Live(f"sqlite:///{tmp_path}/live.db", node=False) as live:
        assert [guessed(live, number)[9:12] for number in range(12)] == [b"401"] * 10 + [b"429"] * 2


def test_a_request_names_one_server(live: Live) -> None:
    twice = b"GET /api/v1/health/live HTTP/1.1\r\nHost: localhost\r\nHost: elsewhere.example\r\n\r\n"
    assert b" 400 " in sent(live, twice).splitlines()[0]
    foreign = b"GET http://elsewhere.example/api/v1/health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
    assert b" 400 " in sent(live, foreign).splitlines()[0]
    ours = foreign.replace(b"elsewhere.example", b"localhost")
    assert b" 200 " in sent(live, ours).splitlines()[0]


def test_an_error_of_ours_says_that_the_connection_ends(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("as planned")

    monkeypatch.setattr("ostinato.faces.http.events.listing", fail)
    head = sent(live, b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").lower()
    assert b" 500 " in head.splitlines()[0]
    assert b"\r\nconnection: close\r\n" in head
