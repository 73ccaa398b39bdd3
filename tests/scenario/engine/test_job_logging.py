"""What the log says about runs, and what a job logs itself."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from ostinato import Context, Fatal, Ostinato, Retry, RunFailed, every
from ostinato.testing import World

_log = logging.getLogger("shop")


def lines(caplog: pytest.LogCaptureFixture, action: str) -> list[Any]:
    return [record for record in caplog.records if getattr(record, "values", {}).get("action") == action]


async def test_every_failed_attempt_is_a_warning_with_its_traceback_and_what_follows(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    @world.app.job(retry=Retry(attempts=2, delay="5s", jitter=0))
    async def charge() -> None:
        raise ValueError("no money")

    await world.up()
    await world.app.schedules.create("ada", every("1h"), "charge")
    await world.advance("1h")
    await world.advance("10s")
    first, second = lines(caplog, "run_failed")
    assert first.levelname == "WARNING"
    assert first.words == "job 'charge' failed: ValueError: no money; tried again in 5 s"
    assert second.words == "job 'charge' failed: ValueError: no money; gives up after 2 attempts"
    assert (first.values["schedule"], first.values["job"], first.values["attempt"]) == ("ada", "charge", 1)
    due = (await world.app.schedules.history("ada"))[0].due
    assert first.values["due"] == due.strftime("%Y-%m-%dT%H:%M:%SZ")
    # The whole line, as a formatter that knows nothing of Ostinato writes it.
    shown = logging.Formatter("%(message)s").format(first)
    assert 'raise ValueError("no money")' in shown
    assert "schedule=ada" in shown
    assert "executor.py" not in shown


async def test_a_failure_that_is_final_says_so(world: World, caplog: pytest.LogCaptureFixture) -> None:
    @world.app.job(retry=5)
    async def charge() -> None:
        raise Fatal("never")

    @world.app.job(timeout="2s")
    async def slow() -> None:
        await asyncio.sleep(60)

    for job in ("charge", "slow"):
        with pytest.raises(RunFailed):
            await (await world.start(job)).result()
    charged, timed_out = lines(caplog, "run_failed")
    assert charged.words == "job 'charge' failed: Fatal: never; not tried again"
    assert timed_out.words == "job 'slow' timed out: timeout; not tried again"
    shown = logging.Formatter().format(timed_out)
    assert "_OutOfTime" not in shown
    assert "await asyncio.sleep(60)" in shown  # where it waited


async def test_a_schedule_that_is_paused_by_failures_is_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    @world.app.job()
    async def charge() -> None:
        raise ValueError("no money")

    await world.up()
    await world.app.schedules.create("ada", every("1h"), "charge", pause_after_failures=2)
    await world.advance("3h")
    (paused,) = lines(caplog, "schedule_paused")
    assert paused.words.startswith("schedule 'ada' is paused after 2 failures in a row: failed, ")
    assert paused.values["failures"] == 2


async def test_success_is_silent_but_for_debug(world: World, caplog: pytest.LogCaptureFixture) -> None:
    @world.app.job()
    async def work() -> None: ...

    caplog.set_level(logging.INFO, logger="ostinato")
    await (await world.start("work")).result()
    await world.settle()
    assert [record.values["action"] for record in caplog.records] == ["node_started"]  # type: ignore[attr-defined]
    caplog.set_level(logging.DEBUG, logger="ostinato")
    caplog.clear()
    await (await world.start("work")).result()
    await world.settle()
    assert [record.values["action"] for record in caplog.records] == ["run_started", "run_ended"]  # type: ignore[attr-defined]


async def test_a_run_that_no_node_can_do_is_a_warning(world: World, caplog: pytest.LogCaptureFixture) -> None:
    await world.start("unknown")
    await world.settle()
    (line,) = lines(caplog, "no_handler")
    assert "does not know the job" in line.words


async def test_standard_logging_of_a_job_is_kept_with_its_run(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    async def part(name: str, seconds: int) -> None:
        await asyncio.sleep(seconds)
        _log.info("part %s", name)

    @world.app.job()
    async def work(ctx: Any, name: str) -> None:
        ctx.log("begin")
        _log.debug("below the level")
        _log.warning("%s at work", name)
        await asyncio.gather(part(name, 2), asyncio.create_task(part(name.upper(), 1)))
        try:
            raise KeyError(name)
        except KeyError:
            _log.exception("trouble")

    runs = [await world.start("work", {"name": name}) for name in ("a", "b")]
    for run, name in zip(runs, ("a", "b"), strict=True):
        await run.result()
        kept = await world.app.logs(run.id)
        messages = [(line.level, line.message.splitlines()[0]) for line in kept]
        assert messages == [
            ("info", "begin"),
            ("warning", f"{name} at work"),
            ("info", f"part {name.upper()}"),
            ("info", f"part {name}"),
            ("error", "trouble"),
        ]
        assert f"KeyError: '{name}'" in kept[-1].message
    assert "a at work" in caplog.text


async def test_no_more_lines_are_kept_than_of_the_context(world: World) -> None:
    @world.app.job()
    async def chatty() -> None:
        for number in range(1200):
            _log.warning("line %s", number)

    run = await world.start("chatty")
    await run.result()
    kept = [line.message for line in await world.app.logs(run.id)]
    assert (len(kept), kept[-1]) == (1001, "200 more lines were not kept")


async def test_a_deadline_that_passes_is_a_warning(world: World, caplog: pytest.LogCaptureFixture) -> None:
    @world.app.job()
    async def slow() -> None:
        await asyncio.sleep(60)

    await world.start("slow", deadline="5s")
    await world.advance("10s")
    (line,) = lines(caplog, "run_failed")
    assert line.words == "job 'slow' timed out: deadline; not tried again"


async def test_an_occurrence_that_cannot_start_is_a_warning(world: World, caplog: pytest.LogCaptureFixture) -> None:
    async def work(n: int) -> None: ...

    world.app.job()(work)
    await world.up()
    await world.app.schedules.create("ada", every("1h"), "work", input={"n": 1})
    await world.down()

    async def other(m: int) -> None: ...

    world.app._handlers.pop("work")
    world.app.job(name="work")(other)
    await world.advance("1h")
    await world.advance("1m")
    records = [record.words for record in lines(caplog, "run_failed")]
    assert records[0].startswith("job 'work' failed: cannot start: ")
    assert records[0].endswith("; tried again")
    assert records[1].endswith("; tried again in 2 s")
    assert records[-1].endswith("; gives up after 5 tries")


async def test_an_attempt_that_is_taken_over_from_a_lost_node_is_a_warning(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    @world.app.job()
    async def slow() -> None:
        await asyncio.sleep(60)

    @world.app.job(at_most_once=True)
    async def once() -> None:
        await asyncio.sleep(60)

    world.app.configure(lease="1m")
    await world.start("slow")
    await world.start("once")
    await world.settle()
    await world.crash()
    await world.up()
    await world.advance("10m")
    words = sorted(line.words for line in lines(caplog, "run_failed"))
    assert words == [
        "job 'once' failed: crashed, and it must be tried at most once; not tried again",
        "job 'slow' crashed: node lost; tried again at once",
    ]


def test_a_blocked_event_loop_costs_nobody_its_heartbeat(tmp_path: Path) -> None:
    """On real time: a virtual clock does not pass while a loop is blocked."""

    async def main() -> str:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        blocked = asyncio.Event()

        @app.job(heartbeat="500ms")
        async def beats(ctx: Context) -> str:
            while not blocked.is_set():
                await ctx.heartbeat()
                await asyncio.sleep(0.05)
            return "beat all the time"

        @app.job()
        async def blocks() -> None:
            time.sleep(2.0)  # noqa: ASYNC251
            blocked.set()

        async with app:
            beating = await app.start(beats)
            await (await app.start(blocks)).result()
            return await beating.result(timeout="60s")

    assert asyncio.run(main()) == "beat all the time"
