"""Overlap policies and buffers."""

from __future__ import annotations

import pytest

from ostinato import every
from ostinato.schedules.model import OverlapName
from ostinato.testing import World
from tests.support.schedules import (
    minutes,
    outcomes,
    start_jobs,
)


@pytest.mark.parametrize(
    ("overlap", "expected"),
    [
        ("skip", ["succeeded", "skipped", "succeeded", "skipped", "succeeded", "skipped"]),
        ("buffer_one", ["succeeded", "succeeded", "succeeded", "active", "skipped", "buffered"]),
        ("buffer_all", ["succeeded", "succeeded", "succeeded", "active", "buffered", "buffered"]),
        ("cancel_other", ["cancelled", "cancelled", "cancelled", "cancelled", "cancelled", "active"]),
        ("terminate_other", ["terminated"] * 5 + ["active"]),
        ("allow_all", ["succeeded"] * 5 + ["active"]),
    ],
)
async def test_overlap(world: World, overlap: OverlapName, expected: list[str]) -> None:
    await start_jobs(world)
    await world.app.schedules.create("slow", every("1m"), "slow", overlap=overlap, input={"seconds": 89})
    await world.advance("6m30s")
    assert [status for _, status, _ in await outcomes(world, "slow")] == expected


async def test_what_was_in_the_way_is_on_record(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("slow", every("1m"), "slow")
    await world.advance("2m")
    second, first = await world.app.schedules.history("slow")
    assert (second.status, second.reason, second.blocked_by) == ("skipped", "overlap", first.run_id)
    explained = await world.app.schedules.explain("slow", minutes(2)[0])
    assert explained.outcome == "skipped"
    assert "the run before it had not ended" in str(explained)
    assert first.run_id in str(explained)


async def test_skips_beyond_a_hundred_in_a_row_share_a_row(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("slow", every("1m"), "slow", input={"seconds": 5 * 3600 + 30})
    await world.advance("5h2m")
    history = list(reversed(await world.app.schedules.history("slow", limit=1000)))
    assert [one.status for one in history[:102]] == ["succeeded"] + ["skipped"] * 101
    assert history[101].count == 200
    assert history[101].last == minutes(301)[0]
    assert history[102].nominal == minutes(302)[0]
    assert sum(one.count for one in history) == 302


async def test_the_policy_in_force_is_the_current_one(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create("slow", every("1m"), "slow", overlap="skip", input={"seconds": 150})
    await world.advance("2m")
    await world.app.schedules.update("slow", overlap="buffer_all")
    await world.advance("1m")
    assert [status for _, status, _ in await outcomes(world, "slow")] == ["active", "skipped", "buffered"]


async def test_max_buffer_drops_with_a_row(world: World) -> None:
    await start_jobs(world)
    await world.app.schedules.create(
        "slow", every("1m"), "slow", overlap="buffer_all", max_buffer=2, input={"seconds": 3600}
    )
    await world.advance("5m")
    assert [reason for _, _, reason in await outcomes(world, "slow")] == [
        None,
        "overlap",
        "overlap",
        "buffer_full",
        "buffer_full",
    ]
