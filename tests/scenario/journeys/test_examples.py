"""The journeys of `examples/`, as they are written: real expressions, a real service on loopback, virtual time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ostinato.engine.http.egress import EgressPolicy
from ostinato.journeys.definitions import find_problems
from ostinato.journeys.expressions.contract import Language
from ostinato.journeys.expressions.languages import languages
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.task_kind import Plugins
from ostinato.journeys.tasks.standard import standard_plugins
from ostinato.testing import World
from ostinato.when.instants import format_instant, from_datetime
from tests.support.service import Received, Reply, Service

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = sorted(EXAMPLES.glob("*.journey.yaml"))
LOOPBACK = EgressPolicy(allow=("127.0.0.0/8",))
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def spoken() -> Iterator[list[Language]]:
    """What a base installation has, and JSONata for the one example that says so. One set of workers for all tests."""
    by_name = languages()
    yield [by_name[name] for name in ("plain", "jsonata")]
    by_name["jsonata"].close()


class Outside(Service):
    """The service that the examples call."""

    def answer(self, how: Callable[[Received], Reply]) -> None:
        self.replies = [how]

    def bodies(self, path: str) -> list[Any]:
        return [json.loads(one.body) for one in self.received if one.path == path]


@pytest.fixture
def outside() -> Iterator[Outside]:
    service = Outside(answering({}))
    with service:
        yield service


@pytest.fixture
def world(outside: Outside, spoken: list[Language]) -> World:
    names = "paymentsUrl mailUrl courierUrl checksUrl billingUrl exchangeUrl".split()
    settings = JourneySettings(platform=dict.fromkeys(names, outside.url))
    plugins = Plugins(standard_plugins(settings).kinds.values(), spoken)
    return World(journey_plugins=plugins, journey_settings=settings, egress=LOOPBACK, keep_runs="1000d")


def answering(body: Any, status: int = 200) -> Reply:
    return Reply(status, json.dumps(body).encode(), JSON)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_an_example_is_without_errors_and_warnings(file: Path, spoken: list[Language]) -> None:
    plugins = Plugins(standard_plugins().kinds.values(), spoken)
    assert find_problems(file.read_text(encoding="utf-8"), str(file), plugins) == []


def test_there_are_six() -> None:
    assert len(FILES) == 6


async def begun(world: World, name: str, input: dict[str, Any], **how: Any) -> str:
    await world.up()
    await world.app.journeys.deploy(EXAMPLES / f"{name}.journey.yaml")
    status = await world.app.journeys.start(name, input, **how)
    await world.settle()
    return status.id


async def outcome(world: World, id: str) -> Any:
    ended = await world.app.journeys.result(id)
    return ended.output if ended.succeeded else (ended.error or {})["code"]


async def test_a_monthly_payment_hands_its_token_on(world: World, outside: Outside) -> None:
    def pay(received: Received) -> Reply:
        number = int(received.headers["authorization"].removeprefix("Bearer secret-"))
        return answering({"nextToken": f"secret-{number + 1}"}, 402 if number == 5 else 200)

    outside.answer(pay)
    first = format_instant(from_datetime(world.now))
    input = {"customer": "ada", "amount": 9.5, "token": "secret-1", "startAt": first}
    id = await begun(world, "monthly-payment", input)
    assert await outcome(world, id) == {"status": "SCHEDULED"}
    await world.advance("400d")
    # The fifth is declined: it counts, and the next one tries with the token that it has left.
    sent = [one.headers["authorization"] for one in outside.received]
    assert sent == [f"Bearer secret-{n}" for n in (1, 2, 3, 4, *[5] * 8)]
    assert len({one.headers["idempotency-key"] for one in outside.received}) == 12
    (binding,) = await world.app.journeys.bindings(name="monthly-payment", subject="ada")
    assert (binding.runs_executed, binding.state) == (12, "exhausted")
    assert "secret" not in repr(binding)


async def test_an_approval_reminds_every_day_and_takes_the_answer(world: World, outside: Outside) -> None:
    input = {"request": "r1", "approver": "ada"}
    id = await begun(world, "approval", input)
    silent = await begun(world, "approval", {**input, "request": "r2"})
    await world.advance("50h")
    await world.app.journeys.submit(id, "decision", {"approved": True, "note": "fine"})
    assert await outcome(world, id) == {"approved": True, "note": "fine"}
    await world.advance("3d")
    assert await outcome(world, silent) == "NO_ANSWER"
    about = [one["about"] for one in outside.bodies("/reminders")]
    assert (about.count("r1"), about.count("r2")) == (2, 3)


async def test_a_delivery_that_is_late_is_apologised_for(world: World, outside: Outside) -> None:
    quick = await begun(world, "delivery", {"order": "o1"})
    late = await begun(world, "delivery", {"order": "o2"})
    await world.advance("3h")
    await world.app.journeys.submit(quick, "arrival", {"signedBy": "ada"})
    assert await outcome(world, quick) == {"late": False, "signedBy": "ada"}
    await world.advance("2h")
    assert outside.bodies("/apologies") == [{"order": "o2"}]
    assert (await world.app.journeys.status(late)).steps == ("late-arrival",)
    await world.app.journeys.submit(late, "late-arrival", {"signedBy": "bob"})
    assert await outcome(world, late) == {"late": True, "signedBy": "bob"}
    lost = await begun(world, "delivery", {"order": "o3"})
    await world.advance("4d")
    assert await outcome(world, lost) == "LOST"


async def test_a_credit_is_decided_by_three_opinions(world: World, outside: Outside) -> None:
    scores = {"ada": 700, "bob": 300, "cyd": 500}

    def check(received: Received) -> Reply:
        _, what, who = received.path.split("/")
        return answering(
            {"scores": {"score": scores[who]}, "fraud": {"suspect": False}, "incomes": {"monthly": 2000}}[what]
        )

    outside.answer(check)
    ids = {name: await begun(world, "credit-decision", {"applicant": name, "amount": 5000}) for name in scores}
    assert await outcome(world, ids["ada"]) == {"status": "GRANTED", "amount": 5000}
    assert (await world.app.journeys.result(ids["ada"])).outcome_id == "automatic"
    assert await outcome(world, ids["bob"]) == "CREDIT_REFUSED"
    await world.app.journeys.submit(ids["cyd"], "by-hand", {"granted": True})
    assert (await world.app.journeys.result(ids["cyd"])).outcome_id == "by-hand"
    assert len(outside.received) == 9


async def test_a_subscription_is_charged_until_it_ends(world: World, outside: Outside) -> None:
    def charge(received: Received) -> Reply:
        body = json.loads(received.body)
        fails = received.path == "/charges" and body["customer"] == "bob" and body["number"] == 2
        return answering({}, 402 if fails else 200)

    outside.answer(charge)
    loyal = await begun(world, "subscription", {"customer": "ada"})
    broke = await begun(world, "subscription", {"customer": "bob"})
    await world.advance("13d")
    assert outside.received == []
    await world.advance("100d")
    charges = outside.bodies("/charges")
    assert [one["number"] for one in charges if one["customer"] == "ada"] == [1, 2, 3, 4]
    assert [one["number"] for one in charges if one["customer"] == "bob"] == [1, 2, 2, 2]
    assert await outcome(world, broke) == "UNPAID"
    assert outside.bodies("/closed") == [{"customer": "bob", "why": "UNPAID"}]
    await world.app.journeys.submit(loyal, "cancellation", {"why": "moving"})
    assert await outcome(world, loyal) == {"why": "moving"}
    await world.advance("60d")
    assert len(outside.bodies("/charges")) == 8


async def test_a_batch_is_closed_when_the_market_closes(world: World, outside: Outside) -> None:
    await world.advance_to("2026-03-05T07:00:00Z")  # a Thursday
    hours = {"firstRun": "2026-03-05T08:00:00Z", "weekday": 4, "opensFor": "PT8H30M"}
    input = {"market": "XETR", "days": 5, **hours}
    await begun(world, "market-close", input)
    await world.advance_to("2026-03-05T16:29:59Z")
    assert outside.received == []
    await world.advance_to("2026-03-05T16:30:01Z")
    assert len(outside.received) == 1
    await world.advance_to("2026-03-12T00:00:00Z")
    opened = [one["openedAt"] for one in outside.bodies("/markets/XETR/close")]
    assert opened == [f"2026-03-{day}T08:00:00Z" for day in ("05", "06", "09")]
    (binding,) = await world.app.journeys.bindings(subject="XETR")
    assert (binding.runs_executed, binding.state) == (5, "exhausted")


async def test_a_failed_close_does_not_shift_the_days_of_the_week(world: World, outside: Outside) -> None:
    outside.answer(lambda received: answering({}, 500))
    await world.advance_to("2026-03-05T07:00:00Z")  # a Thursday
    hours = {"firstRun": "2026-03-05T08:00:00Z", "weekday": 4, "opensFor": "PT8H30M"}
    await begun(world, "market-close", {"market": "XETR", "days": 5, **hours})
    await world.advance_to("2026-03-12T00:00:00Z")
    opened = [one["openedAt"] for one in outside.bodies("/markets/XETR/close")]
    assert list(dict.fromkeys(opened)) == [f"2026-03-{day}T08:00:00Z" for day in ("05", "06", "09")]
