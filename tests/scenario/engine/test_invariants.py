"""The invariant scanner: it repairs what is safe and reports everything."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing

import asyncpg

from ostinato.doctor import diagnose
from ostinato.engine.unwritten import unwritten
from ostinato.store.contract import Operation, sql
from ostinato.testing import VirtualLoop, World
from tests.support.schedules import start_jobs


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


async def execute(url: str, texts: Sequence[str]) -> None:
    """Change the database from outside."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            for text in texts:
                connection.execute(text)
        return
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    with loop.freeze_time():
        remote = await asyncpg.connect(url)
        for text in texts:
            await remote.execute(text)
        await remote.close()


@asynccontextmanager
async def refusing(url: str, condition: str, event: str = "UPDATE") -> AsyncIterator[None]:
    """A trigger refuses rows of runs that meet a condition."""
    if url.startswith("sqlite"):
        when = f"BEFORE {event} ON ostinato_runs WHEN {condition}"
        begin = [f"CREATE TRIGGER refuse {when} BEGIN SELECT RAISE(ABORT, 'not here'); END"]
        end = ["DROP TRIGGER refuse"]
    else:
        begin = [
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not here'; END $$",
            f"CREATE TRIGGER refuse BEFORE {event} ON ostinato_runs FOR EACH ROW WHEN ({condition}) "
            "EXECUTE FUNCTION refuse()",
        ]
        end = ["DROP TRIGGER refuse ON ostinato_runs", "DROP FUNCTION refuse()"]
    await execute(url, begin)
    try:
        yield
    finally:
        await execute(url, end)


async def test_runs_whose_outcome_the_store_refuses_are_named_until_it_is_written(world: World) -> None:
    @world.app.job()
    async def fails() -> None:
        raise ValueError("broken")

    @world.app.job()
    async def works() -> int:
        return 42

    await world.up()
    async with refusing(world.app.store.url, "NEW.status = 'failed'"):
        run = await world.start("fails")
        assert await (await world.start("works")).result() == 42  # an outcome that is refused holds up no other
        await world.settle()
        world.app.engine.attend()  # as ten times per lease, which is long here
        await world.advance("30s")
        assert await world.app.check() == []
        await world.advance("2m")
        (finding,) = await world.app.check()
        assert (finding.rule, finding.subject, finding.repaired) == ("outcome_unwritten", run.id, False)
        assert "not here" in finding.words
        assert (await run.info()).status == "active"
        assert [one.run for one in await world.app.store.read(lambda _: unwritten())] == [run.id]  # for any process
    await world.advance("1m")
    assert (await run.info()).status == "failed"
    assert await world.app.check() == []
    assert await world.app.store.read(lambda _: unwritten()) == []


async def test_a_trigger_that_fails_for_a_time_costs_no_result(world: World) -> None:
    calls: list[str] = []

    @world.app.job()
    async def works(name: str) -> str:
        calls.append(name)
        return name

    await world.up()
    async with refusing(world.app.store.url, "NEW.status = 'succeeded'"):
        runs = [await world.start("works", {"name": name}) for name in ("a", "b")]
        await world.settle()
        assert [(await run.info()).status for run in runs] == ["active", "active"]
    await world.advance("1m")
    assert [await run.result() for run in runs] == ["a", "b"]
    assert sorted(calls) == ["a", "b"]
    assert await world.app.check() == []


async def test_a_trigger_that_fails_for_a_time_parks_no_schedule(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("often", "every 10s", "note", overlap="allow_all", catchup="all")
    async with refusing(world.app.store.url, "NEW.name = 'note'", "INSERT"):
        await world.advance("25s")
        assert (await world.app.schedules.get("often")).state == "running"
    await world.advance("60s")
    info = await world.app.schedules.get("often")
    assert info.state == "running"
    history = await world.app.schedules.history("often")
    assert len(history) == 8
    assert {one.status for one in history} == {"succeeded"}


async def test_a_trigger_that_fails_for_one_timer_stops_no_other(world: World) -> None:
    await start_jobs(world)

    @world.app.job()
    async def refused() -> None: ...

    await world.app.schedules.create("bad", "every 2s", "refused")
    await world.app.schedules.create("good", "every 2s", "note", overlap="allow_all")
    async with refusing(world.app.store.url, "NEW.name = 'refused'", "INSERT"):
        await world.advance("20s")
        assert [one.status for one in await world.app.schedules.history("good")] == ["succeeded"] * 10
        assert await world.app.schedules.history("bad") == []
        assert (await world.app.schedules.get("bad")).state == "running"
        (overdue,) = [one for one in await diagnose(world.app) if one.name == "overdue_schedules"]
        assert (overdue.state, "default/bad" in overdue.words, "good" in overdue.words) == ("wrong", True, False)
    await world.advance("1m")
    assert "succeeded" in {one.status for one in await world.app.schedules.history("bad")}


async def test_a_report_of_an_outcome_is_dropped_when_its_node_is_gone(world: World) -> None:
    @world.app.job(at_most_once=True)
    async def fails() -> None:
        raise ValueError("broken")

    await world.up()
    async with refusing(world.app.store.url, "NEW.status = 'failed'"):
        run = await world.start("fails")
        await world.settle()
        world.app.engine.attend()
        await world.advance("2m")
        assert [one.run for one in await world.app.store.read(lambda _: unwritten())] == [run.id]
        await world.crash()
    await world.up()
    await world.app.terminate(run.id)
    assert await world.app.check() == []
    assert await world.app.store.read(lambda _: unwritten()) == []
