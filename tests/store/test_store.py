"""What every store promises, and what it says when it cannot keep it."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from ostinato.engine.claims import DirectClaim
from ostinato.engine.dead_nodes import recover
from ostinato.engine.kinds import Kinds
from ostinato.engine.membership import NodeInfo, join
from ostinato.engine.rows import timer_row
from ostinato.errors import StoreError, StoreUnavailable
from ostinato.model import Timer
from ostinato.store.contract import Operation, Row, sql
from ostinato.store.postgres import SETTINGS, _passing
from ostinato.store.sql import queries
from ostinato.store.sqlite import SqliteStore
from ostinato.store.urls import open_url
from tests.support.statements import all_queries


def set_timer(due: int, owner: str = "o") -> Operation[None]:
    yield sql("set_timers", [timer_row(Timer("test", owner, "p", due))])


def next_due(_: int = 0) -> Operation[int | None]:
    rows = yield sql("next_due")
    return int(rows[0][0]) if rows else None


def test_both_dialects_have_the_same_statements() -> None:
    assert set(all_queries("sqlite")) == set(all_queries("postgres"))


async def _roundtrip(url: str) -> None:
    store = open_url(url)
    await store.open()
    try:
        await store.run(lambda _: set_timer(5))
        assert await store.read(next_due) == 5

        def fails(_: int) -> Operation[None]:
            yield from set_timer(1)
            raise RuntimeError("half way")

        with pytest.raises(RuntimeError, match="half way"):
            await store.run(fails)
        assert await store.read(next_due) == 5
    finally:
        await store.close()


def test_an_operation_is_all_or_nothing(store_url: str) -> None:
    asyncio.run(_roundtrip(store_url))


def test_one_failing_operation_harms_no_other_in_its_batch(store_url: str) -> None:
    async def main() -> Sequence[object]:
        store = open_url(store_url)
        await store.open()

        def bad(_: int) -> Operation[None]:
            yield from set_timer(1, "bad")
            raise ValueError("poison")

        tasks = [store.run(lambda _, n=n: set_timer(100 + n, f"o{n}")) for n in range(20)]  # type: ignore[misc]
        result = await asyncio.gather(*tasks[:10], store.run(bad), *tasks[10:], return_exceptions=True)
        assert await store.read(next_due) == 100
        await store.close()
        return result

    results = asyncio.run(main())
    assert [type(f) for f in results if f is not None] == [ValueError]


def test_a_cancelled_operation_ends_wherever_it_is(store_url: str) -> None:
    async def main() -> None:
        store = open_url(store_url)
        await store.open()
        tries: list[int] = []

        def set_one(tried: int) -> Operation[None]:
            tries.append(tried)
            return set_timer(5)

        for turns in range(30):
            writing = asyncio.create_task(store.run(set_one))
            for _ in range(turns):
                await asyncio.sleep(0)
            writing.cancel()
            await asyncio.wait([writing], timeout=10)
            assert writing.cancelled() or writing.result() is None
        assert set(tries) <= {0}, "a cancelled operation was tried again"
        await store.run(lambda _: set_timer(3))
        assert await store.read(next_due) == 3
        await store.close()

    asyncio.run(main())


def test_opening_twice_migrates_once_and_keeps_everything(bare_store_url: str) -> None:
    async def main() -> None:
        for due in (7, 3):
            store = open_url(bare_store_url)
            await store.open()
            await store.run(lambda _, due=due: set_timer(due, str(due)))  # type: ignore[misc]
            await store.close()
        store = open_url(bare_store_url)
        await store.open()
        assert await store.read(next_due) == 3
        await store.close()

    asyncio.run(main())


def test_many_openers_at_once_migrate_once(bare_store_url: str) -> None:
    async def main() -> None:
        stores = [open_url(bare_store_url) for _ in range(6)]
        await asyncio.gather(*(store.open() for store in stores))
        await asyncio.gather(*(s.run(lambda _, n=n: set_timer(n, str(n))) for n, s in enumerate(stores)))  # type: ignore[misc]
        assert await stores[0].read(next_due) == 0
        for store in stores:
            await store.close()

    asyncio.run(main())


def test_a_newer_schema_is_left_alone(store_url: str) -> None:
    async def main() -> None:
        store = open_url(store_url)
        await store.open()
        await store.close()
        if store_url.startswith("sqlite"):
            connection = sqlite3.connect(store_url.removeprefix("sqlite:///"))
            connection.execute("UPDATE ostinato_meta SET value = '999'")
            connection.commit()
            connection.close()
        else:
            import asyncpg

            remote = await asyncpg.connect(store_url)
            await remote.execute("UPDATE ostinato_meta SET value = '999'")
            await remote.close()
        with pytest.raises(StoreError, match="made by a newer Ostinato"):
            await open_url(store_url).open()

    asyncio.run(main())


def test_a_schema_that_is_not_a_number_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "store.db"
        store = open_url(f"sqlite:///{path}")
        await store.open()
        await store.close()
        connection = sqlite3.connect(path)
        connection.execute("UPDATE ostinato_meta SET value = 'twelve' WHERE key = 'schema'")
        connection.commit()
        connection.close()
        with pytest.raises(StoreError, match="'twelve', which is not a number; restore a backup"):
            await open_url(f"sqlite:///{path}").open()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("mysql://localhost/x", "unknown scheme 'mysql'"),
        ("sqlite://ostinato.db", "three slashes"),
        ("sqlite:///", "names no file"),
        ("", "names no store"),
        ("postgresql://nobody@127.0.0.1:1/none", "is PostgreSQL running"),
        ("sqlite:////nowhere/at/all/x.db", "does not exist"),
    ],
)
def test_a_wrong_url_says_what_would_be_right(url: str, words: str) -> None:
    with pytest.raises(StoreError, match=words):
        asyncio.run(open_url(url).open())


def test_a_missing_database_is_named(postgres_server: str) -> None:
    from urllib.parse import urlsplit, urlunsplit

    url = urlunsplit(urlsplit(postgres_server)._replace(path="/not_there"))
    with pytest.raises(StoreError, match="no such database"):
        asyncio.run(open_url(url).open())


def test_a_damaged_file_is_found_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_bytes(b"this is not a database, but it is long enough to look like one" * 50)
    with pytest.raises(StoreError, match="damaged or not a SQLite file"):
        asyncio.run(SqliteStore(str(path)).open())


def test_a_torn_page_is_found_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "store.db"

    async def fill() -> None:
        store = SqliteStore(str(path))
        await store.open()
        for n in range(20):
            await store.run(lambda _, n=n: set_timer(n, "x" * 500 + str(n)))  # type: ignore[misc]
        await store.close()

    asyncio.run(fill())
    data = bytearray(path.read_bytes())
    for page in range(2, len(data) // 4096):
        data[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        asyncio.run(SqliteStore(str(path)).open())


def test_a_file_that_cannot_be_written_is_said_so() -> None:
    with tempfile.TemporaryDirectory(prefix="ostinato-readonly-") as folder:
        Path(folder).chmod(0o755)
        path = Path(folder, "store.db")
        asyncio.run(_touch(path))
        path.chmod(0o444)
        message = _opened_by_nobody(path)
    assert "StoreError" in message
    assert "cannot be written" in message or "cannot be opened" in message


def _opened_by_nobody(path: Path) -> str:
    script = (
        "import asyncio, concurrent.futures.thread, os, sys\n"
        "from ostinato.store.migrate import migrations\n"
        "from ostinato.store.sqlite import SqliteStore\n"
        "store = SqliteStore(sys.argv[1])\n"
        "migrations('sqlite')\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "try:\n"
        "    asyncio.run(store.open())\n"
        "except Exception as problem:\n"
        "    print(type(problem).__name__, problem)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


async def _touch(path: Path) -> None:
    store = SqliteStore(str(path))
    await store.open()
    await store.close()


def test_a_full_disk_loses_nothing_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """The file's own page limit takes the place of a full disk: SQLite answers both with the same error."""

    async def fill(store: SqliteStore) -> None:
        for n in range(1000):
            await store.run(lambda _, n=n: set_timer(n + 2, "x" * 2000 + str(n)))  # type: ignore[misc]

    async def main() -> None:
        store = SqliteStore(str(tmp_path / "store.db"))
        await store.open()
        await store.run(lambda _: set_timer(1, "before"))
        assert store._writer is not None
        pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
        store._writer.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(StoreUnavailable, match="full"):
            await fill(store)
        assert await store.read(next_due) == 1
        store._writer.execute("PRAGMA max_page_count = 1000000")
        await store.run(lambda _: set_timer(0, "after"))
        assert await store.read(next_due) == 0
        await store.close()

    asyncio.run(main())


def test_another_process_holding_the_lock_is_waited_for(tmp_path: Path) -> None:
    async def main() -> None:
        path = str(tmp_path / "store.db")
        store = SqliteStore(path)
        await store.open()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.create_task(store.run(lambda _: set_timer(9)))
        done, _ = await asyncio.wait([writing], timeout=0.05)
        assert not done
        other.execute("COMMIT")
        other.close()
        await writing
        assert await store.read(next_due) == 9
        await store.close()

    asyncio.run(main())


@pytest.mark.parametrize("count", [1, 7, 8, 100, 101, 250])
def test_what_rows_have_in_common_is_written_for_each_of_them(store_url: str, count: int) -> None:
    rows = [("test", f"owner {n:03}", "look", 5, "default", "x" if n < 100 else None) for n in range(count)]

    async def main() -> list[Row]:
        store = open_url(store_url)
        await store.open()

        def put(_: int) -> Operation[list[Row]]:
            yield sql("set_timers", rows)
            return (yield sql("list_timers", after=0, namespace="default", limit=1000))

        result = await store.run(put)
        await store.close()
        return result

    assert sorted(map(tuple, asyncio.run(main()))) == rows


def test_who_drops_a_timer_does_not_wait_for_the_beat_that_fires_it(postgres_url: str) -> None:
    """The beat holds the timer and waits for its owner, which the other transaction holds: a deadlock."""

    async def main() -> list[str]:
        store = open_url(postgres_url)
        await store.open()
        await store.run(lambda _: set_timer(1, "fired"))
        await store.run(lambda _: set_timer(9, "other"))
        beat = await asyncpg.connect(postgres_url)
        firing = beat.transaction()
        await firing.start()
        text, values = queries("postgres")["take_due"].render("dollar", {"now": 5, "limit": 10}, None)
        assert [row[1] for row in await beat.fetch(text, *values)] == ["fired"]

        def drop(_: int) -> Operation[None]:
            yield sql("drop_timers", [("test", "fired"), ("test", "other")])

        await asyncio.wait_for(store.run(drop), 10)
        await firing.commit()
        left = [row[0] for row in await beat.fetch("SELECT owner FROM ostinato_timers")]
        await beat.close()
        await store.close()
        return left

    assert asyncio.run(main()) == []


def steady(now: int) -> Operation[None]:
    """A node that has renewed its lease without a break for longer than it is."""
    yield from join(NodeInfo("steady", "n", now - 50, now - 10, ("default",), ("work",), "", ""))
    yield sql("renew_lease", id="steady", lease_until=now + 40, lease=40, now=now, lapsed=0, ahead=now * 2)


def test_a_node_that_froze_in_a_firing_is_recovered_from(postgres_url: str) -> None:
    """It holds its own row; the server ends an idle transaction, and others take over."""

    async def main() -> None:
        store = open_url(postgres_url)
        await store.open()
        await store.run(lambda _: join(NodeInfo("frozen", "n", 0, 10, ("default",), ("work",), "", "")))
        ended = asyncio.Event()
        short = {**SETTINGS, "idle_in_transaction_session_timeout": "50ms"}
        frozen = await asyncpg.connect(postgres_url, server_settings=short)
        frozen.add_termination_listener(lambda _: ended.set())
        await frozen.execute("BEGIN")
        text, values = queries("postgres")["may_take"].render("dollar", {"node": "frozen"}, [("default",)])
        assert [row[0] for row in await frozen.fetch(text, *values)] == ["frozen"]
        await asyncio.wait_for(ended.wait(), 30)

        def left(_: int) -> Operation[list[Row]]:
            yield from steady(10**9)
            yield from recover("frozen", "steady", 10**9, lambda _: "new", Kinds())
            return (yield sql("list_nodes"))

        assert [row[0] for row in await store.run(left)] == ["steady"]
        await store.close()

    asyncio.run(main())
    assert _passing(asyncpg.IdleInTransactionSessionTimeoutError())


def test_who_gives_a_node_up_is_not_waited_for(postgres_url: str) -> None:
    """A firing that holds its schedules and waits for a transaction that waits for them would be a deadlock."""

    async def main() -> None:
        store = open_url(postgres_url)
        await store.open()
        await store.run(lambda _: join(NodeInfo("slow", "n", 0, 10, ("default",), ("work",), "", "")))
        rescuer = await asyncpg.connect(postgres_url)
        await rescuer.execute("BEGIN")
        await store.run(lambda _: steady(99))
        params = {"id": "slow", "by": "steady", "now": 99}
        text, values = queries("postgres")["gone_node"].render("dollar", params, None)
        assert len(await rescuer.fetch(text, *values)) == 1
        direct = DirectClaim("slow", 1, 10, ("default",), {"work"})
        assert not await asyncio.wait_for(store.run(lambda _: direct.is_free()), 10)
        await rescuer.execute("ROLLBACK")
        assert await store.run(lambda _: direct.is_free())
        await rescuer.close()
        await store.close()

    asyncio.run(main())


def test_a_file_that_cannot_be_opened_leaves_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "no.db"
    path.write_bytes(b"this is not a database" * 100)
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def counted(*args: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*args, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", counted)
    with pytest.raises(StoreError):
        asyncio.run(SqliteStore(str(path)).open())
    assert opened
    for connection in opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
