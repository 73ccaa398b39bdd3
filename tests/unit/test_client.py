"""The client: what is tried again, under which key, and what its errors are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from ostinato.client import Client, Denied, ServerFailed, SyncClient, Unreachable
from ostinato.client.calling import part
from ostinato.errors import Conflict, LimitError, NotFound, OstinatoError

CHANGED = {"name": "report", "token": 2, "run": None, "backfill": None, "lateness": {"late": 0, "will_run": 0}}
Answer = httpx.Response | Exception


class Fake:
    """A server that gives these answers, one after the other, and remembers the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: Any) -> Client:
        return Client("http://127.0.0.1:1", transport=httpx.MockTransport(self), **options)


def problem(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(status, json={"detail": f"it is {status}"}, headers=headers)


def ask(fake: Fake, do: Callable[[Client], Any], **options: Any) -> Any:
    async def run() -> Any:
        async with fake.client(**options) as client:
            return await do(client)

    return asyncio.run(run())


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ConnectError("refused"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("gone"),
        problem(503),
        problem(429, **{"retry-after": "0"}),
        problem(502),
    ],
)
def test_a_change_whose_answer_was_lost_is_sent_again_under_the_same_key(trouble: Answer) -> None:
    fake = Fake(trouble, trouble, httpx.Response(200, json=CHANGED))
    assert ask(fake, lambda client: client.schedules.pause("report"))["token"] == 2
    keys = [request.headers["idempotency-key"] for request in fake.asked]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert len({request.content for request in fake.asked}) == 1


def test_two_calls_have_two_keys_and_a_given_key_is_used() -> None:
    fake = Fake(httpx.Response(200, json=CHANGED))

    async def three(client: Client) -> None:
        await client.schedules.trigger("report")
        await client.schedules.trigger("report")
        await client.schedules.trigger("report", key="mine")

    ask(fake, three)
    keys = [request.headers["idempotency-key"] for request in fake.asked]
    assert keys[0] != keys[1]
    assert keys[2] == "mine"


def test_what_cannot_be_repeated_is_not() -> None:
    fake = Fake(httpx.ReadError("reset"))
    with pytest.raises(Unreachable):
        ask(fake, lambda client: client.create_token("reader"))
    assert len(fake.asked) == 1
    fake = Fake(problem(504))  # the server may have made it
    with pytest.raises(Unreachable, match="it is 504"):
        ask(fake, lambda client: client.create_token("reader"))
    assert len(fake.asked) == 1
    token = {"id": "1", "token": "ost_…"}
    fake = Fake(httpx.ConnectError("refused"), httpx.Response(201, json=token))  # certainly not heard: try again
    assert ask(fake, lambda client: client.create_token("reader")) == token


def test_patience_ends() -> None:
    fake = Fake(httpx.ConnectError("refused"))
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1 does not answer: refused"):
        ask(fake, lambda client: client.nodes(), patience=0)
    assert len(fake.asked) == 1
    fake = Fake(problem(503, **{"retry-after": "60"}))
    with pytest.raises(Unreachable, match="it is 503"):
        ask(fake, lambda client: client.nodes(), patience=5)
    assert len(fake.asked) == 1  # the server asks for a longer wait than its patience


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, OstinatoError),
        (401, Denied),
        (403, Denied),
        (404, NotFound),
        (409, Conflict),
        (412, Conflict),
        (421, Denied),
        (422, OstinatoError),
        (500, ServerFailed),
    ],
)
def test_problems_are_the_errors_that_the_app_would_raise(status: int, kind: type[Exception]) -> None:
    fake = Fake(problem(status))
    with pytest.raises(kind, match=f"it is {status}") as raised:
        ask(fake, lambda client: client.run("x"))
    assert type(raised.value) is kind
    assert len(fake.asked) == 1


def test_an_answer_that_is_no_problem_document_is_told_all_the_same() -> None:
    fake = Fake(httpx.Response(404, text="<html>a proxy"))
    with pytest.raises(NotFound, match="the server answered 404: <html>a proxy"):
        ask(fake, lambda client: client.run("x"))


def test_readiness_of_a_server_that_is_away_or_another_one() -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        ask(Fake(httpx.ConnectError("refused")), lambda client: client.ready())
    with pytest.raises(ServerFailed, match="no server of Ostinato"):
        ask(Fake(httpx.Response(200, text="<html>")), lambda client: client.ready())
    with pytest.raises(ServerFailed, match="its answer is not a JSON object"):
        ask(Fake(httpx.Response(200, text="[1]")), lambda client: client.ready())


def test_a_limit_that_is_none_is_refused() -> None:
    for limit in (0, -1, "x", None):
        with pytest.raises(LimitError):
            ask(Fake(), lambda client, limit=limit: client.runs(limit=limit))  # type: ignore[misc]


def test_names_and_times_are_sent_as_they_are() -> None:
    fake = Fake(httpx.Response(200, json=CHANGED))
    moment = datetime(2026, 3, 1, 9, tzinfo=UTC)
    ask(fake, lambda client: client.schedules.skip("team/x ?", moment, if_match=7), namespace="ns", token="secret")
    request = fake.asked[0]
    assert request.url.raw_path == b"/api/v1/schedules/team%2Fx%20%3F/skip?namespace=ns"
    assert json.loads(request.content) == {"at": "2026-03-01T09:00:00+00:00"}
    assert request.headers["if-match"] == '"7"'
    for name, sent in ((".", b"%2E"), ("..", b"%2E%2E"), ("...", b"%2E%2E%2E"), ("a..b", b"a..b")):
        ask(fake, lambda client: client.schedules.skip(name, moment))  # noqa: B023
        assert fake.asked[-1].url.raw_path == b"/api/v1/schedules/" + sent + b"/skip"
    assert request.headers["authorization"] == "Bearer secret"
    with pytest.raises(OstinatoError, match="has no zone"):
        ask(fake, lambda client: client.schedules.skip("x", datetime(2026, 3, 1)))  # noqa: DTZ001
    with pytest.raises(OstinatoError, match="not JSON"):
        ask(fake, lambda client: client.start("job", {"what": object()}))


def test_pages_are_followed_to_the_limit() -> None:
    def page(request: httpx.Request) -> httpx.Response:
        after = request.url.params.get("after", "")
        size = int(request.url.params["limit"])
        first = int(after or 0)
        items = [{"name": str(n)} for n in range(first + 1, min(first + size, 1200) + 1)]
        last = items[-1]["name"]
        return httpx.Response(200, json={"items": items, "next": None if last == "1200" else last})

    async def run(limit: int) -> list[Any]:
        async with Client(transport=httpx.MockTransport(page)) as client:
            return await client.schedules.list(limit=limit)

    assert len(asyncio.run(run(7))) == 7
    assert [one["name"] for one in asyncio.run(run(10_000))] == [str(n) for n in range(1, 1201)]


def test_a_stream_that_breaks_off_is_taken_up_where_it_was() -> None:
    def stream(*numbers: int) -> httpx.Response:
        text = "retry: 1000\n\n" + "".join(f'id: {n}\nevent: a:b\ndata: {{"seq": {n}}}\n\n: 5\n\n' for n in numbers)
        return httpx.Response(200, text=text)

    last = httpx.Response(200, json={"items": [{"seq": 4}], "next": None})
    fake = Fake(last, httpx.ReadError("reset"), stream(5, 6), stream(7))

    async def three(client: Client) -> list[int]:
        events = []
        async for event in client.follow(pattern="a:*"):
            events.append(event["seq"])
            if len(events) == 3:
                break
        return events

    assert ask(fake, three) == [5, 6, 7]
    assert [request.url.params.get("after") for request in fake.asked[1:]] == ["4", "4", "6"]


def test_a_stream_that_breaks_after_a_long_time_is_taken_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time without an answer counts from the break, not from the beginning of the stream."""
    hours = 0.0
    plain = asyncio.BaseEventLoop.time
    monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda loop: plain(loop) + hours * 3600)

    class Breaking(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            nonlocal hours
            yield b'data: {"seq": 5}\n\n'
            hours += 1
            raise httpx.ReadError("reset")

    last = httpx.Response(200, json={"items": [{"seq": 4}], "next": None})
    fake = Fake(last, httpx.Response(200, stream=Breaking()), httpx.Response(200, text='data: {"seq": 6}\n\n'))

    async def two(client: Client) -> list[int]:
        events = []
        async for event in client.follow():
            events.append(event["seq"])
            if len(events) == 2:
                break
        return events

    assert ask(fake, two) == [5, 6]


def test_the_same_without_awaiting() -> None:
    fake = Fake(httpx.Response(200, json={"items": [{"name": "report"}], "next": None}))
    with SyncClient("http://localhost:1", transport=httpx.MockTransport(fake)) as client:
        assert client.nodes() == [{"name": "report"}]
        assert client.schedules.list(match="r*") == [{"name": "report"}]
    with pytest.raises(OstinatoError, match="not open"):
        client.nodes()


def test_the_newest_events_are_asked_for_with_all_that_was_said() -> None:
    """The server refuses `after` and `subject` there, and the client must not hide them from it."""
    fake = Fake(httpx.Response(422, json={"detail": "leave out after and subject"}))
    with (
        SyncClient("http://localhost:1", transport=httpx.MockTransport(fake)) as client,
        pytest.raises(OstinatoError, match="leave out after and subject"),
    ):
        client.events(newest=True, after=5, subject="a run")
    (request,) = fake.asked
    assert dict(request.url.params) == {"newest": "true", "after": "5", "subject": "a run", "limit": "100"}


def test_a_server_is_a_url() -> None:
    with pytest.raises(OstinatoError, match="is not a URL"):
        Client("localhost:8471")


@pytest.mark.parametrize("name", ["", None, 7])
def test_an_empty_name_is_refused_before_another_call_is_made(name: Any) -> None:
    with pytest.raises(OstinatoError, match="is not a name or an id"):
        part(name)
