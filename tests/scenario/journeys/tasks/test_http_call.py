"""Journeys that call out, on a real service and both stores: one key for each logical call, and no secret on record."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from ostinato.engine.http.egress import EgressPolicy
from ostinato.journeys.settings import ApiKeyProfile, JourneySettings, hash_api_key
from ostinato.journeys.task_kind import Request
from ostinato.journeys.tasks.http.call import HttpCall
from ostinato.journeys.tasks.inbound.api_key import ApiKeyValidate
from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from tests.support.journey_parts import Work, plugins, text
from tests.support.service import Received, Reply, Service

TABLES = (
    "runs timers events logs journeys journey_definitions journey_labels journey_answers journey_bindings requests"
).split()

TOKEN, KEY, PASSED, COOKIE = "tok-9f8e7d6c5b4a", "key-of-the-shop-123456", "Bearer of-the-caller", "cookie-abcdef012345"
SETTINGS = JourneySettings(api_keys={"default": ApiKeyProfile(keys={"shop": hash_api_key(KEY)})})
SPEC = """
apis: {orders: {openApiRef: orders.openapi.yaml}}
policies:
  httpResilience: {definitions: {std: {maxAttempts: 3, retryOn: [HTTP_5XX], backoff: {baseDelayMs: 60000}}}}
  httpClientAuth: {definitions: {b: {kind: bearerStatic, tokenRef: 'secret://clients/t'}}}
cookies: {jar: {domains: [{pattern: 127.0.0.1}]}}
bindings: {http: {start: {headersPassthrough: [{from: Authorization, to: X-Caller}]}}}
"""
STATES = """
a: {type: task, task: {kind: 'apiKeyValidate:v1'}, next: b}
b:
  type: task
  task: {kind: 'httpCall:v1', operationRef: orders.getOrder, params: {path: {id: '${context.order}'}}, resultVar: order,
    resiliencePolicyRef: std, auth: {policyRef: b}}
  next: c
c: {type: wait, wait: {channel: manual, input: {schema: {}}}, next: d}
d:
  type: task
  task: {kind: 'httpCall:v1', method: POST, url: 'URL/pay', body: {a: 1}, resultVar: paid, auth: {policyRef: b}}
  next: e
e: {type: succeed}
"""
OPENAPI = "openapi: 3.1.0\nservers: [{url: 'URL/v1'}]\npaths: {'/orders/{id}': {get: {operationId: getOrder}}}"


@pytest.fixture(autouse=True)
def statements(add_statement: Callable[[str, str], None]) -> None:
    """Everything that is stored."""
    for table in TABLES:
        add_statement(f"all_{table}", f"SELECT * FROM ostinato_{table}")


@pytest.fixture
def world(request: pytest.FixtureRequest, work: Work, store_url: str) -> World:
    kinds = plugins(work, HttpCall(SETTINGS), ApiKeyValidate(SETTINGS))
    options: dict[str, Any] = {"egress": EgressPolicy(allow_private=True), "journey_settings": SETTINGS}
    return World(store_url, journey_plugins=kinds, **options)


async def rows(world: World) -> str:
    def all_of_it() -> Operation[list[Any]]:
        rows: list[Any] = []
        for table in TABLES:
            rows += yield sql(f"all_{table}")
        return rows

    return "\n".join(str(tuple(row)) for row in await world.app.store.read(lambda _: all_of_it()))


async def test_no_secret_of_any_kind_is_on_record(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OSTINATO_SECRET_CLIENTS_T", TOKEN)

    def echo(got: Received) -> Reply:
        headers = {"Content-Type": "application/json", "Set-Cookie": f"sid={COOKIE}; Path=/"}
        return Reply(200, json.dumps(got.headers).encode(), headers)

    with Service(Reply(503), echo) as service:
        await world.up()
        await world.app.journeys.deploy_text(
            text(STATES.replace("URL", service.url), spec=SPEC),
            documents={"orders.openapi.yaml": OPENAPI.replace("URL", service.url)},
        )
        request = Request({"X-Api-Key": KEY, "Authorization": PASSED})
        started = await world.app.journeys.start("example", {"order": "o/1"}, request=request, wait="10m")
        while_waiting = await rows(world)
        await world.app.journeys.submit(started.id, "c", {"ok": True})
        outcome = await world.app.journeys.result(started.id)
        at_the_end = await rows(world)
    first, again, paid = service.received
    assert [one.path for one in service.received] == ["/v1/orders/o%2F1", "/v1/orders/o%2F1", "/pay"]
    assert first.headers["idempotency-key"] == again.headers["idempotency-key"] != paid.headers["idempotency-key"]
    assert {one.headers["authorization"] for one in service.received} == {f"Bearer {TOKEN}"}
    assert again.headers["x-caller"] == PASSED
    assert "x-caller" not in paid.headers  # the request that brought it is over
    assert paid.headers["cookie"] == f"sid={COOKIE}"
    assert outcome.output["auth"] == {"apiKey": {"keyId": "shop"}}
    for secret in (TOKEN, KEY, COOKIE, PASSED):
        assert secret not in while_waiting + at_the_end + repr(outcome)
    assert "[secret]" in while_waiting  # the service has repeated them


async def test_what_a_caller_sends_cannot_lead_a_journey_inside(world: World) -> None:
    await world.up()
    states = "a: {type: task, task: {kind: 'httpCall:v1', method: GET, url: '${context.url}', resultVar: r}, next: e}\ne: {type: succeed}"  # noqa: E501
    await world.app.journeys.deploy_text(text(states))
    started = await world.app.journeys.start("example", {"url": "http://169.254.169.254/latest/meta-data"})
    outcome = await world.app.journeys.result(started.id)
    assert outcome.phase == "FAILED"
    assert outcome.error is not None
    assert outcome.error["code"] == "HTTPCALL_REFUSED"
