"""The beat of a node."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from ostinato.testing import World


async def test_a_late_beat_is_noticed(world: World) -> None:
    await world.up()
    engine = world.app.engine
    assert world.app.lateness() == timedelta()
    for loop in engine._loops:
        loop.cancel()
    assert world.app.ready()
    await asyncio.sleep(60)
    assert world.app.lateness().total_seconds() == pytest.approx(55, abs=1)
    assert not world.app.ready()
