"""Simulations of drafts."""

from __future__ import annotations

from ostinato import every
from ostinato.testing import World
from tests.support.schedules import (
    start_jobs,
)


async def test_the_past_can_be_simulated_and_lengths_are_written_as_words(world: World) -> None:
    await start_jobs(world)
    draft = world.app.schedules.draft("d", every("1h"), "note")
    simulation = await world.app.schedules.simulate(draft, "2025-06-01T00:00Z", "2025-06-01T11:59Z", run_time="90m")
    assert simulation.counts() == {"succeeded": 6, "overlap": 6}
    simulation = await world.app.schedules.simulate(
        draft, "2025-06-01T00:00Z", "2025-06-01T11:59Z", run_time=["1m", "90m"], seed=3
    )
    assert sum(simulation.counts().values()) == 12
