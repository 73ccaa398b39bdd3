"""A start inside the caller's own transaction: the run exists exactly if the caller commits."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import psycopg
import psycopg.rows
import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session

from ostinato import Conflict, Ostinato, OstinatoError, StoreError, SyncOstinato

Start = Callable[[Any, str], Awaitable[Any]]


async def with_asyncpg(url: str, start: Start) -> None:
    connection = await asyncpg.connect(url)
    try:
        for id, commit in [("kept", True), ("gone", False)]:
            transaction = connection.transaction()
            await transaction.start()
            await start(connection, id)
            await (transaction.commit() if commit else transaction.rollback())
    finally:
        await connection.close()


async def with_psycopg(url: str, start: Start) -> None:
    async with await psycopg.AsyncConnection.connect(url) as connection:
        await start(connection, "kept")
        await connection.commit()
        await start(connection, "gone")
        await connection.rollback()


async def with_psycopg_that_blocks(url: str, start: Start) -> None:
    with psycopg.connect(url) as connection:
        await start(connection, "kept")
        connection.commit()
        await start(connection, "gone")
        connection.rollback()


async def with_sqlalchemy_asyncpg(url: str, start: Start) -> None:
    await _async_engine(url, "postgresql+asyncpg", start)


async def with_sqlalchemy_psycopg(url: str, start: Start) -> None:
    await _async_engine(url, "postgresql+psycopg", start)


async def _async_engine(url: str, scheme: str, start: Start) -> None:
    engine = create_async_engine(url.replace("postgresql", scheme, 1))
    async with engine.connect() as connection:
        await start(connection, "kept")
        await connection.commit()
        await start(connection, "gone")
        await connection.rollback()
    await engine.dispose()


async def with_a_session(url: str, start: Start) -> None:
    scheme = "postgresql+psycopg" if url.startswith("postgresql") else "sqlite"
    engine = sqlalchemy.create_engine(url.replace("postgresql", scheme, 1) if scheme != "sqlite" else url)
    with Session(engine) as session:
        await start(session, "kept")
        session.commit()
        await start(session, "gone")
        session.rollback()
    engine.dispose()


async def with_sqlite3(url: str, start: Start) -> None:
    connection = sqlite3.connect(url.removeprefix("sqlite:///"))
    connection.execute("CREATE TABLE orders (id text)")
    connection.execute("INSERT INTO orders VALUES ('kept')")
    await start(connection, "kept")
    connection.commit()
    connection.execute("INSERT INTO orders VALUES ('gone')")
    await start(connection, "gone")
    connection.rollback()
    assert connection.execute("SELECT id FROM orders").fetchall() == [("kept",)]
    connection.close()


async def scenario(url: str, use: Callable[[str, Start], Awaitable[None]]) -> None:
    app = Ostinato(url)

    @app.job(serial_key="k")
    async def work(n: int) -> int:
        return n

    async with app:

        async def start(connection: Any, id: str) -> Any:
            return await app.start("work", {"n": 4}, id=id, connection=connection)

        await use(url, start)
        run = await app.start("work", {"n": 4}, id="kept")
        assert not run.new
        assert await run.result(timeout=30) == 4
        assert [r.key for r in await app.runs()] == ["kept"]
        events = await app.events(subject=run.id)
        assert [e.name for e in events] == ["run:created", "run:started", "run:succeeded"]


async def scenario_of_requests(url: str, use: Callable[[str, Start], Awaitable[None]]) -> None:
    """A request id counts in the caller's transaction as it does outside, and a rollback takes it back."""
    app = Ostinato(url)

    @app.job()
    async def work(n: int) -> int:
        return n

    async with app:
        started: dict[str, str] = {}

        async def refuse_wrong_ids(**where: Any) -> None:
            wrong_ids: list[Any] = ["", "x" * 1001, "a\0b", "\ud800", 5]
            for wrong in wrong_ids:
                with pytest.raises(OstinatoError, match=r"request_id .* is not a text of 1 to 1,000 characters"):
                    await app.start("work", {"n": 5}, request_id=wrong, **where)

        async def start_again_and_again(connection: Any, id: str) -> None:
            await refuse_wrong_ids(connection=connection)
            first = await app.start("work", {"n": 5}, connection=connection, request_id=id)
            again = await app.start("work", {"n": 5}, connection=connection, request_id=id)
            assert (again.id, again.new) == (first.id, first.new)
            with pytest.raises(Conflict, match=f"the request id '{id}' was used for another call"):
                await app.start("work", {"n": 6}, connection=connection, request_id=id)
            started[id] = first.id

        await refuse_wrong_ids()
        await use(url, start_again_and_again)
        assert [run.id for run in await app.runs()] == [started["kept"]]
        for id, committed in (("kept", True), ("gone", False)):
            later = await app.start("work", {"n": 5}, request_id=id)
            assert (later.id == started[id]) == committed
            assert await later.result(timeout=30) == 5
        assert len(await app.runs()) == 2


@pytest.mark.parametrize("use", [with_asyncpg, with_psycopg, with_sqlalchemy_asyncpg])
def test_a_request_is_made_once_on_postgres(postgres_url: str, use: Callable[[str, Start], Awaitable[None]]) -> None:
    asyncio.run(scenario_of_requests(postgres_url, use))


@pytest.mark.parametrize("use", [with_sqlite3, with_a_session])
def test_a_request_is_made_once_on_sqlite(tmp_path: Any, use: Callable[[str, Start], Awaitable[None]]) -> None:
    asyncio.run(scenario_of_requests(f"sqlite:///{tmp_path}/store.db", use))


@pytest.mark.parametrize(
    "use",
    [
        with_asyncpg,
        with_psycopg,
        with_psycopg_that_blocks,
        with_sqlalchemy_asyncpg,
        with_sqlalchemy_psycopg,
        with_a_session,
    ],
)
def test_on_postgres(postgres_url: str, use: Callable[[str, Start], Awaitable[None]]) -> None:
    asyncio.run(scenario(postgres_url, use))


@pytest.mark.parametrize("use", [with_sqlite3, with_a_session])
def test_on_sqlite(tmp_path: Any, use: Callable[[str, Start], Awaitable[None]]) -> None:
    asyncio.run(scenario(f"sqlite:///{tmp_path}/store.db", use))


def test_a_slow_caller_silences_nobody(postgres_url: str) -> None:
    """An open transaction with a start in it must not keep other events from being read."""

    async def main() -> None:
        app = Ostinato(postgres_url)
        seen: list[str] = []

        @app.job()
        async def work() -> None: ...

        @app.on("run:*")
        def hear(event: Any) -> None:
            seen.append(event.subject)

        async with app:
            connection = await asyncpg.connect(postgres_url)
            transaction = connection.transaction()
            await transaction.start()
            slow = await app.start("work", connection=connection)
            quick = await app.start("work")
            await quick.result(timeout=30)
            async with asyncio.timeout(30):
                while seen.count(quick.id) < 3:
                    await asyncio.sleep(0.01)
            assert slow.id not in seen
            await transaction.commit()
            await connection.close()
            await slow.result(timeout=30)
            async with asyncio.timeout(30):
                while seen.count(slow.id) < 3:
                    await asyncio.sleep(0.01)
            numbers = [e.seq for e in await app.events()]
            assert numbers == sorted(numbers)

    asyncio.run(main())


def test_a_strange_connection_is_refused(tmp_path: Any) -> None:
    async def main() -> None:
        app = Ostinato(f"sqlite:///{tmp_path}/store.db")
        async with app.connected():
            with pytest.raises(StoreError, match="cannot be used here"):
                await app.start("work", connection=object())
            assert await app.runs() == []

    asyncio.run(main())


def test_the_same_without_await(store_url: str) -> None:
    app = Ostinato(store_url)

    @app.job()
    def work(n: int) -> int:
        return n * 2

    with SyncOstinato(app, node=True) as sync:
        assert sync.start(work, {"n": 21}).result(timeout=30) == 42
        assert [run.result(timeout=30) for run in sync.start_many("work", [{"n": 1}, {"n": 2}])] == [2, 4]
        connection: Any
        if store_url.startswith("sqlite"):
            connection = sqlite3.connect(store_url.removeprefix("sqlite:///"))
        else:
            connection = psycopg.connect(store_url)
        kept = sync.start("work", {"n": 5}, id="kept", connection=connection)
        connection.commit()
        requested = sync.start("work", {"n": 7}, connection=connection, request_id="r")
        repeated = sync.start("work", {"n": 7}, connection=connection, request_id="r")
        assert repeated.id == requested.id
        connection.commit()
        sync.start("work", {"n": 6}, id="gone", connection=connection)
        connection.rollback()
        connection.close()
        assert kept.result(timeout=30) == 10
        assert requested.result(timeout=30) == 14
        assert len(sync.runs()) == 5


def test_a_connection_that_commits_each_statement_is_refused(postgres_url: str) -> None:
    """A crash between two statements would leave half a run."""
    app = Ostinato(postgres_url)
    engine = sqlalchemy.create_engine(postgres_url.replace("postgresql:", "postgresql+psycopg:"))

    async def with_await() -> None:
        async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as connection:
            with pytest.raises(StoreError, match="not in a transaction"):
                await app.start("work", connection=connection)
            async with connection.transaction():
                await app.start("work", connection=connection)

    with SyncOstinato(app) as sync:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            with pytest.raises(StoreError, match="not in a transaction"):
                sync.start("work", connection=connection)
            with connection.transaction():
                sync.start("work", connection=connection)
        with (
            engine.connect().execution_options(isolation_level="AUTOCOMMIT") as autocommitting,
            pytest.raises(StoreError, match="not in a transaction"),
        ):
            sync.start("work", connection=autocommitting)
        asyncio.run(with_await())
        assert len(sync.runs()) == 2
    engine.dispose()


def _as_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {column[0]: value for column, value in zip(cursor.description, row, strict=True)}


def test_rows_may_be_anything_to_the_caller(store_url: str) -> None:
    app = Ostinato(store_url)

    @app.job()
    def work() -> int:
        return 7

    with SyncOstinato(app, node=True) as sync:
        connection: Any
        if store_url.startswith("sqlite"):
            connection = sqlite3.connect(store_url.removeprefix("sqlite:///"))
            connection.row_factory = _as_dict
        else:
            connection = psycopg.connect(store_url, row_factory=psycopg.rows.dict_row)
        started = [sync.start("work", serial_key="k", connection=connection) for _ in range(2)]
        connection.commit()
        connection.close()
        assert [run.result(timeout=30) for run in started] == [7, 7]


def test_a_start_that_fails_leaves_nothing_in_the_transaction_of_the_caller(tmp_path: Path) -> None:
    file = f"{tmp_path}/store.db"
    with SyncOstinato(Ostinato(f"sqlite:///{file}")) as sync:
        with (
            closing(sqlite3.connect(file, isolation_level=None)) as connection,
            pytest.raises(StoreError, match="not in a transaction"),
        ):
            sync.start("work", connection=connection)
        connection = sqlite3.connect(file)

        def refuse(action: int, table: str | None, *_: Any) -> int:
            return sqlite3.SQLITE_DENY if (action, table) == (sqlite3.SQLITE_INSERT, "ostinato_events") else 0

        for begin in (False, True):
            connection.set_authorizer(None)
            if begin:
                connection.execute("BEGIN")
            connection.set_authorizer(refuse)
            with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
                sync.start("work", connection=connection)
            connection.set_authorizer(None)
            assert connection.in_transaction == begin
            connection.commit()
        connection.close()
        assert sync.runs() == []


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sqlite3 has autocommit since Python 3.12")
def test_a_connection_of_sqlite3_in_autocommit_mode_is_refused(tmp_path: Path) -> None:
    """Python would not commit what `start` began, and the file would stay locked."""
    file = f"{tmp_path}/store.db"
    with SyncOstinato(Ostinato(f"sqlite:///{file}")) as sync:
        connection: Any = sqlite3.connect(file, autocommit=True)  # type: ignore[call-overload,unused-ignore]
        with pytest.raises(StoreError, match="not in a transaction"):
            sync.start("work", connection=connection)
        connection.execute("BEGIN")
        kept = sync.start("work", connection=connection)
        connection.execute("COMMIT")
        connection.close()
        assert sync.get(kept.id).status == "ready"
