"""Explanations of single moments."""

from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from ostinato import cron, every
from ostinato.faces.temporal.wire_schedules import Patch, WireSchedules
from ostinato.testing import World
from ostinato.when.instants import from_datetime
from tests.support.schedules import (
    minutes,
    start_jobs,
)


async def test_a_time_to_come_that_a_backfill_ran_is_explained_as_both(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("daily", cron("0 9 * * *"), "note")
    at = "2026-01-03T09:00:00Z"
    moment = datetime.fromisoformat(at)
    patch = Patch(backfills=((from_datetime(moment), from_datetime(moment), None),))  # as Temporal's clients may
    await WireSchedules.of(world.app.schedules).patch("daily", patch, asked="")
    await world.settle()
    explanation = await world.app.schedules.explain("daily", at)
    assert explanation.outcome == "will_run"
    assert f"The time {at} (by a backfill) ran and succeeded" in str(explanation)
    assert f"{at} is one of its coming times." in str(explanation)
    await world.app.schedules.skip("daily", at)
    explanation = await world.app.schedules.explain("daily", at)
    assert (explanation.outcome, explanation.reason, len(explanation.records)) == ("will_not_run", "asked", 1)


@pytest.mark.parametrize("to", ["2026-01-02T08:00Z", "2026-01-02T10:00Z"])
async def test_one_that_ran_where_it_was_moved_is_explained_by_both_times(world: World, to: str) -> None:
    await start_jobs(world)
    await world.app.schedules.create("daily", cron("0 9 * * *"), "note")
    await world.app.schedules.move("daily", "2026-01-02T09:00Z", to)
    await world.advance("3d")
    (by_nominal, by_moved) = [await world.app.schedules.explain("daily", at) for at in ("2026-01-02T09:00Z", to)]
    assert by_nominal.outcome == "ran"
    assert by_moved == by_nominal


async def test_explain_covers_every_kind_of_moment(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("tick", cron("*/10 * * * *"), "note")
    await world.advance("10m")
    explain = world.app.schedules.explain
    assert (await explain("tick", minutes(10)[0])).outcome == "ran"
    assert (await explain("tick", minutes(11)[0])).outcome == "no_time"
    assert (await explain("tick", minutes(20)[0])).outcome == "will_run"
    assert (await explain("tick", minutes(-10)[0])).reason == "not_created"
    await world.app.schedules.pause("tick", "because")
    explanation = await explain("tick", minutes(20)[0])
    assert (explanation.outcome, explanation.reason) == ("will_not_run", "paused")
    assert "because" in str(explanation)


async def test_explain_knows_how_far_the_actions_that_are_left_reach(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("t", every("1m"), "note", remaining=2)
    explanations = [await world.app.schedules.explain("t", at) for at in minutes(1, 2, 3, 5)]
    assert [(one.outcome, one.reason) for one in explanations] == [("will_run", None)] * 2 + [
        ("will_not_run", "exhausted")
    ] * 2
    assert "2 actions are left, for the times up to 2026-01-01T00:02:00Z" in str(explanations[3])


async def test_explain_names_the_policy_that_decided_not_the_one_of_today(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("t", every("1m"), "slow", input={"seconds": 600})
    await world.advance("2m10s")
    await schedules.trigger("t", overlap="skip")
    await schedules.trigger("t", overlap="buffer_all")
    await schedules.update("t", overlap="allow_all", catchup="skip")
    assert "the overlap policy was skip" in str(await schedules.explain("t", minutes(2)[0]))
    by_hand = {one.policy: one.nominal for one in await schedules.history("t") if one.origin != "auto"}
    assert "the overlap policy was skip" in str(await schedules.explain("t", by_hand["skip"]))
    waits = "waits for the run before it to end: overlap policy buffer_all"
    assert waits in str(await schedules.explain("t", by_hand["buffer_all"]))
    await world.outage("2026-01-01T00:02:30Z", "2026-01-01T00:10:30Z")
    await schedules.update("t", catchup="all")
    assert "the catch-up policy was skip" in str(await schedules.explain("t", minutes(5)[0]))


async def test_explain_says_that_a_paced_catch_up_is_on_its_way(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    paced = {"mode": "all", "pace": 1}
    await schedules.create("t", every("1m"), "note", catchup=paced, overlap="allow_all")
    await world.outage("2026-01-01T00:00:30Z", "2026-01-01T10:00:20Z")
    explanation = await schedules.explain("t", minutes(500)[0])
    assert (explanation.outcome, explanation.reason) == ("late", "catching_up")
    assert "A node is catching up, at most 1 per second." in str(explanation)
    await world.down()
    await asyncio.sleep(60)
    async with world.app.connected():
        assert (await schedules.explain("t", minutes(500)[0])).reason == "no_node"


async def test_explain_finds_a_stretch_behind_many_triggers(world: World) -> None:
    await start_jobs(world)
    schedules = world.app.schedules
    await schedules.create("t", every("1m"), "note")
    await schedules.pause("t")
    for _ in range(60):
        await world.advance("1m")
        await world.advance("1s")
        await schedules.trigger("t")
    await world.advance("2h")
    await schedules.resume("t")
    explanation = await schedules.explain("t", minutes(120)[0])
    assert (explanation.outcome, explanation.reason) == ("skipped", "paused")
