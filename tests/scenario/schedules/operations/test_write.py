"""Writing decisions: actions that cannot be made, and the rows of stretches."""

from __future__ import annotations

import asyncio
from typing import Any

from ostinato import every, manual
from ostinato.testing import World
from tests.support.schedules import (
    at,
    minutes,
    outcomes,
    start_jobs,
    start_timed_jobs,
    write_column,
)


async def test_an_action_that_cannot_be_made_is_tried_and_then_fails(world: World) -> None:
    seen = await start_jobs(world)

    @world.app.job(serial_key="customer-{customer}")
    async def mail(customer: str = "") -> None:
        seen.append((None, 0, customer))

    await world.app.schedules.create("mail", every("1m"), "mail", input={"customer": "a"}, overlap="buffer_all")
    world.app._maker.check_input = lambda schedule, input: None  # type: ignore[method-assign]  # it took `who` then
    await world.app.schedules.trigger("mail", input={"who": "b"})
    await world.advance("5s")
    (history,) = await world.app.schedules.history("mail")
    assert history.status == "waiting"
    assert history.reason is not None
    assert history.reason.startswith("cannot start: job 'mail': it has no 'who'")
    await world.advance("55s")
    assert [status for _, status, _ in await outcomes(world, "mail")] == ["failed", "succeeded"]
    assert seen == [(None, 0, "a")]


async def test_a_stretch_contains_only_the_times_between_its_ends(world: World) -> None:
    """A jittered occurrence that an edit left pending comes after later times of the new spec."""
    await start_timed_jobs(world)
    await world.app.schedules.create("tick", every("6h", jitter="5h"), "note")
    due = (await world.app.schedules.get("tick")).next
    assert due is not None
    assert due > at(hours=6, minutes=10)
    await world.advance_to(at(hours=6, minutes=1, seconds=1))
    await world.app.schedules.update("tick", spec=every("1m"))
    await world.app.schedules.pause("tick")
    await world.advance("12h")
    await world.app.schedules.resume("tick")
    history = await world.app.schedules.history("tick", limit=1000)
    assert sorted((one.nominal, one.last, one.count) for one in history) == [
        (at(hours=6), at(hours=6), 1),
        (at(hours=6, minutes=2), at(hours=18, minutes=1), 720),
    ]


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


def take_any_input(world: World) -> None:
    """As if the job took another input when it was asked for than it does when its turn comes."""
    world.app._maker.check_input = lambda schedule, input: None  # type: ignore[method-assign]


async def test_an_action_made_late_is_the_new_one_with_its_deadline(world: World) -> None:
    seen: list[Any] = []

    @world.app.job()
    async def old(customer: str = "") -> None:
        seen.append(("old", customer))

    @world.app.job()
    async def new(who: str = "") -> None:
        seen.append(("new", who))
        await asyncio.sleep(3600)

    await world.up()
    await world.app.schedules.create("m", manual(), "old", deadline="10s")
    take_any_input(world)
    await world.app.schedules.trigger("m", input={"who": "b"})
    await world.advance("500ms")
    await world.app.schedules.update("m", action="new", deadline="10s")
    await world.advance("30m")
    assert seen == [("new", "b")]
    (run,) = await world.runs()
    assert (run.name, run.status, run.reason) == ("new", "timed_out", "deadline")
    assert run.finished is not None
    assert (run.finished - run.created).total_seconds() == 10


async def test_an_action_of_a_backfill_made_late_stands_behind_the_others_still(world: World) -> None:
    @world.app.job()
    async def old(customer: str = "") -> None: ...

    @world.app.job()
    async def new(who: str = "") -> None: ...

    await world.up()
    await world.app.schedules.create("m", every("1d"), "old", priority=5)
    take_any_input(world)
    await world.app.schedules.backfill("m", "2025-06-01T00:00Z", "2025-06-01T00:00Z", input={"who": "b"})
    await world.advance("500ms")
    await world.app.schedules.update("m", action="new", priority=5)
    await world.advance("1m")
    (run,) = await world.runs()
    assert (run.name, run.status, run.priority) == ("new", "succeeded", -5)


async def test_an_action_that_cannot_be_made_and_waits_is_made_when_its_turn_comes(world: World) -> None:
    seen: list[str] = []

    @world.app.job()
    async def mail(customer: str = "") -> None:
        seen.append(customer)
        await asyncio.sleep(60)

    await world.up()
    schedules = world.app.schedules
    await schedules.create("m", manual(), "mail", input={"customer": "a"}, overlap="buffer_all")
    take_any_input(world)
    await schedules.trigger("m")
    await schedules.trigger("m", input={"who": "b"})
    await schedules.trigger("m")
    await world.advance("50s")
    assert [one.status for one in await schedules.history("m")] == ["buffered", "buffered", "active"]
    await world.advance("5m")
    assert seen == ["a", "a"]
    history = sorted(await schedules.history("m"), key=lambda one: one.run_id)
    assert [one.status for one in history] == ["succeeded", "failed", "succeeded"]
    assert "it has no 'who'" in str(history[1].reason)
    assert (await schedules.get("m")).waiting == 0


async def test_what_is_said_of_a_stretch_that_grows_is_what_was_added(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("tick", every("1m"), "note")
    said = []
    for passed in ("1d", "3m", "1m"):
        await schedules.pause("tick")
        await world.advance(passed)
        said.append(str((await schedules.resume("tick")).lateness))
    assert said == ["1440 late, will run 0", "3 late, will run 0", "1 late, will run 0"]
    info = await schedules.get("tick")
    assert info.counts == {"paused": 1444}
    assert [(one.count, one.nominal) for one in info.recent] == [(1444, minutes(1)[0])]
    skipped = [e.data for e in await world.app.events(subject=info.id) if e.name == "schedule:skipped"]
    assert [one.get("count", 1) for one in skipped] == [1440, 3, 1]
    day = 24 * 60
    begins = [int(at.timestamp() * 1_000_000) for at in minutes(1, day + 1, day + 4)]
    assert [one["nominal"] for one in skipped] == begins


async def test_a_schedule_that_cannot_be_put_on_record_is_parked_and_the_others_go_on(world: World) -> None:
    seen = await start_jobs(world)
    for name in ("a", "bad", "c"):
        await world.app.schedules.create(name, every("1m"), "note", input={"who": name})
    await write_column(world, "bad", "outcome", f'{{"result": {"[" * 254}{"]" * 254}}}')
    await world.advance("2m")
    assert sorted(who for _, _, who in seen) == ["a", "a", "c", "c"]
    info = await world.app.schedules.get("bad")
    assert (info.state, info.next) == ("parked", None)
    assert "Recursion limit" in str(info.reason)
    assert await world.occurrences("bad") == []
