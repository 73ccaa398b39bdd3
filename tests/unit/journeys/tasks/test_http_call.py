"""`httpCall:v1` against a real service on loopback."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import trustme

from ostinato.engine.http.egress import Egress, EgressPolicy
from ostinato.journeys.settings import HttpSettings, JourneySettings
from ostinato.journeys.task_kind import Request, TaskResult
from ostinato.journeys.tasks.http.call import HttpCall
from tests.support.service import Received, Reply, Service
from tests.unit.journeys.tasks.calling import LOOPBACK, MemoryCache, call_of, context, definition, mapper, problem, run

JSON = {"Content-Type": "application/json"}
TOKEN = "s3cret-token-of-the-service"


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as running:
        yield running


def get(url: str, **more: Any) -> dict[str, Any]:
    return {"method": "GET", "url": url, "resultVar": "found", **more}


def retrying(rules: str) -> str:
    return f"policies: {{httpResilience: {{definitions: {{std: {{{rules}}}}}}}}}"


def test_the_result_is_status_ok_headers_and_body(service: Service) -> None:
    service.replies = [Reply(201, b'{"id": 7}', JSON)]
    settings = {"method": "POST", "url": service.url + "/items", "body": {"a": [1]}, "resultVar": "found"}
    written = context(HttpCall(), call_of(settings, {"kept": 1}))
    assert written["kept"] == 1
    assert (written["found"]["status"], written["found"]["ok"], written["found"]["body"]) == (201, True, {"id": 7})
    assert written["found"]["headers"]["content-type"] == "application/json"
    received = service.received[0]
    assert (received.method, received.path, json.loads(received.body)) == ("POST", "/items", {"a": [1]})
    assert received.headers["accept"] == received.headers["content-type"] == "application/json"
    assert received.headers["idempotency-key"] == "run-1:0:1"


@pytest.mark.parametrize(
    ("body", "sent", "kind"),
    [
        ("hello ${context.who.name} ${context.n}", b"hello Ann [1,2]", "text/plain; charset=utf-8"),
        ('{"n": ${context.n}}', b'{"n": [1,2]}', "application/json"),
        (mapper("context.who"), b'{"name":"Ann"}', "application/json"),
        (mapper('"text"'), b'"text"', "application/json"),
        (
            {"who": "${context.who}", "n": ["${context.n}", 1]},
            b'{"who":{"name":"Ann"},"n":[[1,2],1]}',
            "application/json",
        ),
        ({"text": "to ${context.who.name}"}, b'{"text":"to Ann"}', "application/json"),
    ],
)
def test_forms_of_the_body(service: Service, body: Any, sent: bytes, kind: str) -> None:
    settings = {"method": "PUT", "url": service.url, "body": body, "resultVar": "r"}
    context(HttpCall(), call_of(settings, {"who": {"name": "Ann"}, "n": [1, 2]}))
    assert (service.received[0].body, service.received[0].headers["content-type"]) == (sent, kind)


def test_a_body_that_is_not_json_is_text(service: Service) -> None:
    service.replies = [Reply(200, b"[1", {"Content-Type": "text/plain"}), Reply(404, b"{", JSON)]
    assert context(HttpCall(), call_of(get(service.url)))["found"]["body"] == "[1"
    result = context(HttpCall(), call_of(get(service.url)))["found"]
    assert (result["ok"], result["body"]) == (False, "{")


def test_values_in_a_url_are_data_and_its_beginning_is_not(service: Service) -> None:
    spec = "platform: {config: {base: {type: string}}}"
    kind = HttpCall(JourneySettings(platform={"base": service.url + "/v1"}))
    settings = get("${platform.config.base}/users/${context.id}?q=${context.q}")
    context(kind, call_of(settings, {"id": "../admin?x=1", "q": "a&b=c"}, of=definition(spec)))
    assert service.received[0].path == "/v1/users/..%2Fadmin%3Fx%3D1?q=a%26b%3Dc"


@pytest.mark.parametrize("value", [{}, {"id": None}, {"id": {"x": 1}}])
def test_a_missing_value_ends_the_run_and_calls_nobody(service: Service, value: dict[str, Any]) -> None:
    fault = problem(HttpCall(), call_of(get(service.url + "/${context.id.y}"), value))
    assert (fault.code, fault.internal, service.received) == ("HTTPCALL_VALUE_MISSING", False, [])


def test_a_missing_value_in_an_object_ends_the_run(service: Service) -> None:
    settings = {"method": "POST", "url": service.url, "body": {"a": ["${context.who}"]}, "resultVar": "r"}
    fault = problem(HttpCall(), call_of(settings, {}))
    assert (fault.code, fault.detail) == ("HTTPCALL_VALUE_MISSING", "${context.who} has no value")
    assert service.received == []


def test_a_value_cannot_climb(service: Service) -> None:
    fault = problem(HttpCall(), call_of(get(service.url + "/a/${context.id}"), {"id": ".."}))
    assert (fault.code, service.received) == ("HTTPCALL_INVALID", [])


def test_a_value_cannot_begin_another_header(service: Service) -> None:
    settings = get(service.url, headers={"X-Name": "${context.name}"})
    fault = problem(HttpCall(), call_of(settings, {"name": "a\r\nX-Admin: yes"}))
    assert (fault.code, service.received) == ("HTTPCALL_INVALID", [])
    assert "X-Admin" not in fault.detail


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[fd00:ec2::254]", "2852039166", "100.100.100.200", "localtest.me"]
)
def test_an_interpolated_url_cannot_lead_to_metadata(host: str) -> None:
    async def resolve(name: str, port: int) -> list[str]:
        return {"localtest.me": ["169.254.169.254"], "2852039166": ["169.254.169.254"]}[name]

    egress = Egress(EgressPolicy(allow_private=True), resolve=resolve)
    call = call_of(get("${context.url}"), {"url": f"http://{host}/latest/meta-data"}, egress=egress)
    assert problem(HttpCall(), call).code == "HTTPCALL_REFUSED"


def test_a_redirect_is_checked_like_a_call(service: Service) -> None:
    service.replies = [Reply(302, headers={"Location": "http://169.254.169.254/latest"})]
    result = context(HttpCall(), call_of(get(service.url)))["found"]
    assert (result["status"], result["ok"]) == (302, False)  # none is followed unless asked
    following = HttpCall(JourneySettings(http=HttpSettings(redirects=3)))
    assert problem(following, call_of(get(service.url))).code == "HTTPCALL_REFUSED"


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://x/", "http://u:p@127.0.0.1/", "nowhere"])
def test_only_http_is_called(url: str) -> None:
    assert problem(HttpCall(), call_of(get("${context.url}"), {"url": url})).code == "HTTPCALL_REFUSED"


def test_an_answer_that_is_too_long_is_not_read(service: Service) -> None:
    service.replies = [Reply(200, b"x" * 5000)]
    kind = HttpCall(JourneySettings(http=HttpSettings(max_response=1000)))
    result = context(kind, call_of(get(service.url)))["found"]
    assert (result["ok"], result["body"], result["error"]["type"]) == (False, None, "NETWORK")


def test_no_answer_is_a_result_too() -> None:
    with Service() as gone:
        url = gone.url
    result = context(HttpCall(), call_of(get(url)))["found"]
    assert (result["ok"], result["error"]["type"], "status" in result) == (False, "NETWORK", False)


def test_a_call_takes_no_longer_than_its_timeout_or_the_deadline(service: Service) -> None:
    for limits in ({"timeoutMs": 50}, {"remaining_s": 0.05}, {"remaining_s": 0.0}):
        held = threading.Event()
        service.replies = [Reply(wait_for=held)]
        settings = get(service.url, **{k: v for k, v in limits.items() if k == "timeoutMs"})
        result = context(HttpCall(), call_of(settings, remaining_s=limits.get("remaining_s")))["found"]
        held.set()
        assert result["error"]["type"] == "TIMEOUT"


def test_retries_carry_one_key_and_end_with_the_policy(service: Service) -> None:
    service.replies = [Reply(503), Reply(429), Reply(200, b"1", JSON)]
    spec = retrying(
        "maxAttempts: 3, retryOn: [NETWORK_ERROR, HTTP_5XX, HTTP_429], "
        "backoff: {kind: exponential, initialDelayMs: 1, factor: 1.5, maxDelayMs: 2, jitter: full}"
    )
    settings = get(service.url, resiliencePolicyRef="std")
    assert context(HttpCall(), call_of(settings, of=definition(spec)))["found"]["body"] == 1
    assert {one.headers["idempotency-key"] for one in service.received} == {"run-1:0:1"}
    assert len(service.received) == 3
    service.replies = [Reply(503)]
    assert context(HttpCall(), call_of(settings, of=definition(spec)))["found"]["status"] == 503
    assert len(service.received) == 6
    service.replies = [Reply(404)]
    context(HttpCall(), call_of(settings, of=definition(spec)))
    assert len(service.received) == 7


def test_a_pause_that_would_outlast_the_deadline_is_not_begun(service: Service) -> None:
    service.replies = [Reply(503, headers={"Retry-After": "30"})]
    spec = "defaults: {tasks: {resiliencePolicyRef: std}}\n" + retrying("maxAttempts: 5, retryOn: [HTTP_5XX]")
    result = context(HttpCall(), call_of(get(service.url), of=definition(spec), remaining_s=5.0))["found"]
    assert (result["status"], len(service.received)) == (503, 1)


def test_an_open_circuit_calls_nobody_until_one_call_succeeds(service: Service) -> None:
    service.replies = [Reply(500)]
    spec = retrying("circuitBreaker: {failureRateThreshold: 0.5, slidingWindowSize: 2, openTimeoutSec: 30}")
    kind, of, settings = HttpCall(), definition(spec), get(service.url, resiliencePolicyRef="std")
    start = call_of({}).now
    statuses = [context(kind, call_of(settings, of=of))["found"].get("status") for _ in range(4)]
    assert statuses == [500, 500, None, None]
    later = start + 31_000_000
    assert context(kind, call_of(settings, of=of, now=later))["found"]["status"] == 500  # the probe fails: open again
    assert "status" not in context(kind, call_of(settings, of=of, now=later))["found"]
    service.replies = [Reply(200)]
    for now in (later + 31_000_000, later + 31_000_001):
        assert context(kind, call_of(settings, of=of, now=now))["found"]["status"] == 200


def test_a_bulkhead_lets_some_in_has_others_wait_and_turns_the_rest_away(service: Service) -> None:
    held = threading.Event()
    service.replies = [Reply(wait_for=held)]
    spec = retrying("bulkhead: {maxConcurrent: 1, queueSize: 1}")
    call = call_of(get(service.url, resiliencePolicyRef="std"), of=definition(spec))
    kind = HttpCall()

    async def main() -> list[Any]:
        calls = [asyncio.create_task(kind.run(call)) for _ in range(3)]
        done, _ = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        assert len(done) == 1  # the one that was turned away; the others wait for the service and for their turn
        held.set()
        return await asyncio.gather(*calls)

    results = [one.context["found"] for one in asyncio.run(main())]
    assert sorted(one["ok"] for one in results) == [False, True, True]
    assert len(service.received) == 2


def test_a_notification_ignores_what_comes_of_it(service: Service) -> None:
    service.replies = [Reply(500, headers={"Set-Cookie": "a=1"})]
    settings = {"method": "POST", "url": service.url, "mode": "notify", "body": "x"}
    assert context(HttpCall(), call_of(settings, {"kept": 1})) == {"kept": 1}
    assert len(service.received) == 1


def test_error_mapping_sees_the_result_and_only_for_errors(service: Service) -> None:
    service.replies = [Reply(404, b'{"why": "gone"}', JSON)]
    mapping = {"when": "nonOk", **mapper("payload.body"), "target": {"kind": "context", "path": "problem.inner"}}
    settings = get(service.url, errorMapping=mapping)
    assert context(HttpCall(), call_of(settings))["problem"] == {"inner": {"why": "gone"}}
    named = get(service.url, errorMapping={"when": "nonOk", **mapper("payload.status"), "resultVar": "code"})
    assert context(HttpCall(), call_of(named))["code"] == 404
    service.replies = [Reply(200)]
    assert "problem" not in context(HttpCall(), call_of(settings))
    failing = get(service.url + "/x", errorMapping={"when": "nonOk", **mapper("!")})
    service.replies = [Reply(500)]
    assert problem(HttpCall(), call_of(failing)).internal


def test_headers_come_from_the_defaults_the_request_and_the_task_in_that_order(service: Service) -> None:
    of = definition("defaults: {http: {headers: {X-A: default, X-B: default, X-C: '${context.c}'}}}")
    request = Request({}, passed_on={"X-B": "passed ${context.c}", "X-D": "passed"})
    settings = get(service.url, headers={"x-d": "task", "Accept": "text/html"})
    context(HttpCall(), call_of(settings, {"c": "see"}, of=of, request=request))
    headers = service.received[0].headers
    assert [headers[f"x-{one}"] for one in "abcd"] == ["default", "passed ${context.c}", "see", "task"]
    assert headers["accept"] == "text/html"


def test_a_fixed_token_is_sent_and_never_seen_again(service: Service) -> None:
    more = "x" * 100_000  # an answer of some size is read elsewhere
    service.replies = [lambda got: Reply(200, json.dumps([got.headers, more]).encode(), {**JSON, "X-Echo": TOKEN})]
    spec = "policies: {httpClientAuth: {definitions: {b: {kind: bearerStatic, tokenRef: 'secret://clients/t'}}}}"
    settings = get(service.url, auth={"policyRef": "b"}, headers={"X-Key": "secret://k"})
    secrets = {"clients.t": TOKEN, "k": "another-long-secret"}
    result = run(HttpCall(), call_of(settings, of=definition(spec), secrets=secrets))
    assert isinstance(result, TaskResult)
    assert service.received[0].headers["authorization"] == f"Bearer {TOKEN}"
    assert service.received[0].headers["x-key"] == "another-long-secret"
    assert TOKEN not in repr(result)
    assert "another-long-secret" not in repr(result)
    assert problem(HttpCall(), call_of(settings, of=definition(spec))).internal  # a secret that is not there


def test_a_context_value_never_names_a_secret(service: Service) -> None:
    settings = get(service.url, headers={"X-Name": "${context.name}"})
    context(HttpCall(), call_of(settings, {"name": "secret://t"}, secrets={"t": TOKEN}))
    assert service.received[0].headers["x-name"] == "secret://t"


OAUTH = """
policies: {{httpClientAuth: {{definitions: {{o: {{kind: oauth2ClientCredentials, tokenEndpoint: '{url}/token',
  auth: {{method: {method}, clientId: me, clientSecretRef: 'secret://c'}}, form: {{scope: pay}}}}}}}}}}
"""


class TokenServer:
    """Gives out tokens, and takes only the latest."""

    def __init__(self) -> None:
        self.given = 0
        self.good = -1

    def __call__(self, got: Received) -> Reply:
        if got.path == "/token":
            self.given = self.good = self.given + 1
            answer = {"access_token": f"token-number-{self.given}", "token_type": "Bearer", "expires_in": 100}
            return Reply(200, json.dumps(answer).encode(), JSON)
        good = got.headers.get("authorization") == f"Bearer token-number-{self.good}"
        return Reply(200 if good else 401)


@pytest.mark.parametrize("method", ["clientSecretPost", "clientSecretBasic"])
def test_a_token_is_fetched_once_kept_and_replaced_when_it_is_refused(service: Service, method: str) -> None:
    server = TokenServer()
    service.replies = [server]
    of = definition(OAUTH.format(url=service.url, method=method))
    kind, settings, secrets = HttpCall(), get(service.url, auth={"policyRef": "o"}), {"c": "cli ent/secret"}

    def status(now: int = call_of({}).now) -> Any:
        written = context(kind, call_of(settings, of=of, secrets=secrets, now=now))
        assert "token-number" not in repr(written)
        return written["found"]["status"]

    assert [status(), status()] == [200, 200]
    assert server.given == 1
    asked = service.received[0]
    assert b"grant_type=client_credentials" in asked.body
    assert b"scope=pay" in asked.body
    assert (b"client_secret=cli+ent%2Fsecret" in asked.body) == (method == "clientSecretPost")
    assert ("authorization" in asked.headers) == (method == "clientSecretBasic")
    server.good = -5
    assert (status(), server.given) == (200, 2)  # refused, fetched again, and tried once more
    assert (status(call_of({}).now + 71_000_000), server.given) == (200, 3)  # run out, but for the skew


def test_a_token_that_is_refused_again_is_the_result(service: Service) -> None:
    token = Reply(200, b'{"access_token": "abcdefgh"}', JSON)
    service.replies = [lambda got: token if got.path == "/token" else Reply(401)]
    of = definition(OAUTH.format(url=service.url, method="clientSecretPost"))
    call = call_of(get(service.url, auth={"policyRef": "o"}), of=of, secrets={"c": "x"})
    assert context(HttpCall(), call)["found"]["status"] == 401
    assert [one.path for one in service.received].count("/token") == 2
    service.replies = [Reply(400, b'{"error": "invalid_client"}', JSON)]
    assert context(HttpCall(), call)["found"]["error"]["type"] == "AUTH"


def test_cookies_are_kept_for_the_run_and_the_domains_of_its_jar(service: Service) -> None:
    service.replies = [
        Reply(200, headers={"Set-Cookie": "sid=abc; Path=/; HttpOnly"}),
        Reply(200, headers={"Set-Cookie": "sid=; Max-Age=0; Path=/"}),
        Reply(200),
    ]
    of = definition("cookies: {jar: {domains: [{pattern: 127.0.0.1}]}}")
    settings, cache = get(service.url + "/x"), MemoryCache()  # a jar that is there is used
    results = [context(HttpCall(), call_of(settings, of=of, cache=cache)) for _ in range(3)]
    assert [one.headers.get("cookie") for one in service.received] == [None, "sid=abc", None]
    assert "abc" not in repr(results)
    context(HttpCall(), call_of(get(service.url, cookies={"useJar": False}), of=of, cache=cache))
    elsewhere = definition("cookies: {jar: {domains: [{pattern: .0.0.1}]}}")
    service.replies = [Reply(200, headers={"Set-Cookie": "sid=abc"})]
    other = definition("cookies: {jar: {domains: [{pattern: shop.example}]}}")
    for host in (elsewhere, other):
        cache = MemoryCache()
        context(HttpCall(), call_of(settings, of=host, cache=cache))
        assert bool(cache.values) == (host is elsewhere)


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("mode: none", set()),
        ("mode: allFromAllowedDomains", {"sid", "track_1"}),
        ("mode: filtered, include: {names: [sid]}", {"sid"}),
        ("mode: filtered, include: {namePatterns: ['track_[0-9]', 's']}", {"track_1"}),
        ("mode: filtered", set()),
    ],
)
def test_what_is_set_for_the_caller_is_what_the_journey_says(service: Service, rule: str, names: set[str]) -> None:
    of = definition(f"cookies: {{jar: {{domains: [{{pattern: 127.0.0.1}}]}}, returnToClient: {{{rule}}}}}")
    lines = ["sid=abc; Path=/x; Domain=127.0.0.1; HttpOnly; samesite=lax", "track_1=1; Max-Age=60; Secure"]
    request, cache = Request({}), MemoryCache()
    for line in [*lines, "Ostinato-Session=mine"]:
        service.replies = [Reply(200, headers={"Set-Cookie": line})]
        context(HttpCall(), call_of(get(service.url), of=of, request=request, cache=cache))
    assert set(request.set_cookies) == names
    assert request.set_cookies.get("sid") in (None, "sid=abc; Path=/; HttpOnly; SameSite=Lax")
    assert request.set_cookies.get("track_1") in (None, "track_1=1; Path=/; Max-Age=60; Secure")
    service.replies = [Reply(200, headers={"Set-Cookie": "sid=; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/x"})]
    context(HttpCall(), call_of(get(service.url), of=of, request=request, cache=cache))
    assert request.set_cookies.get("sid") in (None, "sid=; Path=/; Max-Age=0")
    context(HttpCall(), call_of(get(service.url), of=of, cache=cache))  # nobody asks: nobody to set it for


OPENAPI = """
openapi: 3.1.0
servers: [{{url: '{url}/{{stage}}', variables: {{stage: {{default: v1}}}}}}]
paths:
  /users/{{id}}:
    parameters: [{{$ref: '#/components/parameters/Id'}}]
    get: {{operationId: getUser, parameters: [{{name: X-Tenant, in: header, required: true}}, {{name: q, in: query}}]}}
    put: {{operationId: twice}}
    delete: {{operationId: twice}}
components: {{parameters: {{Id: {{name: id, in: path, required: true}}}}}}
"""


def test_an_operation_is_found_in_its_document(service: Service) -> None:
    text = OPENAPI.format(url=service.url)
    of = definition("apis: {users: {openApiRef: apis/users.openapi.yaml}}", {"apis/users.openapi.yaml": text})
    params = {"path": {"id": "${context.id}"}, "query": {"q": "a b", "n": 5}, "headers": {"X-Tenant": "t"}}
    settings = {"operationRef": "users.getUser", "params": params, "resultVar": "found"}
    assert context(HttpCall(), call_of(settings, {"id": "a/b"}, of=of))["found"]["ok"]
    assert (service.received[0].method, service.received[0].path) == ("GET", "/v1/users/a%2Fb?q=a+b&n=5")
    assert service.received[0].headers["x-tenant"] == "t"

    def faults(**more: Any) -> set[str]:
        return {one.message for one in HttpCall().check({"resultVar": "r", **more}, of)}

    assert "getUser needs the headers parameter 'X-Tenant'" in faults(
        operationRef="users.getUser", params={"path": {"id": 1}}
    )
    assert faults(operationRef="users.twice") == {"several operations have the id 'twice'"}
    assert "did you mean 'getUser'" in faults(operationRef="users.getUsr").pop()


@pytest.fixture(scope="module")
def certified() -> Iterator[tuple[Service, str, str]]:
    """A service that asks for a certificate, a client's with its key, and whom to trust."""
    authority = trustme.CA()
    client = authority.issue_cert("me@example.com").private_key_and_cert_chain_pem.bytes().decode()
    of_server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(of_server)
    authority.configure_trust(of_server)
    of_server.verify_mode = ssl.CERT_REQUIRED
    with Service() as service:
        service._server.socket = of_server.wrap_socket(service._server.socket, server_side=True)
        yield service, client, json.dumps([{"pem": authority.cert_pem.bytes().decode()}])


def test_a_client_certificate_is_shown(certified: tuple[Service, str, str]) -> None:
    service, pem, anchors = certified
    url = service.url.replace("http:", "https:")
    spec = (
        "policies: {httpClientAuth: {definitions: {m: {kind: mtlsClient, clientCertRef: 'secret://c', "
        f"trustAnchors: {anchors}}}}}}}}}"
    )
    call = call_of(get(url, auth={"policyRef": "m"}), of=definition(spec), secrets={"c": pem})
    assert context(HttpCall(), call)["found"]["status"] == 200
    plain = context(HttpCall(), call_of(get(url), egress=LOOPBACK))["found"]
    assert plain["error"]["type"] == "NETWORK"


def test_a_token_is_had_for_a_client_certificate(service: Service, certified: tuple[Service, str, str]) -> None:
    tokens, pem, anchors = certified
    tokens.received.clear()
    tokens.replies = [Reply(200, json.dumps({"access_token": TOKEN, "expires_in": 60}).encode(), JSON)]
    endpoint = tokens.url.replace("http:", "https:") + "/token"
    auth = "auth: {method: tlsClientAuth, clientId: me, clientCertRef: 'secret://c'}"
    policy = f"kind: oauth2ClientCredentials, tokenEndpoint: '{endpoint}', {auth}, form: {{scope: pay}}"
    of = definition(f"policies: {{httpClientAuth: {{definitions: {{o: {{{policy}, trustAnchors: {anchors}}}}}}}}}")
    kind = HttpCall()
    for _ in range(2):
        result = context(kind, call_of(get(service.url, auth={"policyRef": "o"}), of=of, secrets={"c": pem}))["found"]
        assert result["status"] == 200
    assert [one.headers["authorization"] for one in service.received] == [f"Bearer {TOKEN}"] * 2
    (asked,) = tokens.received  # once: the token is kept
    assert asked.body == b"scope=pay&grant_type=client_credentials&client_id=me"
    assert "authorization" not in asked.headers
    wrong = call_of(get(service.url, auth={"policyRef": "o"}), of=of, secrets={"c": "not a certificate"})
    assert problem(HttpCall(), wrong).code == "HTTPCALL_INVALID"


def test_an_answer_too_deep_to_be_kept_stays_text() -> None:
    deep = "[" * 5_000 + "]" * 5_000
    with Service(Reply(200, deep.encode(), {"Content-Type": "application/json"})) as service:
        settings = {"method": "GET", "url": service.url, "resultVar": "r"}
        assert context(HttpCall(), call_of(settings))["r"]["body"] == deep


def test_nothing_is_logged_of_a_call(caplog: pytest.LogCaptureFixture) -> None:
    spec = "policies: {httpClientAuth: {definitions: {b: {kind: bearerStatic, tokenRef: 'secret://t'}}}}"
    with caplog.at_level(logging.DEBUG), Service(Reply(500, b"no")) as service:
        settings = {"method": "GET", "url": service.url, "resultVar": "r", "auth": {"policyRef": "b"}}
        context(HttpCall(), call_of(settings, of=definition(spec), secrets={"t": "the-token-of-the-call"}))
        assert service.received[0].headers["authorization"] == "Bearer the-token-of-the-call"
    assert "the-token-of-the-call" not in caplog.text
