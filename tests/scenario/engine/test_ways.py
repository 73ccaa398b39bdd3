"""A way from outside of the package, the one of `docs/how-to/write-a-way.md`: in Python, over HTTP, on the command line
and in files of schedules. And the tables that ways own."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import replace
from importlib import import_module, resources
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from ostinato import Conflict, Ostinato, OstinatoError, StoreError, SyncOstinato, parse_schedules
from ostinato.doctor import diagnose
from ostinato.engine.ways import Way
from ostinato.faces.cli.configuration import configuration
from ostinato.faces.cli.main import app as command_line
from ostinato.faces.http.server import api
from ostinato.schedules.declared.plan import definition
from ostinato.store.contract import Migration, Operation
from ostinato.store.sql import Statements
from ostinato.testing import World
from ostinato.ways import all_ways, owned_tables
from tests.support.journey_parts import text
from tests.support.pages import write_files_of

PLANTS = {"chore": "water the plants", "to": "ada"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the way's modules, from where they are imported."""
    folder = tmp_path_factory.mktemp("chores")
    write_files_of("how-to/write-a-way.md", folder)
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))
    for name in ("chores", "chores_http", "chores_cli"):
        sys.modules.pop(name, None)


@pytest.fixture
def chores(folder: Path) -> Way:
    way = import_module("chores").CHORES
    assert isinstance(way, Way)
    return way


@pytest.fixture
def house(world: World, chores: Way) -> World:
    """A world whose app has the way."""
    world.app = Ostinato(world._store, clock=world.clock, ways=[chores], **world._settings)
    return world


def calls(place: World | Ostinato) -> Any:
    """`app.chores`, which no type checker knows."""
    app: Any = place.app if isinstance(place, World) else place
    return app.chores


async def test_in_python(house: World) -> None:
    await house.up()
    await calls(house).add_people("ada")
    id = await calls(house).give("water the plants", to="ada")
    await house.advance("150m")
    (chore,) = await calls(house).list()
    assert chore == {"id": id, "title": "water the plants", "to": "ada", "status": "waiting", "helped": 0}
    names = [event.name for event in await house.app.events(subject=id)]
    assert names == ["run:created", "run:started", "run:waiting", "chore:given", "chore:reminded", "chore:reminded"]
    await calls(house).done(id)
    await house.settle()
    run = await house.app.get(id)
    assert (run.kind, run.status, run.result) == ("chore", "succeeded", "done")
    with pytest.raises(Conflict, match="is done already"):
        await calls(house).done(id)
    await house.advance("1d")
    assert [event.name for event in await house.app.events(subject=id)].count("chore:reminded") == 2
    cancelled = await calls(house).give("feed the cat", to="ada")
    await house.settle()
    assert await house.app.cancel(cancelled) == "cancelled"
    await house.advance("40d")
    assert await calls(house).list() == [], "what is stored of a run goes with it"


async def test_a_chore_goes_on_after_a_crash(house: World) -> None:
    await house.up()
    await calls(house).add_people("ada")
    id = await calls(house).give("water the plants", to="ada")
    await house.settle()
    await house.crash()
    await house.up()
    await calls(house).done(id)
    await house.settle()
    assert (await house.app.get(id)).status == "succeeded"


async def test_a_chore_hears_of_its_childrens_ends_in_the_transactions_that_end_them(house: World) -> None:
    @house.app.job()
    async def fetch_water() -> None: ...

    seen: list[tuple[str, int]] = []

    @house.app.on("run:succeeded")
    async def heard(event: Any) -> None:
        (chore,) = await calls(house).list()
        seen.append((event.data["name"], chore["helped"]))

    await house.up()
    await calls(house).add_people("ada")
    id = await calls(house).give("water the plants", to="ada")
    await house.settle()
    for helped in (1, 2):
        await house.app.start("fetch_water", parent=id)
        await house.settle()
        assert seen[-1] == ("fetch_water", helped), "when its end can be seen, the parent knows of it"


async def test_schedules_start_it_and_what_is_exported_is_applied_as_the_same(house: World, chores: Way) -> None:
    await house.up()
    await house.app.schedules.create("plants", "0 9 * * *", PLANTS)
    (before,) = [one async for one in house.app.schedules._matching("*", None, None, None)]
    exported = await house.app.schedules.export()
    await house.app.schedules.delete("plants")
    await house.app.schedules.apply(parse_schedules(exported, ways=[chores]))
    (after,) = [one async for one in house.app.schedules._matching("*", None, None, None)]
    assert definition(after) == definition(before)
    again = await house.app.schedules.apply(parse_schedules(exported, ways=[chores]))
    assert [step.verb for step in again.steps] == ["unchanged"]
    await house.app.schedules.trigger("plants")
    await house.settle()
    (chore,) = await calls(house).list()
    assert (chore["title"], chore["status"]) == ("water the plants", "waiting")
    await calls(house).done(chore["id"])
    await house.settle()
    assert (await house.app.get(chore["id"])).status == "succeeded"
    assert (await house.app.schedules.get("plants")).last_result == "done", "its schedule knows"
    with pytest.raises(OstinatoError, match="a chore has a title and a person"):
        await house.app.schedules.create("nobody", "0 9 * * *", {"chore": "water the plants"})
    with pytest.raises(OstinatoError, match="names no target"):
        parse_schedules(exported)


async def test_the_doctor_checks_it_and_its_tables(house: World) -> None:
    await house.up()

    async def checks() -> dict[str, tuple[str, str]]:
        return {check.name: (check.state, check.words) for check in await diagnose(house.app)}

    assert (await checks())["chore_people"] == ("ok", "none")
    await house.app.schedules.create("plants", "0 9 * * *", PLANTS)
    await house.app.schedules.trigger("plants")
    await house.settle()
    words = "chores are for people whom nobody has added: water the plants (ada)"
    assert (await checks())["chore_people"] == ("wrong", words)
    await calls(house).add_people("ada")
    now = await checks()
    assert (now["chore_people"], now["tables"]) == (("ok", "none"), ("ok", "all are there"))
    drop = Statements("-- drop_people: the whole table.\nDROP TABLE chore_people")

    def lose(_: int) -> Operation[None]:
        yield drop("drop_people")

    await house.app.store.run(lose)
    assert await checks() == {"tables": ("wrong", "the store lacks tables: chore_people (of chores)")}


async def test_a_namespace_takes_the_ways_rows_with_it(house: World) -> None:
    await house.up()
    await house.app.create_namespace("flat")
    flat = house.app.within("flat")
    await calls(flat).add_people("bob")
    await flat.journeys.deploy(text("a: {type: succeed}", name="greet"))
    hook = await flat.webhooks.create("https://example.org/hook")
    with pytest.raises(Conflict, match="namespace 'flat' still has webhooks on record"):
        await house.app.delete_namespace("flat")
    assert await calls(flat).people() == ["bob"]
    await flat.webhooks.delete(hook.id)
    await house.app.delete_namespace("flat")
    await house.app.create_namespace("flat")
    assert await calls(flat).people() == []
    assert await flat.journeys.definitions() == []
    assert await calls(house).people() == [], "those of others stay as they were"


def test_over_http(store_url: str, chores: Way) -> None:
    async def main(client: httpx.AsyncClient, app: Any) -> None:
        await app.chores.add_people("ada")
        answer = await client.post("/chores", json={"title": "water the plants", "to": "ada"})
        assert answer.status_code == 201
        id = answer.json()["id"]
        while not (items := (await client.get("/chores")).json()["items"]):
            await asyncio.sleep(0.01)
        assert [(item["id"], item["to"]) for item in items] == [(id, "ada")]
        assert (await client.post(f"/chores/{id}/done")).status_code == 204
        again = await client.post(f"/chores/{id}/done")
        assert (again.status_code, again.json()["title"]) == (410, "chore is done")
        assert again.json()["detail"] == f"chore {id!r} is done already"
        nobody = await client.post("/chores", json={"title": "water the plants", "to": "eve"})
        assert (nobody.status_code, nobody.json()["title"]) == (404, "not found")
        schedule = {"name": "plants", "spec": "0 9 * * *", "action": PLANTS}
        assert (await client.post("/schedules", json=schedule)).status_code == 201

    asyncio.run(serving(store_url, chores, main))


async def serving(url: str, way: Way, main: Callable[[httpx.AsyncClient, Any], Coroutine[Any, Any, None]]) -> None:
    async with asyncio.timeout(60), Ostinato(url, ways=[way]) as app:
        transport = httpx.ASGITransport(api(app))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8471/api/v1") as client:
            await main(client, app)


def test_on_the_command_line(store_url: str, chores: Way, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OSTINATO_WAYS", "chores:CHORES")
    monkeypatch.setenv("OSTINATO_STORE", store_url)

    def ostinato(*args: str, code: int = 0) -> str:
        done = CliRunner().invoke(command_line, list(args), catch_exceptions=False)
        assert done.exit_code == code, f"{args}: {done.exit_code}\n{done.output}"
        return done.output

    async def ada() -> None:
        async with Ostinato(store_url, ways=[chores]).connected() as app:
            await calls(app).add_people("ada")

    asyncio.run(ada())
    assert "List chores and tick them off." in ostinato("--help")
    chore = json.loads(ostinato("chores", "give", "feed the cat", "ada", "--json"))
    assert "is for ada" in ostinato("chores", "give", "water the plants", "ada")
    assert "there is nobody called 'eve'" in ostinato("chores", "give", "feed the cat", "eve", code=1)
    assert "there is no chore" in ostinato("chores", "done", chore["id"], code=1), "no node has seen it yet"
    ostinato("apply", str(folder / "house.yaml"))
    assert "chore: water the plants" in ostinato("export", "file")
    written = folder / "exported.yaml"
    written.write_text(ostinato("export", "file"), encoding="utf-8")
    assert "unchanged" in ostinato("apply", str(written))
    assert "--webhook-patience" in ostinato("worker", "--help")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_such_module:WAY", "the way 'no_such_module:WAY' cannot be loaded"),
        ("ostinato.ways:WAYS", "'ostinato.ways:WAYS' is not a way"),
        ("ostinato", "'ostinato' is not a way; write module:NAME"),
    ],
)
def test_a_wrong_name_of_a_way_is_one_line(
    name: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OSTINATO_WAYS", name)
    with pytest.raises(SystemExit) as ended:
        CliRunner().invoke(command_line, ["version"])
    assert ended.value.code == 2
    assert words in capsys.readouterr().err


def test_settings_of_ways_reach_the_app(chores: Way, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OSTINATO_WAYS", "chores:CHORES")
    operator = configuration({"chore_reminder": "2h"}, None, {"OSTINATO_WEBHOOK_PATIENCE": "2d"})
    assert operator.settings == {"chore_reminder": "2h", "webhook_patience": "2d"}
    app = Ostinato("sqlite:///never-opened.db", ways=[chores])
    app.configure(**operator.settings)
    assert app._parts["chores"]._reminder == 2 * 3600 * 1_000_000  # type: ignore[attr-defined]
    file = tmp_path / "ostinato.toml"
    file.write_text('chore_reminder = "3h"\njourneys = ["a.yaml"]\n', encoding="utf-8")
    assert configuration({}, str(file), {}).settings == {"chore_reminder": "3h", "journeys": ("a.yaml",)}
    with pytest.raises(OstinatoError, match="OSTINATO_CHORE_REMINDER"):
        configuration({}, None, {"OSTINATO_CHORE_REMINDER": "soon"})
    with pytest.raises(TypeError, match="has no setting 'chore_remainder'"):
        Ostinato(ways=[chores], chore_remainder="2h")  # type: ignore[call-arg]


def test_without_await(store_url: str, chores: Way) -> None:
    with SyncOstinato(Ostinato(store_url, ways=[chores]), node=False) as opened:
        sync: Any = opened
        sync.chores.add_people("ada")
        assert sync.chores.people() == ["ada"]


# Tables


def test_migrations_are_applied_once_and_in_order(store_url: str, chores: Way) -> None:
    people = Statements("-- all_people: with every column.\nSELECT * FROM chore_people")

    def everything(_: int) -> Operation[Any]:
        return (yield people("all_people"))

    async def columns(way: Way) -> int:
        async with Ostinato(store_url, ways=[way]).connected() as app:
            await calls(app).add_people("ada")
            return len((await app.store.read(everything))[0])

    assert asyncio.run(columns(chores)) == 2
    step = Migration("ALTER TABLE chore_people ADD COLUMN age bigint", "ALTER TABLE chore_people ADD age bigint")
    newer = replace(chores, migrations=(*chores.migrations, step))
    assert [asyncio.run(columns(way)) for way in (newer, newer)] == [3, 3]
    with pytest.raises(StoreError, match=r"the tables of chores in .* were made by a newer version"):
        asyncio.run(columns(chores))


COLUMNS = Statements("""
-- columns [sqlite]: of all tables.
SELECT t.name, c.name FROM sqlite_master t JOIN pragma_table_info(t.name) c
WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite!_%' ESCAPE '!'

-- columns [postgres]: of all tables.
SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables t USING (table_name)
WHERE table_type = 'BASE TABLE' AND t.table_schema = current_schema()
""")


async def test_every_table_has_one_owner(world: World) -> None:
    """And each that has a namespace says what becomes of its rows when that is deleted. Those that stay say what
    happened, or belong to a run or a schedule, which keep a namespace."""
    await world.up()
    columns: dict[str, set[str]] = {}
    for table, column in await world.app.store.read(_columns):
        columns.setdefault(table, set()).add(column)
    owned = [table for _, table in owned_tables(all_ways())]
    assert Counter(table.name for table in owned).most_common(1)[0][1] == 1
    assert {table.name for table in owned} - columns.keys() <= {"ostinato_drafts"}, "which PostgreSQL alone has"
    assert columns.keys() <= {table.name for table in owned}
    stay = {table.name for table in owned if table.namespace is None and "namespace" in columns.get(table.name, ())}
    assert stay - {"ostinato_drafts"} == {
        "ostinato_events",
        "ostinato_forms",
        "ostinato_functions",
        "ostinato_journey_labels",
        "ostinato_journeys",
        "ostinato_temporal_executions",
    }
    assert all("namespace" in columns[table.name] for table in owned if table.namespace is not None)


def _columns(_: int) -> Operation[Any]:
    return (yield COLUMNS("columns"))


def test_the_engine_schedules_and_the_doctor_name_no_way() -> None:
    """What they need of a way comes to them as a value."""
    source = Path(str(resources.files("ostinato")))
    names = [way.name.removesuffix("s") for way in all_ways()]
    names[names.index("function")] = "durable function|ostinato[._]function"  # every language has functions
    words = re.compile("|".join([*names, *_WORDS]), re.IGNORECASE)
    files = [file for part in ("engine", "schedules") for file in (source / part).rglob("*.py")]
    files += [source / "doctor.py", source / "store/backup.py"]
    files += (source / "store/sql").glob("*.sql")
    naming = {
        f"{file.relative_to(source)}:{number}: {line.strip()}"
        for file in files
        for number, line in enumerate(_own_text(file).splitlines(), 1)
        if words.search(_OTHER_MEANINGS.sub("", line))
    }
    assert not naming


def _own_text(file: Path) -> str:
    text = file.read_text(encoding="utf-8")
    if file.name == "access.py":
        return re.sub("agent", "", text, flags=re.IGNORECASE)  # a role, as the others are
    return text


_WORDS = [r"\bflows?\b", "session_", "hitl", "recipient", "deliver", "campaign", "audience"]  # what ways are about
_OTHER_MEANINGS = re.compile(
    r"Standard Webhooks|standardwebhooks|webhook-(?:id|timestamp|signature)|user-agent", re.IGNORECASE
)
