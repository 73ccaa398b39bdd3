"""Commands that wait for what they started, on a server that does the work; and webhooks whose deliveries fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ostinato.faces.cli.main import app
from tests.support.serving import Serving, until

JOBS = """
import asyncio

from ostinato import Ostinato

app = Ostinato("sqlite:///ostinato.db")


@app.job()
async def add(a: int = 1, b: int = 2) -> int:
    return a + b


@app.job()
async def rest() -> None:
    await asyncio.sleep(60)


@app.job()
async def fail() -> None:
    raise ValueError("no such luck")
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("waiting")
    (folder / "waiting_jobs.py").write_text(JOBS)
    with Serving(folder, "serve", "--app", "waiting_jobs:app", "--port", "0") as serving:
        yield serving.address


def run(server: str, *args: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [*args, "--server", server, "--json"], catch_exceptions=False)
    assert done.exit_code == code, f"{args}: {done.exit_code}\n{done.output}"
    return json.loads(done.stdout)


def test_a_run_is_waited_for_and_its_end_is_the_exit_code(server: str) -> None:
    done = run(server, "jobs", "start", "add", "--input", '{"a": 40}', "--wait")
    assert (done["status"], done["result"]) == ("succeeded", 42)
    failed = run(server, "jobs", "start", "fail", "--wait", code=1)
    assert (failed["status"], failed["error"]["message"]) == ("failed", "no such luck")
    misspelt = CliRunner().invoke(app, ["jobs", "start", "ad", "--at", "2036-01-01", "--server", server])
    assert "note: no node knows the job 'ad' yet; did you mean 'add'?" in misspelt.stderr
    shown = CliRunner().invoke(app, ["jobs", "start", "add", "--wait", "--server", server])
    assert "succeeded" in shown.stdout


def test_a_backfill_is_waited_for(server: str, tmp_path: Path) -> None:
    run(server, "schedules", "create", "hourly", "every 1h", "add")
    range_ = ("--first", "2026-01-01T00:00Z", "--last", "2026-01-03T00:00Z", "--overlap", "allow_all")
    begun = run(server, "schedules", "backfill", "hourly", *range_, "--wait")["backfill"]
    (item,) = run(server, "backfills", "list", "hourly")["items"]
    assert (item["id"], item["state"], item["made"], item["total"]) == (begun, "completed", 49, 49)
    assert run(server, "backfills", "wait", "hourly", begun)["made"] == 49
    output = CliRunner().invoke(app, ["backfills", "wait", "hourly", begun, "--server", server]).stdout
    assert "49 of 49 times dealt with: 49 runs" in output
    every = run(server, "schedules", "history", "hourly", "--limit", "1000")["items"]
    assert len(every) == 49


def test_a_backfill_says_how_many_of_its_times_were_skipped(server: str) -> None:
    run(server, "schedules", "create", "slow", "every 1h", "rest")
    range_ = ("--first", "2026-01-01T00:00Z", "--last", "2026-01-01T05:00Z", "--overlap", "skip", "--wait")
    done = CliRunner().invoke(app, ["schedules", "backfill", "slow", *range_, "--server", server])
    assert "6 of 6 times dealt with: 1 run, 5 skipped (5 for overlap)" in done.stderr
    listed = CliRunner().invoke(app, ["backfills", "list", "slow", "--server", server], env={"COLUMNS": "200"}).stdout
    assert "dealt with" in listed
    assert "started" not in listed
    run(server, "schedules", "delete", "slow", "--running", "terminate")


def test_a_delivery_is_shown_and_sent_again(server: str) -> None:
    hook = run(server, "webhooks", "create", "http://nowhere.invalid/in", "--pattern", "run:created")["id"]
    run(server, "jobs", "start", "add")
    (sent,) = until(lambda: run(server, "webhooks", "deliveries", hook, "--status", "waiting")["items"], "an attempt")
    assert sent["attempt"] == 2
    shown = CliRunner().invoke(app, ["webhooks", "show", hook, "--server", server], env={"COLUMNS": None}).stdout
    assert sent["id"] in shown
    run(server, "runs", "terminate", sent["id"])
    again = run(server, "webhooks", "redeliver", hook, sent["id"])
    assert {one["id"] for one in run(server, "webhooks", "deliveries", hook)["items"]} == {sent["id"], again["id"]}
    run(server, "webhooks", "delete", hook)
