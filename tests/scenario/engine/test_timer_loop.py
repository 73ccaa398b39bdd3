"""The beat of a node."""

from __future__ import annotations

import asyncio

import pytest

from ostinato.testing import World
from ostinato.when.instants import SECOND


async def test_a_late_beat_is_noticed(world: World) -> None:
    await world.up()
    engine = world.app.engine
    assert engine.beat.late_by() == 0
    for loop in engine._loops:
        loop.cancel()
    assert world.app.ready()
    await asyncio.sleep(60)
    assert engine.beat.late_by() == pytest.approx(55 * SECOND, abs=SECOND)
    assert not world.app.ready()
