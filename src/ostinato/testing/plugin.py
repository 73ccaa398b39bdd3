"""For pytest: the fixture `world`, and async tests that use it run on its virtual time."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from ostinato.testing.virtual import VirtualLoop
from ostinato.testing.world import World


@pytest.fixture
def world() -> World:
    """A real engine on a real SQLite file, on virtual time."""
    return World()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    found = pyfuncitem.funcargs.get("world")
    if not isinstance(found, World) or not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    with asyncio.Runner(loop_factory=lambda: VirtualLoop(found.clock)) as runner:
        runner.run(_run(pyfuncitem.obj, arguments, found))
    return True


async def _run(test: Any, arguments: dict[str, Any], world: World) -> None:
    try:
        await test(**arguments)
    finally:
        await world.close()
