"""What the model in `tests/simulation` found, each said once on its own."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ostinato import OstinatoError, every, once
from ostinato.testing import World

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


async def begin(world: World) -> list[datetime]:
    seen: list[datetime] = []

    @world.app.job()
    async def note(ctx: Any, seconds: float = 0) -> None:
        seen.append(ctx.nominal)
        await asyncio.sleep(seconds)

    @world.app.job()
    async def bad(seconds: float = 0) -> None:
        await asyncio.sleep(seconds)
        raise ValueError("no")

    await world.up()
    return seen


def at(**length: float) -> datetime:
    return BEGIN + timedelta(**length)


async def told(world: World, name: str) -> list[tuple[datetime, str, str | None]]:
    found = await world.app.schedules.history(name, limit=1000)
    return [(one.nominal, one.status, one.reason) for one in reversed(found)]


async def facts(world: World, id: str) -> list[str]:
    return [one.name.removeprefix("schedule:") for one in await world.app.events(subject=id, limit=1000)]


async def test_a_schedule_that_failures_have_paused_has_no_next_time(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("bad", every("1m"), "bad", pause_after_failures=1)
    await world.advance("90s")
    info = await world.app.schedules.get("bad")
    assert (info.state, info.next) == ("paused", None)
    assert await world.app.schedules.upcoming() == []


async def test_failures_of_what_a_deleted_schedule_left_running_pause_nothing(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("bad", every("1m"), "bad", pause_after_failures=1, input={"seconds": 30})
    await world.advance("70s")
    id = (await world.app.schedules.get("bad")).id
    await world.app.schedules.delete("bad")
    await world.advance("1m")
    names = await facts(world, id)
    assert "run_failed" in names
    assert "paused" not in names


async def test_the_last_action_given_to_one_that_waited_ends_the_schedule(world: World) -> None:
    await begin(world)
    await world.app.schedules.create(
        "few", every("1m"), "note", remaining=2, overlap="buffer_one", input={"seconds": 150}
    )
    await world.advance("4m")
    info = await world.app.schedules.get("few")
    assert (info.remaining, info.next) == (0, None)
    await world.advance("10m")
    assert (await world.app.schedules.get("few")).state == "completed"
    assert [(status, reason) for _, status, reason in await told(world, "few")] == [
        ("succeeded", None),
        ("succeeded", None),
        ("skipped", "overlap"),
    ]


async def test_a_schedule_without_actions_left_has_no_times_however_often_it_is_edited(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("few", every("1m"), "note", remaining=1, input={"seconds": 600})
    await world.advance("5m")
    await world.app.schedules.update("few", notes="still going")
    await world.app.schedules.pause("few")
    await world.advance("2m")
    await world.app.schedules.resume("few")
    assert [nominal for nominal, _, _ in await told(world, "few")] == [at(minutes=1)]
    await world.app.schedules.update("few", remaining=1, overlap="allow_all")
    await world.advance("2m")
    assert [nominal for nominal, _, _ in await told(world, "few")] == [at(minutes=1), at(minutes=8)]


async def test_times_that_pass_while_paused_are_on_record_though_the_schedule_was_edited_meanwhile(
    world: World,
) -> None:
    await begin(world)
    await world.app.schedules.create("tick", every("1h"), "note", paused=True)
    await world.advance("2h30m")
    await world.app.schedules.update("tick", notes="nothing about its times")
    await world.advance("2h")
    await world.app.schedules.resume("tick")
    assert await told(world, "tick") == [(at(hours=n), "skipped", "paused") for n in (1, 2, 3, 4)]


async def test_a_moved_occurrence_survives_an_edit_after_its_nominal_time(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("hourly", every("1h"), "note")
    await world.app.schedules.move("hourly", at(hours=1), at(hours=1, minutes=40))
    await world.advance("1h20m")
    await world.app.schedules.update("hourly", notes="nothing about its times")
    await world.advance("30m")
    assert seen == [at(hours=1)]


async def test_all_that_were_moved_survive_an_edit_of_the_spec(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("hourly", every("1h"), "note")
    await world.app.schedules.move("hourly", at(hours=2), at(hours=2, minutes=40))
    await world.app.schedules.move("hourly", at(hours=1), at(hours=2, minutes=20))
    await world.advance("2h10m")
    await world.app.schedules.update("hourly", spec=every("10h"))
    await world.advance("50m")
    assert seen == [at(hours=1), at(hours=2)]


async def test_what_was_moved_and_never_due_does_not_come_back(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("hourly", every("1h"), "note", remaining=0)
    await world.app.schedules.move("hourly", at(hours=1), at(hours=1, minutes=40))
    await world.advance("2h10m")
    await world.app.schedules.update("hourly", remaining=5)
    await world.advance("1h")
    assert seen == [at(hours=3)]


async def test_the_latest_that_runs_late_may_be_one_that_was_moved_ahead(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("hourly", every("1h"), "note")
    await world.app.schedules.move("hourly", at(hours=2), at(hours=1, minutes=40))
    await world.outage(at(minutes=50), at(hours=1, minutes=50))
    assert seen == [at(hours=2)]
    assert await told(world, "hourly") == [(at(hours=1), "missed", "coalesced"), (at(hours=2), "succeeded", None)]


async def test_of_two_that_are_late_at_the_same_moment_one_is_the_latest(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("tick", every("1h"), "note", overlap="allow_all")
    await world.app.schedules.move("tick", at(hours=1), at(hours=1, minutes=30))
    await world.advance("75m")
    await world.app.schedules.update("tick", spec=every("30m"))
    await world.outage(at(minutes=80), at(minutes=110))
    assert seen == [at(minutes=90)]
    assert await told(world, "tick") == [(at(hours=1), "missed", "coalesced"), (at(minutes=90), "succeeded", None)]


async def test_one_that_was_moved_ahead_and_is_left_out_stands_for_none_that_is_late(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("hourly", every("1h"), "note")
    await world.app.schedules.move("hourly", at(hours=2), at(hours=1, minutes=40))
    await world.app.schedules.skip("hourly", at(hours=2))
    await world.outage(at(minutes=50), at(hours=1, minutes=50))
    assert seen == [at(hours=1)]
    assert await told(world, "hourly") == [(at(hours=1), "succeeded", None), (at(hours=2), "skipped", "asked")]


async def test_none_is_put_back_behind_a_neighbour_that_was_moved_past_it(world: World) -> None:
    seen = await begin(world)
    move, put_back = world.app.schedules.move, world.app.schedules.put_back
    await world.app.schedules.create("hourly", every("1h"), "note")
    await move("hourly", at(hours=2), at(hours=2, minutes=40))
    await move("hourly", at(hours=1), at(hours=2, minutes=20))
    with pytest.raises(OstinatoError, match="moved past it, to 2026-01-01T02:20:00Z; put that one back first"):
        await put_back("hourly", at(hours=2))
    await put_back("hourly", at(hours=1))
    await put_back("hourly", at(hours=2))
    await move("hourly", at(hours=1), at(minutes=20))
    await move("hourly", at(hours=2), at(minutes=40))
    with pytest.raises(OstinatoError, match="moved past it, to 2026-01-01T00:40:00Z; put that one back first"):
        await put_back("hourly", at(hours=1))
    await world.advance("50m")
    assert seen == [at(hours=1), at(hours=2)]


async def test_what_an_edit_has_kept_where_it_was_moved_to_is_not_put_back(world: World) -> None:
    seen = await begin(world)
    await world.app.schedules.create("hourly", every("1h", jitter="50m"), "note")
    await world.app.schedules.move("hourly", at(hours=1), at(hours=1, minutes=59))
    await world.advance("60m10s")
    await world.app.schedules.update("hourly", spec=every("1h", jitter="40m"))
    with pytest.raises(OstinatoError, match="not a coming time"):
        await world.app.schedules.put_back("hourly", at(hours=1))
    await world.advance_to(at(hours=1, minutes=58))
    assert seen == []
    await world.advance("90s")
    assert seen == [at(hours=1)]


async def test_a_new_spec_leaves_none_moved_ahead_of_the_one_before_it(world: World) -> None:
    seen = await begin(world)
    update = world.app.schedules.update
    await world.app.schedules.create("hourly", every("1h", jitter="50m"), "note")
    due = (await world.app.schedules.get("hourly")).next
    assert due is not None
    assert due > at(hours=1, minutes=1)
    await update("hourly", spec=every("1h"))
    await world.app.schedules.move("hourly", at(hours=2), at(hours=1, minutes=1))
    await update("hourly", spec=every("1h", jitter="50m"))
    await world.advance("1h59m")
    assert seen == [at(hours=1)]
    await world.advance("1h")
    assert seen == [at(hours=1), at(hours=2)]


async def test_a_schedule_with_nothing_to_come_is_completed_whichever_way_it_got_there(world: World) -> None:
    await begin(world)
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
        assert (await facts(world, (await get(name)).id)).count("completed") == 1, name


async def test_a_cancelled_backfill_lets_its_schedule_complete(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("few", every("1m"), "note", remaining=0)
    answer = await world.app.schedules.backfill("few", at(minutes=-10), at(minutes=-1), overlap="allow_all", rate=1)
    await world.advance("2s")
    assert (await world.app.schedules.get("few")).state == "running"
    await world.app.schedules.cancel_backfill("few", answer.backfill or "")
    assert (await world.app.schedules.get("few")).state == "completed"


async def test_what_a_cancelled_backfill_gives_up_is_counted(world: World) -> None:
    await begin(world)
    await world.app.schedules.create("few", every("1h"), "note", input={"seconds": 30})
    answer = await world.app.schedules.backfill("few", at(hours=-60), at(hours=-1), overlap="buffer_all")
    await world.advance("1s")
    assert (await world.app.schedules.get("few")).waiting == 49
    await world.app.schedules.cancel_backfill("few", answer.backfill or "")
    info = await world.app.schedules.get("few")
    assert (info.waiting, info.counts) == (0, {"actions": 1, "closed": 49})


async def test_a_stretch_contains_only_the_times_between_its_ends(world: World) -> None:
    """A jittered occurrence that an edit left pending comes after later times of the new spec."""
    await begin(world)
    await world.app.schedules.create("tick", every("6h", jitter="5h"), "note")
    due = (await world.app.schedules.get("tick")).next
    assert due is not None
    assert due > at(hours=6, minutes=10)
    await world.advance_to(at(hours=6, minutes=1))
    await world.app.schedules.update("tick", spec=every("1m"))
    await world.app.schedules.pause("tick")
    await world.advance("12h")
    await world.app.schedules.resume("tick")
    found = await world.app.schedules.history("tick", limit=1000)
    assert sorted((one.nominal, one.last, one.count) for one in found) == [
        (at(hours=6), at(hours=6), 1),
        (at(hours=6, minutes=2), at(hours=18, minutes=1), 720),
    ]
