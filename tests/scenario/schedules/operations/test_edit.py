"""Changes of a schedule: edits, triggers and deletion neither lose a due time nor run one twice."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from ostinato import NotFound, cron, every, manual
from ostinato.schedules.operations.zone_rules import recompute_zones
from ostinato.store.contract import Operation, sql
from ostinato.testing import World
from ostinato.when import rules_in_force
from tests.support.schedules import (
    BEGIN,
    at,
    minutes,
    outcomes,
    start_jobs,
    start_timed_jobs,
)


async def test_an_edit_neither_refires_nor_loses(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("tick", cron("*/10 * * * *"), "note")
    await world.advance("10m")
    await world.app.schedules.update("tick", spec=cron("*/5 * * * *"))
    await world.advance("5m")
    await world.app.schedules.update("tick", spec=cron("*/10 * * * *"), input={"who": "new"})
    await world.advance("25m")
    assert [at for at, _, _ in seen] == minutes(10, 15, 20, 30, 40)
    assert seen[-1][2] == "new"


async def test_an_edit_during_an_outage_keeps_what_was_due_before_it(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("tick", cron("0 * * * *"), "note")
    await world.advance_to("2026-01-01T00:30Z")
    await world.down()
    await asyncio.sleep(2 * 3600)
    async with world.app.connected():
        await world.app.schedules.update("tick", spec=cron("45 * * * *"))
    await world.advance_to("2026-01-01T03:00Z")
    hours = [datetime(2026, 1, 1, hour, minute, tzinfo=UTC) for hour, minute in ((1, 0), (2, 0), (2, 45))]
    assert [at for at, _, _ in await outcomes(world, "tick")] == hours
    assert [at for at, _, _ in seen] == hours[1:]


async def test_a_jittered_occurrence_survives_an_edit_of_its_spec(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("jitter", every("1h", jitter="50m"), "note")
    due = (await world.app.schedules.get("jitter")).next
    assert due is not None
    assert due > BEGIN + timedelta(hours=1)
    await world.advance_to(BEGIN + timedelta(hours=1) + (due - BEGIN - timedelta(hours=1)) / 2)
    await world.app.schedules.update("jitter", spec=every("7h"))
    await world.advance_to(due)
    assert [at for at, _, _ in seen] == [BEGIN + timedelta(hours=1)]


async def test_triggers_are_runs_of_their_own(world: World) -> None:
    seen = await start_jobs(world)
    await world.app.schedules.create("by hand", manual(), "note", paused=True)
    answers = [
        await world.app.schedules.trigger("by hand", input={"who": str(n)}, overlap="allow_all") for n in range(3)
    ]
    await world.settle()
    assert [who for _, _, who in seen] == ["0", "1", "2"]
    assert len({answer.run["id"] for answer in answers if answer.run}) == 3
    assert (await world.app.schedules.get("by hand")).state == "paused"
    assert [one.origin[:8] for one in await world.app.schedules.history("by hand")] == ["trigger-"] * 3


async def test_a_trigger_that_is_skipped_says_so(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("slow", manual(), "slow")
    first = await world.app.schedules.trigger("slow")
    second = await world.app.schedules.trigger("slow")
    assert first.run is not None
    assert second.run is not None
    assert first.run["status"] == "started"
    assert (second.run["status"], second.run["reason"], second.run["blocked_by"]) == (
        "skipped",
        "overlap",
        first.run["id"],
    )


async def test_what_a_deletion_cancels_is_stopped_at_once(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("slow", manual(), "slow")
    await world.app.schedules.trigger("slow")
    await world.settle()
    await world.app.schedules.delete("slow", running="cancel")
    await world.settle()
    await world.expect("slow", "cancelled: its schedule was deleted")


async def test_deleting_gives_up_what_waits_and_leaves_what_runs(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("slow", every("1m"), "slow", overlap="buffer_all")
    await world.advance("2m")
    id = (await world.app.schedules.get("slow")).id
    await world.app.schedules.delete("slow")
    with pytest.raises(NotFound, match="no schedule 'slow'"):
        await world.app.schedules.get("slow")
    await world.advance("5m")
    runs = await world.runs("slow")
    assert [(run.status, run.reason) for run in runs] == [("succeeded", None), ("skipped", "closed")]
    names = [event.name for event in await world.app.events(subject=id, limit=100)]
    assert "schedule:deleted" in names
    await world.app.schedules.create("slow", manual(), "slow")
    assert (await world.app.schedules.get("slow")).id != id


async def test_a_schedule_without_actions_left_has_no_times_however_often_it_is_edited(world: World) -> None:
    await start_timed_jobs(world)
    await world.app.schedules.create("few", every("1m"), "note", remaining=1, input={"seconds": 600})
    await world.advance("5m")
    await world.app.schedules.update("few", notes="still going")
    await world.app.schedules.pause("few")
    await world.advance("2m1s")
    await world.app.schedules.resume("few")
    assert [nominal for nominal, _, _ in await outcomes(world, "few")] == [at(minutes=1)]
    await world.app.schedules.update("few", remaining=1, overlap="allow_all")
    await world.advance("2m")
    assert [nominal for nominal, _, _ in await outcomes(world, "few")] == [at(minutes=1), at(minutes=8)]


@pytest.mark.parametrize(("running", "status"), [("cancel", "cancelled"), ("terminate", "terminated")])
async def test_runs_that_are_stopped_with_their_schedule_are_told_of(world: World, running: str, status: str) -> None:
    await start_jobs(world)
    await world.app.schedules.create("slow", every("1m"), "slow")
    await world.app.schedules.create("tick", every("1m"), "note")  # a node of a world looks after each beat
    id = (await world.app.schedules.get("slow")).id
    await world.advance("1m")
    await world.app.schedules.delete("slow", running=running)
    await world.advance("1m")
    stopped = [event.data for event in await world.app.events(subject=id) if event.name == "schedule:canceled"]
    assert [(data["status"], data["reason"]) for data in stopped] == [(status, "its schedule was deleted")]


async def test_the_runs_of_a_deleted_schedule_stay_and_its_name_is_free(world: World) -> None:
    @world.app.job()
    async def work() -> str:
        return "done"

    await world.up()
    schedules = world.app.schedules
    await schedules.create("hourly", every("1h"), "work")
    await world.advance("3h")
    await schedules.delete("hourly")
    for ask in (schedules.history("hourly"), schedules.explain("hourly", world.now)):
        with pytest.raises(NotFound, match="there is no schedule 'hourly'"):
            await ask
    assert [run.result for run in await world.app.runs(name="work")] == ["done"] * 3
    await schedules.create("hourly", every("1h"), "work")
    assert await schedules.history("hourly") == []


async def test_times_worked_out_with_older_zone_rules_are_worked_out_anew(world: World) -> None:
    seen = await start_timed_jobs(world)
    await world.app.schedules.create("nine", cron("0 9 * * *", tz="Europe/Berlin"), "note")
    await world.app.schedules.create("paused", cron("0 9 * * *", tz="Europe/Berlin"), "note", paused=True)
    id = (await world.app.schedules.get("nine")).id
    await world.down()

    async with world.app.connected():

        def age(_: int) -> Operation[None]:
            yield sql("stamp_rules", [(id, "1970a")])
            due = int((BEGIN + timedelta(days=300)).timestamp()) * 1_000_000
            yield sql("set_timers", [("schedule", id, "next", due, "default", None)])

        await world.app.store.run(age)
    await world.advance("1d")
    assert seen == [BEGIN + timedelta(hours=8)]
    assert await recompute_zones(world.app.store) == 0
    assert rules_in_force().version
