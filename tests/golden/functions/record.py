"""Record the golden histories: `.venv/bin/python -m tests.golden.functions.record`.

Each file is the record of one run at one moment, with what its code makes of it: what it returned or raised, or what it
waits for. They are recorded once; `tests/unit/functions/test_golden_histories.py` replays all of them. For another
format of records, write new code beside `code_0001.py` and record it here; the old files stay."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ostinato.engine.rows import whole_run
from ostinato.functions.store import read_function, read_step, statement
from ostinato.store.contract import Operation
from ostinato.testing import World, run_virtual
from tests.golden.functions import code_0001
from tests.support.replay_history import replay_history

HERE = Path(__file__).parent


async def histories(world: World) -> list[dict[str, Any]]:
    """The records of all runs as they are now."""

    def read(_: int) -> Operation[list[dict[str, Any]]]:
        rows = yield statement("list_functions", namespace="default", name="", status="", before="\x7f", limit=100)
        all_runs = []
        for run in map(whole_run, rows):
            kept = yield statement("functions_by_ids", [(run.id,)])
            steps = yield statement("steps_of", run=run.id)
            all_runs.append(
                {
                    "run": {"id": run.id, "name": run.name, "kind": run.kind, "due": run.due, "input": run.input},
                    "function": asdict(read_function(kept[0])) if kept else None,
                    "steps": sorted((asdict(read_step(row)) for row in steps), key=lambda one: one["position"]),
                }
            )
        return all_runs

    return await world.app.store.read(read)


async def record(world: World) -> list[dict[str, Any]]:
    code_0001.declare(world.app)
    await world.up()
    functions = world.app.functions
    run = await functions.start("everything", {"user": "ada"})
    tidy = await functions.start("tidy")
    taken: list[dict[str, Any]] = []
    seen: set[str] = set()

    async def take() -> None:
        for history in await histories(world):
            text = json.dumps(history["steps"])
            if text not in seen:
                seen.add(text)
                taken.append(history)

    for length, name, payload in (
        ("500ms", "", None), ("30m", "", None), ("45m", "reply", {"ok": True}), ("90s", "", None),
        ("2m", "item2", "second"), ("1s", "item1", "first"), ("500ms", "", None), ("10m", "", None),
    ):  # fmt: skip
        await world.advance(length)
        if name:
            await run.send(name, payload)
            await world.settle()
        await take()
    await tidy.cancel("enough")
    await world.advance("1m")
    await take()
    assert (await run.info()).over
    await world.close()
    return taken


def main() -> None:
    world = World()
    for number, history in enumerate(run_virtual(record(world), world.clock), 1):
        history["expected"] = replay_history(code_0001, history)
        name = f"0001-{number:02}-{history['run']['name']}.json"
        text = json.dumps(history, indent=1, sort_keys=True).replace(f"{HERE.parents[2]}/", "")  # files of tracebacks
        (HERE / name).write_text(f"{text}\n", encoding="utf-8")
        print(name, history["expected"])


if __name__ == "__main__":
    main()
