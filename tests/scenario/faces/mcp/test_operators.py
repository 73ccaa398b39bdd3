"""`ostinato mcp`: a real MCP client asks what ran, and why not."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from ostinato import Ostinato
from ostinato.faces.mcp.operators import TOOLS
from ostinato.faces.mcp.results import MOST, bounded
from tests.support.forked_python import OSTINATO
from tests.support.mcp import ask, names, over_http, over_stdio
from tests.support.serving import clean_environment
from tests.support.web import Live, declare

ACTING = {"trigger_schedule", "pause_schedule", "resume_schedule", "cancel_run"}


async def fill(store: str) -> tuple[str, dict[str, str]]:
    """A schedule that ran and is paused, and tokens. Returns the run's id and the tokens by role."""
    app = declare(Ostinato(store, min_interval=0.001))

    @app.job()
    async def talk() -> None:
        raise ValueError("x" * 50_000)

    async with app:
        await app.schedules.create("report", "0 9 * * *", "note")
        handle = await app.start("talk")
        async with asyncio.timeout(20):
            while not (await handle.info()).over:
                await asyncio.sleep(0.01)
        tokens = {role: (await app.create_token(role, label=role))[0] for role in ("reader", "operator", "admin")}
        return handle.id, tokens


@asynccontextmanager
async def http_server(*args: str) -> AsyncIterator[str]:
    """`ostinato mcp --http` in a process of its own. Yields its URL; it must end in good order."""
    command = [sys.executable, "-m", "ostinato", "mcp", "--http", "127.0.0.1:0", *args]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    try:
        async with asyncio.timeout(60):
            url = (await process.stdout.readline()).decode().strip()
        yield url
    finally:
        process.terminate()
        assert await process.wait() == 0


async def look(client: Any, run_id: str) -> None:
    """Every tool that reads."""
    ok, listed = await ask(client, "list_schedules", match="rep*")
    assert (ok, [one["name"] for one in listed["items"]]) == (True, ["report"])
    assert (await ask(client, "show_schedule", name="report"))[1]["name"] == "report"
    ok, why = await ask(client, "explain_schedule", name="report", at="2026-01-01T09:00:00Z")
    assert (ok, bool(why["sentences"])) == (True, True)
    ok, upcoming = await ask(client, "upcoming", limit=3)
    assert (ok, len(upcoming["items"]), "report" in str(upcoming)) == (True, 3, True)
    period = {"first": "2026-03-01T00:00:00Z", "last": "2026-03-03T00:00:00Z"}
    ok, simulated = await ask(client, "simulate_schedule", schedule="report", **period)
    assert ok, simulated
    ok, simulated = await ask(client, "simulate_schedule", spec="0 9 * * *", **period)
    assert (ok, len(simulated["items"])) == (True, 2), simulated
    ok, runs = await ask(client, "list_runs", status="failed")
    assert run_id in [run["id"] for run in runs["items"]]
    result = await client.call_tool("show_run", {"id": run_id})
    assert len(result.content[0].text.encode()) <= MOST
    assert "ValueError" in result.content[0].text
    assert (await ask(client, "run_logs", id=run_id))[0]


async def mistakes(client: Any) -> None:
    """Values are refused in the words of the HTTP API, and unknown arguments are never ignored."""
    for tool, arguments, words in (
        ("show_schedule", {"name": "reprot"}, "did you mean 'report'"),
        ("show_schedule", {"nam": "report"}, "nam: there is no such field; did you mean 'name'"),
        ("show_schedule", {}, "name: it is missing"),
        ("list_runs", {"status": "over"}, "query.status"),
        ("list_runs", {"limit": 0}, "limit:"),
        ("list_runs", {"limit": "5"}, "limit:"),
        ("list_runs", {"namespace": "other"}, "there is no such field"),
        ("explain_schedule", {"name": "report", "at": "yesterday"}, "query.at"),
        ("simulate_schedule", {"first": "x", "last": "y", "spec": "0 9 * * *"}, "body.first"),
        ("simulate_schedule", {"first": "x", "last": "y"}, "give either schedule, the name of a schedule, or spec"),
        ("show_run", {"id": "none"}, "there is no run 'none'"),
        ("trigger_scedule", {}, "did you mean 'trigger_schedule'"),
    ):
        ok, said = await ask(client, tool, **arguments)
        assert (ok, words in str(said)) == (False, True), (tool, said)


def test_a_store_is_read_over_stdio_and_nothing_is_changed_by_default(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"

    async def main() -> None:
        run_id, _ = await fill(store)
        async with over_stdio("mcp", "--store", store) as client:
            assert set(await names(client)) == set(TOOLS) - ACTING
            await look(client, run_id)
            await mistakes(client)
            assert (await ask(client, "doctor"))[0]
            for tool in ACTING:
                ok, words = await ask(client, tool, name="report")
                assert (ok, "needs the role operator; you have reader" in words) == (False, True)

    asyncio.run(main())


def test_an_operator_acts_on_a_store_over_stdio(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"

    async def main() -> None:
        await fill(store)
        async with over_stdio("mcp", "--store", store, "--role", "operator") as client:
            assert set(await names(client)) == set(TOOLS)
            assert (await ask(client, "pause_schedule", name="report", note="for now"))[0]
            ok, paused = await ask(client, "list_schedules", state="paused")
            assert [one["name"] for one in paused["items"]] == ["report"]
            assert (await ask(client, "resume_schedule", name="report"))[0]
            ok, triggered = await ask(client, "trigger_schedule", name="report")
            assert ok, triggered
            ok, runs = await ask(client, "list_runs", status="ready")
            (started,) = runs["items"]
            ok, cancelled = await ask(client, "cancel_run", id=started["id"], reason="enough")
            assert (ok, cancelled["status"]) == (True, "cancelled")

    asyncio.run(main())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http_each_caller_has_the_role_of_its_token(tmp_path: Path, mode: str) -> None:
    store = f"sqlite:///{tmp_path}/store.db"

    async def main() -> None:
        run_id, tokens = await fill(store)
        async with http_server("--store", store) as url:
            async with over_http(url, tokens["reader"], mode) as client:
                await look(client, run_id)
                ok, words = await ask(client, "trigger_schedule", name="report")
                assert (ok, words) == (False, "this needs the role operator; the token has reader")
                assert (await ask(client, "doctor"))[1] == "this needs the role admin; the token has reader"
            async with over_http(url, tokens["operator"], mode) as client:
                assert (await ask(client, "trigger_schedule", name="report"))[0]
            async with over_http(url, tokens["admin"], mode) as client:
                assert (await ask(client, "doctor"))[0]
            async with over_http(url, "ost_wrong", mode) as client:
                assert await ask(client, "list_runs") == (False, "the token is not valid here")
            async with over_http(url, None, mode) as client:  # on loopback: as the store's own user, only to read
                assert set(await names(client)) == set(TOOLS) - ACTING
                assert not (await ask(client, "pause_schedule", name="report"))[0]
            async with httpx2.AsyncClient() as http:
                foreign = await http.post(url, json={}, headers={"Host": "evil.example"})
                assert foreign.status_code == 421

    asyncio.run(main())


def test_a_server_is_asked_with_the_token_of_the_caller(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    run_id, tokens = asyncio.run(fill(store))

    async def main(server: str) -> None:
        async with over_stdio("mcp", "--url", server, OSTINATO_TOKEN=tokens["reader"]) as client:
            await look(client, run_id)
            assert not (await ask(client, "trigger_schedule", name="report"))[0]
        async with (
            http_server("--server", server, "--role", "reader") as url,
            over_http(url, tokens["operator"]) as client,
        ):
            ok, words = await ask(client, "trigger_schedule", name="report")
            assert (ok, "(--role)" in words) == (False, True)  # the most, whatever the token

    with Live(store, node=False) as live:
        asyncio.run(main(live.url))


def test_results_are_bounded() -> None:
    many = json.loads(bounded({"items": [{"id": n, "text": "x" * 3000} for n in range(1000)]}))
    assert (many["of"], many["shortened"]) == (1000, True)
    assert 5 < many["shown"] == len(many["items"]) < 20
    for value in ({"a": "é" * 100_000}, ["x"] * 100_000, {str(n): "x" * 1000 for n in range(5000)}, "y" * (1 << 20)):
        text = bounded(value)
        assert len(text.encode()) <= MOST
        assert json.loads(text)["shortened"] is True
    assert bounded({"a": 1}) == '{"a":1}'


def test_certificates_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    command = [OSTINATO, "mcp", "--server", "https://localhost:1", "--ca", str(tmp_path / "none.pem")]
    done = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert f"the certificates {tmp_path}/none.pem cannot be read" in done.stderr
