"""`ostinato workflows …`, on a store and on a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from ostinato import Conflict, Ostinato
from ostinato.client import SyncClient
from ostinato.faces.cli.main import app
from ostinato.workflows import AuthRequired
from tests.support.commands import Place
from tests.support.web import Live
from tests.support.workflows import deploy_mailbox


async def fill(store: str) -> None:
    """Leave two workflows in a store: one that is done, and one that a person must settle."""
    async with Ostinato(store) as node, asyncio.timeout(20):
        await deploy_mailbox(node, mails=["one", "two"], batch=2)
        while not (await node.workflows.get("inbox")).activity:
            await asyncio.sleep(0.01)
    async with Ostinato(store) as node, asyncio.timeout(20):
        await deploy_mailbox(node, [AuthRequired("Gmail")], name="outbox")
        while (await node.workflows.get("outbox")).status != "Needs attention":
            await asyncio.sleep(0.01)


@pytest.fixture(params=["store", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    store = f"sqlite:///{tmp_path}/store.db"
    asyncio.run(fill(store))
    if request.param == "store":
        yield Place({"OSTINATO_STORE": store, "OSTINATO_SERVER": None}, "store")
        return
    with Live(store, node=False) as live:
        yield Place({"OSTINATO_SERVER": live.url, "OSTINATO_STORE": None}, "server")


def titles(items: dict[str, Any]) -> set[str]:
    return {item["title"] for item in items["items"]}


def test_workflows_are_watched(place: Place, tmp_path: Path) -> None:
    lines = place.text("workflows", "list").splitlines()
    assert [line.split()[0] for line in lines] == ["workflow", "inbox", "outbox"]
    assert "Waiting for you to reconnect Gmail" in lines[2]
    page = place.text("workflows", "show", "inbox")
    assert "Processed 2 emails → send 2" in page
    assert "mail email: 0 pending, 2 done, 0 skipped" in page
    assert "Checks every 5 minutes · next in" in page
    assert titles(place.json("workflows", "inputs", "inbox", "--status", "done")) == {"one", "two"}
    assert "1 output" in place.text("workflows", "inputs", "inbox")
    assert "2 emails (batch)" in place.text("workflows", "outputs", "inbox")
    (output,) = place.json("workflows", "outputs", "inbox")["items"]
    assert "applied: send 2 (send)" in place.text("workflows", "run", "inbox", output["run_id"])
    assert output["run_id"] in place.text("workflows", "runs", "inbox")
    assert {run["handler"] for run in place.json("workflows", "runs", "inbox", "--handler", "Send")["items"]} == {
        "Send"
    }
    assert "did you mean 'Send'?" in place.error("workflows", "runs", "inbox", "--handler", "Sent", code=1)
    assert "consumed" in place.text("workflows", "events", "inbox", "--topic", "emails")
    assert place.text("workflows", "events", "inbox", "--status", "pending").strip() == "no events"
    picture = tmp_path / "outbox.svg"
    assert "wrote" in place.text("workflows", "draw", "outbox", "-o", str(picture))
    assert 'class="consumer current blocked"' in picture.read_text(encoding="utf-8")
    assert "did you mean 'inbox'?" in place.error("workflows", "show", "inbx", code=1)
    words = "ostinato workflows resolve out"
    environ = {**place.environ, "_OSTINATO_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": "3"}
    assert CliRunner().invoke(app, env=environ, prog_name="ostinato").stdout.split() == ["outbox"]
    assert "status 'don' is unknown; did you mean 'done'?" in place.error(
        "workflows", "inputs", "inbox", "--status", "don", code=2
    )


def test_workflows_are_changed(place: Place) -> None:
    assert "1 input needs your attention" in place.text("workflows", "show", "outbox")
    (held,) = place.json("workflows", "inputs", "outbox")["items"]
    assert held["attention"] == "blocked"
    run_id = place.json("workflows", "show", "outbox")["run_id"]
    assert "is blocked by run" in place.error("workflows", "resolve", "outbox", "resume", "--run", "other", code=1)
    assert "choice 'resum' is unknown; did you mean 'resume'?" in place.error(
        "workflows", "resolve", "outbox", "resum", code=2
    )
    assert place.text("workflows", "resolve", "outbox", "resume", "--run", run_id).strip() == "outbox is Running"
    assert place.text("workflows", "skip-event", "outbox", "emails", "one").strip() == "skipped one of emails"
    assert "is consumed; nothing was skipped" in place.error(
        "workflows", "skip-event", "inbox", "emails", "one", code=1
    )
    assert "has no event 'three'" in place.error("workflows", "skip-event", "inbox", "emails", "three", code=1)
    first = place.json("workflows", "inputs", "inbox")["items"][0]["id"]
    assert place.text("workflows", "skip-input", "inbox", first).strip() == f"skipped {first}"
    assert place.json("workflows", "pause", "inbox")["status"] == "Stopped"
    assert "resume it first" in place.error("workflows", "run-now", "inbox", code=1)
    assert place.text("workflows", "resume", "inbox").strip() == "resumed inbox"
    assert place.json("workflows", "run-now", "inbox")["status"] == "Running"
    assert place.text("workflows", "stop", "inbox").strip() == "stopped inbox"
    assert "stopped for good" in place.error("workflows", "resume", "inbox", code=1)


def test_the_client_has_every_call_of_the_command_line(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    asyncio.run(fill(store))
    with Live(store, node=False) as live, SyncClient(live.url) as client:
        flows = client.workflows
        assert [workflow["name"] for workflow in flows.list()] == ["inbox", "outbox"]
        assert flows.get("inbox", recent=1)["activity"] == ["Processed 2 emails → send 2"]
        (output,) = flows.outputs("inbox")
        assert flows.run("inbox", output["run_id"])["output"] == output
        assert {event["status"] for event in flows.events("inbox")} == {"consumed"}
        assert len(flows.inputs("inbox", limit=1)) == 1
        assert flows.runs("inbox", limit=1)[0]["status"] == "committed"
        assert flows.draw("inbox").startswith("<svg")
        assert flows.pause("inbox", key="k") == flows.pause("inbox", key="k")
        assert flows.resume("inbox")["status"] == "Idle"
        assert flows.skip_event("outbox", "emails", "one")["name"] == "outbox"
        with pytest.raises(Conflict, match="is not blocked"):
            flows.resolve("outbox", "skip")
        with pytest.raises(Conflict, match="is consumed; nothing was skipped"):
            flows.skip_event("inbox", "emails", "one")
        assert flows.skip_input("inbox", output["inputs"][0]["id"])["name"] == "inbox"
        assert flows.run_now("inbox")["status"] == "Running"
        assert flows.stop("inbox")["status"] == "Stopped"
