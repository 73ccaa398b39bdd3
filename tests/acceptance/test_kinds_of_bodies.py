"""Threads that cannot be stopped, child processes that can, shutting down, backing up, and many apps at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato, RunCancelled, RunFailed, StoreError, manual
from ostinato.errors import Conflict
from ostinato.store.backup import restore
from tests.acceptance.bodies import (
    child_of_a_schedule,
    child_that_dies,
    child_that_gives_up,
    child_that_saves,
    child_that_sleeps,
    child_that_waits_for,
)


async def until(condition: Any, seconds: float = 30) -> None:
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)


def test_a_thread_that_is_too_late_is_refused_and_counted_until_it_ends(store_url: str) -> None:
    release = threading.Event()

    async def main() -> None:
        app = Ostinato(store_url)

        @app.job(timeout="50ms")
        def stuck() -> str:
            release.wait(30)
            return "too late"

        async with app:
            run = await app.start("stuck")
            with pytest.raises(RunFailed, match="timed out"):
                await run.result(timeout=30)
            assert app.engine.bodies.executor.threads_busy == 1
            release.set()
            await until(lambda: app.engine.bodies.executor.threads_busy == 0)
            info = await run.info()
            assert (info.status, info.result) == ("timed_out", None)

    asyncio.run(main())


def test_a_child_process_is_killed_when_its_run_is_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True)(child_that_sleeps)
        app.job(process=True, timeout="500ms", name="short")(child_that_sleeps)
        async with app:
            marker = tmp_path / "pid"
            run = await app.start("child_that_sleeps", {"path": str(marker)})
            await until(lambda: marker.exists() and marker.read_text())
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


def test_signals_that_stop_a_node_do_not_stop_its_child(tmp_path: Path) -> None:
    """Ctrl-C goes to every process of the terminal, and a service manager signals all that it has started."""

    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        app.job(process=True)(child_that_waits_for)
        async with app:
            marker = tmp_path / "pid"
            run = await app.start("child_that_waits_for", {"path": str(marker)})
            await until(lambda: marker.exists() and marker.read_text())
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


def test_a_thread_that_outlives_its_node_has_crashed(store_url: str) -> None:
    release, attempts = threading.Event(), []

    async def main() -> None:
        def stuck(ctx: Any) -> None:
            attempts.append(ctx.attempt)
            if ctx.attempt == 1:
                release.wait(30)

        first = Ostinato(store_url, grace="10ms")
        first.job(stuck)
        first.job(at_most_once=True, name="once")(stuck)
        async with first:
            run, once = await first.start("stuck"), await first.start("once")
            await until(lambda: len(attempts) == 2)
        second = Ostinato(store_url)
        second.job(stuck)
        async with second:
            await until(lambda: len(attempts) == 3)
            assert attempts == [1, 1, 2]
            crashed, *_ = await second.attempts(run.id)
            assert crashed.status == "crashed"
            assert [one.status for one in await second.attempts(once.id)] == ["failed"]
        release.set()

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
                found = await app.get(answer.run["id"])
                if found.over:
                    break
                await asyncio.sleep(0.1)
            assert found.error is None
            nominal = (await app.schedules.history("by hand"))[0].nominal.isoformat()
            assert found.result == ["by hand", answer.run["origin"], nominal, True, 0, None]

    asyncio.run(main())


def test_shutting_down_lets_short_work_finish_and_hands_back_the_rest(store_url: str) -> None:
    log: list[str] = []

    def build() -> Ostinato:
        app = Ostinato(store_url, grace="300ms")

        @app.job()
        async def short() -> None:
            await asyncio.sleep(0.1)
            log.append("short")

        @app.job()
        async def long() -> str:
            log.append("long")
            if log.count("long") == 1:
                await asyncio.sleep(60)
            return "second time"

        @app.job(at_most_once=True)
        async def careful() -> None:
            log.append("careful")
            await asyncio.sleep(60)

        return app

    async def main() -> None:
        first = build()
        async with first:
            await first.start("careful", id="careful")
            await first.start("short", id="short")
            await first.start("long", id="long")
            await until(lambda: "long" in log)
        second = build()
        async with second:
            assert (await second.get("short")).status == "succeeded"
            careful = await second.get("careful")
            assert (careful.status, log.count("careful")) == ("failed", 1)
            assert "at most once" in (careful.reason or "")
            run = await second.start("long", id="long")
            assert await run.result(timeout=30) == "second time"
            attempts = await second.attempts(run.id)
            assert [(a.attempt, a.status) for a in attempts] == [(1, "succeeded")]
            names = [e.name for e in await second.events(subject=run.id)]
            assert names == ["run:created", "run:started", "run:handed_back", "run:started", "run:succeeded"]

    asyncio.run(main())


def test_a_backup_made_while_writing_is_whole_and_can_be_restored(tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")

        @app.job()
        async def work(n: int) -> int:
            return n

        pages: list[tuple[int, int]] = []
        async with app:
            for n in range(300):
                await app.start("work", {"n": n}, id=f"before-{n}")
            writing = asyncio.gather(*(app.start("work", {"n": n}, id=f"during-{n}") for n in range(300)))
            await app.backup(str(tmp_path / "copy.db"), lambda done, total: pages.append((done, total)))
            await writing
        assert pages[-1][0] == pages[-1][1] > 0
        with pytest.raises(StoreError, match="exists"):
            await restore(tmp_path / "copy.db", f"sqlite:///{tmp_path}/store.db")
        with pytest.raises(StoreError, match="no backup"):
            await restore(tmp_path / "nothing.db", f"sqlite:///{tmp_path}/new.db")
        await restore(tmp_path / "copy.db", f"sqlite:///{tmp_path}/new.db")
        restored = Ostinato(f"sqlite:///{tmp_path}/new.db")
        async with restored.connected():
            keys = {run.key for run in await restored.runs(limit=1000)}
            assert {f"before-{n}" for n in range(300)} <= keys

    asyncio.run(main())


def test_a_restore_replaces_no_store_in_use_and_no_other_database(tmp_path: Path) -> None:
    store, copy, other, text = (tmp_path / name for name in ("store.db", "copy.db", "other.db", "plain.txt"))

    def put_back(source: Path, target: Path) -> None:
        asyncio.run(restore(source, f"sqlite:///{target}", overwrite=True))

    def refused(source: Path, target: Path, words: str) -> None:
        before = target.read_bytes() if target.exists() else None
        with pytest.raises((StoreError, Conflict), match=words):
            put_back(source, target)
        assert (target.read_bytes() if target.exists() else None) == before

    async def restore_under_a_node() -> None:
        app = Ostinato(f"sqlite:///{store}")
        async with app:
            await app.backup(str(copy))
            with pytest.raises(Conflict, match="stop every node"):
                await restore(copy, f"sqlite:///{store}", overwrite=True)
            assert await app.runs() == []

    asyncio.run(restore_under_a_node())
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE customers (id integer)")
        connection.commit()
    text.write_text("no database, but long enough to be one")
    refused(other, store, "not a copy of a store")
    refused(text, tmp_path / "new.db", "plain.txt is not a copy of a store")
    refused(copy, other, "not a store of Ostinato's")
    refused(copy, text, "not a store of Ostinato's")
    refused(copy, copy, "the backup itself")
    store.write_bytes(store.read_bytes()[:100] + b"x" * 8000)  # damaged: what a backup is for
    put_back(copy, store)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "other.db", "plain.txt", "store.db"]


def test_postgres_is_backed_up_with_its_own_tools(postgres_url: str, tmp_path: Path) -> None:
    async def main() -> None:
        app = Ostinato(postgres_url)
        async with app.connected():
            with pytest.raises(StoreError, match="pg_dump"):
                await app.backup(str(tmp_path / "copy.db"))

    asyncio.run(main())


def test_keys_hold_with_several_claimers(store_url: str) -> None:
    """Random, blocked and hot keys, three nodes: no overlap, no inversion, nothing left in line."""
    running: dict[str, int] = {}
    order: dict[str, list[int]] = {}

    def build() -> Ostinato:
        app = Ostinato(store_url, concurrency=30)

        @app.job(serial_key="{key}")
        async def work(key: str, n: int) -> None:
            running[key] = running.get(key, 0) + 1
            assert running[key] == 1, f"two runs of {key} at once"
            order.setdefault(key, []).append(n)
            await asyncio.sleep(0)
            running[key] -= 1

        return app

    async def main() -> None:
        import random

        dice = random.Random(5)
        keys = [str(dice.randrange(100)) for _ in range(500)]
        keys += [f"block{n // 20}" for n in range(300)]
        keys += ["hot" if dice.random() < 0.5 else str(dice.randrange(20)) for _ in range(400)]
        apps = [build() for _ in range(3)]
        async with apps[0], apps[1], apps[2]:
            inputs = [{"key": key, "n": n} for n, key in enumerate(keys)]
            for begin in range(0, len(inputs), 100):
                await apps[begin // 100 % 3].start_many("work", inputs[begin : begin + 100])
            async with asyncio.timeout(90):
                while sum(map(len, order.values())) < len(keys):
                    await asyncio.sleep(0.05)
                while set(await apps[0].counts()) != {"succeeded"}:
                    await asyncio.sleep(0.05)
            assert await apps[0].counts() == {"succeeded": len(keys)}
            assert await apps[0].check(repair=False) == []
        assert all(numbers == sorted(numbers) for numbers in order.values())

    asyncio.run(main())


def test_many_web_workers_start_the_same_thing_once(store_url: str) -> None:
    """What an embedded app does at start-up in each of many workers happens once."""

    async def main() -> None:
        calls: list[int] = []

        def build() -> Ostinato:
            app = Ostinato(store_url)

            @app.job()
            async def once_only() -> None:
                calls.append(1)

            return app

        async def worker() -> bool:
            app = build()
            async with app:
                run = await app.start("once_only", id="at start-up")
                await run.result(timeout=30)
                return run.new

        assert sorted(await asyncio.gather(*(worker() for _ in range(5)))) == [False] * 4 + [True]
        assert calls == [1]

    asyncio.run(main())
