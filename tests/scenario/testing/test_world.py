"""What `World` gives to tests."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ostinato import OstinatoError
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


async def test_more_than_a_page_of_runs_and_occurrences_is_seen(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ostinato.testing.world._PAGE", 50)

    @world.app.job()
    async def work() -> None: ...

    await world.up()
    await world.app.schedules.create("often", "every 1m", "work")
    await world.advance("2h")
    counts = len(await world.runs()), len(await world.outcomes("work")), len(await world.occurrences("often"))
    assert counts == (120, 120, 120)
    runs = await world.runs("work")
    assert await world.runs("work", before=runs[100].run_id) == runs[:100]


async def test_an_outage_ends_after_it_begins(world: World) -> None:
    with pytest.raises(ValueError, match="ends at 2026-01-02T08:00Z, before it begins at 2026-01-05T10:00Z"):
        await world.outage("2026-01-05T10:00Z", "2026-01-02T08:00Z")
    assert f"{world.now:%Y-%m-%d}" == "2026-01-01"


async def test_time_does_not_go_back(world: World) -> None:
    """An hour that is over is refused, and the present is not."""
    await world.advance("1h")
    with pytest.raises(ValueError, match="moment 2026-01-01T00:30Z is over: it is 2026-01-01T01:00:00Z already"):
        await world.advance_to("2026-01-01T00:30Z")
    with pytest.raises(ValueError, match="it is 2026-01-01T01:00:00Z already"):
        await world.outage("2026-01-01T00:30Z", "2026-01-01T02:00Z")
    with pytest.raises(ValueError, match="length -5 is negative"):
        await world.advance(-5)
    await world.advance_to(world.now)
    assert f"{world.now:%H:%M:%S}" == "01:00:00"


async def test_a_simulated_run_takes_no_negative_time(world: World) -> None:
    await world.up()
    await world.app.schedules.create("hourly", "every 1h", "work")
    for run_time in (-4, [60, -5]):
        with pytest.raises(OstinatoError, match=r"run_time .* is negative"):
            await world.app.schedules.simulate("hourly", "2026-01-01T00:00Z", "2026-01-02T00:00Z", run_time=run_time)


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
