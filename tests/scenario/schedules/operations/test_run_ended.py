"""The end of a run: what its schedule remembers, which occurrence goes next, and when a schedule is completed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ostinato import every, once
from ostinato.testing import World
from tests.support.schedules import (
    BEGIN,
    at,
    events_by_id,
    events_of,
    minutes,
    outcomes,
    start_jobs,
    start_timed_jobs,
)


async def test_a_completion_lets_the_next_go_in_the_same_moment(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("slow", every("1m"), "slow", overlap="buffer_all", input={"seconds": 61})
    await world.advance("3m")
    history, two, three = reversed(await world.app.schedules.history("slow"))
    assert two.started == history.finished
    assert three.status == "buffered"
    assert (await world.app.schedules.get("slow")).waiting == 1


async def test_remaining_actions_run_out_and_the_schedule_is_completed(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("few", every("1m"), "note", remaining=2)
    await world.advance("10m1s")
    info = await world.app.schedules.get("few")
    assert (len(seen), info.state, info.remaining, info.next) == (2, "completed", 0, None)
    assert (await events_of(world, "few")).count("completed") == 1
    await world.app.schedules.update("few", remaining=1)
    await world.advance("10m")
    assert [at for at, _, _ in seen] == minutes(1, 2, 11)


async def test_a_one_off_completes_and_stays_readable(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("once", once(BEGIN + timedelta(minutes=3)), "note")
    await world.advance("1d")
    assert len(seen) == 1
    assert (await world.app.schedules.get("once")).state == "completed"


async def test_failures_in_a_row_pause_the_schedule(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("bad", every("1m"), "bad", pause_after_failures=3)
    await world.advance("10m")
    info = await world.app.schedules.get("bad")
    assert (info.state, info.failures, info.counts["actions"]) == ("paused", 3, 3)
    assert info.notes.startswith("paused after 3 failures in a row: failed")
    assert info.last_failure["reason"] == "ValueError: no"
    names = await events_of(world, "bad")
    assert (names.count("run_failed"), names.count("paused")) == (3, 1)
    await world.app.schedules.resume("bad")
    await world.advance("2m")
    info = await world.app.schedules.get("bad")
    assert (info.state, info.failures) == ("running", 2)  # a resume gives it three tries again


async def test_the_next_run_knows_how_the_last_one_went(world: World) -> None:
    heard: list[tuple[Any, Any]] = []

    @world.app.job()
    async def learn(ctx: Any) -> int:
        heard.append((ctx.last_result, ctx.last_failure and ctx.last_failure["reason"]))
        if len(heard) == 2:
            raise ValueError("second")
        return len(heard)

    await world.up()
    await world.app.schedules.create("learn", every("1m"), "learn")
    await world.advance("4m")
    assert heard == [(None, None), (1, None), (1, "ValueError: second"), (3, None)]


async def test_a_schedule_that_failures_have_paused_has_no_next_time(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("bad", every("1m"), "bad", pause_after_failures=1)
    await world.advance("90s")
    info = await world.app.schedules.get("bad")
    assert (info.state, info.next) == ("paused", None)
    assert await world.app.schedules.upcoming() == []


async def test_failures_of_what_a_deleted_schedule_left_running_pause_nothing(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("bad", every("1m"), "bad", pause_after_failures=1, input={"seconds": 30})
    await world.advance("70s")
    id = (await world.app.schedules.get("bad")).id
    await world.app.schedules.delete("bad")
    await world.advance("1m")
    names = await events_by_id(world, id)
    assert "run_failed" in names
    assert "paused" not in names


async def test_the_last_action_given_to_one_that_waited_ends_the_schedule(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create(
        "few", every("1m"), "note", remaining=2, overlap="buffer_one", input={"seconds": 150}
    )
    await world.advance("4m")
    info = await world.app.schedules.get("few")
    assert (info.remaining, info.next) == (0, None)
    await world.advance("10m")
    assert (await world.app.schedules.get("few")).state == "completed"
    assert [(status, reason) for _, status, reason in await outcomes(world, "few")] == [
        ("succeeded", None),
        ("succeeded", None),
        ("skipped", "overlap"),
    ]


async def test_a_schedule_with_nothing_to_come_is_completed_whichever_way_it_got_there(world: World) -> None:
    await start_timed_jobs(world)
    create, get = world.app.schedules.create, world.app.schedules.get
    await create("resumed", once(at(minutes=1)), "note", paused=True)
    await world.advance("2m")
    await world.app.schedules.resume("resumed")
    assert (await get("resumed")).state == "completed"
    await create("edited", once(at(minutes=3)), "note")
    await world.advance("2m")
    await world.app.schedules.update("edited", notes="done with")
    assert (await get("edited")).state == "completed"
    await create("none left", every("1m"), "note", remaining=0)
    assert (await get("none left")).state == "completed"
    for name in ("resumed", "edited", "none left"):
        assert (await events_by_id(world, (await get(name)).id)).count("completed") == 1, name


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


async def test_a_result_nested_too_deep_is_a_failure_of_its_run_alone(world: World) -> None:
    heard: list[Any] = []

    @world.app.job()
    async def deep(ctx: Any) -> Any:
        heard.append(ctx.last_result)
        return nested(100 if len(heard) % 2 else 101)

    await world.up()
    await world.app.schedules.create("d", every("1m"), "deep")
    await world.advance("4m")
    ends = [(one.status, one.reason) for one in reversed(await world.app.schedules.history("d"))]
    too_deep = "OstinatoError: the result is nested more than 100 levels deep"
    assert ends == [("succeeded", None), ("failed", too_deep)] * 2
    assert heard == [None, nested(100), nested(100), nested(100)]
    assert (await world.app.schedules.get("d")).state == "running"
