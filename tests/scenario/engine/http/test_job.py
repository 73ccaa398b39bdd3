"""The built-in job `http` on virtual time, calling a real service on loopback."""

from __future__ import annotations

import asyncio
import threading
from email.utils import format_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from ostinato import Ostinato, RunFailed
from ostinato.engine.http import signing
from ostinato.engine.http.egress import Egress, EgressPolicy
from ostinato.engine.http.job import http_handler
from ostinato.errors import OstinatoError
from ostinato.testing import World
from ostinato.testing.egress import VirtualTimeEgress
from ostinato.when.instants import SECOND, to_datetime
from tests.support.service import Received, Reply, Service

LOOPBACK = EgressPolicy(allow=("127.0.0.0/8",))
SECRET = 't0k3n/with+signs&"quotes"'


@pytest.fixture
def world(world: World) -> World:
    world.app._handlers["http"] = http_handler(VirtualTimeEgress(Egress(LOOPBACK)))
    return world


async def fails(world: World, **options: Any) -> RunFailed:
    run = await world.start("http", options)
    with pytest.raises(RunFailed) as failed:
        await run.result()
    return failed.value


async def everything(world: World) -> str:
    """All that is on record: runs with all their attempts, log lines, events."""
    kept: list[Any] = [*await world.app.runs(attempts=True, limit=1000), *await world.app.events(limit=1000)]
    for run in await world.app.runs():
        kept += await world.app.logs(run.id)
    return "\n".join(map(repr, kept))


async def test_an_answer_is_recorded(world: World) -> None:
    reply = Reply(201, b'{"id": 7}', {"Content-Type": "application/json", "X-Request-Id": "r1", "X-Other": "o"})
    with Service(reply) as service:
        run = await world.start("http", {"url": f"{service.url}/orders?a=b", "json": {"n": 1}, "keep": ["X-Other"]})
        result = await run.result()
    assert result["status"] == 201
    assert result["body"] == {"id": 7}
    assert (result["truncated"], result["elapsed_ms"]) == (False, 0)
    assert result["headers"]["x-request-id"] == "r1"
    assert result["headers"]["x-other"] == "o"
    assert "server" not in result["headers"]
    (received,) = service.received
    assert (received.method, received.path, received.body) == ("POST", "/orders?a=b", b'{"n":1}')
    assert received.headers["content-type"] == "application/json"
    assert received.headers["idempotency-key"] == received.headers["ostinato-run"] == run.id
    assert received.headers["ostinato-attempt"] == "1"
    assert received.headers["user-agent"].startswith("ostinato/")


async def test_what_is_given_goes_before_what_is_usual(world: World) -> None:
    headers = {"Idempotency-Key": "mine", "content-type": "text/csv", "X-Name": "Zoë"}
    with Service() as service:
        run = await world.start("http", {"url": service.url, "method": "put", "body": "a;b", "headers": headers})
        assert (await run.result())["body"] == ""
    (received,) = service.received
    assert (received.method, received.body) == ("PUT", b"a;b")
    assert (received.headers["idempotency-key"], received.headers["content-type"]) == ("mine", "text/csv")


@pytest.mark.parametrize(
    ("reply", "body"),
    [
        (Reply(body="grüß".encode("latin-1"), headers={"Content-Type": "text/plain; charset=latin-1"}), "grüß"),
        (Reply(body="grüß".encode(), headers={"Content-Type": "text/plain; charset=nonsense"}), "grüß"),
        (Reply(body=b"not json", headers={"Content-Type": "application/json"}), "not json"),
        (Reply(body=b"[1]", headers={"Content-Type": "application/problem+json; charset=utf-8"}), [1]),
        (Reply(body=b"a\x00b"), "a\ufffdb"),
        (Reply(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), None),
        (Reply(body=b"[" * 500 + b"]" * 500, headers={"Content-Type": "application/json"}), "[" * 500 + "]" * 500),
    ],
)
async def test_a_body_is_kept_as_what_it_is(world: World, reply: Reply, body: Any) -> None:
    with Service(reply) as service:
        run = await world.start("http", {"url": service.url})
        assert (await run.result())["body"] == body


async def test_a_large_body_is_cut(world: World) -> None:
    with Service(Reply(body=b'"' + b"x" * 1_000_000 + b'"', headers={"Content-Type": "application/json"})) as service:
        result = await (await world.start("http", {"url": service.url})).result()
    assert (len(result["body"]), result["truncated"]) == (64 << 10, True)


async def test_retries_have_the_same_webhook_id_and_each_its_own_valid_signature(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = signing.new_secret(), signing.new_secret()
    monkeypatch.setenv("OSTINATO_SECRET_HOOK_OLD", old)
    monkeypatch.setenv("OSTINATO_SECRET_HOOK_NEW", new)
    times: list[int] = []

    def at(status: int) -> Any:
        def answer(received: Received) -> Reply:
            times.append(world.clock.now())
            return Reply(status)

        return answer

    with Service(at(503), at(500), at(200)) as service:
        sign = ["secret://hook-new", "secret://hook-old"]
        run = await world.start("http", {"url": service.url, "json": {"n": 1}, "sign": sign})
        await run.result()
    assert {r.headers["webhook-id"] for r in service.received} == {run.id}
    assert service.received[0].headers["webhook-timestamp"] < service.received[-1].headers["webhook-timestamp"]
    for received, time in zip(service.received, times, strict=True):
        signing.verify([old], received.headers, received.body, time)
        signing.verify([new], received.headers, received.body, time)
    assert [r.headers["ostinato-attempt"] for r in service.received] == ["1", "2", "3"]
    assert old not in await everything(world)


async def test_a_service_that_never_recovers_is_called_five_times(world: World) -> None:
    with Service(Reply(503, b"we are  \n closed")) as service:
        problem = await fails(world, url=service.url)
    assert len(service.received) == 5
    assert problem.reason == f"HttpFailed: POST '{service.url}' answered 503 Service Unavailable: we are closed"


@pytest.mark.parametrize("as_date", [False, True])
async def test_a_pause_that_is_asked_for_is_kept(world: World, as_date: bool) -> None:
    times: list[int] = []

    def busy(received: Received) -> Reply:
        times.append(world.clock.now())
        until = format_datetime(to_datetime(times[-1] + 100 * SECOND), usegmt=True)
        return Reply(429, headers={"Retry-After": until if as_date else "100"})

    def done(received: Received) -> Reply:
        times.append(world.clock.now())
        return Reply()

    with Service(busy, done) as service:
        await (await world.start("http", {"url": service.url})).result()
    pauses = [b - a for a, b in pairwise(times)]
    assert [round(pause / SECOND) for pause in pauses] in ([100], [99])  # a date has no fractions of a second


@pytest.mark.parametrize("status", [302, 400, 401, 404, 422])
async def test_what_another_attempt_would_not_mend_fails_at_once(world: World, status: int) -> None:
    with Service(Reply(status, b"no such thing")) as service:
        problem = await fails(world, url=service.url, method="GET")
    assert len(service.received) == 1
    assert problem.reason is not None
    assert problem.reason.startswith(f"Fatal: GET '{service.url}' answered {status} ")
    assert problem.reason.endswith("no such thing")


async def test_what_is_expected_and_what_is_tried_again_can_be_said(world: World) -> None:
    with Service(Reply(404), Reply(202), Reply(409)) as service:
        input = {"url": service.url, "expect": [404], "retry_on": [202]}
        assert (await (await world.start("http", input)).result())["status"] == 404
        problem = await fails(world, **input)
    assert problem.reason is not None
    assert "Fatal" in problem.reason
    assert "409 Conflict" in problem.reason
    assert len(service.received) == 3


async def test_a_network_that_fails_is_tried_again(world: World) -> None:
    with Service() as service:
        url = service.url
    problem = await fails(world, url=url)
    assert problem.reason is not None
    assert problem.reason.startswith(f"HttpFailed: POST '{url}': no answer from '127.0.0.1'")
    (run,) = await world.runs("http")
    assert run.attempt == 5


async def test_what_the_policy_refuses_is_not_tried_again(world: World) -> None:
    for url in ("http://169.254.169.254/latest/meta-data", "http://10.0.0.1/", "http://[::1]/"):
        problem = await fails(world, url=url)
        assert problem.reason is not None
        assert problem.reason.startswith(f"Fatal: POST '{url}': ")
    assert {run.attempt for run in await world.runs("http")} == {1}


async def test_a_redirect_to_the_metadata_service_is_refused(world: World) -> None:
    with Service(Reply(302, headers={"Location": "http://169.254.169.254/"})) as service:
        problem = await fails(world, url=service.url, redirects=3)
    assert "cloud metadata addresses are never called" in str(problem)


@pytest.mark.parametrize("where", ["environment", "file"])
async def test_a_secret_is_sent_and_never_on_record(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, where: str
) -> None:
    if where == "environment":
        monkeypatch.setenv("OSTINATO_SECRET_API_TOKEN", SECRET)
    else:
        (tmp_path / "api-token").write_text(f"{SECRET}\n")
        monkeypatch.setenv("OSTINATO_SECRETS", str(tmp_path))

    def echo(status: int) -> Any:
        def answer(received: Received) -> Reply:
            echoed = {**received.headers, "body": received.body.decode(), "path": received.path}
            headers = {"Content-Type": "application/json", "ETag": received.headers["authorization"]}
            return Reply(status, orjson.dumps(echoed), headers)

        return answer

    with Service(echo(200), echo(503), echo(404)) as service:
        input = {
            "url": f"{service.url}/secret://api-token?t=secret://api-token",
            "headers": {"Authorization": "Bearer secret://api-token"},
            "json": {"token": "secret://api-token"},
        }
        result = await (await world.start("http", input)).result()
        await fails(world, **input)
    assert len(service.received) == 3
    assert all(r.headers["authorization"] == f"Bearer {SECRET}" for r in service.received)
    assert orjson.loads(service.received[0].body) == {"token": SECRET}
    assert result["body"]["authorization"] == "Bearer [secret]"
    assert result["headers"]["etag"] == "Bearer [secret]"
    kept = await everything(world)
    assert "secret://api-token" in kept
    assert "t0k3n" not in kept


async def test_a_secret_is_not_in_what_goes_wrong_on_the_way(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OSTINATO_SECRET_LINES", "hush-hush\r\nX-More: hush-hush")
    monkeypatch.setenv("OSTINATO_SECRET_HOST", "Hush-Hush.Example")
    monkeypatch.setenv("OSTINATO_SECRET_KEY", "hush-hush")
    one_try = {"retry": 1}
    for input in (
        {"url": "http://127.0.0.1:1/", "headers": {"X": "secret://lines"}},
        {"url": "http://127.0.0.1:1/secret://lines"},
        {"url": "http://secret://host/"},
        {"url": "secret://key"},
        {"url": "http://127.0.0.1:1/", "sign": "secret://key"},
    ):
        run = await world.start("http", input, **one_try)
        with pytest.raises(RunFailed):
            await run.result()
    assert "hush" not in (await everything(world)).lower()


async def test_a_secret_cut_in_two_at_the_end_of_a_body_is_not_on_record(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OSTINATO_SECRET_KEY", "hush-hush")
    with Service(Reply(body=b"x" * ((64 << 10) - 5) + b"hush-hush")) as service:
        input = {"url": service.url, "headers": {"X-Key": "secret://key"}}
        result = await (await world.start("http", input)).result()
    assert result["body"] == "x" * ((64 << 10) - 5)


async def test_a_secret_that_is_not_there_yet_is_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = await fails(world, url="http://127.0.0.1:1/secret://not-there")
    assert "secret://not-there is not known here: the environment has no OSTINATO_SECRET_NOT_THERE" in str(problem)
    (run,) = await world.runs("http")
    assert run.attempt == 5


async def test_an_input_is_checked_before_it_is_on_record(world: World) -> None:
    with pytest.raises(OstinatoError, match="http: there is no 'mehtod'; did you mean 'method'"):
        await world.start("http", {"url": "http://a.example/", "mehtod": "GET"})
    assert await world.runs("http") == []


def test_a_silent_service_is_given_up_in_time(tmp_path: Path) -> None:
    done = threading.Event()

    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app._handlers["http"] = http_handler(Egress(LOOPBACK))
        async with app:
            input = {"url": service.url, "timeout": "50ms"}
            run = await app.start("http", input, retry={"attempts": 2, "delay": "1ms"})
            with pytest.raises(RunFailed, match=r"no whole answer from '127\.0\.0\.1' within 0\.05 s"):
                await run.result(timeout=30)
            assert (await run.info()).attempt == 2

    with Service(Reply(wait_for=done)) as service:
        asyncio.run(main())
        done.set()
