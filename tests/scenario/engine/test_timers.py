"""Timers: poison ones are parked, purposes of newer nodes are left alone, nothing due is lost in an outage."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato import every
from ostinato.doctor import diagnose
from ostinato.engine.claims import DirectClaim
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import timer_row
from ostinato.model import Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.testing import World
from ostinato.when.instants import SECOND, Micros


async def test_one_poison_timer_is_parked_and_the_rest_go_on(world: World) -> None:
    fired: list[str] = []

    def fire(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
        for timer in timers:
            if timer.owner == "poison":
                raise ValueError("bad data")
            fired.append(timer.owner)
        return []
        yield  # an operation, though it has nothing to ask the store

    await world.up()
    world.app.engine.purposes["test", "tick"] = fire
    due = world.clock.now() + 10 * SECOND
    owners = ["a", "poison", "b", "c"]
    await world.app.store.run(lambda _: _set([Timer("test", o, "tick", due) for o in owners]))
    world.app.engine.hint()
    await world.advance("20s")
    assert sorted(set(fired)) == ["a", "b", "c"]

    def parked(_: int) -> Operation[list[Row]]:
        return (yield sql("parked_timers", limit=10))

    ((_, owner, _, reason),) = await world.app.store.read(parked)
    assert owner == "poison"
    assert "bad data" in reason
    (finding,) = [one for one in await diagnose(world.app) if one.name == "parked_timers"]
    assert (finding.state, "bad data" in finding.words) == ("wrong", True)
    assert "doctor --repair" in finding.remedy
    run = await world.start("later", at="2026-01-02T00:00Z")
    await world.advance_to("2026-01-02T00:00:01Z")
    assert (await run.info()).reason == "no_handler"


def _set(timers: list[Timer]) -> Operation[None]:
    yield sql("set_timers", [timer_row(t) for t in timers])


async def test_what_is_parked_can_be_tried_again(world: World) -> None:
    fired: list[str] = []
    healthy = False

    def fire(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
        if not healthy:
            raise ValueError("bad data")
        fired.extend(timer.owner for timer in timers)
        return []
        yield  # an operation, though it has nothing to ask the store

    await world.up()
    world.app.engine.purposes["test", "tick"] = fire
    for repaired in ("one", "two"):
        healthy = False
        timer = Timer("test", repaired, "tick", world.clock.now())
        await world.app.store.run(lambda _, timer=timer: _set([timer]))  # type: ignore[misc]
        world.app.engine.hint()
        await world.advance("1s")
        healthy = True
        if repaired == "one":
            assert await world.app.unpark_timers() == 1
        else:
            (finding,) = [one for one in await diagnose(world.app, repair=True) if one.name == "parked_timers"]
            assert (finding.state, finding.remedy) == ("notice", "they are being tried again")
        await world.advance("1s")
    assert fired == ["one", "two"]
    assert await world.app.unpark_timers() == 0


async def test_a_schedule_whose_timer_cannot_be_fired_is_parked_and_says_so(world: World) -> None:
    @world.app.job()
    async def tick() -> None: ...

    def poison(timers: Sequence[Timer], now: Micros, direct: DirectClaim, kinds: Kinds) -> Operation[list[Row]]:
        raise ValueError("bad data")
        yield

    await world.up()
    await world.app.schedules.create("tick", every("10s"), "tick")
    purposes = world.app.engine.purposes
    healthy, purposes["schedule", "next"] = purposes["schedule", "next"], poison
    await world.advance("15s")
    info = await world.app.schedules.get("tick")
    assert (info.state, info.next) == ("parked", None)
    assert "bad data" in (info.reason or "")
    (finding,) = [one for one in await diagnose(world.app) if one.name == "parked_schedules"]
    assert (finding.state, "bad data" in finding.words) == ("wrong", True)
    purposes["schedule", "next"] = healthy
    await world.app.schedules.resume("tick")
    await world.advance("10s")
    assert await world.occurrences("tick") == ["skipped: parked", "succeeded"]
    names = [event.name for event in await world.app.events(subject=info.id, limit=100)]
    assert names.count("schedule:parked") == 1


async def test_a_purpose_that_only_newer_nodes_know_is_left_to_them(world: World) -> None:
    await world.up()
    due = world.clock.now() + SECOND
    await world.app.store.run(lambda _: _set([Timer("future", "x", "unknown", due)]))
    world.app.engine.hint()
    await world.advance("3s")
    (timer,) = [t for t in await world.app.upcoming() if t.kind == "future"]
    assert timer.due > due


async def test_what_became_due_in_an_outage_happens_after_it(world: World) -> None:
    @world.app.job()
    async def work() -> None: ...

    run = await world.start("work", at="2026-01-01T06:00Z")
    await world.outage("2026-01-01T05:00Z", "2026-01-01T09:00Z")
    info = await run.info()
    assert info.status == "succeeded"
    assert info.due.isoformat() == "2026-01-01T06:00:00+00:00"
    assert info.started is not None
    assert info.started.isoformat() == "2026-01-01T09:00:00+00:00"
