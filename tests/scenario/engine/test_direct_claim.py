"""What a node begins at once of what it fires: the same story as a claim, in its turn, never twice, never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ostinato import Ostinato, StoreUnavailable, every
from ostinato.engine.claims import DirectClaim
from ostinato.engine.timers import Fired
from ostinato.store.contract import Operation
from ostinato.testing import World
from ostinato.when.instants import SECOND


def declare(app: Ostinato, ran: list[str]) -> None:
    @app.job()
    async def work(what: str = "it") -> dict[str, int]:
        ran.append(what)
        await asyncio.sleep(30)
        ran.append(f"{what} done")
        return {"n": 1}


class Crowd:
    """How many are there at once, at most; each stays for a while of the world's time."""

    def __init__(self) -> None:
        self.there = self.most = 0

    async def join(self) -> None:
        self.there += 1
        self.most = max(self.most, self.there)
        await asyncio.sleep(5)
        self.there -= 1


@pytest.fixture(params=["sqlite", "postgres"])
def world(request: pytest.FixtureRequest) -> World:
    """A world on either store, with the settings that the test wants."""
    url = None if request.param == "sqlite" else request.getfixturevalue("postgres_url")
    return World(url, **getattr(request.function, "settings", {}))


def where(**settings: Any) -> Callable[[Any], Any]:
    def mark(test: Any) -> Any:
        test.settings = settings
        return test

    return mark


async def story(world: World, after: int) -> list[tuple[Any, ...]]:
    """Return the events of runs and schedules, in order, with ids numbered as they come and times left out."""
    names: dict[Any, str] = {}
    events = []
    for event in await world.app.events(after=after, limit=1000):
        if event.name.startswith(("run:", "schedule:run", "schedule:triggered")):
            data = {"subject": event.subject, **event.data}
            for key, value in data.items():
                if key in ("subject", "run_id", "node"):
                    data[key] = names.setdefault(value, f"id {len(names)}")
                elif isinstance(value, int) and value > 10**15:
                    data[key] = "a time"
            events.append((event.name, tuple(data.items())))
    return events


def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_free(self: DirectClaim) -> Operation[bool]:
        return False
        yield

    monkeypatch.setattr(DirectClaim, "is_free", is_free)


async def test_what_is_taken_has_the_same_story_as_what_is_claimed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    declare(world.app, ran)
    await world.up()
    await world.app.schedules.create('é "s"', every("60s"), "work", input={"what": "a"})
    await world.advance("60s")
    (run,) = await world.runs("work")
    assert (run.status, run.started) == ("active", run.due)
    await world.advance("35s")
    taken = await story(world, 0)
    assert [name for name, _ in taken] == [
        "run:created",
        "schedule:triggered",
        "run:started",
        "schedule:run_started",
        "run:succeeded",
        "schedule:run_completed",
    ]
    await world.app.schedules.delete('é "s"')
    after = (await world.app.events(newest=True, limit=1))[-1].seq

    nobody(monkeypatch)
    await world.app.schedules.create('é "s"', every("60s"), "work", input={"what": "a"})
    await world.advance("60s")
    assert await story(world, after) == taken
    assert ran == ["a", "a done", "a", "a done"]


@where(concurrency=2)
async def test_nobody_is_overtaken(world: World) -> None:
    order: list[str] = []

    @world.app.job()
    async def work(what: str) -> None:
        order.append(what)
        await asyncio.sleep(45)

    await world.up()
    await world.app.schedules.create("s", every("60s"), "work", input={"what": "fired"})
    await world.advance_to("2026-01-01T00:00:30Z")
    for n in range(6):
        await world.start("work", {"what": f"started {n}"})
    await world.advance("3m")
    assert order[:6] == [f"started {n}" for n in range(6)]
    assert order[6] == "fired"


@where(concurrency=3)
async def test_no_more_are_taken_than_there_is_room_for_and_the_most_urgent_first(world: World) -> None:
    crowd = Crowd()
    order: list[int] = []

    @world.app.job()
    async def work(n: int) -> None:
        order.append(n)
        await crowd.join()

    await world.up()
    for n in range(8):
        await world.app.schedules.create(
            f"s{n}", every("60s"), {"job": "work", "input": {"n": n}, "options": {"priority": n}}
        )
    await world.advance("90s")
    assert crowd.most == 3
    assert order == [7, 6, 5, 4, 3, 2, 1, 0]


async def test_what_a_stopping_node_has_taken_is_handed_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    declare(world.app, ran)
    await world.up()
    await world.app.schedules.create("s", every("60s"), "work")
    store, gate, held = world.app.engine.store, asyncio.Event(), asyncio.Event()
    run = store.run

    async def slow(make: Any) -> Any:
        result = await run(make)
        if isinstance(result, Fired) and result.claimed:
            held.set()
            await gate.wait()
        return result

    monkeypatch.setattr(store, "run", slow)
    await world.advance("61s")
    assert held.is_set()
    assert ran == []
    stopping = asyncio.create_task(world.down())
    await asyncio.sleep(1)
    gate.set()
    await stopping
    monkeypatch.setattr(store, "run", run)
    assert ran == []
    await world.up()
    await world.advance("35s")
    (occurrence,) = await world.runs("work")
    assert (occurrence.status, occurrence.attempt) == ("succeeded", 1)
    assert ran[:2] == ["it", "it done"]
    names = [e.name for e in await world.app.events(subject=occurrence.id, limit=100)]
    assert names == ["run:created", "run:started", "run:handed_back", "run:started", "run:succeeded"]


async def test_what_was_taken_by_a_firing_whose_answer_was_lost_begins_all_the_same(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    declare(world.app, ran)
    await world.up()
    await world.app.schedules.create("s", every("10m"), "work")
    store = world.app.engine.store
    run = store.run
    lost = 0

    async def losing(make: Any) -> Any:
        nonlocal lost
        result = await run(make)
        if isinstance(result, Fired) and result.claimed and not lost:
            lost += 1
            raise StoreUnavailable("the answer was lost")
        return result

    monkeypatch.setattr(store, "run", losing)
    await world.advance("10m")
    world.app.engine.attend()
    await world.advance("1m")
    assert lost == 1
    assert ran == ["it", "it done"]
    await world.expect("work", "succeeded")


@where(concurrency=2)
async def test_a_firing_that_is_tried_again_after_its_commit_knows_what_it_took(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a store does that lost the connection while it committed: what was taken begins at once, and counts."""
    crowd, due = Crowd(), 0

    @world.app.job()
    async def work() -> None:
        assert world.clock.now() == due
        await crowd.join()

    await world.up()
    await world.app.schedules.create("s", every("10m"), "work")
    store = world.app.engine.store
    run, lost = store.run, 0

    async def losing(make: Any) -> Any:
        nonlocal lost
        result = await run(make)
        if isinstance(result, Fired) and result.claimed and not lost:
            lost += 1
            return await run(lambda _: make(1))
        return result

    monkeypatch.setattr(store, "run", losing)
    due = world.clock.now() + 600 * SECOND
    await world.advance("10m")
    assert (lost, crowd.there) == (1, 1)
    await world.advance("5s")
    await world.expect("work", "succeeded")


@where(lease="10s")
async def test_what_a_node_had_taken_when_it_died_is_tried_again(world: World) -> None:
    ran: list[str] = []
    declare(world.app, ran)
    await world.up()
    await world.app.schedules.create("s", every("2m"), "work")
    await world.advance("125s")
    await world.crash()
    await world.up()
    await world.advance("90s")
    runs = await world.app.runs(name="work", attempts=True)
    assert sorted((r.attempt, r.status) for r in runs) == [(1, "crashed"), (2, "succeeded")]


@pytest.mark.parametrize(("first", "second"), [("a", "b"), ("b", "a")])
@where(concurrency=150, queues=("a", "b"))
async def test_queues_share_the_room_with_what_is_fired(
    world: World, monkeypatch: pytest.MonkeyPatch, first: str, second: str
) -> None:
    crowd = Crowd()

    @world.app.job()
    async def work() -> None:
        await crowd.join()

    await world.up()
    for n in range(50):
        await world.app.schedules.create(f"s{n}", every("60s"), {"job": "work", "options": {"queue": second}})
    await world.advance("59s")
    store, gate, held = world.app.engine.store, asyncio.Event(), asyncio.Event()
    run = store.run

    async def slow(make: Any) -> Any:
        result = await run(make)
        if isinstance(result, list) and len(result) == 100 and getattr(result[0], "queue", "") == first:
            held.set()
            await gate.wait()
        return result

    monkeypatch.setattr(store, "run", slow)
    await world.app.start_many("work", [{}] * 100, queue=first)
    await world.settle()
    assert held.is_set()
    await world.advance("2s")  # what is fired meanwhile takes what is left
    await world.app.start_many("work", [{}] * 100, queue=second)
    gate.set()
    await world.advance("30s")
    assert crowd.most <= 150
    assert (await world.app.counts())["succeeded"] == 250


async def test_nothing_is_taken_where_something_may_be_ready(world: World) -> None:
    await world.up()
    await world.settle()
    claimer = world.app.engine.claimer
    free = claimer.reserve(500)
    claimer.give_back(free, ())
    assert free.room == 50  # half of all: the beat keeps no queued run waiting
    claimer.ready.set()
    none = claimer.reserve(500)
    claimer.give_back(none, ())
    assert none.room == 0
