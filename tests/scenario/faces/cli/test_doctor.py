"""The doctor finds each fault that is planted, says what to do, and finds nothing where nothing is wrong."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ostinato import Ostinato, every, manual
from ostinato.clock import SystemClock
from ostinato.doctor import _newer_rules, diagnose
from ostinato.engine.stalls import LoopWatch, blocked
from ostinato.faces.cli.main import app
from ostinato.flows.store import MIGRATIONS
from ostinato.store.migrate import migrations
from ostinato.when import rules_in_force
from ostinato.when.zones import ZoneRules
from tests.support.serving import Serving

MINUTE = 60_000_000


def now() -> int:
    return time.time_ns() // 1000


def look(url: str, *more: str) -> tuple[int, dict[str, Any]]:
    done = CliRunner().invoke(app, ["doctor", "--store", url, "--json", *more], catch_exceptions=False)
    data = json.loads(done.stdout)
    assert data["ok"] == (done.exit_code == 0)
    return done.exit_code, {one["name"]: one for one in data["items"]}


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store with a schedule and a node at work, as it should be."""
    address = f"sqlite:///{tmp_path}/store.db"

    async def fill() -> None:
        app = Ostinato(address)
        async with app.connected():
            await app.schedules.create("report", every("1h"), "send")
            await app.start("send", at="2036-01-01T00:00:00Z")

    asyncio.run(fill())
    plant_node(address, "living", lease=now() + 10 * MINUTE)
    return address


def plant(url: str, text: str, *values: Any) -> None:
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
        connection.execute(text, values)


def plant_node(url: str, name: str, *, lease: int, rules: str | None = None) -> None:
    since = now() - 10 * MINUTE
    row = (name, name, since, lease, '["default"]', '["send"]', "1", rules or rules_in_force().version, MINUTE, since)
    plant(url, "INSERT INTO ostinato_nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", *row)


def plant_run(url: str, **columns: Any) -> None:
    values = {
        "id": "planted",
        "namespace": "default",
        "kind": "job",
        "name": "send",
        "status": "ready",
        "queue": "default",
        "due": now(),
        "created": now(),
        "root_id": "planted",
        **columns,
    }
    marks = ", ".join("?" * len(values))
    plant(url, f"INSERT INTO ostinato_runs ({', '.join(values)}) VALUES ({marks})", *values.values())


def test_nothing_is_wrong_where_nothing_is(url: str) -> None:
    code, findings = look(url)
    assert code == 0
    assert findings.pop("zone_rules")["state"] in ("ok", "notice")  # the system's may be older than the package's
    assert {one["state"] for one in findings.values()} == {"ok"}
    assert set(findings) >= {
        "store",
        "schema",
        "clock",
        "nodes",
        "overdue_schedules",
        "parked_schedules",
        "parked_timers",
        "unknown_jobs",
        "invariants",
        "disk",
        "tables",
        "unknown_functions",
    }
    page = CliRunner().invoke(app, ["doctor", "--store", url]).stdout
    assert "✓ store:" in page
    assert "nothing is wrong" in page


def a_corrupt_timer(url: str) -> None:
    plant(
        url,
        "INSERT INTO ostinato_timers VALUES ('schedule', 'x', 'odd', ?, 'default', NULL, 'no such purpose')",
        now(),
    )


def a_timer_with_a_number_too_large(url: str) -> None:
    plant(
        url,
        "INSERT INTO ostinato_timers VALUES ('run', 'x', 'wake', ?, 'default', NULL, 'TypeError(''Integer exceeds"
        " 64-bit range'')')",
        now(),
    )


def differing_zone_rules(url: str) -> None:
    plant_node(url, "other", lease=now() + 10 * MINUTE, rules="1999a")


def a_dead_node_with_active_runs(url: str) -> None:
    plant_node(url, "dead", lease=now() - 10 * MINUTE)
    plant_run(url, status="active", node="dead", started=now())


def a_miscounted_limit(url: str) -> None:
    plant(url, "INSERT INTO ostinato_limits VALUES ('default', 'mail', 3, NULL, 1000000, 1, 2, 0)")


def a_parked_schedule(url: str) -> None:
    plant(url, "UPDATE ostinato_schedules SET state = 'parked', reason = 'its spec cannot be read'")


def an_overdue_timer(url: str) -> None:
    plant(
        url, "INSERT INTO ostinato_timers VALUES ('run', 'x', 'start', ?, 'default', NULL, NULL)", now() - 10 * MINUTE
    )


def an_overdue_schedule(url: str) -> None:
    plant(url, "UPDATE ostinato_timers SET due = ? WHERE kind = 'schedule'", now() - MINUTE // 2)


def a_job_that_nobody_knows(url: str) -> None:
    plant_run(url, name="forgotten", status="waiting", reason="no_handler")


def a_function_that_nobody_has(url: str) -> None:
    reason = "no node with function 'onboard', version 1"
    plant_run(url, kind="function", name="onboard", status="waiting", reason=reason, claim=1)
    plant(
        url, "INSERT INTO ostinato_timers VALUES ('run', 'planted', 'wake', ?, 'default', NULL, NULL)", now() + MINUTE
    )


def a_run_without_an_end(url: str) -> None:
    plant_run(url, status="succeeded")


def a_run_that_waits_for_nothing(url: str) -> None:
    plant_run(url, status="waiting", reason=None)


def a_key_held_by_the_dead(url: str) -> None:
    plant_run(url, status="succeeded", finished=now(), serial_key="one")
    plant(url, "INSERT INTO ostinato_serials VALUES ('default', 'one', 'planted')")


def a_line_without_a_head(url: str) -> None:
    plant_run(url, status="buffered", hold="serial", serial_key="two", serial_hold="chain")


@pytest.mark.parametrize(
    ("fault", "name", "words", "remedy"),
    [
        (a_corrupt_timer, "parked_timers", "no such purpose", "upgrade the nodes"),
        (a_timer_with_a_number_too_large, "parked_timers", "64-bit", "Correct the definition that contains it"),
        (differing_zone_rules, "zone_rules", "other has 1999a", "the same tzdata"),
        (a_dead_node_with_active_runs, "active_under_no_node", "under node dead", "doctor --repair"),
        (a_miscounted_limit, "limit_miscounted", "its count is 2, but 0 runs hold it", "doctor --repair"),
        (a_parked_schedule, "parked_schedules", "report (its spec cannot be read)", "ostinato schedules"),
        (an_overdue_timer, "overdue_timer", "due 6", "start a node"),
        (an_overdue_schedule, "overdue_schedules", "default/report", "behind"),
        (a_job_that_nobody_knows, "unknown_jobs", "forgotten (1 runs)", "declares the job"),
        (a_function_that_nobody_has, "unknown_functions", "'onboard', version 1 (1 runs)", "declares the function"),
        (a_run_without_an_end, "no_end", "has no time of ending", "report it"),
        (a_run_that_waits_for_nothing, "waiting_for_nothing", "without a timer or a reason", "doctor --repair"),
        (a_key_held_by_the_dead, "serial_held_by_the_dead", "held by planted", "doctor --repair"),
        (a_line_without_a_head, "in_line_for_nothing", "a serial key that is free", "doctor --repair"),
    ],
)
def test_each_fault_is_found_and_what_to_do_is_said(
    url: str, fault: Callable[[str], None], name: str, words: str, remedy: str
) -> None:
    fault(url)
    code, findings = look(url)
    assert code == 1
    assert findings[name]["state"] == "wrong"
    assert words in findings[name]["words"]
    assert remedy in findings[name]["remedy"]
    others = {key for key, one in findings.items() if one["state"] == "wrong"} - {name}
    assert others <= {"overdue_timer"}  # a late schedule is a late timer, too
    page = CliRunner().invoke(app, ["doctor", "--store", url])
    assert page.exit_code == 1
    assert "something is wrong" in page.stdout


@pytest.mark.parametrize(
    "fault",
    [
        a_dead_node_with_active_runs,
        a_miscounted_limit,
        a_run_that_waits_for_nothing,
        a_key_held_by_the_dead,
        a_line_without_a_head,
    ],
)
def test_what_is_safe_to_mend_is_mended_on_request(url: str, fault: Callable[[str], None]) -> None:
    fault(url)
    assert look(url)[0] == 1
    code, findings = look(url, "--repair")
    assert code == 0
    assert "repaired" in {one["remedy"] for one in findings.values()}
    assert look(url)[0] == 0


def test_a_table_that_is_missing_is_told_first(url: str) -> None:
    plant(url, "DROP TABLE ostinato_webhooks")
    code, findings = look(url)
    assert (code, findings["tables"]["state"]) == (1, "wrong")
    assert findings["tables"]["words"] == "the store lacks tables: ostinato_webhooks (of webhooks)"
    assert "from a backup" in findings["tables"]["remedy"]


def test_a_store_of_a_newer_ostinato_is_left_alone(url: str) -> None:
    newest = migrations("sqlite")[-1][0]
    plant(url, "UPDATE ostinato_meta SET value = ? WHERE key = 'schema'", str(newest + 1))
    code, findings = look(url)
    assert code == 1
    assert list(findings) == ["store", "schema"]
    assert "upgrade this one" in findings["schema"]["remedy"]


def test_a_check_of_the_schema_says_whose_database_it_is(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection:
        for words in ("is empty", "none of them is Ostinato's"):
            checked = CliRunner().invoke(app, ["migrate", "--check", "--store", f"sqlite:///{path}"])
            assert checked.exit_code == 1
            assert words in checked.output
            connection.execute("CREATE TABLE IF NOT EXISTS customers (id integer)")
            connection.commit()


def test_a_store_of_an_older_ostinato_is_not_migrated_by_looking(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    connection = sqlite3.connect(path)
    number, text = migrations("sqlite")[0]
    connection.executescript(text)
    connection.execute("INSERT INTO ostinato_meta VALUES ('schema', ?)", (str(number),))
    connection.commit()
    before = path.read_bytes()
    connection.close()
    code, findings = look(f"sqlite:///{path}")
    assert code == 0
    assert findings["schema"]["state"] == "notice"
    assert "ostinato migrate" in findings["schema"]["remedy"]
    assert path.read_bytes() == before
    assert CliRunner().invoke(app, ["migrate", "--check", "--store", f"sqlite:///{path}"]).exit_code == 1


def test_older_tables_of_agents_are_not_migrated_by_looking(url: str) -> None:
    plant(url, "UPDATE ostinato_meta SET value = '3' WHERE key = 'schema:agents'")
    code, findings = look(url)
    assert (code, findings["schema"]["state"]) == (0, "notice")
    needed = len(MIGRATIONS)
    assert findings["schema"]["words"] == f"it has schema 3 of agents, and this Ostinato needs {needed}"
    checked = CliRunner().invoke(app, ["migrate", "--check", "--store", url])
    assert checked.exit_code == 1
    assert f"has schema 3 of agents, and this Ostinato needs {needed}; `ostinato migrate` brings" in checked.output
    paused = CliRunner().invoke(app, ["schedules", "pause", "x", "--store", url])
    assert paused.exit_code == 3  # as for every store that cannot be used
    assert "has schema 3 of agents" in paused.output
    plant(url, "UPDATE ostinato_meta SET value = '99' WHERE key = 'schema:agents'")
    code, findings = look(url)
    assert (code, findings["schema"]["state"]) == (1, "wrong")


def test_a_damaged_a_missing_and_a_foreign_file_are_told_apart(tmp_path: Path, url: str) -> None:
    code, findings = look(f"sqlite:///{tmp_path}/missing.db")
    assert code == 1
    assert "there is no store" in findings["store"]["words"]
    foreign = tmp_path / "foreign.db"
    foreign.write_text("this is not a database at all, though it is long enough to be one" * 40)
    assert "not a SQLite file" in look(f"sqlite:///{foreign}")[1]["store"]["words"]
    path = Path(url.removeprefix("sqlite:///"))
    plant(url, "PRAGMA wal_checkpoint(TRUNCATE)")
    whole = bytearray(path.read_bytes())
    whole[4096 * 3 : 4096 * 9] = b"\xff" * (4096 * 6)
    path.write_bytes(whole)
    code, findings = look(url)
    assert code == 1
    assert "damaged" in findings["store"]["words"]


def test_a_clock_that_differs_from_the_database_is_told(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    CliRunner().invoke(app, ["migrate", "--store", postgres_url])
    code, findings = look(postgres_url)
    assert (code, findings["clock"]["state"]) == (0, "ok")
    assert findings["store"]["state"] == findings["schema"]["state"] == "ok"
    real = SystemClock.now
    for seconds, state in ((5, "notice"), (-90, "wrong")):
        monkeypatch.setattr(SystemClock, "now", lambda clock, off=seconds: real(clock) + off * 1_000_000)
        code, findings = look(postgres_url)
        assert (code, findings["clock"]["state"]) == (int(state == "wrong"), state)
        assert (
            f"differ by {abs(seconds)}." in findings["clock"]["words"]
            or f"{abs(seconds) - 1}.9" in findings["clock"]["words"]
        )
        assert "NTP" in findings["clock"]["remedy"]


def test_little_room_on_the_disk_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 50 << 20

    monkeypatch.setattr("ostinato.doctor.shutil.disk_usage", lambda _: Usage)
    code, findings = look(url)
    assert code == 1
    assert "free some space" in findings["disk"]["remedy"]


def test_no_node_is_worth_a_notice_but_is_not_wrong(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/quiet.db"
    CliRunner().invoke(app, ["migrate", "--store", url])
    code, findings = look(url)
    assert code == 0
    assert findings["nodes"]["state"] == "notice"
    assert "ostinato serve" in findings["nodes"]["remedy"]


def test_a_server_is_looked_at_from_inside(tmp_path: Path) -> None:
    with Serving(tmp_path, "serve", "--port", "0", "--no-engine") as server:
        address = server.address
        a_job_that_nobody_knows(f"sqlite:///{tmp_path}/ostinato.db")
        done = CliRunner().invoke(app, ["doctor", "--server", address, "--json"])
    assert done.exit_code == 1
    findings = {one["name"]: one for one in json.loads(done.stdout)["items"]}
    assert findings["server"]["state"] == "ok"
    assert "forgotten" in findings["unknown_jobs"]["words"]


def test_schedules_that_fail_again_and_again_are_named(store_url: str) -> None:
    async def main() -> None:
        app = Ostinato(store_url)

        @app.job()
        async def charge() -> None:
            raise ValueError("no money")

        @app.job()
        async def fine() -> dict[str, int]:
            return {"failures": 0}

        async with app:
            for name, job, times in (("ada", charge, 3), ("bob", charge, 2), ("eve", fine, 3), ("zoe", charge, 1)):
                await app.schedules.create(name, manual(), job, pause_after_failures=1 if name == "zoe" else None)
                for _ in range(times):
                    await app.schedules.trigger(name)
                    while (await app.schedules.get(name)).running:
                        await asyncio.sleep(0.01)
            (finding,) = [one for one in await diagnose(app) if one.name == "failing_schedules"]
        assert finding.state == "wrong"
        assert finding.words == (
            "2: default/ada (3 times in a row, last: ValueError: no money), "
            "default/zoe (1 times in a row, and paused because of it, last: ValueError: no money)"
        )

    asyncio.run(main())


def test_runs_of_a_kind_that_no_node_knows(url: str) -> None:
    async def start() -> None:
        app = Ostinato(url)
        async with app.connected():
            await app.start("send")

    asyncio.run(start())
    plant(url, "UPDATE ostinato_runs SET kind = 'turn'")
    assert look(url)[1]["unknown_kinds"]["state"] == "ok"  # it may only just have come
    plant(url, "UPDATE ostinato_runs SET ready_at = ready_at - 90000000")
    code, findings = look(url)
    assert (code, findings["unknown_kinds"]["state"]) == (1, "wrong")
    assert "turn (1 runs)" in findings["unknown_kinds"]["words"]


def test_runs_in_a_queue_that_nobody_serves(url: str) -> None:
    async def start() -> None:
        app = Ostinato(url)
        async with app.connected():
            await app.start("send", queue="mail")

    asyncio.run(start())
    assert look(url)[1]["unserved_queues"]["state"] == "ok"  # it may only just have come
    plant(url, "UPDATE ostinato_runs SET ready_at = ready_at - 90000000 WHERE queue = 'mail'")
    code, findings = look(url)
    assert (code, findings["unserved_queues"]["state"]) == (1, "wrong")
    assert "mail (1 runs)" in findings["unserved_queues"]["words"]


def test_a_job_that_blocks_the_event_loop_is_noticed(store_url: str, caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        app = Ostinato(store_url)

        @app.job()
        async def crunch() -> None:
            time.sleep(1.0)  # noqa: ASYNC251

        async with app:
            watch = LoopWatch(app.engine.bodies.run_of, app.engine._stalls.append, long=0.05)
            await (await app.start("crunch")).result()
            while app.engine._stalls or not await app.store.read(lambda _: blocked()):
                app.engine.attend()
                await asyncio.sleep(0.01)
            app.engine._loop_watch, original = watch, app.engine._loop_watch
            app.engine._renewed -= 60_000_000  # as if it had blocked for longer than the lease
            app.engine._log_loss("n1")
            app.engine._loop_watch = original
            watch.stop()
            (finding,) = [one for one in await diagnose(app) if one.name == "blocking_jobs"]
        assert finding.state == "notice"
        assert "crunch (1 times, last for " in finding.words
        assert "test_doctor.py:" in finding.words

    asyncio.run(main())
    (lost,) = [record.getMessage() for record in caplog.records if "given up for dead" in record.getMessage()]
    assert "job 'crunch' blocked the event loop" in lost
    (line,) = [record for record in caplog.records if "blocks the event loop" in record.getMessage()]
    assert "job 'crunch'" in line.getMessage()
    assert "crunch" in line.values["where"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("used", "source", "installed", "noticed"),
    [
        ("2025b", "/usr/share/zoneinfo", "2026a", True),
        ("2026a", "/usr/share/zoneinfo", "2026a", False),
        ("2026b", "/usr/share/zoneinfo", "2026a", False),
        ("2025b", "tzdata", "2025b", False),
        ("unknown", "/usr/share/zoneinfo", "2026a", False),
        ("2025b", "/usr/share/zoneinfo", None, False),
    ],
)
def test_newer_rules_that_are_installed_are_noticed(
    used: str, source: str, installed: str | None, noticed: bool
) -> None:
    newer = _newer_rules(ZoneRules(used, source), installed)
    assert (newer is not None and newer.state == "notice") == noticed
