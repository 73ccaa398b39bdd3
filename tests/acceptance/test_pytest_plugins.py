"""The fixture `world` beside other plugins for async tests: whichever is there, such a test runs on virtual time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import asyncio
import os
from datetime import timedelta

import pytest

pytestmark = [getattr(pytest.mark, name) for name in os.environ["MARKS"].split()]


@pytest.fixture
async def shop(world):
    @world.app.job()
    async def remind(who):
        return who

    await world.up()
    yield world.app
    await asyncio.sleep(3600)


@pytest.fixture
async def loop():
    return asyncio.get_running_loop()


async def test_a_reminder_comes_after_three_days(world, shop, loop):
    assert loop is asyncio.get_running_loop()
    run = await world.start("remind", {"who": "Ada"}, at=world.now + timedelta(days=3))
    await world.advance("2d")
    assert (await run.info()).status == "waiting"
    await world.advance("1d")
    assert await world.outcomes("remind") == ["succeeded"]


class TestMethods:
    @pytest.fixture
    async def own(self, shop):
        self.made = True

    async def test_the_fixture_is_bound(self, world, own):
        await world.advance("1d")
        assert self.made


def test_a_plain_function(world):
    assert world.now.year == 2026
"""

# Of the plugins that the tests of Ostinato need, users have none, and loading them takes seconds.
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
PYTEST += [word for name in ("randomly", "schemathesis", "hypothesispytest", "xdist") for word in ("-p", f"no:{name}")]
WAYS = {
    "alone": ("", ["-p", "no:asyncio", "-p", "no:anyio"]),
    "pytest-asyncio, strict": ("asyncio", ["-o", "asyncio_mode=strict"]),
    "pytest-asyncio, auto": ("", ["-o", "asyncio_mode=auto"]),
    "anyio": ("anyio", ["-p", "no:asyncio"]),
    "anyio, auto": ("", ["-p", "no:asyncio", "-o", "anyio_mode=auto"]),
    "both": ("anyio", ["-o", "asyncio_mode=auto"]),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_test_with_a_world_runs_on_virtual_time(way: str, tmp_path: Path) -> None:
    marks, options = WAYS[way]
    (tmp_path / "test_reminder.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n", encoding="utf-8")
    done = subprocess.run(
        [*PYTEST, *options],
        cwd=tmp_path,
        env={**os.environ, "MARKS": marks},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout, done.stdout


def test_a_world_made_on_another_plugins_loop_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(
        "from ostinato.testing import World\n"
        "async def test_a_world_of_its_own():\n"
        "    world = World()\n"
        "    try:\n"
        "        await world.advance('1d')\n"
        "    finally:\n"
        "        await world.close()\n",
        encoding="utf-8",
    )
    done = subprocess.run(
        [*PYTEST, "-o", "asyncio_mode=auto"], cwd=tmp_path, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 1
    assert "use the fixture `world`" in done.stdout


def test_the_plugin_does_not_load_the_engine() -> None:
    """Pytest loads it in every project that has Ostinato installed."""
    look = "import ostinato.testing.plugin, sys; print(*(name for name in sys.modules if name.startswith('ostinato.')))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=100, check=True)
    loaded = ["ostinato.lazy_names", "ostinato.version", "ostinato.testing", "ostinato.testing.plugin"]
    assert done.stdout.split() == loaded
