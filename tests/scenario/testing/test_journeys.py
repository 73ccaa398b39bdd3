"""What `World` gives to tests of journeys: real calls that take no virtual time, and its own clock in expressions."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from ostinato.engine.http.egress import EgressPolicy
from ostinato.testing import World
from ostinato.when.instants import SECOND
from tests.support.journey_parts import text
from tests.support.service import Reply, Service

LOOPBACK = EgressPolicy(allow=("127.0.0.0/8",))
CALLING = """
a: {type: task, task: {kind: 'httpCall:v1', method: GET, url: 'URL', timeoutMs: 300, resultVar: answer}, next: done}
done: {type: succeed, outputVar: answer}
"""
ASKING = """
a: {type: transform, transform: {mapper: {lang: LANG, expr: "EXPR"}, target: {kind: var}, resultVar: at}, next: done}
done: {type: succeed, outputVar: at}
"""


@pytest.fixture
def world() -> World:
    return World(egress=LOOPBACK)


async def test_a_call_to_a_real_service_takes_no_virtual_time(world: World) -> None:
    await world.up()
    with Service(Reply(body=b'{"n": 5}', headers={"Content-Type": "application/json"})) as service:
        await world.app.journeys.deploy(text(CALLING.replace("URL", service.url)))
        begin = world.clock.now()
        status = await world.app.journeys.start("example", {})
        outcome = await world.app.journeys.result(status.id)
    assert outcome.output["status"] == 200
    assert outcome.output["body"] == {"n": 5}
    assert world.clock.now() - begin < SECOND


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"


async def test_a_service_that_does_not_answer_in_time_has_timed_out(world: World, silent: str) -> None:
    await world.up()
    await world.app.journeys.deploy(text(CALLING.replace("URL", silent)))
    begin = world.clock.now()
    status = await world.app.journeys.start("example", {})
    outcome = await world.app.journeys.result(status.id)
    assert outcome.output["error"]["type"] == "TIMEOUT"
    assert 0.3 * SECOND <= world.clock.now() - begin < SECOND


@pytest.mark.parametrize(
    ("lang", "expr", "at"),
    [
        ("jq", "now | floor | todate", "2026-03-02T08:30:00Z"),
        ("jq", ". as $all | now - now + ($all.context | length)", 0),
        ("jsonata", "$substring($now(), 0, 19)", "2026-03-02T08:30:00"),
        ("jsonata", "$floor($millis() / 1000)", 1772440200),
        ("dataweave", "(now() as String)[0 to 18]", "2026-03-02T08:30:00"),
        ("dataweave", "{hour: now().hour}", {"hour": 8}),
        ("dataweave", "%dw 2.0\\n---\\nnow().hour", 8),
        ("dataweave", "var limit = 9\\n---\\nif (now().hour < limit) 1 else 2", 1),
    ],
)
async def test_what_time_it_is_in_an_expression_is_the_world_s(world: World, lang: str, expr: str, at: object) -> None:
    await world.advance_to("2026-03-02T08:29:59.9Z")
    await world.app.journeys.deploy(text(ASKING.replace("LANG", lang).replace("EXPR", expr)))
    await world.advance_to("2026-03-02T08:30:00Z")
    status = await world.app.journeys.start("example", {})
    assert (await world.app.journeys.result(status.id)).output == at
