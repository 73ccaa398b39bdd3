"""What a server or a file does is never the fault of what was to be written: it is tried again, and no timer is parked,
no outcome lost and no run left behind because of it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from ostinato import Ostinato, StoreError, every
from ostinato.doctor import diagnose
from ostinato.engine.group_commit import Committer
from ostinato.engine.timers import TimerFailed
from ostinato.errors import StoreRefused, StoreUnavailable
from ostinato.model import Timer
from ostinato.store import postgres
from ostinato.store.contract import Operation, Rows, Statement, sql
from ostinato.store.postgres import PostgresStore
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, run_virtual

PASSING: list[Exception] = [
    asyncpg.InternalClientError("got result for unknown protocol state 3"),
    asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation"),
    asyncpg.InterfaceError("cannot perform operation: another operation is in progress"),
    asyncpg.AdminShutdownError("terminating connection due to administrator command"),
    ConnectionResetError("reset by peer"),
    TimeoutError(),
    asyncpg.DeadlockDetectedError("deadlock detected"),  # 40P01
    asyncpg.SerializationError("could not serialize access"),  # 40001
    asyncpg.LockNotAvailableError("canceling statement due to lock timeout"),  # 55P03
    asyncpg.QueryCanceledError("canceling statement due to statement timeout"),  # 57014
]


class Breaking:
    """Breaks statements of PostgreSQL that `wanted` picks, so many times, with an error of the driver."""

    def __init__(
        self, patch: pytest.MonkeyPatch, wanted: Callable[[str], bool], problem: Exception, times: int
    ) -> None:
        self._execute = postgres.execute_postgres
        self._wanted = wanted
        self._problem = problem
        self.left = times
        patch.setattr(postgres, "execute_postgres", self)

    async def __call__(self, connection: Any, query: Any, statement: Statement) -> Rows:
        if self.left and self._wanted(statement.name):
            self.left -= 1
            raise self._problem
        return await self._execute(connection, query, statement)


def hidden(_: int) -> Operation[Rows]:
    """An operation that takes every error for its own."""
    try:
        return (yield sql("list_nodes"))
    except Exception as problem:
        raise TimerFailed(Timer("test", "a", "b", 0), problem) from problem


@pytest.mark.parametrize("problem", PASSING, ids=lambda one: type(one).__name__)
def test_passing_trouble_is_tried_again_whatever_the_operation_makes_of_it(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, problem: Exception
) -> None:
    async def main() -> None:
        store = PostgresStore(postgres_url)
        await store.open()
        broken = Breaking(monkeypatch, lambda name: name == "list_nodes", problem, 2)
        assert await store.run(hidden) == []
        assert await store.read(hidden) == []
        assert broken.left == 0
        await store.close()

    asyncio.run(main())


def test_a_value_that_is_refused_is_told_at_once(postgres_url: str, tmp_path: Path) -> None:
    def add(_: int) -> Operation[Rows]:
        return (yield sql("park_timer", kind="a", owner="b", purpose="c", reason="\x00"))

    def twice(_: int) -> Operation[Rows]:
        return (yield sql("take_serials", [("default", {"no": "text"}, "holder")]))

    async def main() -> None:
        store = PostgresStore(postgres_url)
        await store.open()
        for wrong in (add, twice):
            with pytest.raises(StoreRefused):
                await store.run(wrong)
        await store.close()
        embedded = SqliteStore(str(tmp_path / "store.db"))
        await embedded.open()
        with pytest.raises(StoreRefused):
            await embedded.run(twice)
        await embedded.close()

    asyncio.run(main())


def test_the_trouble_of_a_file_is_not_the_operations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL

    def broken(*_: Any) -> Rows:
        raise full

    async def main() -> None:
        store = SqliteStore(str(tmp_path / "store.db"))
        await store.open()
        monkeypatch.setattr("ostinato.store.sqlite.execute_sqlite", broken)
        with pytest.raises(StoreUnavailable, match="free some space"):
            await store.run(hidden)
        monkeypatch.undo()
        assert await store.run(hidden) == []
        await store.close()

    asyncio.run(main())


def test_a_committer_waits_trouble_out_and_knows_poison_by_itself() -> None:
    async def main() -> None:
        written: list[str] = []
        exceptions: list[Exception] = []
        trouble: list[Exception] = [StoreUnavailable("away"), StoreError("no such table"), StoreUnavailable("away")]

        async def commit(items: Any) -> list[str]:
            if trouble:
                raise trouble.pop()
            if "poison" in items:
                raise StoreRefused("it will not take it")
            if "bug" in items:
                raise KeyError("a bug that this one meets")
            written.extend(items)
            return [item.upper() for item in items]

        committer: Committer[str, str] = Committer(
            commit, exceptions.append, instead=lambda item, _: "antidote" if item == "poison" else None
        )
        committer.start()
        for item in ("a", "poison", "b"):
            committer.put(item)
        assert await committer.write("c") == "C"
        await committer.drain()
        assert written == ["a", "antidote", "b", "c"]
        assert [str(one) for one in exceptions] == ["away", "no such table", "away", "it will not take it"]
        with pytest.raises(KeyError):
            await committer.write("bug")
        committer.put("bug")  # nobody waits for it: it is not forgotten
        await committer.drain()
        assert committer.unwritable == 1
        await asyncio.sleep(31)
        assert committer.unwritable == 1
        await committer.stop()

    run_virtual(main(), VirtualClock())


def test_passing_trouble_parks_no_timer(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        app = Ostinato(postgres_url)

        @app.job()
        async def tick() -> None: ...

        async with app:
            await app.schedules.create("tick", every("1s"), "tick")
            for times, problem in enumerate(PASSING[-4:], start=1):
                broken = Breaking(monkeypatch, lambda name: name == "due_schedules", problem, 2)
                async with asyncio.timeout(20):
                    while len(await app.schedules.history("tick")) < times:
                        await asyncio.sleep(0.05)
                assert broken.left == 0
            assert not [one for one in await diagnose(app) if one.state == "wrong"]

    asyncio.run(main())


def test_a_file_that_is_deleted_under_a_node_takes_no_more(tmp_path: Path) -> None:
    """What it took would be gone with the last process that has it open."""
    path = tmp_path / "store.db"

    async def main() -> None:
        app = Ostinato(f"sqlite:///{path}", lease="1s")

        @app.job()
        async def work() -> None: ...

        async with app:
            before = await app.start("work")
            await before.result(timeout=60)
            assert app.ready()
            path.rename(tmp_path / "elsewhere")
            with pytest.raises(StoreUnavailable, match="deleted or replaced"):
                await app.start("work")
            with pytest.raises(StoreUnavailable, match="deleted or replaced"):
                await app.last_event()
            async with asyncio.timeout(20):
                while app.ready():
                    await asyncio.sleep(0.05)
            assert "lease" in (app.unready() or "")
            (tmp_path / "elsewhere").rename(path)
            await (await app.start("work")).result(timeout=20)
            async with asyncio.timeout(20):
                while not app.ready():
                    await asyncio.sleep(0.05)
            assert {run.status for run in await app.runs(attempts=True)} == {"succeeded"}

    asyncio.run(main())


def test_connections_that_are_cut_again_and_again_cost_no_outcome(postgres_url: str) -> None:
    """Every backend is terminated, sixty times: wherever it happens, each run is executed once and succeeds."""
    ran: Counter[str] = Counter()

    async def main() -> None:
        app = Ostinato(postgres_url, concurrency=20)

        @app.job()
        async def work(ctx: Any) -> None:
            ran[f"{ctx.run_id}/{ctx.attempt}"] += 1
            await asyncio.sleep(0.01)

        async with app:
            connection = await asyncpg.connect(postgres_url)
            cutting = asyncio.create_task(cut(connection, 60))
            handles = []
            while not cutting.done():
                handles += [await app.start("work") for _ in range(5)]
            await cutting
            await connection.close()
            async with asyncio.timeout(30):
                for handle in handles:
                    await handle.result()
            assert await app.check(repair=False) == []
            assert Counter([(await handle.info()).status for handle in handles]) == {"succeeded": len(handles)}
        assert len(ran) == len(handles)
        assert set(ran.values()) == {1}

    asyncio.run(main())


async def cut(connection: Any, times: int) -> None:
    for _ in range(times):
        await connection.execute(
            """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()"""
        )
        await asyncio.sleep(0.06)
