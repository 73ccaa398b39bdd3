"""What `World` gives to tests."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ostinato.testing import World, run_virtual


def test_a_year_passes_in_a_moment() -> None:
    days: list[int] = []
    world = World()

    async def main() -> None:
        @world.app.job()
        async def daily(n: int) -> None:
            days.append(n)
            if n < 365:
                await world.app.start("daily", {"n": n + 1}, at=world.now + timedelta(days=1))

        await world.start("daily", {"n": 1})
        await world.advance("366d")
        await world.close()

    run_virtual(main(), world.clock)
    assert days == list(range(1, 366))


async def test_expectations_tell_what_they_found(world: World) -> None:
    @world.app.job()
    async def work(n: int) -> None:
        if n == 2:
            raise ValueError("two")

    for n in (1, 2):
        await world.start("work", {"n": n})
    await world.settle()
    await world.expect("work", "succeeded", "failed: ValueError*")
    with pytest.raises(AssertionError, match="failed: ValueError: two"):
        await world.expect("work", "succeeded", "succeeded")
