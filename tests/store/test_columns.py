"""Statements name the columns they read and write, and every name is that of a column."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from contextlib import closing
from dataclasses import fields
from typing import Any

import asyncpg
import pytest

from ostinato.engine.access import NamespaceInfo, TokenInfo
from ostinato.engine.limits import Gate
from ostinato.engine.membership import NodeInfo
from ostinato.engine.rows import insert_row, whole_run
from ostinato.journeys.bindings import Binding
from ostinato.journeys.definitions import DefinitionInfo, DefinitionRow
from ostinato.model import Event, Run, Status, Timer
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations.backfills import Backfill
from ostinato.store.columns import TABLES, reader, writer
from ostinato.store.migrate import migrate_way
from ostinato.store.sql import Dialect, queries
from ostinato.store.urls import open_url
from ostinato.ways import WAYS, all_ways, owned_tables
from ostinato.webhooks.subscriptions import Webhook
from tests.support.statements import all_queries, all_tables

# A star may select what a SELECT in parentheses has named.
STAR = re.compile(r"(?i)(\bselect\s+(all\s+|distinct\s+)?|\breturning\s+|,\s*|\.)\*(?! FROM \(SELECT)")
NAMELESS = re.compile(r"(?i)\binsert\s+into\s+\w+\b(?!\s*\()")
TYPES = {"text": "text", "integer": "int", "bigint": "int", "real": "real", "double precision": "real"}


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_every_statement_names_its_columns(dialect: Dialect) -> None:
    for name, query in all_queries(dialect).items():
        assert not STAR.search(query.text), name
        assert not NAMELESS.search(query.text), name
        assert "_columns" not in re.sub(r"\{rows [^}]*\}", "", query.text), name


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_statements_of_the_store_name_no_table_of_a_way(dialect: Dialect) -> None:
    others = {table.name for owner, table in owned_tables(all_ways()) if owner not in ("engine", "schedules")}
    for name, query in queries(dialect).items():
        assert not others & set(re.findall(r"\w+", query.text)), name
    assert not others & {table.name for table in TABLES.values()}


@pytest.mark.parametrize(
    "text", ["SELECT * FROM t", "SELECT u.* FROM t u", "RETURNING *", "SELECT id, * FROM t", "SELECT DISTINCT * FROM t"]
)
def test_a_star_is_seen(text: str) -> None:
    assert STAR.search(text)
    assert not STAR.search("SELECT count(*), 2 * n.lease FROM t")
    assert not STAR.search("SELECT * FROM (SELECT id FROM t) r")
    assert NAMELESS.search("INSERT INTO t VALUES (1)")
    assert not NAMELESS.search("INSERT INTO t (id) VALUES (1)")


def test_every_named_column_is_in_its_table(store_url: str) -> None:
    """A table may have more of them."""

    async def looked() -> dict[str, dict[str, str]]:
        store = open_url(store_url)
        await store.open()
        for way in WAYS:
            await migrate_way(store, way.name, way.loaded_migrations)
        await store.close()
        return await columns_of(store_url)

    tables = asyncio.run(looked())
    for name, table in all_tables():
        for column, kind in zip(table.columns, table.types, strict=True):
            assert TYPES[tables[table.name][column]] == kind, (name, column)
    of_ways = {table.name for way in WAYS for table in way.tables}  # those with migrations of their own among them
    others = tables.keys() - of_ways - {"ostinato_drafts", "ostinato_schema"}
    assert {table.name for _, table in all_tables()} >= others


async def columns_of(url: str) -> dict[str, dict[str, str]]:
    """The columns of Ostinato's tables and their types, by table."""
    rows: list[Any]
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            rows = connection.execute(
                "SELECT t.name, c.name, c.type FROM sqlite_master t, pragma_table_info(t.name) c WHERE t.type = 'table'"
            ).fetchall()
    else:
        remote = await asyncpg.connect(url)
        rows = await remote.fetch(
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " JOIN information_schema.tables USING (table_schema, table_name)"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        )
        await remote.close()
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in rows:
        if table.startswith("ostinato_"):
            tables.setdefault(table, {})[column] = kind.lower()
    return tables


@pytest.mark.parametrize(
    ("value", "table", "others"),
    [
        (Run, "run", {}),
        (Run, "claimed_run", {}),
        (Event, "event", {"at": "instant"}),
        (Timer, "timer", {}),
        (Gate, "limit", {}),
        (NodeInfo, "node", {"lease_until": "lease_until"}),
        (NamespaceInfo, "namespace", {}),
        (TokenInfo, "token", {}),
        (Webhook, "webhook", {}),
        (Backfill, "backfill", {}),
        (Schedule, "schedule", {"outcome": "outcomes", "seed": "own_seed"}),
        (DefinitionRow, "definition", {}),
        (DefinitionInfo, "definition_info", {}),
        (Binding, "binding", {"schedule_id": "id"}),
    ],
)
def test_columns_are_in_the_order_of_the_fields(value: Any, table: str, others: dict[str, str]) -> None:
    names = value._fields if hasattr(value, "_fields") else tuple(field.name for field in fields(value))
    columns = tuple(others.get(column, column) for column in dict(all_tables())[table].columns)
    assert columns == names[: len(columns)]


def test_a_row_is_read_and_written_by_name() -> None:
    run = Run("id", "job", status=Status.WAITING, number=7, superseded=True)
    row = {name: getattr(run, name) for name in TABLES["run"].columns} | {"status": "waiting", "superseded": 1}
    assert whole_run(list(row.values())) == run
    written = dict(zip(TABLES["new_run"].columns, insert_row(run), strict=True))
    assert written == {name: row[name] for name in TABLES["new_run"].columns}


def test_a_row_with_another_number_of_columns_is_refused() -> None:
    read = reader(tuple, ("a", "b"))
    with pytest.raises(ValueError, match="expected 2"):
        read((1, 2, 3))


def test_values_are_read_and_written_by_functions() -> None:
    read = reader(lambda *values: values, ("id", "count"), count=int)
    assert read(("a", "3")) == ("a", 3)
    write = writer(("id", "status.value", "number"), number=str)
    assert write(Run("a", "job", number=3)) == ("a", "ready", "3")
    write = writer(("id", "status.value"), **{"status.value": str.upper})
    assert write(Run("a", "job")) == ("a", "READY")
