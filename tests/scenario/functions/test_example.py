"""The function of `examples/onboarding`, as it is written: virtual time, and a crash in the middle."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from ostinato import RunCancelled
from ostinato.testing import World

FILE = Path(__file__).parents[3] / "examples" / "onboarding" / "onboarding.py"


def declare(world: World, said: list[str]) -> None:
    spec = importlib.util.spec_from_file_location("onboarding_example", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.declare(world.app, said.append)


@pytest.mark.parametrize("crashes", [True, False])
async def test_a_user_who_confirms_is_charged_once(world: World, crashes: bool) -> None:
    said: list[str] = []
    declare(world, said)
    await world.up()
    run = await world.app.functions.start("onboard", {"user": "ada"}, id="ada")
    await world.advance("1d")
    if crashes:
        await world.crash()
        await world.up()
    await world.advance("2d2h")
    assert (await run.info()).state == "asked: please confirm"
    await run.send("confirmed", True)
    await world.advance("1m")
    result = await run.result()
    assert (result["account"], result["seats"], result["region"]) == ("account-ada", 3, "north")
    assert result["receipt"].startswith("receipt ")
    assert said == ["opened an account for ada", "mail to ada: please confirm", "charged account-ada"]
    assert await world.replay(run.id) == []


async def test_a_user_who_does_not_answer_is_reminded_and_closed(world: World) -> None:
    said: list[str] = []
    declare(world, said)
    await world.up()
    run = await world.app.functions.start("onboard", {"user": "bob"})
    await world.advance("8d")
    assert await run.result() == {"account": None}
    assert said[1:] == ["mail to bob: please confirm", "mail to bob: a last reminder", "closed account-bob"]


async def test_a_cancelled_run_closes_the_account(world: World) -> None:
    said: list[str] = []
    declare(world, said)
    await world.up()
    run = await world.app.functions.start("onboard", {"user": "eve"})
    await world.advance("1d")
    await run.cancel("left")
    await world.settle()
    with pytest.raises(RunCancelled, match="left"):
        await run.result()
    assert said == ["opened an account for eve", "closed account-eve"]


def test_the_example_runs_by_itself() -> None:
    done = subprocess.run([sys.executable, str(FILE)], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert "'receipt': 'receipt " in done.stdout
    assert "closed account-bob" in done.stdout
