"""Webhooks on virtual time, with a real receiver on loopback."""

from __future__ import annotations

import asyncio
from itertools import groupby
from typing import Any

import orjson
import pytest

from ostinato import Conflict, NotFound, OstinatoError
from ostinato.engine.http import signing
from ostinato.engine.http.egress import Egress, EgressPolicy, EgressResponse
from ostinato.testing import VirtualLoop, World
from ostinato.webhooks import dispatcher
from ostinato.webhooks.delivery import webhook_handler
from ostinato.webhooks.subscriptions import dispatch
from ostinato.when.instants import SECOND
from tests.support.service import Received, Reply, Service

LOOPBACK = EgressPolicy(allow=("127.0.0.0/8",))


class Still(Egress):
    """Calls take no virtual time: while one is under way, the clock does not move."""

    async def request(self, *args: Any, **options: Any) -> EgressResponse:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualLoop)
        with loop.freeze_time():
            return await super().request(*args, **options)


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest) -> World:
    store = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    world = World(store, egress=Still(LOOPBACK))

    @world.app.job()
    async def work(n: int = 0) -> int:
        if n < 0:
            raise ValueError("no")
        return n

    return world


def bodies(service: Service) -> list[dict[str, Any]]:
    return [orjson.loads(one.body) for one in service.received]


async def finish(world: World, *numbers: int) -> list[str]:
    """Start runs and let everything settle that follows from them at once."""
    await world.up()
    runs = [await world.app.start("work", {"n": n}) for n in numbers]
    await world.advance("1s")
    return [run.id for run in runs]


async def test_an_event_arrives_signed_under_an_id_of_its_own(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = signing.new_secret(), signing.new_secret()
    monkeypatch.setenv("OSTINATO_SECRET_OLD", old)
    monkeypatch.setenv("OSTINATO_SECRET_NEW", new)
    await world.up()
    with Service() as service:
        secret = ["secret://new", "secret://old"]
        hook = await world.app.webhooks.create(f"{service.url}/in?a=b", ["run:succeeded"], secret=secret)
        (run,) = await finish(world, 1)
    (received,) = service.received
    (event,) = [one for one in await world.app.events(subject=run) if one.name == "run:succeeded"]
    assert (received.method, received.path) == ("POST", "/in?a=b")
    assert orjson.loads(received.body) == {
        "seq": event.seq,
        "at": orjson.loads(received.body)["at"],
        "namespace": "default",
        "name": "run:succeeded",
        "subject": run,
        "data": dict(event.data),
        "actor": None,
    }
    assert received.headers["webhook-id"] == f"{hook.id}_{event.seq}"
    assert received.headers["content-type"] == "application/json"
    for key in (old, new):
        signing.verify([key], received.headers, received.body, world.clock.now())
    kept = repr([await world.runs(attempts=True), await world.app.events(limit=1000), await world.app.webhooks.list()])
    assert old not in kept
    assert "secret://old" in kept
    (delivery,) = await world.app.webhooks.deliveries(hook.id)
    assert (delivery.status, delivery.result) == ("succeeded", {"status": 200, "elapsed_ms": 0})
    assert (await world.app.webhooks.get(hook.id)).succeeded is not None


async def test_only_what_is_wanted_is_sent_and_deliveries_never_are(world: World) -> None:
    await world.up()
    await finish(world, 1)  # before anyone wanted to hear
    with Service() as all_of_it, Service() as failures:
        await world.app.webhooks.create(all_of_it.url, ["*"])
        await world.app.webhooks.create(failures.url, ["run:failed", "schedule:*"])
        good, bad = await finish(world, 1, -1)
    names = [(one["name"], one["subject"]) for one in bodies(all_of_it) if one["name"].startswith("run:")]
    assert sorted(names) == sorted(
        [(f"run:{verb}", good) for verb in ("created", "started", "succeeded")]
        + [(f"run:{verb}", bad) for verb in ("created", "started", "failed")]
    )
    assert [one["name"] for one in bodies(all_of_it) if not one["name"].startswith("run:")] == ["webhook:created"]
    assert [(one["name"], one["subject"]) for one in bodies(failures)] == [("run:failed", bad)]


async def test_each_subject_is_in_order_and_a_failing_one_holds_up_no_other(world: World) -> None:
    failing: set[str] = set()

    def answer(received: Received) -> Reply:
        return Reply(503 if orjson.loads(received.body)["subject"] in failing else 200)

    await world.up()
    with Service(answer) as service:
        await world.app.webhooks.create(service.url, ["run:*"])
        stuck = await world.app.start("work", {"n": 1}, at="2026-03-01T00:00:00Z")
        failing.add(stuck.id)
        others = await finish(world, 2, 3)
        taken = [one["name"] for one in bodies(service) if one["subject"] in others]
        assert len(taken) == 6
        await world.app.cancel(stuck.id)
        await world.advance("2h")
        tried = [one["name"] for one in bodies(service) if one["subject"] == stuck.id]
        assert len(tried) > 5
        assert set(tried) == {"run:created"}  # what comes after it waits for it
        failing.clear()
        await world.advance("7h")
        names = [one["name"] for one in bodies(service) if one["subject"] == stuck.id]
    assert names[-2:] == ["run:created", "run:cancelled"]
    ids = [r.headers["webhook-id"] for r in service.received if orjson.loads(r.body)["subject"] == stuck.id]
    assert len(set(ids)) == 2  # one for each event, however often it was sent


async def test_a_subject_is_in_order_although_the_clock_of_the_dispatching_node_is_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = [0]
    monkeypatch.setattr(
        dispatcher, "dispatch", lambda id, after, now, new_id: dispatch(id, after, now - behind[0], new_id)
    )
    closed = [True]

    @world.app.job()
    async def slow() -> None:
        await asyncio.sleep(10)

    await world.up()
    with Service(lambda _: Reply(503 if closed[0] else 200)) as service:
        await world.app.webhooks.create(service.url, ["run:*"])
        await world.app.start("slow", at="2026-01-01T00:01:00Z")
        await world.advance("65s")
        behind[0] = 60 * SECOND  # from now on, another node dispatches
        await world.advance("10s")
        closed[0] = False
        await world.advance("2h")
    names = [one["name"] for one in bodies(service)]
    assert [name for name, _ in groupby(names)] == ["run:created", "run:started", "run:succeeded"]


async def test_a_receiver_that_hangs_delays_neither_others_nor_the_beat(world: World) -> None:
    class Hanging(Still):
        async def request(self, method: str, url: str, **options: Any) -> EgressResponse:
            if "hang" in url:
                await asyncio.sleep(options["timeout"])  # on the clock, as the network would
                raise TimeoutError("no answer")
            return await super().request(method, url, **options)

    world.app._handlers["webhook"] = webhook_handler(Hanging(LOOPBACK), world.app.store, 86_400 * SECOND)
    await world.up()
    with Service() as good:
        await world.app.webhooks.create(f"{good.url}/hang", ["run:*"])
        await world.app.webhooks.create(good.url, ["run:succeeded"])
        begin = world.clock.now()
        runs = [await world.app.start("work", {"n": n}) for n in range(200)]
        for run in runs:
            await run.result()
        assert world.clock.now() - begin < SECOND
        await world.advance("1s")
        assert len(good.received) == 200
        active = await world.app.runs(name="webhook", status="active", limit=1000)
    assert len(active) == 4


async def test_a_crash_between_dispatch_and_delivery_loses_nothing_and_repeats_nothing(world: World) -> None:
    await world.up()
    with Service(Reply(503)) as service:
        hook = await world.app.webhooks.create(service.url, ["run:succeeded"])
        ran = await finish(world, *range(20))
        await world.crash()
        service.replies[:] = [Reply(200)]
        before = len(service.received)
        await world.up()
        await world.advance("7h")
        arrived = [one["subject"] for one in bodies(service)[before:]]
        assert sorted(arrived) == sorted(ran)
        assert {one.status for one in await world.app.webhooks.deliveries(hook.id)} == {"succeeded"}


async def test_events_from_while_no_node_was_there_are_sent_when_one_is(world: World) -> None:
    await world.up()
    with Service() as service:
        await world.app.webhooks.create(service.url, ["run:created"])
        await world.down()
        async with world.app.connected():
            run = await world.app.start("work", {"n": 1})
        await world.up()
        await world.advance("1s")
        assert [one["subject"] for one in bodies(service)] == [run.id]


async def test_a_webhook_without_a_success_for_a_day_is_disabled_and_enabled_loses_nothing(world: World) -> None:
    await world.up()
    with Service(Reply(500, b"broken")) as service:
        hook = await world.app.webhooks.create(service.url, ["run:succeeded"])
        first = await finish(world, *range(3))
        await world.advance("10h")
        assert (await world.app.webhooks.get(hook.id)).state == "active"
        later = await finish(world, 7)
        await world.advance("40h")
        webhook = await world.app.webhooks.get(hook.id)
        assert webhook.state == "disabled"
        assert webhook.reason is not None
        assert "no delivery has succeeded since" in webhook.reason
        assert "500 Internal Server Error: broken" in webhook.reason
        events = [one for one in await world.app.events(subject=hook.id) if one.name == "webhook:disabled"]
        assert [one.data["reason"] for one in events] == [webhook.reason]
        meanwhile = await finish(world, 9)
        sent = len(service.received)
        await world.advance("10h")
        assert len(service.received) == sent  # nothing goes there any more
        assert {one.status for one in await world.app.webhooks.deliveries(hook.id)} == {"failed"}

        service.replies[:] = [Reply(200)]
        webhook = await world.app.webhooks.enable(hook.id)
        assert (webhook.state, webhook.reason, webhook.failing) == ("active", None, None)
        await world.advance("1s")
        arrived = [one["subject"] for one in bodies(service)[sent:]]
    assert sorted(arrived) == sorted([*first, *later, *meanwhile])


async def test_a_receiver_that_is_gone_is_not_called_again(world: World) -> None:
    await world.up()
    with Service(Reply(410)) as service:
        hook = await world.app.webhooks.create(service.url, ["run:succeeded"])
        await finish(world, 1)
        await finish(world, 2)
        assert len(service.received) == 1
    webhook = await world.app.webhooks.get(hook.id)
    assert webhook.state == "disabled"
    assert webhook.reason is not None
    assert "410 Gone" in webhook.reason


async def test_what_is_over_is_sent_again_on_request_under_the_same_id(world: World) -> None:
    await world.up()
    with Service() as service:
        hook = await world.app.webhooks.create(service.url, ["run:succeeded"])
        await finish(world, 1)
        (delivery,) = await world.app.webhooks.deliveries(hook.id)
        again = await world.app.webhooks.redeliver(hook.id, delivery.id, request_id="r1")
        assert again == await world.app.webhooks.redeliver(hook.id, delivery.id, request_id="r1")
        await world.advance("1s")
        assert len(service.received) == 2
        assert len({one.headers["webhook-id"] for one in service.received}) == 1
        with pytest.raises(NotFound):
            await world.app.webhooks.redeliver(hook.id, (await world.start("work")).id)


async def test_everything_after_an_event_is_sent_again_on_request(world: World) -> None:
    await world.up()
    with Service() as service:
        hook = await world.app.webhooks.create(service.url, ["run:succeeded"])
        await finish(world, *range(5))
        third = sorted(one["seq"] for one in bodies(service))[2]
        service.received.clear()
        await world.app.webhooks.replay(hook.id, third)
        await world.advance("1s")
        assert [one["seq"] > third for one in bodies(service)] == [True, True]
        with pytest.raises(OstinatoError, match="beyond the newest event"):
            await world.app.webhooks.replay(hook.id, 1 << 40)


async def test_the_policy_of_outbound_calls_applies(world: World) -> None:
    await world.up()
    with pytest.raises(OstinatoError, match="private addresses are not called unless allowed"):
        await world.app.webhooks.create("http://10.0.0.1/in")
    with pytest.raises(OstinatoError, match="never called"):
        await world.app.webhooks.create("http://169.254.169.254/latest")
    with Service() as service:
        url = f"http://localhost:{service.port}/in"  # a name, which leads to an address only when it is called
        strict = World(clock=world.clock)
        await strict.up()
        try:
            hook = await strict.app.webhooks.create(url, ["token:*"])
            await strict.app.create_token("reader")
            await strict.advance("1s")
            webhook = await strict.app.webhooks.get(hook.id)
        finally:
            await strict.close()
    assert service.received == []
    assert webhook.state == "disabled"
    assert webhook.reason is not None
    assert "loopback addresses are not called unless allowed" in webhook.reason


async def test_namespaces_do_not_hear_of_one_another(world: World) -> None:
    await world.up()
    await world.app.create_namespace("other")
    other = world.app.within("other", "ada")
    with Service() as here, Service() as service:
        hook = await world.app.webhooks.create(here.url, ["run:*"])
        await other.webhooks.create(service.url, ["run:*"])
        await other.start("work", {"n": 1})
        await world.advance("1s")
        assert here.received == []
        assert {one["namespace"] for one in bodies(service)} == {"other"}
    with pytest.raises(NotFound):
        await other.webhooks.get(hook.id)
    with pytest.raises(NotFound):
        await other.webhooks.delete(hook.id)
    assert [one.actor for one in await other.webhooks.list()] == ["ada"]
    with pytest.raises(Conflict, match="still has"):
        await world.app.delete_namespace("other")


async def test_a_change_helps_what_waits_and_what_is_deleted_is_given_up(world: World) -> None:
    await world.up()
    with Service(Reply(500)) as wrong, Service() as right:
        hook = await world.app.webhooks.create(wrong.url, ["run:succeeded"])
        await finish(world, 1)
        await world.app.webhooks.update(hook.id, url=right.url)
        await world.advance("10s")
        assert len(right.received) == 1
        assert (await world.app.webhooks.get(hook.id)).failing is None
        right.replies[:] = [Reply(500)]
        await finish(world, 2)
        (waiting,) = await world.app.webhooks.deliveries(hook.id, status="waiting")
        await world.app.webhooks.delete(hook.id)
        await world.advance("1h")
        assert (await world.app.get(waiting.id)).status == "failed"
    assert await world.app.webhooks.list() == []


async def test_a_request_is_done_once(world: World) -> None:
    await world.up()
    webhook = await world.app.webhooks.create("https://hooks.example/in", ["*"], request_id="k")
    assert webhook == await world.app.webhooks.create("https://hooks.example/in", ["*"], request_id="k")
    with pytest.raises(Conflict, match="used for another call"):
        await world.app.webhooks.create("https://hooks.example/other", ["*"], request_id="k")
    assert len(await world.app.webhooks.list()) == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"url": "ftp://a"}, "only http and https"),
        ({"url": "https://user:pw@a"}, "a user or a password"),
        ({"url": ""}, "is not a URL"),
        ({"url": "https://a", "patterns": []}, "is not a list of 1 to 50"),
        ({"url": "https://a", "patterns": [7]}, "pattern 7 is not a text"),
        ({"url": "https://a", "secret": "whsec_abc"}, "never the secret itself"),
    ],
)
async def test_what_cannot_be_sent_is_refused_at_the_door(world: World, options: dict[str, Any], words: str) -> None:
    await world.up()
    with pytest.raises(OstinatoError, match=words):
        await world.app.webhooks.create(**options)
