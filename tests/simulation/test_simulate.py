"""A simulation says what a world does: the same occurrences with the same outcomes, for random schedules and runs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ostinato import every
from ostinato.schedules.model import CatchUp, Overlap, Policies, Schedule
from ostinato.schedules.simulate import simulate
from ostinato.testing import World, run_virtual
from ostinato.when.instants import SECOND, Micros, from_datetime, to_datetime

MINUTE = 60 * SECOND
PERIOD = 30 * MINUTE
WORDS = {"active": "running", "buffered": "waiting"}
# No length is a whole number of milliseconds: no run ends in the moment in which a time is due.
LENGTHS = [20.33337, 61.33337, 100.33337, 430.33337]


@dataclass(frozen=True)
class Case:
    every: int
    jitter: int
    overlap: Overlap
    catchup: CatchUp
    remaining: int | None
    max_buffer: int | None
    outage: int  # seconds from the beginning
    pause: tuple[int, int] | None
    lengths: tuple[float, ...]


cases = st.builds(
    Case,
    st.sampled_from([60, 180, 420]),
    st.sampled_from([0, 0, 45]),
    st.sampled_from(Overlap),
    st.sampled_from(
        [CatchUp("latest"), CatchUp("skip"), CatchUp("all"), CatchUp("all", window=5 * MINUTE), CatchUp("all", most=2)]
    ),
    st.sampled_from([None, None, 3, 12]),
    st.sampled_from([None, 1, 3]),
    st.sampled_from([0, 0, 130, 1000]),
    st.sampled_from([None, None, (1130, 1510)]),
    st.lists(st.sampled_from(LENGTHS), min_size=1, max_size=5).map(tuple),
)


def repeat(lengths: tuple[float, ...]) -> Iterator[float]:
    while True:
        yield from lengths


def simulated(case: Case, first: Micros) -> list[tuple[Any, ...]]:
    policies = Policies(overlap=case.overlap, catchup=case.catchup, max_buffer=case.max_buffer)
    spec = every(f"{case.every}s", jitter=f"{case.jitter}s")
    lengths = repeat(case.lengths)
    simulation = simulate(
        Schedule("id", "s", spec, policies, remaining=case.remaining),
        first + 1,
        first + PERIOD,
        run_time=lambda _: round(next(lengths) * SECOND),
        outages=[(first + 1, first + case.outage * SECOND)] if case.outage else [],
        pauses=[(first + case.pause[0] * SECOND, first + case.pause[1] * SECOND)] if case.pause else [],
    )
    return [
        (shown.nominal, shown.outcome, shown.reason, shown.stands_for)
        for shown in sorted(simulation.occurrences, key=lambda shown: shown.nominal)
    ]


async def advance_to(world: World, case: Case, end: Micros) -> None:
    """Advance. A world without leases does not look by itself for runs that are to be stopped, so this one does."""
    while case.overlap is Overlap.CANCEL_OTHER and world.clock.now() < end - SECOND:
        await world.advance(1)
        await world.app.engine._check_held()
    await world.advance_to(to_datetime(end))


async def played(world: World, case: Case) -> tuple[Micros, list[tuple[Any, ...]]]:
    lengths = repeat(case.lengths)

    @world.app.job()
    async def work() -> None:
        await asyncio.sleep(next(lengths))

    await world.up()
    first = world.clock.now()
    await world.app.schedules.create(
        "s",
        every(f"{case.every}s", jitter=f"{case.jitter}s"),
        work,
        overlap=case.overlap.value,
        catchup=case.catchup,
        remaining=case.remaining,
        max_buffer=case.max_buffer,
    )
    if case.outage:
        await world.down()
        await asyncio.sleep(case.outage)
    for second, change in zip(case.pause or (), ("pause", "resume"), strict=False):
        await advance_to(world, case, first + second * SECOND)
        await getattr(world.app.schedules, change)("s")
    await advance_to(world, case, first + PERIOD)
    await world.settle()
    history = await world.app.schedules.history("s", limit=1000)
    await world.close()
    shown = [(info.nominal, WORDS.get(info.status, info.status), info.reason, info.coalesced) for info in history]
    return first, [(*one[:2], one[2] if one[1] in ("skipped", "missed") else None, one[3]) for one in shown][::-1]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(cases)
def test_a_simulation_says_what_a_world_does(case: Case) -> None:
    world = World()
    first, outcomes = run_virtual(played(world, case), world.clock)
    assert simulated(case, first) == outcomes
    assert from_datetime(outcomes[0][0]) > first
