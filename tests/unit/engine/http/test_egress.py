"""The policy by itself, and the client against a real service on loopback."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import Any

import httpcore
import pytest

from ostinato.engine.http.egress import (
    Egress,
    EgressFailed,
    EgressPolicy,
    EgressRefused,
    EgressResponse,
    EgressTimedOut,
)
from ostinato.errors import OstinatoError
from tests.support.service import Reply, Service

LOOPBACK = EgressPolicy(allow=("127.0.0.0/8", "::1"))


class Names:
    """A resolver whose names change their addresses from one question to the next."""

    def __init__(self, **names: Sequence[Sequence[str]]) -> None:
        self._names = {name.replace("_", "."): list(answers) for name, answers in names.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self._names[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Nowhere(httpcore.AsyncNetworkBackend):
    """A network that notes where it was to connect, and does not."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        self.asked.append(host)
        raise httpcore.ConnectError("there is nothing there")


def get(egress: Egress, url: str, method: str = "GET", **options: Any) -> EgressResponse:
    return asyncio.run(egress.request(method, url, **options))


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://127.0.0.1/", "loopback addresses are not called unless allowed"),
        ("http://[::1]/", "loopback"),
        ("http://localhost/", "loopback"),
        ("http://2130706433/", "'2130706433' (127.0.0.1) is refused: loopback"),
        ("http://0x7f000001/", "loopback"),
        ("http://0x7f.1/", "loopback"),
        ("http://127.1/", "loopback"),
        ("http://017700000001/", "loopback"),
        ("http://0177.0.0.1/", "cannot be read"),
        ("http://[::ffff:127.0.0.1]/", "which leads to 127.0.0.1) is refused: loopback"),
        ("http://[::ffff:a00:1]/", "private"),
        ("http://[2002:a00:1::]/", "leads to 10.0.0.1) is refused: private"),
        ("http://[64:ff9b::a9fe:a9fe]/", "cloud metadata addresses are never called"),
        ("http://169.254.169.254/latest/meta-data", "cloud metadata addresses are never called; no setting"),
        ("http://2852039166/", "cloud metadata"),
        ("http://[fd00:ec2::254]/", "cloud metadata"),
        ("http://100.100.100.200/", "cloud metadata"),
        ("http://0.0.0.0/", "unspecified"),
        ("http://224.0.0.1/", "multicast"),
        ("http://255.255.255.255/", "reserved"),
        ("ftp://example.com/", "its scheme is 'ftp', and only http and https are called"),
        ("file:///etc/passwd", "only http and https"),
        ("example.com/", "no scheme"),
        ("http:///path", "names no host"),
        ("http://user:word@example.com/", "user or a password"),
        ("http://user@example.com/", "user or a password"),
        ("http://example.com:65536/", "its port"),
    ],
)
def test_what_must_not_be_called_is_refused_with_its_rule(url: str, says: str) -> None:
    with pytest.raises(EgressRefused) as refused:
        get(Egress(), url)
    assert says in str(refused.value)


def test_a_refusal_names_the_host_the_address_the_rule_and_what_would_allow_it() -> None:
    egress = Egress(resolve=Names(hooks_internal=[["10.1.2.3"]]))
    with pytest.raises(EgressRefused) as refused:
        get(egress, "http://hooks.internal/")
    problem = refused.value
    assert (problem.host, problem.address) == ("hooks.internal", "10.1.2.3")
    assert "private" in problem.rule
    assert problem.setting is not None
    assert "allow=('10.1.2.3',)" in problem.setting


def test_the_metadata_service_is_refused_by_what_its_name_leads_to() -> None:
    names = Names(metadata_google_internal=[["169.254.169.254"]])
    lavish = EgressPolicy(allow_private=True, allow=("metadata.google.internal", "169.254.0.0/16"))
    with pytest.raises(EgressRefused, match="no setting allows it"):
        get(Egress(lavish, resolve=names), "http://metadata.google.internal/")


@pytest.mark.parametrize(
    ("policy", "host", "address", "goes"),
    [
        (EgressPolicy(), "a.example", "1.1.1.1", True),
        (EgressPolicy(allow_private=True), "a.example", "192.168.0.1", True),
        (EgressPolicy(allow=("10.0.0.0/8",)), "a.example", "10.1.1.1", True),
        (EgressPolicy(allow=("10.0.0.0/8",)), "a.example", "::ffff:10.1.1.1", True),
        (EgressPolicy(allow=("10.0.0.0/8",)), "a.example", "192.168.0.1", False),
        (EgressPolicy(allow=("a.example",)), "A.Example.", "10.1.1.1", True),
        (EgressPolicy(allow=("*.corp.example",)), "x.y.corp.example", "10.1.1.1", True),
        (EgressPolicy(allow=("*.corp.example",)), "corp.example", "10.1.1.1", False),
        (EgressPolicy(allow=("*.corp.example",)), "evilcorp.example", "10.1.1.1", False),
        (EgressPolicy(deny=("a.example",)), "a.example", "1.1.1.1", False),
        (EgressPolicy(deny=("1.1.1.0/24",)), "a.example", "1.1.1.1", False),
        (EgressPolicy(deny=("1.1.1.0/24",)), "a.example", "64:ff9b::101:101", False),
        (EgressPolicy(allow_private=True, allow=("10.1.1.1",), deny=("10.0.0.0/8",)), "a", "10.1.1.1", False),
        (EgressPolicy(only=("a.example",)), "a.example", "1.1.1.1", True),
        (EgressPolicy(only=("a.example",)), "b.example", "1.1.1.1", False),
        (EgressPolicy(only=("a.example", "1.1.1.0/24")), "b.example", "1.1.1.1", True),
        (EgressPolicy(only=("a.example", "1.1.1.0/24")), "b.example", "1.1.2.1", False),
        (EgressPolicy(only=("a.example",)), "a.example", "10.0.0.1", False),
    ],
)
def test_a_policy_allows_denies_and_confines(policy: EgressPolicy, host: str, address: str, goes: bool) -> None:
    if goes:
        policy.check(host, [address])
    else:
        with pytest.raises(EgressRefused):
            policy.check(host, [address])


@pytest.mark.parametrize("text", ["10.0.0.1/8", "http://a.example", "a.example:80", "", "*", "256.0.0.1", "a b"])
def test_a_policy_that_cannot_be_meant_is_an_error(text: str) -> None:
    with pytest.raises(OstinatoError, match="neither a name nor a network"):
        EgressPolicy(allow=(text,))


def test_one_text_is_not_a_list_of_places() -> None:
    with pytest.raises(OstinatoError, match="not a list"):
        EgressPolicy(deny="a.example")  # type: ignore[arg-type]


def test_one_bad_answer_among_good_ones_refuses_the_name() -> None:
    network = Nowhere()
    egress = Egress(resolve=Names(mixed_example=[["93.184.216.34", "127.0.0.1"]]))
    egress._backend._network = network  # type: ignore[assignment]
    with pytest.raises(EgressRefused, match="loopback"):
        get(egress, "http://mixed.example/")
    assert network.asked == []


def test_a_name_that_rebinds_is_connected_to_at_the_address_that_was_checked() -> None:
    names, network = Names(rebind_example=[["93.184.216.34"], ["127.0.0.1"]]), Nowhere()
    egress = Egress(resolve=names)
    egress._backend._network = network  # type: ignore[assignment]
    with pytest.raises(EgressFailed, match="nothing there"):
        get(egress, "http://rebind.example/")
    assert (network.asked, names.asked) == (["93.184.216.34"], ["rebind.example"])
    with pytest.raises(EgressRefused, match="loopback"):
        get(egress, "http://rebind.example/")
    assert network.asked == ["93.184.216.34"]


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    with Service() as service:
        egress = Egress(LOOPBACK, resolve=Names(two_example=[["::1", "127.0.0.1"]]))
        assert get(egress, f"http://two.example:{service.port}/").status == 200


def test_the_service_hears_the_name_not_the_address() -> None:
    with Service() as service:
        egress = Egress(LOOPBACK, resolve=Names(named_example=[["127.0.0.1"]]))
        get(egress, f"http://Named.example:{service.port}/a?b=c")
    (received,) = service.received
    assert (received.headers["host"], received.path) == (f"named.example:{service.port}", "/a?b=c")


def test_tls_is_asked_for_by_the_name() -> None:
    async def main() -> bytes:
        hello: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            hello.set_result(await reader.read(4096))
            writer.close()

        async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            egress = Egress(LOOPBACK, resolve=Names(secure_example=[["127.0.0.1"]]))
            with pytest.raises(EgressFailed):
                await egress.request("GET", f"https://secure.example:{port}/")
            return await hello

    assert b"secure.example" in asyncio.run(main())


def test_a_host_in_decimal_is_called_if_what_it_is_may_be() -> None:
    with Service() as service:
        assert get(Egress(LOOPBACK), f"http://2130706433:{service.port}/").status == 200
        assert get(Egress(LOOPBACK), f"http://[::ffff:127.0.0.1]:{service.port}/").status == 200


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    with Service() as service:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        assert get(Egress(LOOPBACK), service.url).status == 200


def test_a_large_answer_is_cut() -> None:
    with Service(Reply(body=b"x" * 5_000_000)) as service:
        answer = get(Egress(LOOPBACK), service.url, max_response=1000)
        assert (answer.content, answer.truncated) == (b"x" * 1000, True)
        service.replies = [Reply(body=b"x" * 1000)]
        assert not get(Egress(LOOPBACK), service.url, max_response=1000).truncated


def test_a_compressed_answer_is_not_unpacked() -> None:
    with Service(Reply(body=b"\x1f\x8b...", headers={"Content-Encoding": "gzip"})) as service:
        assert get(Egress(LOOPBACK), service.url).content == b"\x1f\x8b..."
    assert service.received[0].headers["accept-encoding"] == "identity"


def test_a_silent_service_is_given_up_in_time() -> None:
    done = threading.Event()
    with Service(Reply(wait_for=done)) as service:
        with pytest.raises(EgressTimedOut, match=r"within 0\.05 s"):
            get(Egress(LOOPBACK), service.url, timeout=0.05)
        done.set()


def test_a_service_that_drips_is_given_up_in_time() -> None:
    async def main() -> None:
        async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
            try:
                while not writer.is_closing():
                    writer.write(b".")
                    await writer.drain()
                    await asyncio.sleep(0)
            except ConnectionError:
                pass
            finally:
                writer.close()

        async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(EgressTimedOut):
                await Egress(LOOPBACK).request("GET", f"http://127.0.0.1:{port}/", timeout=0.1)

    asyncio.run(main())


def test_a_name_without_an_address_is_a_failure_not_a_refusal() -> None:
    async def unknown(host: str, port: int) -> Sequence[str]:
        raise OSError("no such name")

    with pytest.raises(EgressFailed, match=r"no address found for 'nowhere\.example': no such name"):
        get(Egress(resolve=unknown), "http://nowhere.example/")


def moved(to: str, status: int = 302) -> Reply:
    return Reply(status, headers={"Location": to})


def test_a_redirect_is_an_answer_unless_it_is_to_be_followed() -> None:
    with Service(moved("/there"), Reply(body=b"here")) as service:
        assert get(Egress(LOOPBACK), service.url).status == 302
        service.replies = [moved("/there"), Reply(body=b"here")]
        answer = get(Egress(LOOPBACK), service.url, redirects=1)
        assert (answer.content, answer.redirects, service.received[-1].path) == (b"here", 1, "/there")


def test_redirects_are_followed_so_many_times() -> None:
    with Service(moved("/again")) as service:
        with pytest.raises(EgressFailed, match="one redirect too many; 3 are followed"):
            get(Egress(LOOPBACK), service.url, redirects=3)
        assert len(service.received) == 4


@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest/", "http://10.0.0.1/", "file:///etc/passwd", "http://a:b@127.0.0.1/"]
)
def test_every_hop_is_checked(target: str) -> None:
    with Service(moved(target)) as service, pytest.raises(EgressRefused):
        get(Egress(LOOPBACK), service.url, redirects=5)


CREDENTIALS = {"Authorization": "Bearer t", "X-Api-Key": "k", "Cookie": "c=1", "Webhook-Signature": "v1,x"}


def test_credentials_do_not_go_along_to_another_origin() -> None:
    with Service() as other, Service(moved(f"{other.url}/")) as service:
        get(Egress(LOOPBACK), service.url, headers={**CREDENTIALS, "Accept": "text/plain"}, redirects=1)
    (sent,), (passed,) = service.received, other.received
    assert {name.lower() for name in CREDENTIALS} <= sent.headers.keys()
    assert not {name.lower() for name in CREDENTIALS} & passed.headers.keys()
    assert passed.headers["accept"] == "text/plain"


def test_credentials_stay_within_an_origin() -> None:
    with Service(moved("/there", 307), Reply()) as service:
        get(Egress(LOOPBACK), service.url, "POST", headers=CREDENTIALS, content=b"body", redirects=1)
    passed = service.received[1]
    assert (passed.method, passed.body, passed.headers["authorization"]) == ("POST", b"body", "Bearer t")


def test_a_body_is_not_carried_to_another_origin() -> None:
    with Service() as other, Service(moved(f"{other.url}/", 307)) as service:
        answer = get(Egress(LOOPBACK), service.url, "POST", content=b"secret", redirects=1)
    assert (answer.status, other.received) == (307, [])


def test_a_post_that_is_told_to_see_elsewhere_becomes_a_get() -> None:
    with Service() as other, Service(moved(f"{other.url}/", 303)) as service:
        get(Egress(LOOPBACK), service.url, "POST", content=b"body", redirects=1)
    assert (other.received[0].method, other.received[0].body) == ("GET", b"")


@pytest.mark.parametrize(
    "headers", [{"X": "a\r\nY: b"}, {"X": "a\nb"}, {"X\r\n": "a"}, {"X Y": "a"}, {"Host": "other"}, {"": "a"}]
)
def test_headers_that_would_become_something_else_are_refused(headers: dict[str, str]) -> None:
    with pytest.raises(OstinatoError):
        get(Egress(LOOPBACK), "http://127.0.0.1:1/", headers=headers)


def test_what_is_no_http_is_a_failure_without_its_bytes() -> None:
    async def main() -> None:
        async def babble(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"hush-hush\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(babble, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(EgressFailed, match="illegal status line") as failed:
                await Egress(LOOPBACK).request("GET", f"http://127.0.0.1:{port}/")
            assert "hush" not in str(failed.value)

    asyncio.run(main())


def test_space_around_a_header_does_not_matter() -> None:
    with Service() as service:
        get(Egress(LOOPBACK), service.url, headers={"X-Key": " key\t", "X-Empty": ""})
    assert (service.received[0].headers["x-key"], service.received[0].headers["x-empty"]) == ("key", "")


def test_a_url_is_never_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Service() as service:
        get(Egress(LOOPBACK), f"{service.url}/?token=hush-hush", headers={"Authorization": "Bearer hush-hush"})
    assert "hush-hush" not in caplog.text
