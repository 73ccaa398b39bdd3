"""The hot statements use their indexes, on fresh tables and on grown ones, before and after statistics."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Sequence
from typing import Any

import asyncpg
import pytest

from ostinato import cron
from ostinato.engine.rows import insert_row, timer_row
from ostinato.ids import Ids
from ostinato.model import Run, Status
from ostinato.schedules.model import Schedule
from ostinato.schedules.operations.search import relabel
from ostinato.schedules.operations.write import next_timer
from ostinato.schedules.rows import insert_schedule_row
from ostinato.store.contract import Operation, Store, sql
from ostinato.store.postgres import SETTINGS
from ostinato.store.urls import open_url
from tests.support.statements import all_queries

END = ("id", 1, "succeeded", None, None, None, 1, 0, None, None)
LIST = {"namespace": "default", "limit": 10}
FROM = {"start": "~", "skip": "~"}
HOT: dict[str, tuple[dict[str, Any], Sequence[Any] | None, str]] = {
    "claim_ready": (
        {"node": "n", "token": 1, "now": 1, "queue": "default", "limit": 100, "kinds": '["job"]'},
        None,
        "ostinato_runs_ready",
    ),
    "claim_ready_except": (
        {
            "node": "n",
            "token": 1,
            "now": 1,
            "queue": "default",
            "limit": 100,
            "kinds": '["job", "turn"]',
            "names": '["job1"]',
        },
        None,
        "ostinato_runs_ready",
    ),
    "finish_runs": ({"node": "n", "now": 1}, ("id", 1, "succeeded", None, None, None), "ostinato_runs_pkey"),
    "wake_runs": ({"now": 1}, ("id",), "ostinato_runs_pkey"),
    "started_events": ({"node": "n", "token": 1, "now": 1}, None, "ostinato_runs_active"),
    "finished_events": ({"now": 1}, ("id",), "ostinato_runs_pkey"),
    "end_runs": ({"node": "n"}, END, "ostinato_runs_pkey"),
    "save_checkpoints": ({"node": "n"}, ("id", 1, None, None), "ostinato_runs_pkey"),
    "set_ready": ({}, ("id", 1), "ostinato_runs_pkey"),
    "held_by_node": ({"node": "n"}, None, "ostinato_runs_active"),
    "claimed_by_token": ({"node": "n", "token": 1}, None, "ostinato_runs_active"),
    "serial_heads": ({}, ("default", "k"), "ostinato_runs_serial"),
    "limit_heads": ({}, ("default", "k", 1), "ostinato_runs_limit"),
    "unpark": ({"limit": 10, "kinds": '["job", "journey"]'}, ("name",), "ostinato_runs_parked"),
    "runs_by_keys": ({}, ("default", "key"), "ostinato_runs_key"),
    "runs_by_ids": ({}, ("id",), "ostinato_runs_pkey"),
    "take_due": ({"now": 1, "limit": 100}, None, "ostinato_timers_due"),
    "next_due": ({}, None, "ostinato_timers_due"),
    "drop_timers": ({}, ("run", "id"), "ostinato_timers_pkey"),
    "read_events": ({"after": 5, "limit": 10}, None, "ostinato_events_pkey"),
    "events_of": ({"namespace": "default", "subject": "s", "after": 5, "limit": 10}, None, "ostinato_events_subject"),
    "input_taken": ({"subject": "s", "call": "%x%"}, None, "ostinato_events_subject"),
    "live_of_schedules": ({}, ("schedule",), "ostinato_runs_live"),
    "first_of_schedules": ({"first": 20}, ("schedule",), "ostinato_runs_live"),
    "lock_owners": ({}, ("id",), "ostinato_schedules_pkey"),
    "lock_schedules": ({}, ("id",), "ostinato_schedules_pkey"),
    "lock_free_schedules": ({}, ("id",), "ostinato_schedules_pkey"),
    "advance_schedules": ({}, ("id", None, 1, 2, 1, "{}", ""), "ostinato_schedules_pkey"),
    "due_schedules": ({"rules": ""}, ("id",), "ostinato_schedules_pkey"),
    "pass_schedules": ({}, ("id", 1, 2, "{}"), "ostinato_schedules_pkey"),
    "may_take": ({"node": "n"}, ("default",), "ostinato_runs_ready"),
    "note_outcomes": ({}, ("id", "{}"), "ostinato_schedules_pkey"),
    "schedule_by_name": ({"namespace": "default", "name": "n"}, None, "ostinato_schedules_name"),
    "list_schedules": (
        {"namespace": "default", "after": "a", "low": "a", "high": "b", "limit": 10},
        None,
        "ostinato_schedules_name",
    ),
    "late_schedules": ({"before": 1, "namespace": "x", "limit": 10}, None, "ostinato_timers_due"),
    "history": ({"namespace": "default", "low": "a", "high": "b", "limit": 10}, None, "ostinato_runs_key"),
    "backfills_of": ({"schedule": "s", "before": "~", "limit": 10}, None, "ostinato_backfills_schedule"),
    "stale_schedules": ({"rules": "0", "limit": 10}, None, "ostinato_schedules_rules"),
    "schedules_by_name": ({}, ("default", "name"), "ostinato_schedules_name"),
    "name_temporal_executions": ({}, ("run", "schedule", "2026-01-01T00:00:00Z", "request"), "ostinato_forms_pkey"),
    "temporal_executions_of": ({}, ("run",), "ostinato_temporal_executions_pkey"),
    "temporal_execution_by_id": ({"namespace": "default", "id": "w"}, None, "ostinato_temporal_executions_id"),
    "temporal_executions_by_id": (
        {"namespace": "default", "id": "w", "limit": 10},
        None,
        "ostinato_temporal_executions_id",
    ),
    "recent_actions": ({"limit": 10}, ("default", "key1", "key2"), "ostinato_runs_key"),
    "lock_serials": ({}, ("default", "k"), "ostinato_serials_pkey"),
    "lock_limits": ({}, ("default", "k"), "ostinato_limits_pkey"),
    "list_runs": ({**LIST, "before": "~", "status": "", "superseded": 0}, None, "ostinato_runs_pkey"),
    "active_runs": ({**LIST, **FROM}, None, "ostinato_runs_active"),
    "ready_runs": ({**LIST, **FROM}, None, "ostinato_runs_ready"),
    "unlabel_schedules": ({}, ("default", "job:x", "name"), "ostinato_schedule_labels_pkey"),
}
# Pages of lists: read from their place in an index on, in its order; nothing is passed over, and nothing is sorted.
PAGES: dict[str, tuple[dict[str, Any], str, str]] = {
    "named_runs": ({"name": "job1", "superseded": 0}, "ostinato_runs_name", "namespace name id"),
    "child_runs": ({"parent": "p", "superseded": 0}, "ostinato_runs_parent", "parent_id id"),
    "runs_in_status": (
        {"status": "failed", "superseded": 0},
        "ostinato_runs_status",
        "namespace status superseded id",
    ),
    "attempts_in_status": ({"status": "failed"}, "ostinato_runs_status", "namespace status superseded id"),
    "labelled_schedules": (
        {"label": "job:rare", "high": "z"},
        "ostinato_schedule_labels_pkey",
        "namespace label name",
    ),
    "schedules_in_state": ({"shown_state": "paused", "high": "z"}, "ostinato_schedules_standing", "namespace name"),
    "list_journeys": ({}, "ostinato_journeys_listed", "namespace run_id"),
    "defined_journeys": ({"definition": "d"}, "ostinato_journeys_defined", "namespace definition run_id"),
    "journeys_in_phase": ({"phase": "FAILED"}, "ostinato_journeys_phase", "namespace phase run_id"),
    "labelled_journeys": ({"label": "tag:vip"}, "ostinato_journey_labels_pkey", "namespace label run_id"),
}
# What SQLite calls the index behind a primary key.
OWN = {
    "ostinato_timers_pkey": "ostinato_timers USING PRIMARY KEY",
    "ostinato_runs_pkey": "sqlite_autoindex_ostinato_runs_1",
    "ostinato_events_pkey": "INTEGER PRIMARY KEY",
    "ostinato_schedules_pkey": "sqlite_autoindex_ostinato_schedules_1",
    "ostinato_forms_pkey": "PRIMARY KEY",
    "ostinato_temporal_executions_pkey": "PRIMARY KEY",
    "ostinato_serials_pkey": "PRIMARY KEY",
    "ostinato_limits_pkey": "PRIMARY KEY",
    "ostinato_schedule_labels_pkey": "PRIMARY KEY",
    "ostinato_journey_labels_pkey": "PRIMARY KEY",
}
GROWN = 20_000


async def schedules(store: Store) -> None:
    """Schedules with a timer each."""

    def fill(_: int) -> Operation[None]:
        for begin in range(0, 5_000, 500):
            schedules = [
                Schedule(f"id{n:05d}", f"name{n:05d}", cron("0 9 * * *"), next=n) for n in range(begin, begin + 500)
            ]
            yield sql("insert_schedules", [insert_schedule_row(one) for one in schedules])
            yield sql("label_schedules", [row for one in schedules for row in relabel(None, one)[1]])
            yield sql("set_timers", [timer_row(next_timer(one, one.next or 0)) for one in schedules])

    await store.run(fill)


async def grow(url: str) -> None:
    """Mostly runs that are over, and a few of every other kind."""
    store = open_url(url)
    await store.open()
    ids = Ids()
    others = [(Status.READY, None), (Status.WAITING, None), (Status.BUFFERED, "serial"), (Status.ACTIVE, None)]
    kinds = [(Status.SUCCEEDED, None)] * 96 + others

    def fill(_: int) -> Operation[None]:
        rows = []
        for n in range(GROWN):
            id = ids.new(1_700_000_000_000_000 + n)
            status, hold = kinds[n % 100]
            run = Run(
                id, f"job{n % 5}", root_id=id, status=status, hold=hold, serial_key=f"k{n % 50}" if hold else None
            )
            run.ready_at, run.key = n, f"key{n}" if n % 3 == 0 else None
            run.parent_id = f"parent{n % 40}" if n % 4 == 0 else None
            rows.append(insert_row(run))
        for begin in range(0, GROWN, 500):
            yield sql("insert_runs", rows[begin : begin + 500])
            yield sql(
                "set_timers", [("run", f"o{n}", "wake", n * 10, "default", None) for n in range(begin, begin + 500)]
            )
            yield sql(
                "insert_events", [(n, "default", "run:x", f"s{n % 900}", None, None) for n in range(begin, begin + 500)]
            )

    await store.run(fill)
    await schedules(store)
    await store.close()


@pytest.mark.parametrize("size", ["fresh", "grown", "grown and analysed"])
def test_hot_statements_on_sqlite(tmp_path: Any, size: str) -> None:
    path = tmp_path / "store.db"

    async def prepare() -> None:
        store = open_url(str(path))
        await store.open()
        await store.close()
        if size != "fresh":
            await grow(str(path))

    asyncio.run(prepare())
    connection = sqlite3.connect(path)
    if size == "grown and analysed":
        connection.execute("ANALYZE")
        connection.commit()
    queries = all_queries("sqlite")
    for name, (params, row, index) in HOT.items():
        query = queries[name]
        if query.each:
            assert row is not None
            params = {**params, **dict(zip([c for c, _, _ in query.columns], row, strict=True))}
            row = None
        for count in (3, 30):  # of many rows, what they have in common is said once
            text, values = query.render("qmark", params, None if row is None else [row] * count)
            plan = [r[3] for r in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
            assert any(OWN.get(index, index) in step for step in plan), (name, count, plan)
            whole = [s for s in plan if re.match(r"SCAN (ostinato_\w+|u|t|s|e)\b(?!.*USING)", s)]
            assert whole == [], (name, count, plan)
    for name, (params, index, bounds) in PAGES.items():
        text, values = queries[name].render("qmark", {**LIST, **FROM, **params}, None)
        plan = [r[3] for r in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
        read = [step for step in plan if "USING" in step and OWN.get(index, index) in step]
        assert read, (name, plan)
        assert all(bounded(step.partition("(")[2], bounds) for step in read), (name, plan)
        assert name == "attempts_in_status" or not any("TEMP B-TREE" in step for step in plan), (name, plan)
    connection.close()


def bounded(condition: str, columns: str) -> bool:
    """Whether the index is entered by all of these columns."""
    return all(re.search(rf"\b{column}\b", condition) for column in columns.split())


def literal(value: Any) -> str:
    if isinstance(value, list):
        return "'{" + ",".join("NULL" if one is None else json.dumps(one) for one in value) + "}'"
    return "NULL" if value is None else str(value) if isinstance(value, int) else f"'{value}'"


async def planned(connection: asyncpg.Connection, text: str, values: Sequence[Any]) -> str:
    """The plan for any values, as the store has it: with these in view another might be made."""
    await connection.execute(f"PREPARE looked_at AS {text}")
    arguments = ", ".join(map(literal, values))
    rows = await connection.fetch("EXPLAIN EXECUTE looked_at" + (f"({arguments})" if values else ""))
    await connection.execute("DEALLOCATE looked_at")
    return "\n".join(row[0] for row in rows)


@pytest.mark.parametrize("size", ["fresh", "grown", "grown and analysed"])
def test_hot_statements_on_postgres(bare_postgres_url: str, size: str) -> None:
    async def main() -> None:
        store = open_url(bare_postgres_url)
        await store.open()
        await store.close()
        if size != "fresh":
            await grow(bare_postgres_url)
        connection = await asyncpg.connect(bare_postgres_url, server_settings=SETTINGS)
        if size == "grown and analysed":
            await connection.execute("ANALYZE")
        queries = all_queries("postgres")
        for name, (params, row, index) in HOT.items():
            query = queries[name]
            if not query.text:  # another statement does its work there
                continue
            text, values = query.render("dollar", params, None if row is None else [row] * 3)
            plan = await planned(connection, text, values)
            assert index in plan, (name, plan)
            assert not re.search(r"Seq Scan on ostinato_(runs|timers|events|schedules)", plan), (name, plan)
            assert not name.startswith("claim_ready") or "Tid Scan" in plan, plan
        for name, (params, index, bounds) in PAGES.items():
            text, values = queries[name].render("dollar", {**LIST, **FROM, **params}, None)
            plan = await planned(connection, text, values)
            assert index in plan, (name, plan)
            # Of a table that has grown since it was looked at PostgreSQL may gather all that one key has, to sort it.
            sorts = size == "grown" or name == "attempts_in_status"
            assert sorts or not re.search(r"->  .*Sort|^.*Sort  \(", plan), (name, plan)
            conditions = re.findall(r"Index Cond: (.*)", plan)
            assert conditions, (name, plan)
            assert all(bounded(one, bounds) for one in conditions), (name, plan)
        await connection.close()

    asyncio.run(main())
