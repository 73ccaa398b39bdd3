"""The invariant scanner: it repairs what is safe and reports everything."""

from __future__ import annotations

from ostinato.store.contract import Operation, sql
from ostinato.testing import World


async def test_the_scanner_repairs_what_is_safe_and_reports_all(world: World) -> None:
    @world.app.job(serial_key="k")
    async def work() -> None: ...

    @world.app.job(concurrency=3)
    async def limited() -> None: ...

    await world.up()

    def break_things(_: int) -> Operation[None]:
        yield sql("take_serials", [("default", "k", "nobody")])
        yield sql("open_limits", [("default", "job:limited", 3, None, 1000, 1)])
        yield sql("save_limits", [("default", "job:limited", 3, 0)])

    await world.app.store.run(break_things)
    stuck = await world.start("work")
    also = await world.start("limited")
    await world.settle()
    assert (await stuck.info()).status == (await also.info()).status == "buffered"
    reported = await world.app.check(repair=False)
    assert {f.rule for f in reported} == {"serial_held_by_the_dead", "limit_miscounted"}
    assert not any(f.repaired for f in reported)
    repaired = await world.app.check()
    assert all(f.repaired for f in repaired)
    await stuck.result()
    await also.result()
    assert await world.app.check() == []


async def test_the_scanner_runs_by_itself(world: World) -> None:
    @world.app.job(serial_key="k")
    async def work() -> None: ...

    await world.up()

    def hold_by_nobody(_: int) -> Operation[None]:
        yield sql("take_serials", [("default", "k", "nobody")])

    await world.app.store.run(hold_by_nobody)
    run = await world.start("work")
    await world.advance("7h")
    assert (await run.info()).status == "succeeded"
    names = [e.name for e in await world.app.events(limit=100)]
    assert "engine:invariant_broken" in names
