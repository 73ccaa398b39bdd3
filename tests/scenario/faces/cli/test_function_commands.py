"""`ostinato functions …`, on a store and on a server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ostinato import Conflict, NotFound, Ostinato, SyncOstinato
from ostinato.client import SyncClient
from ostinato.faces.cli.main import app
from tests.support.commands import Place
from tests.support.face_functions import declare_functions, start_onboard
from tests.support.web import Live


async def fill(store: str) -> None:
    """Leave runs in a store: one that is done, and two that wait for a reply, of which one began with other code."""
    old = Ostinato(store)
    declare_functions(old, version=1, pinned=True)
    async with old:
        await start_onboard(old, "bob", id="bob")
    node = Ostinato(store)
    declare_functions(node, version=2)
    async with node:
        await (await node.functions.start("report", id="done")).result("20s")
        await start_onboard(node, id="ada")


@pytest.fixture(params=["store", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    store = f"sqlite:///{tmp_path}/store.db"
    asyncio.run(fill(store))
    if request.param == "store":
        yield Place({"OSTINATO_STORE": store, "OSTINATO_SERVER": None}, "store")
        return
    with Live(store, node=False) as live:
        yield Place({"OSTINATO_SERVER": live.url, "OSTINATO_STORE": None}, "server")


def test_functions_are_watched(place: Place, tmp_path: Path) -> None:
    lines = place.text("functions", "list").splitlines()
    assert [line.split()[1] for line in lines] == ["function", "onboard", "report", "onboard"]
    assert "a message 'reply' or the time 20" in lines[1]
    assert [run["key"] for run in place.json("functions", "list", "--status", "succeeded")["items"]] == ["done"]
    assert len(place.json("functions", "list", "--name", "onboard")["items"]) == 2
    assert place.text("functions", "list", "--status", "failed").strip() == "no runs of functions"
    page = place.text("functions", "show", "ada")
    assert "waits for a message 'reply' or the time 20" in page
    assert '{"asking": "ada"}' in page
    assert place.json("functions", "show", "ada")["state"] == {"asking": "ada"}
    assert len(place.json("functions", "steps", "ada")["items"]) == 6
    picture = tmp_path / "ada.svg"
    assert "wrote" in place.text("functions", "draw", "ada", "-o", str(picture))
    assert 'class="receive pending"' in picture.read_text(encoding="utf-8")
    assert "there is no function run 'eve'" in place.error("functions", "show", "eve", code=1)
    assert "status 'over' is unknown" in place.error("functions", "list", "--status", "over", code=2)
    environ = {"_OSTINATO_COMPLETE": "complete_bash", "COMP_WORDS": "ostinato functions start on", "COMP_CWORD": "3"}
    completed = CliRunner().invoke(app, env={**place.environ, **environ}, prog_name="ostinato")
    assert completed.stdout.split() == ["onboard"]
    run = place.text("runs", "show", "ada")
    assert "a durable function" in run
    assert "`ostinato functions steps" in run


def test_steps_are_a_timeline_that_fits_the_terminal(place: Place) -> None:
    environ = {**place.environ, "COLUMNS": "80"}
    done = CliRunner().invoke(app, ["functions", "steps", "ada"], env=environ, catch_exceptions=False)
    lines = done.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines), done.stdout
    rows = [line.split() for line in lines[1:7]]
    assert [row[1] for row in rows] == ["step", "sleep", "step", "step", "step", "receive"]
    assert rows[1][2:4] == ["10ms", "done"]
    assert lines[4].startswith("  ")  # a branch of a gather
    assert "░" in lines[2]
    assert lines[6].rstrip().endswith("░▸")  # it goes on
    assert "refuse: ValueError: not <1>" in lines[7]
    assert 'raise ValueError(f"not <{n}>")' in done.stdout  # its traceback
    few = place.text("functions", "steps", "ada", "--limit", "2")
    assert "4 earlier steps" in few
    assert "double" in few


def test_what_still_runs_on_which_code_is_said(place: Place) -> None:
    old, new = place.text("functions", "drain").splitlines()
    assert old.startswith("onboard version 1, code ")
    assert "1 run (1 waiting), the oldest since " in old
    assert old.endswith("pinned to this version, which a node has declared: keep it deployed")
    assert new.startswith("onboard version 2, code ")
    assert new.endswith("this is the newest code that a node has declared")
    assert [code["version"] for code in place.json("functions", "drain")["items"]] == [1, 2]


def test_functions_are_started_sent_messages_and_stopped(place: Place) -> None:
    started = place.json("functions", "start", "onboard", "--input", '{"user": "eve"}', "--id", "eve")
    assert started["new"] is True
    assert "was started before" in place.text(
        "functions", "start", "onboard", "--input", '{"user": "e"}', "--id", "eve"
    )
    wrong = place.error("functions", "start", "onboard", "--input", '{"usr": "eve"}', code=2)
    assert "did you mean 'user'" in wrong
    assert "--input, usr" in wrong
    assert "did you mean 'onboard'" in place.error("functions", "start", "onbord", code=1)
    assert "sent reply to" in place.text("functions", "send", "ada", "reply", '{"ok": true}', "--id", "m1")
    assert "is not JSON" in place.error("functions", "send", "ada", "reply", "{", code=2)
    assert "is succeeded" in place.error("functions", "send", "done", "reply", code=1)
    assert place.text("functions", "terminate", "eve", "--reason", "enough").strip() == "eve: terminated"
    assert place.text("functions", "cancel", "bob").strip() == "asked bob to stop"
    assert place.text("runs", "cancel", "bob").strip() == "asked bob to stop"  # it was parked, and is so still
    assert place.json("functions", "cancel", "done")["status"] == "succeeded"


def test_a_start_waits_for_the_end(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    with Live(store) as live:
        declare_functions(live.app)
        place = Place({"OSTINATO_SERVER": live.url, "OSTINATO_STORE": None}, "server")
        page = place.text("functions", "start", "report", "--wait")
        assert "succeeded" in page
        assert "double" in page
        assert place.json("functions", "start", "report", "--wait")["result"] == 42
        messages = ("--send", '{"reply": 1}', "--deadline", "1h")
        ended = place.json("functions", "start", "onboard", "--input", '{"user": "x"}', *messages, "--wait")
        assert ended["result"] == {"user": "x", "answer": 1}


def test_the_client_has_every_call_of_the_command_line(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    asyncio.run(fill(store))
    with Live(store, node=False) as live, SyncClient(live.url, patience=1) as client:
        functions = client.functions
        assert [run["key"] for run in functions.list(limit=2)] == ["ada", "done"]
        assert {(code["name"], code["version"]) for code in functions.declared()} == {
            ("onboard", 1),
            ("onboard", 2),
            ("report", 1),
        }
        assert functions.get("ada")["waits_for"].startswith("a message 'reply' or the time 20")
        assert [step["kind"] for step in functions.steps("ada", limit=2)] == ["step", "sleep"]
        assert functions.draw("ada").startswith("<svg")
        assert functions.drain()[0]["runs"] == 1
        assert functions.result("done")["result"] == 42
        with pytest.raises(Conflict, match="is not over"):
            functions.result("ada", wait=0.1)
        assert functions.send("ada", "reply", {"ok": True}, message_id="m")["name"] == "reply"
        with pytest.raises(Conflict, match="is succeeded"):
            functions.send("done", "reply")
        with pytest.raises(NotFound):
            functions.send("nobody", "reply")
        started = functions.start("report", id="x", at="2099-01-01T00:00:00Z", key="k", priority=3)
        assert functions.start("report", id="x", at="2099-01-01T00:00:00Z", key="k", priority=3) == started
        for number in range(1000):
            live.call(live.app.functions.send("x", "m", number))
        with pytest.raises(Conflict, match="1,000 messages"):
            functions.send("x", "m")
        assert functions.cancel("x", "enough") == "cancelled"
        assert functions.terminate("ada") == "terminated"


def test_code_without_await_has_every_call(tmp_path: Path) -> None:
    app = Ostinato(f"sqlite:///{tmp_path}/store.db")
    with SyncOstinato(app) as sync:
        declare_functions(app)
        run = sync.functions.start("onboard", {"user": "ada"})
        run.send("reply", 7)
        assert run.result("20s") == {"user": "ada", "answer": 7}
        assert (run.info().status, run.new) == ("succeeded", True)
        assert len(sync.functions.steps(run.id)) == 6
        assert sync.functions.list(name="onboard")[0].id == run.id
