"""Corners of schedules: what cannot be read, what is asked for wrongly, and what is said beforehand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ostinato import Conflict, Ostinato, OstinatoError, cron, every, manual
from ostinato.store.contract import Operation, Row, sql
from ostinato.testing import World


@pytest.fixture(autouse=True)
def statements(add_statement: Callable[[str, str], None]) -> None:
    """A spec that nobody could have written, and a look at one."""
    mars = '{"cron": ["0 9 * * *"], "tz": "Mars/Base"}'
    add_statement("set_zone_to_mars", f"UPDATE ostinato_schedules SET spec = '{mars}' WHERE id = :id")
    add_statement("spec_of", "SELECT spec FROM ostinato_schedules WHERE id = :id")


async def begin(world: World) -> None:
    @world.app.job()
    async def note() -> None: ...

    @world.app.job()
    async def slow() -> None:
        await asyncio.sleep(3600)

    await world.up()


async def test_a_schedule_that_cannot_be_read_is_not_overwritten_with_what_could_be_read_of_it(world: World) -> None:
    await begin(world)
    schedules = world.app.schedules
    await schedules.create("s", cron("0 9 * * *"), "note")
    id = (await schedules.get("s")).id

    def spoil(_: int) -> Operation[None]:
        yield sql("set_zone_to_mars", id=id)

    def spec(_: int) -> Operation[list[Row]]:
        return (yield sql("spec_of", id=id))

    await world.app.store.run(spoil)
    await world.advance("1d")
    assert (await schedules.get("s")).state == "parked"
    changes: list[Any] = [
        schedules.pause,
        schedules.resume,
        schedules.trigger,
        lambda s: schedules.update(s, notes="n"),
    ]
    for change in changes:
        with pytest.raises(Conflict, match="cannot be read: tz 'Mars/Base'"):
            await change("s")
    assert "Mars/Base" in (await world.app.store.read(spec))[0][0]
    await schedules.update("s", spec=cron("0 10 * * *"), action="note")
    assert (await schedules.get("s")).state == "running"
    await world.app.store.run(spoil)
    await schedules.delete("s")
    assert await schedules.list() == []


async def test_what_is_said_to_be_late_is_all_of_it_whatever_the_pace(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note", catchup="all", overlap="allow_all")
    await world.down()
    await asyncio.sleep(500 * 60 + 20)
    async with world.app.connected():
        assert str((await world.app.schedules.late())["tick"]) == "500 late, will run 500"


async def test_lateness_is_of_one_namespace(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note")
    await world.down()
    await asyncio.sleep(3600)
    async with Ostinato(world.app.store, clock=world.clock, namespace="other").connected() as other:
        assert await other.schedules.late() == {}


async def test_time_spent_paused_is_not_called_late(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("tick", every("1m"), "note")
    id = (await world.app.schedules.get("tick")).id
    for catchup in (None, "all"):
        await world.app.schedules.pause("tick")
        await world.advance("10m")
        await world.app.schedules.resume("tick", catchup=catchup)
    names = [event.name for event in await world.app.events(subject=id, limit=1000)]
    assert "schedule:late" not in names
    assert names.count("schedule:resumed") == 2


async def test_the_past_can_be_simulated_and_lengths_are_written_as_words(world: World) -> None:
    await begin(world)
    draft = world.app.schedules.draft("d", every("1h"), "note")
    found = await world.app.schedules.simulate(draft, "2025-06-01T00:00Z", "2025-06-01T11:59Z", run_time="90m")
    assert found.counts() == {"succeeded": 6, "overlap": 6}
    found = await world.app.schedules.simulate(
        draft, "2025-06-01T00:00Z", "2025-06-01T11:59Z", run_time=["1m", "90m"], seed=3
    )
    assert sum(found.counts().values()) == 12


async def test_an_unknown_state_is_refused(world: World) -> None:
    await begin(world)
    with pytest.raises(OstinatoError, match="did you mean 'running'"):
        await world.app.schedules.list(state="runing")


@pytest.mark.parametrize(("running", "status"), [("cancel", "cancelled"), ("terminate", "terminated")])
async def test_runs_that_are_stopped_with_their_schedule_are_told_of(world: World, running: str, status: str) -> None:
    await begin(world)
    await world.app.schedules.create("slow", every("1m"), "slow")
    await world.app.schedules.create("tick", every("1m"), "note")  # a node of a world looks after each beat
    id = (await world.app.schedules.get("slow")).id
    await world.advance("1m")
    await world.app.schedules.delete("slow", running=running)
    await world.advance("1m")
    told = [event.data for event in await world.app.events(subject=id) if event.name == "schedule:canceled"]
    assert [(data["status"], data["reason"]) for data in told] == [(status, "its schedule was deleted")]


async def test_a_start_that_fails_for_good_lets_the_next_one_go(world: World) -> None:
    done: list[str] = []

    @world.app.job()
    async def mail(customer: str) -> None:
        done.append(customer)

    await world.up()
    await world.app.schedules.create("mail", manual(), "mail", input={"customer": "a"}, overlap="buffer_all")
    world.app._maker.check_input = lambda schedule, input: None  # type: ignore[method-assign]  # it took `who` then
    await world.app.schedules.trigger("mail", input={"who": "nobody knows this"})
    await world.app.schedules.trigger("mail")
    await world.advance("10s")
    assert [one.split(":")[0] for one in await world.occurrences("mail")] == ["waiting", "buffered"]
    await world.advance("10s")
    assert [one.split(":")[0] for one in await world.occurrences("mail")] == ["failed", "succeeded"]
    assert done == ["a"]
