"""Durable functions on real processes of one store, which are killed and stopped again and again: every run ends with
its result, no step that has ended is done again, and every message is received once."""

from __future__ import annotations

import asyncio
import os
import random
from collections import Counter
from pathlib import Path

import pytest

from ostinato import Ostinato
from tests.acceptance.function_node import build
from tests.acceptance.nodes import Nodes

RUNS = 24
STEPS = {"first", "left", "right", "once", "last"}


async def ended_steps(app: Ostinato, ids: list[str]) -> set[str]:
    """The steps on record, as the nodes write them."""
    return {
        f"{id}/{done.result}"
        for id in ids
        for done in await app.functions.steps(id)
        if done.kind == "step" and done.status == "done"
    }


async def play(app: Ostinato, nodes: Nodes, seed: int, rounds: int) -> None:
    dice = random.Random(seed)
    runs = [await app.functions.start("order", {"n": n}, id=f"order-{n}") for n in range(RUNS)]
    ids = [run.id for run in runs]
    ended: dict[str, int] = {}

    async def send() -> None:
        for n, run in enumerate(runs):
            await run.send("item", [n, 1], id="first")
            await asyncio.sleep(0.02)
            await run.send("item", [n, 2], id="second")

    sending = asyncio.create_task(send())
    for number in range(rounds):
        await asyncio.sleep(0.3 + dice.random())
        on_record = await ended_steps(app, ids)
        counts = Counter(line for (line,) in nodes.lines())
        for name in on_record:
            assert ended.setdefault(name, counts[name]) == counts[name], f"{name} was done again"
        process = dice.choice(nodes.processes)
        if number % 3 == 2:
            nodes.stop(process)
        else:
            nodes.kill(process)
        nodes.add()
    await sending
    async with asyncio.timeout(90):
        results = [await run.result() for run in runs]
    assert results == [
        {"steps": ["first", "left", "last"], "pair": [[n, 1], "right", [n, 2]], "children": [n + 1, n * n]}
        for n in range(RUNS)
    ]
    counts = Counter(line for (line,) in nodes.lines())
    for id in ids:
        assert {f"{id}/{name}" for name in STEPS - {"once"}} <= counts.keys()
        assert counts[f"{id}/once"] <= 1
        assert await app.functions.replay(id) == []
    for name, count in ended.items():
        assert counts[name] == count, f"{name} was done again"
    assert {info.status for info in await app.functions.list(limit=1000)} == {"succeeded"}
    nodes.wait_for_stops()
    assert await app.check(repair=False) == []


def run_rounds(url: str, folder: Path, seed: int, rounds: int) -> None:
    folder.mkdir()
    nodes = Nodes(url, folder, "tests.acceptance.function_node")

    async def main() -> None:
        async with build(url, lambda line: None).connected() as app:
            await play(app, nodes, seed, rounds)

    try:
        for _ in range(2):
            nodes.add()
        asyncio.run(main())
    finally:
        nodes.close()


def test_functions_survive_nodes_that_are_killed(store_url: str, tmp_path: Path) -> None:
    run_rounds(store_url, tmp_path / "logs", 1, 5)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("seed", range(int(os.environ.get("OSTINATO_KILLS", "10"))))
def test_functions_survive_many_kills(store_url: str, tmp_path: Path, seed: int) -> None:
    run_rounds(store_url, tmp_path / "logs", seed, 40)
