"""Reading a store: the same answers as the API's, without the API, and without changing anything."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest
from typer.testing import CliRunner

from ostinato import Ostinato, every, manual
from ostinato.faces.cli.main import app as command_line
from ostinato.faces.cli.store_reads import ANSWERS, NeedsApi, StoreReader, answer_for
from ostinato.faces.http.server import api
from ostinato.store.migrate import migrations

FIRST, LAST = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
PATHS: list[tuple[str, dict[str, Any]]] = [
    ("/schedules", {}),
    ("/schedules", {"limit": 1}),
    ("/schedules", {"after": "hourly", "match": "*a*", "tag": "x"}),
    ("/schedules/team%2Fa", {}),
    ("/schedules/team%2Fa", {"recent": 1}),
    ("/schedules/team%2Fa/history", {}),
    ("/schedules/team%2Fa/history", {"limit": 1}),
    ("/schedules/hourly/times", {"first": FIRST, "last": LAST}),
    ("/schedules/hourly/times", {"first": FIRST, "last": LAST, "limit": 3, "after": "2026-01-01T05:00:00Z"}),
    ("/schedules/hourly/explain", {"at": "2026-01-01T05:00:00Z"}),
    ("/schedules/hourly/backfills", {}),
    ("/schedules/hourly/backfills", {"limit": 1}),
    ("/upcoming", {"limit": 5}),
    ("/runs", {"limit": 2}),
    ("/runs", {"name": "fails", "status": "failed"}),
    ("/runs", {"attempts": True}),
    ("/runs/failing", {}),
    ("/runs/failing/attempts", {}),
    ("/runs/failing/attempts", {"limit": 1}),
    ("/runs/failing/attempts", {"after": 1}),
    ("/runs/failing/log", {}),
    ("/runs/failing/log", {"limit": 1}),
    ("/runs/failing/log", {"limit": 1, "after": 1}),
    ("/jobs", {}),
    ("/jobs", {"limit": 2, "after": "fails"}),
    ("/namespaces", {}),
    ("/namespaces", {"limit": 1}),
    ("/namespaces", {"after": "default"}),
    ("/tokens", {}),
    ("/nodes", {}),
]


async def fill(url: str) -> None:
    app = Ostinato(url)

    @app.job(retry={"attempts": 2, "delay": 0})
    async def fails(ctx: Any, n: int) -> None:
        ctx.log(f"attempt {ctx.attempt}", "warning")
        raise ValueError(n)

    @app.job()
    async def works() -> dict[str, float]:
        return {"half": 0.5}

    async with app:
        await app.create_namespace("other", "for others")
        await app.create_token("reader", label="ci", expires_in="1d")
        await app.schedules.create("hourly", every("1h"), "works", overlap="buffer_all", catchup="1h", notes="n")
        await app.schedules.create("team/a", manual(), "works", tags=["x"], memo={"m": [1]}, trigger=True)
        for first, last in ((FIRST, "2026-01-01T02:00:00Z"), ("2026-01-01T03:00:00Z", "2026-01-01T04:00:00Z")):
            await app.schedules.backfill("hourly", first, last, overlap="allow_all")
        await app.start("works", at="2100-01-01T00:00:00Z", priority=3)
        run = await app.start("fails", {"n": 1}, id="failing")
        await asyncio.gather(run.result(), return_exceptions=True)
        while any(not one.over for one in await app.runs(name="works") if one.due.year < 2100):
            await asyncio.sleep(0.01)
        # While this node is at work, for the list of nodes.
        await compare(url)


async def compare(url: str) -> None:
    look = StoreReader(url, None)
    served = Ostinato(url)
    async with served.connected():
        await look.open()
        transport = httpx.ASGITransport(api(served))
        async with httpx.AsyncClient(base_url="http://localhost/api/v1", transport=transport) as http:
            for path, params in PATHS:
                direct = answer_for(path)
                assert direct is not None, path
                mine = json.loads(json.dumps(await direct[0](look, *direct[1], **params)))
                answer = await http.get(path, params=params)
                assert answer.status_code == 200, answer.text
                theirs = answer.json()
                for body in (mine, theirs):
                    for item in body.get("items", ()):
                        if path == "/nodes":
                            item.pop("lease_until")  # renewed between the two
                assert mine == theirs, (path, params)
                assert mine.get("items", mine), f"{path} {params}: nothing to compare"
        await look.close()


def test_a_journey_is_looked_at_through_the_api_which_asks_its_guard(tmp_path: Path) -> None:
    async def main() -> None:
        look = StoreReader(f"sqlite:///{tmp_path}/store.db", None)
        app = Ostinato(look.store.url)
        async with app.connected():
            handle = await app.start("work")
            delivery = (await app.start("other")).id
            await app.schedules.create("by hand", manual(), "work", trigger=True)
        with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
            connection.execute("UPDATE ostinato_runs SET kind = 'journey' WHERE id = ?", (handle.id,))
            event = {"event": {"name": "run:created", "subject": handle.id, "data": {"name": "work"}}}
            row = json.dumps(event), delivery
            connection.execute("UPDATE ostinato_runs SET name = 'webhook', input = ? WHERE id = ?", row)
        await look.open()
        (shown,) = await look.schedules.history("by hand")
        explained = partial(ANSWERS["schedules/*/explain"], look, "by hand", shown.nominal)
        assert await explained()
        for path in ("/schedules/by%20hand", "/schedules/by%20hand/history", f"/runs/{delivery}"):
            direct = answer_for(path)
            assert direct is not None
            assert await direct[0](look, *direct[1])
        with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            columns = [row[1:4] for row in connection.execute("PRAGMA table_info(ostinato_journeys)") if row[3]]
            values = [0 if kind.lower() == "integer" else handle.id for _, kind, _ in columns]
            names, marks = ", ".join(name for name, _, _ in columns), ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO ostinato_journeys ({names}) VALUES ({marks})", values)
        paths = ["/runs", f"/runs/{handle.id}", f"/runs/{handle.id}/log", f"/runs/{handle.id}/attempts"]
        for path in (*paths, f"/runs/{delivery}", "/schedules/by%20hand", "/schedules/by%20hand/history"):
            direct = answer_for(path)
            assert direct is not None
            with pytest.raises(NeedsApi):
                await direct[0](look, *direct[1])
        with pytest.raises(NeedsApi):
            await explained()
        await look.close()

    asyncio.run(main())


def test_every_look_is_answered_as_the_api_answers_it(store_url: str) -> None:
    asyncio.run(fill(store_url))
    covered = {found[0] for path, _ in PATHS if (found := answer_for(path)) is not None}
    assert covered == set(ANSWERS.values())


def command(store: str, *args: str, code: int = 0) -> str:
    environ = {"OSTINATO_STORE": store, "OSTINATO_SERVER": None, "COLUMNS": None}
    done = CliRunner().invoke(command_line, list(args), env=environ, catch_exceptions=False)
    assert done.exit_code == code, f"{args}: {done.exit_code}\n{done.output}"
    return done.output


LOOKS = [
    ("schedules", "list"),
    ("schedules", "show", "a"),
    ("runs", "list"),
    ("runs", "show", "a"),
    ("events",),
    ("upcoming",),
    ("explain", "a", FIRST),
    ("nodes",),
    ("namespaces", "list"),
    ("token", "list"),
    ("jobs", "list"),
    ("journeys", "list"),
    ("webhooks", "list"),
    ("schedules", "pause", "a"),
    ("runs", "cancel", "a"),
]


def foreign_file(path: Path) -> str:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    return f"sqlite:///{path}"


def tables(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    connection.close()
    return names


@pytest.mark.parametrize("look", LOOKS, ids=" ".join)
def test_looking_at_a_file_of_others_leaves_it_alone(look: tuple[str, ...], tmp_path: Path) -> None:
    store = foreign_file(tmp_path / "mine.db")
    before = (tmp_path / "mine.db").read_bytes()
    assert "none of them is Ostinato's" in command(store, *look, code=2)
    assert (tmp_path / "mine.db").read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["mine.db"]
    assert "there is no store" in command(f"sqlite:///{tmp_path}/none.db", *look, code=3)
    assert not (tmp_path / "none.db").exists()


def test_a_database_of_others_gets_our_tables_only_when_asked(bare_postgres_url: str) -> None:
    def names() -> set[str]:
        async def read() -> set[str]:
            connection = await asyncpg.connect(bare_postgres_url)
            rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
            await connection.close()
            return {row[0] for row in rows}

        return asyncio.run(read())

    async def make() -> None:
        connection = await asyncpg.connect(bare_postgres_url)
        await connection.execute("CREATE TABLE mine (a int)")
        await connection.close()

    assert "is empty" in command(bare_postgres_url, "schedules", "list", code=2)
    asyncio.run(make())
    for args in (("schedules", "list"), ("schedules", "create", "a", "every 1h", "work"), ("jobs", "start", "work")):
        assert "none of them is Ostinato's" in command(bare_postgres_url, *args, code=2)
    assert "none of them is Ostinato's" in command(bare_postgres_url, "doctor", code=1)
    assert names() == {"mine"}
    command(bare_postgres_url, "migrate")
    assert {"mine", "ostinato_runs"} <= names()
    assert "no schedules" in command(bare_postgres_url, "schedules", "list")


def test_a_store_of_an_older_ostinato_is_not_migrated_by_looking(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    number, text = migrations("sqlite")[0]
    connection.executescript(text)
    connection.execute("INSERT INTO ostinato_meta VALUES ('schema', ?)", (str(number),))
    connection.commit()
    connection.close()
    before = tables(path)
    output = command(f"sqlite:///{path}", "schedules", "list", code=3)
    assert f"has schema {number}, and this Ostinato needs" in output
    assert "ostinato migrate" in output
    assert tables(path) == before
    command(f"sqlite:///{path}", "namespaces", "create", "new")  # puts something in
    assert "no schedules" in command(f"sqlite:///{path}", "schedules", "list")


@pytest.mark.parametrize("look", [("schedules", "list"), ("runs", "list"), ("explain", "a", FIRST)], ids=" ".join)
def test_looking_loads_no_web_framework(look: tuple[str, ...], tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    command(store, "schedules", "create", "a", "every 1h", "work")
    code = (
        "import sys; from ostinato.faces.cli.main import app; app(standalone_mode=False); "
        "print(sorted({'fastapi', 'starlette', 'uvicorn', 'httpx', 'ostinato.app'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *look, "--store", store], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1:] == ["[]"], done.stdout + done.stderr


def test_a_database_that_is_no_store_is_not_backed_up(tmp_path: Path) -> None:
    foreign_file(tmp_path / "other.db")
    (tmp_path / "empty.db").touch()
    for name in ("other", "empty"):
        words = command(f"sqlite:///{tmp_path}/{name}.db", "backup", str(tmp_path / "copy.db"), code=2)
        assert f"{name}.db has no tables of Ostinato; is it the right database? Nothing was copied" in words
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.db", "other.db"]


def test_a_backup_overwrites_nothing_but_an_older_backup(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    command(store, "migrate")
    source = tmp_path / "source.py"
    source.write_text("print(1)")
    other = tmp_path / "other.db"
    foreign_file(other)
    copy = tmp_path / "copy.db"
    command(store, "backup", str(copy))
    for file in (copy, source, other):
        assert "--overwrite" in command(store, "backup", str(file), code=1)
    for file in (source, other):
        assert "not a copy of a store" in command(store, "backup", str(file), "--overwrite", code=1)
    assert "the store itself" in command(store, "backup", f"{tmp_path}/store.db", "--overwrite", code=1)
    assert (source.read_text(), tables(other)) == ("print(1)", {"mine"})
    command(store, "namespaces", "create", "later")
    command(store, "backup", str(copy), "--overwrite")
    assert "later" in command(f"sqlite:///{copy}", "namespaces", "list")
