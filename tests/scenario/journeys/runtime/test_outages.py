"""A journey does not fail because the store is away when its run begins."""

from __future__ import annotations

from typing import Any

from ostinato import StoreError, StoreUnavailable
from ostinato.model import Run
from ostinato.testing import World
from tests.support.journey_parts import text

LATER = text("rest: {type: timer, timer: {duration: PT1M}, next: done}\ndone: {type: succeed}", start="rest")


async def test_a_journey_is_loaded_when_the_store_is_back(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(LATER)
    id = (await world.app.journeys.start("example")).id
    runner: Any = world.app.engine.bodies.of_kind["journey"]
    store, failures = runner._store, 3

    class Away:
        async def read(self, make: Any) -> Any:
            nonlocal failures
            if failures:
                failures -= 1
                raise StoreUnavailable("away")
            return await store.read(make)

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

    runner._store = Away()
    await world.advance("2m")
    assert failures == 0
    assert (await world.app.journeys.status(id)).phase == "SUCCEEDED"
    assert (await world.app.get(id)).status == "succeeded"


async def test_a_run_whose_body_meets_a_store_that_is_away_is_handed_back(world: World) -> None:
    await world.up()
    await world.app.journeys.deploy(LATER)
    id = (await world.app.journeys.start("example")).id
    of_kind: dict[str, Any] = world.app.engine.bodies.of_kind
    runner, failures = of_kind["journey"], 2

    async def failing(run: Run) -> None:
        nonlocal failures
        if failures:
            failures -= 1
            raise StoreUnavailable("away")
        await runner(run)

    of_kind["journey"] = failing
    await world.advance("2m")
    assert failures == 0
    assert (await world.app.journeys.status(id)).phase == "SUCCEEDED"
    names = [event.name for event in await world.app.events(subject=id, limit=100)]
    assert names.count("run:handed_back") == 2


async def test_a_run_whose_body_meets_a_permanent_error_of_the_store_fails(world: World) -> None:
    """Handed back, it would be claimed again at once, without end."""
    await world.up()
    await world.app.journeys.deploy(LATER)
    id = (await world.app.journeys.start("example")).id
    of_kind: dict[str, Any] = world.app.engine.bodies.of_kind

    async def failing(run: Run) -> None:
        raise StoreError("there is no such column")

    of_kind["journey"] = failing
    await world.advance("2m")
    run = await world.app.get(id)
    assert (run.status, run.reason) == ("failed", "it could not be executed: there is no such column")
