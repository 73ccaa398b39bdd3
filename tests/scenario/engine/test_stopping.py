"""A node that is stopped in good order: it fires and claims no more, finishes what it can, hands back the rest."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from ostinato import Ostinato, StoreUnavailable, every
from ostinato.engine.kinds import Kinds
from ostinato.engine.runs import stop
from ostinato.model import Status
from ostinato.store.contract import Make, sql
from ostinato.testing import World
from ostinato.when.instants import SECOND
from tests.support.faults import SharedStore


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest) -> World:
    """A world on either store whose node takes its time to stop."""
    return World(None if request.param == "sqlite" else request.getfixturevalue("postgres_url"), grace="40s")


def declare(app: Ostinato) -> None:
    @app.job()
    async def tick() -> None: ...

    @app.job()
    async def slow() -> str:
        await asyncio.sleep(28)
        return "done"


async def test_what_comes_due_while_a_node_stops_is_its_own_after_the_restart(world: World) -> None:
    declare(world.app)
    await world.up()
    await world.app.schedules.create("tick", every("2s"), "tick", overlap="allow_all", catchup="all")
    slow = await world.start("slow")
    await world.advance("1s")
    stopped = world.clock.now()
    await world.down()
    assert round((world.clock.now() - stopped) / SECOND) == 27  # until the slow one was done, and no longer
    events = {event.name: event.instant for event in await looked_at(world)}
    assert events["run:succeeded"] == world.clock.now()
    assert events["run:created"] <= stopped, "it was fired by a node that stops"
    await world.up()
    await world.advance("2s")
    assert (await slow.info()).status == "succeeded"
    assert Counter(await world.outcomes("tick")) == {"succeeded": 15}


async def looked_at(world: World) -> list[Any]:
    async with world.app.connected():
        return await world.app.events(limit=1000)


async def test_what_comes_due_while_a_node_stops_is_done_in_time_by_another(world: World) -> None:
    await world.up()
    apps = [Ostinato(SharedStore(world.app.store), clock=world.clock, grace="40s", lease=10**9) for _ in range(2)]
    for app in apps:
        declare(app)
    await world.down()
    await world.app.store.open()
    first, second = apps
    await first._open(node=True)
    await first.schedules.create("tick", every("2s"), "tick", overlap="allow_all")
    await first.start("slow")
    await asyncio.sleep(1)
    await second._open(node=True)
    stopping = asyncio.create_task(first._close())
    await asyncio.sleep(27.5)
    ticks = await second.runs(name="tick", limit=100)
    assert len(ticks) == 14
    late = {run.started - run.due for run in ticks if run.started is not None}
    assert {run.status for run in ticks} == {"succeeded"}
    assert max(late).total_seconds() < 0.1
    await stopping
    nodes = {event.data["node"] for event in await second.events(limit=1000) if event.name == "run:started"}
    assert len(nodes) == 2  # the slow one's, and the second
    await second._close()


async def test_what_still_runs_may_use_the_app_and_is_heard(world: World) -> None:
    app = world.app
    declare(app)

    @app.job()
    async def last_words() -> str:
        await asyncio.sleep(20)
        assert not app.ready()
        child = await app.start("tick")
        await app.schedules.create("later", every("1h"), "tick")
        return child.id

    run = await world.start("last_words")
    await world.settle()
    await world.down()
    await world.up()
    await world.advance("1s")
    assert (await app.get((await run.info()).result)).status == "succeeded"
    assert (await app.schedules.get("later")).state == "running"


async def test_a_claim_that_comes_back_while_its_node_stops_is_handed_back_at_once(world: World) -> None:
    declare(world.app)
    await world.up()
    asked, go_on = asyncio.Event(), asyncio.Event()
    run_one = world.app.store.run

    async def slowly(make: Make[Any]) -> Any:
        result = await run_one(make)
        if isinstance(result, list) and result and getattr(result[0], "name", "") in ("tick", "slow"):  # a claim
            asked.set()
            await go_on.wait()
        return result

    await world.start("slow")
    await world.settle()
    world.app.store.run = slowly  # type: ignore[method-assign]
    tick = await world.start("tick")
    await asked.wait()
    stopping = asyncio.create_task(world.down())
    await asyncio.sleep(1)
    go_on.set()
    await asyncio.sleep(1)
    world.app.store.run = run_one  # type: ignore[method-assign]
    assert (await tick.info()).status == "ready"  # though another still has 26 s to run
    await stopping
    await world.up()
    await world.advance("1s")
    names = [event.name for event in await world.app.events(subject=tick.id, limit=100)]
    assert names == ["run:created", "run:started", "run:handed_back", "run:started", "run:succeeded"]


async def test_an_outcome_that_cannot_be_written_before_the_end_is_a_crash_and_not_the_same_attempt_again(
    world: World,
) -> None:
    attempts: list[int] = []

    @world.app.job()
    async def once(ctx: Any) -> None:
        attempts.append(ctx.attempt)
        await asyncio.sleep(1)

    run = await world.start("once")
    await world.settle()
    ends, healthy = world.app.engine.bodies.ends, world.app.engine.bodies.ends._commit

    async def away(_: Any) -> Any:
        raise StoreUnavailable("away for now")

    ends._commit = away
    await world.advance("2s")
    assert (await run.info()).status == "active"
    await world.down()
    ends._commit = healthy
    await world.up()
    await world.advance("1s")
    assert attempts == [1, 2]
    assert [one.status for one in await world.app.runs(attempts=True)] == ["succeeded", "crashed"]


async def test_a_node_that_is_given_up_while_it_stops_ends_what_it_runs(world: World) -> None:
    declare(world.app)
    await world.start("slow")
    await world.settle()
    engine, begin = world.app.engine, world.clock.now()
    stopping = asyncio.create_task(world.down())
    await asyncio.sleep(1)
    await engine.store.run(lambda _: _forget(engine.node))
    engine._loops[2].cancel()  # the lease of a world is long; let it look now
    await asyncio.sleep(0)
    await engine._keep_lease()
    await stopping
    assert world.clock.now() - begin < 3 * SECOND


def _forget(node: str) -> Any:
    yield sql("drop_node", id=node)


async def test_a_cancel_request_survives_being_handed_back(world: World) -> None:
    world.app.settings = world.app.settings.__class__(lease=4 * SECOND, grace=SECOND)

    @world.app.job()
    async def long() -> None:
        await asyncio.sleep(10**6)

    run = await world.start("long")
    await world.settle()
    await world.app.store.run(lambda _: stop(run.id, Status.CANCELLED, "enough", world.clock.now(), Kinds()))
    await world.down()
    await world.up()
    await world.advance("5s")
    assert (await run.info()).status == "cancelled"
