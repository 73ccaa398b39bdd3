"""Count the files of Ostinato whose functions run for one due time, and for one timer of a journey.

    python -m bench.files

Each runs in virtual time on SQLite. Counting begins when the beat claims the timer (`engine.timers.fire`), and ends
when the transaction that ends the run has written its events. The same happens once before, so that nothing is counted
that only the first time needs: parsing a spec, reading SQL files. The tools for tests do not count. The second number
leaves out what everything uses and no walk is about: the store, the algebra of time, the clock, ids, logs and metrics.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType

import ostinato
from ostinato import cron
from ostinato.engine import runs, timers
from ostinato.journeys.runtime import runner
from ostinato.testing import World, run_virtual

Files = dict[str, set[str]]  # the functions that ran, by file
_SOURCE = Path(ostinato.__file__).parent
_COMMON = ("store/", "when/", "clock.py", "ids.py", "engine/log.py", "engine/run_logging.py", "engine/telemetry.py")
_FIRE = timers.fire.__code__
_JOURNEY = """
apiVersion: v1
kind: Journey
metadata: {name: nap, version: 1.0.0}
spec:
  start: sleep
  states:
    sleep: {type: timer, timer: {duration: PT1H}, next: done}
    done: {type: succeed}
"""


@contextmanager
def files_between(first: CodeType, last: CodeType, files: Files) -> Iterator[None]:
    """Collect the files of functions that are called, in any thread, from the last call of `first` until `last`
    returns."""
    monitoring, tool = sys.monitoring, sys.monitoring.PROFILER_ID
    begun = over = False

    def called(code: CodeType, _: int) -> None:
        nonlocal begun
        if over:
            return
        if code is first:
            begun = True
            files.clear()
        if begun and code.co_filename.startswith(str(_SOURCE)) and code.co_name != "<module>":
            file = Path(code.co_filename).relative_to(_SOURCE).as_posix()
            if not file.startswith("testing/"):
                files.setdefault(file, set()).add(code.co_qualname)

    def returned(code: CodeType, _: int, __: object) -> None:
        nonlocal over
        over = over or (begun and code is last)

    monitoring.use_tool_id(tool, "files")
    monitoring.register_callback(tool, monitoring.events.PY_START, called)
    monitoring.register_callback(tool, monitoring.events.PY_RETURN, returned)
    monitoring.set_events(tool, monitoring.events.PY_START | monitoring.events.PY_RETURN)
    try:
        yield
    finally:
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    assert over


async def due_time(world: World, files: Files) -> None:
    @world.app.job()
    async def work() -> None: ...

    await world.up()
    await world.app.schedules.create("hourly", cron("17 * * * *"), "work")
    await world.advance("90m")
    before = len(await world.app.schedules.history("hourly"))
    with files_between(_FIRE, runs.end.__code__, files):
        await world.advance("1h")
    assert len(await world.app.schedules.history("hourly")) == before + 1


async def journey_timer(world: World, files: Files) -> None:
    await world.up()
    await world.app.journeys.deploy(_JOURNEY)
    await world.app.journeys.start("nap", {})
    await world.advance("90m")
    status = await world.app.journeys.start("nap", {})
    with files_between(_FIRE, runner.commit_changes.__code__, files):
        await world.advance("61m")
    assert (await world.app.journeys.status(status.id)).phase == "SUCCEEDED"


def count(walk: Callable[[World, Files], Awaitable[None]]) -> Files:
    """Return the files that a walk touches."""
    world, files = World(), Files()

    async def main() -> None:
        await walk(world, files)
        await world.close()

    run_virtual(main(), world.clock)
    return files


def main() -> None:
    for name, walk in (("one due time", due_time), ("one timer of a journey", journey_timer)):
        files = count(walk)
        special = sum(not file.startswith(_COMMON) for file in files)
        print(f"{name}: {len(files)} files, {special} without the common ones")
        print("\n".join(f"  {file}: {', '.join(sorted(functions))}" for file, functions in sorted(files.items())))


if __name__ == "__main__":
    main()
