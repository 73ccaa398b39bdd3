"""Child processes: they are killed, hear signals, log, checkpoint, and may die."""

from __future__ import annotations

import asyncio
import os
import signal
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, RunCancelled, RunFailed, manual
from tests.acceptance.bodies import (
    child_of_a_schedule,
    child_that_dies,
    child_that_gives_up,
    child_that_measures,
    child_that_raises_half_a_surrogate_pair,
    child_that_raises_what_has_no_text,
    child_that_reads_the_clock,
    child_that_saves,
    child_that_sleeps,
    child_that_waits_for,
    child_with_a_key_that_is_no_text,
)
from tests.support.polling import wait_until


def test_a_child_process_is_killed_when_its_run_is_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True)(child_that_sleeps)
        app.job(process=True, timeout="500ms", name="short")(child_that_sleeps)
        async with app:
            marker = tmp_path / "pid"
            run = await app.start("child_that_sleeps", {"path": str(marker)})
            await wait_until(lambda: marker.exists() and marker.read_text())
            await run.cancel("no more")
            with pytest.raises(RunCancelled):
                await run.result(timeout=30)
            pid = int(marker.read_text())
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
            late = await app.start("short", {"path": str(tmp_path / "other")})
            with pytest.raises(RunFailed, match="timed out"):
                await late.result(timeout=30)

    asyncio.run(main())


def test_an_error_whose_text_cannot_be_written_is_a_failed_attempt(tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True, retry={"attempts": 1})(child_that_raises_what_has_no_text)
        async with app:
            run = await app.start("child_that_raises_what_has_no_text")
            with pytest.raises(RunFailed, match="Unwritable: its text cannot be written"):
                await run.result(timeout=30)

    asyncio.run(main())


def test_signals_that_stop_a_node_do_not_stop_its_child(tmp_path: Path) -> None:
    """Ctrl-C goes to every process of the terminal, and a service manager signals all that it has started."""

    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True)(child_that_waits_for)
        async with app:
            marker = tmp_path / "pid"
            run = await app.start("child_that_waits_for", {"path": str(marker)})
            await wait_until(lambda: marker.exists() and marker.read_text())
            child = int(marker.read_text())
            assert os.getsid(child) == child, "out of the terminal's reach"
            os.kill(child, signal.SIGINT)
            os.kill(child, signal.SIGTERM)
            marker.unlink()
            assert await run.result(timeout=30) == 1

    asyncio.run(main())


def test_a_child_that_is_told_to_end_before_it_can_hear_it_has_crashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = asyncio.create_subprocess_exec
    children: list[Any] = []

    async def start_and_stop(*command: Any, **options: Any) -> Any:
        child = await started(*command, **options)
        if not children:
            child.terminate()
        children.append(child)
        return child

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_and_stop)

    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True)(child_that_gives_up)
        async with app:
            run = await app.start("child_that_gives_up")
            with pytest.raises(RunFailed, match="attempt 2"):
                await run.result(timeout=30)

    asyncio.run(main())


def test_a_child_that_ends_while_it_is_given_a_large_input_has_crashed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = asyncio.create_subprocess_exec
    children: list[Any] = []

    async def start_and_stop(*command: Any, **options: Any) -> Any:
        child = await started(*command, **options)
        if not children:
            child.terminate()
        children.append(child)
        return child

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_and_stop)

    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True)(child_that_measures)
        async with app:
            run = await app.start("child_that_measures", {"text": "a" * 900_000})
            assert await run.result(timeout=30) == 900_000
            assert [attempt.status for attempt in await app.attempts(run.id)] == ["crashed", "succeeded"]

    asyncio.run(main())


def test_a_child_process_knows_the_time_of_its_node(tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True)(child_that_reads_the_clock)
        async with app:
            run = await app.start("child_that_reads_the_clock")
            read = datetime.fromisoformat(await run.result(timeout=30))
            info = await run.info()
            assert info.started is not None
            assert info.finished is not None
            assert info.started <= read <= info.finished

    asyncio.run(main())


def test_a_child_process_checkpoints_logs_and_may_die(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True)(child_that_saves)
        app.job(process=True)(child_that_dies)
        app.job(process=True, retry=5)(child_that_gives_up)
        async with app:
            run = await app.start("child_that_saves", {"n": 3})
            assert await run.result(timeout=30) == {"saved": 3}
            info = await run.info()
            assert (info.checkpoint, info.progress) == (3, {"done": 0.5, "note": "half"})
            assert [line.message for line in await app.logs(run.id)] == ["in the child", "sold 3"]
            assert "sold 3" in [record.getMessage() for record in caplog.records if record.name == "shop"]
            hopeless = await app.start("child_that_gives_up")
            with pytest.raises(RunFailed, match="Fatal: attempt 1 of child_that_gives_up is enough") as problem:
                await hopeless.result(timeout=30)
            error: Any = problem.value.error
            assert error["type"] == "Fatal"
            assert "bodies.py" in error["traceback"]
            assert "child_main" not in error["traceback"]
            dead = await app.start("child_that_dies")
            with pytest.raises(RunFailed, match="exit code 7"):
                await dead.result(timeout=30)

    asyncio.run(main())


def test_a_child_process_knows_its_due_time(tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True)(child_of_a_schedule)
        async with app:
            answer = await app.schedules.create("by hand", manual(), "child_of_a_schedule", trigger=True)
            assert answer.run is not None
            for _ in range(300):
                run = await app.get(answer.run["id"])
                if run.over:
                    break
                await asyncio.sleep(0.1)
            assert run.error is None
            nominal = (await app.schedules.history("by hand"))[0].nominal.isoformat()
            assert run.result == ["by hand", answer.run["origin"], nominal, True, 0, None]

    asyncio.run(main())


def test_a_value_that_is_not_json_is_refused_as_in_other_jobs(tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True, retry=1, name="keyed")(child_with_a_key_that_is_no_text)
        async with app:
            for where in ("result", "checkpoint"):
                run = await app.start("keyed", {"where": where})
                with pytest.raises(RunFailed, match=f"the {where} is not JSON: Dict key must be str"):
                    await run.result(timeout=30)

    asyncio.run(main())


def test_an_error_with_half_a_surrogate_pair_is_tried_again(tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True, retry={"attempts": 2, "delay": 0}, name="half")(child_that_raises_half_a_surrogate_pair)
        async with app:
            run = await app.start("half")
            with pytest.raises(RunFailed, match=r"ValueError: half \?"):
                await run.result(timeout=30)
            assert [one.reason for one in await app.attempts(run.id)] == ["ValueError: half ?"] * 2

    asyncio.run(main())
