"""What whoever runs journeys does not allow, whatever a definition says."""

from __future__ import annotations

import pytest

from ostinato.journeys.definitions import InvalidDefinition
from ostinato.journeys.settings import JourneyLimits, JourneySettings
from ostinato.testing import World
from tests.support.journey_parts import Work, plugins, text

TIMED = """
a: {type: timer, timer: {KIND: {mapper: {lang: py, expr: "context['at']"}}}, next: b}
b: {type: succeed}
"""


@pytest.fixture
def world() -> World:
    settings = JourneySettings(limits=JourneyLimits(longest_timer_s=3600))
    return World(journey_plugins=plugins(Work()), journey_settings=settings)


@pytest.mark.parametrize(
    ("kind", "near", "far"),
    [("duration", "PT1H", "PT1H1S"), ("until", "2026-01-01T01:00:00Z", "2026-01-01T01:01:00Z")],
)
async def test_a_timer_is_set_no_further_ahead_than_is_allowed(world: World, kind: str, near: str, far: str) -> None:
    await world.up()
    journeys = world.app.journeys
    await journeys.deploy(text(TIMED.replace("KIND", kind), spec="lifecycle: {startMode: async}"))
    ids = [(await journeys.start("example", {"at": at})).id for at in (near, far)]
    await world.advance("61m")
    outcomes = [await journeys.result(id) for id in ids]
    assert [one.phase for one in outcomes] == ["SUCCEEDED", "FAILED"]
    internal = {"code": "urn:journeyforge:error:internal", "reason": "a timer may be at most 3,600 s long"}
    assert outcomes[1].error == internal
    literal = text("a: {type: timer, timer: {duration: P1D}, next: b}\nb: {type: succeed}", version="0.2.0")
    with pytest.raises(InvalidDefinition, match="at most 3,600 s long"):
        await journeys.deploy(literal)
