"""`ostinato agents …`, the client and `SyncOstinato.agents`: on a store and on a server, with a node beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ostinato import Conflict, NotFound, Ostinato, RunCancelled, SyncOstinato
from ostinato.client import Denied, SyncClient
from ostinato.faces.cli.main import app
from ostinato.faces.cli.output import printable
from ostinato.flows import TurnInput
from tests.support.commands import Place
from tests.support.face_agents import QUESTION, declare_buddy
from tests.support.web import Live


@pytest.fixture
def node(tmp_path: Path) -> Iterator[SyncOstinato]:
    """A node that has the agent, on the store that the places work on."""
    worker = Ostinato(f"sqlite:///{tmp_path}/store.db")
    declare_buddy(worker)
    with SyncOstinato(worker) as sync:
        yield sync


@pytest.fixture(params=["store", "server"])
def place(request: pytest.FixtureRequest, node: SyncOstinato, tmp_path: Path) -> Iterator[Place]:
    store = f"sqlite:///{tmp_path}/store.db"
    if request.param == "store":
        yield Place({"OSTINATO_STORE": store, "OSTINATO_SERVER": None}, "store")
        return
    with Live(store, node=False) as live:
        yield Place({"OSTINATO_SERVER": live.url, "OSTINATO_STORE": None}, "server")


def test_agents_and_users_are_shown_and_changed(place: Place) -> None:
    line = place.text("agents", "list").splitlines()[1]
    assert line.split()[:4] == ["buddy", "America/Sao_Paulo", "refund", "note"]
    page = place.text("agents", "show", "buddy")
    assert "version 1. Ask people whether the user may have a refund." in page
    assert "local, token:ada" in page
    assert place.text("agents", "users", "buddy").strip() == "no users"
    created = place.text("agents", "set-user", "buddy", "ada", "--name", "Ada", "--tag", "a", "--tag", "b")
    assert "a, b" in created
    changed = place.json("agents", "set-user", "buddy", "ada", "--consent", "opted_out", "--data", '{"x": 1}')
    assert (changed["tags"], changed["consent"], changed["data"]) == (["a", "b"], "opted_out", {"x": 1})
    assert place.json("agents", "set-user", "buddy", "ada", "--no-tags")["tags"] == []
    assert "opted_out" in place.text("agents", "user", "buddy", "ada")
    assert place.json("agents", "users", "buddy", "--tag", "a")["items"] == []
    assert "body.tz" not in place.error("agents", "set-user", "buddy", "ada", "--tz", "Mars", code=2)
    assert "contradict" in place.error("agents", "set-user", "buddy", "ada", "--tag", "a", "--no-tags", code=2)
    assert "not a JSON object" in place.error("agents", "set-user", "buddy", "ada", "--data", "[]", code=2)
    assert "there is no agent 'budy'; did you mean 'buddy'" in place.error("agents", "show", "budy", code=1)
    assert "has no user 'eve'" in place.error("agents", "user", "buddy", "eve", code=1)
    environ = {"_OSTINATO_COMPLETE": "complete_bash", "COMP_WORDS": "ostinato agents show bu", "COMP_CWORD": "3"}
    completed = CliRunner().invoke(app, env={**place.environ, **environ}, prog_name="ostinato")
    assert completed.stdout.split() == ["buddy"]


def test_a_message_is_handed_in_and_the_conversation_read(place: Place) -> None:
    sent = place.text("agents", "receive", "buddy", "ada", "hello", "--id", "1", "--wait")
    assert sent.strip() == "success, 1 message sent"
    repeat = ("agents", "receive", "buddy", "ada", "hello", "--id", "1")
    assert "; the message 1 was accepted before, and is not handled again" in place.text(*repeat)
    again = place.text(*repeat, "--wait")
    assert again.strip() == "success, 1 message sent; the message 1 was accepted before, and is not handled again"
    assert place.json(*repeat, "--wait")["new"] is False
    for what in ("receive", "say"):
        assert "TEXT '' is empty" in place.error("agents", what, "buddy", "ada", "", code=2)
    (session,) = place.json("agents", "sessions", "buddy", "--user", "ada")["items"]
    assert "active" in place.text("agents", "sessions", "buddy")
    said = place.text("agents", "messages", "buddy", session["id"]).splitlines()
    assert [line.split("  ", 1)[1] for line in said] == ["user: hello", "assistant: you said: hello"]
    turns = place.text("agents", "turns", "buddy", session["id"])
    assert "success" in turns
    assert "inbound" in turns
    assert "there is no session" in place.error("agents", "messages", "buddy", "none", code=1)


def test_a_person_decides_takes_over_and_talks(place: Place) -> None:
    place.run("agents", "receive", "buddy", "ada", "a refund", "--wait")
    assert QUESTION in place.text("agents", "inbox", "buddy")
    (question,) = place.json("agents", "inbox", "buddy")["items"]
    id = question["id"]
    assert "--approve or --reject" in place.error("agents", "resolve", "buddy", id, code=2)
    both = place.error("agents", "resolve", "buddy", id, "--approve", "--reject", code=2)
    assert "either --approve or --reject" in both
    assert "not JSON" in place.error("agents", "resolve", "buddy", id, "--approve", "--action", "{", code=2)
    assert place.text("agents", "resolve", "buddy", id, "--reject").strip() == f"{id}: rejected by local"
    assert "is resolved by local already" in place.error("agents", "resolve", "buddy", id, "--approve", code=1)
    assert place.text("agents", "inbox", "buddy").strip() == "no questions that are pending"
    assert "rejected by local" in place.text("agents", "inbox", "buddy", "--status", "resolved")
    place.error("agents", "inbox", "buddy", "--status", "open", code=2)
    assert "nobody has taken over" in place.error("agents", "say", "buddy", "ada", "x", code=1)
    assert "local has taken over the conversation with ada" in place.text("agents", "take-over", "buddy", "ada")
    assert place.json("agents", "say", "buddy", "ada", "I am here", "--id", "1")["turn_id"]
    again = place.text("agents", "say", "buddy", "ada", "I am here", "--id", "1")
    assert "; the message 1 was said before, and is not said again" in again
    assert "another text was said" in place.error("agents", "say", "buddy", "ada", "I am not", "--id", "1", code=1)
    assert "taken over by local" in place.text("agents", "sessions", "buddy")
    assert place.text("agents", "hand-back", "buddy", "ada").strip() == "buddy talks with ada again"


def test_a_conversation_is_ended_and_its_user_deleted(node: SyncOstinato, place: Place) -> None:
    place.run("agents", "receive", "buddy", "ada", "hello", "--wait")
    (session,) = place.json("agents", "sessions", "buddy")["items"]
    assert "has an open session" in place.error("agents", "delete-user", "buddy", "ada", code=1)
    end = ("agents", "end-session", "buddy", session["id"])
    assert session["id"] in place.text(*end, "--reason", "enough")
    with pytest.raises(RunCancelled, match="enough"):
        node.functions.result(node.agents.session(session["id"]).run_id, 20)
    assert place.text(*end).strip() == f"{session['id']} has ended"
    assert place.text("agents", "delete-user", "buddy", "ada").strip() == "deleted ada"
    assert "has no user 'ada'" in place.error("agents", "delete-user", "buddy", "ada", code=1)


def test_a_chat_shows_what_the_agent_says(place: Place) -> None:
    done = place.run("agents", "chat", "buddy", "ada", input="hello\n\nhow are you?\n")
    assert done.stdout.splitlines() == ["buddy: you said: hello", "buddy: you said: how are you?"]
    done = place.run("agents", "chat", "buddy", "ada", "--json", input="again\n")
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["you said: again"]
    place.run("agents", "take-over", "buddy", "ada")
    done = place.run("agents", "chat", "buddy", "ada", input="anybody?\n")
    assert done.stdout.splitlines() == ["(success: forwarded)"]
    assert "there is no agent" in place.run("agents", "chat", "nobody", "ada", input="x\n", code=1).stderr


def test_a_chat_without_a_node_says_so_before_the_first_word(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/store.db"
    worker = Ostinato(store)
    declare_buddy(worker)
    with SyncOstinato(worker):
        pass
    place = Place({"OSTINATO_STORE": store, "OSTINATO_SERVER": None}, "store")
    assert "no node is at work there" in place.run("agents", "chat", "buddy", "ada", input="").stderr


def test_strangers_do_not_steer_the_terminal(place: Place) -> None:
    assert printable("a\x1b[2Jb\nc\x9bd") == "a\ufffd[2Jb\nc\ufffdd"
    place.run("agents", "receive", "buddy", "ada", "red \x1b[31m", "--wait")
    (session,) = place.json("agents", "sessions", "buddy")["items"]
    assert "\x1b" not in place.text("agents", "messages", "buddy", session["id"])
    assert "\x1b" not in place.text("agents", "turns", "buddy", session["id"])


def test_the_client_makes_every_call(node: SyncOstinato, tmp_path: Path) -> None:
    with (
        Live(f"sqlite:///{tmp_path}/store.db", node=False) as live,
        SyncClient(live.url, patience=5) as client,
    ):
        calls = client.agents
        assert [one["name"] for one in calls.list()] == ["buddy"]
        assert calls.get("buddy")["tools"] == ["note"]
        accepted = calls.receive("buddy", "ada", "a refund", id="1", name="Ada", metadata={"from": "test"})
        assert calls.outcome("buddy", accepted["turn_id"], wait=20)["reason"] == "flow_waiting"
        assert calls.turn("buddy", accepted["turn_id"])["metadata"] == {"from": "test"}
        assert calls.user("buddy", "ada")["name"] == "Ada"
        assert calls.put_user("buddy", "ada", tags=["vip"])["tags"] == ["vip"]
        assert len(calls.users("buddy", tag="vip")) == 1
        (session,) = calls.sessions("buddy", user="ada")
        assert calls.session("buddy", session["id"])["flow"] == "refund"
        assert len(calls.messages("buddy", session["id"])) == 1
        assert len(calls.turns("buddy", session["id"])) == 1
        (question,) = calls.escalations("buddy")
        assert calls.escalation("buddy", question["id"]) == question
        decided = calls.resolve("buddy", question["id"], True, message="yes", key="k")
        assert calls.resolve("buddy", question["id"], True, message="yes", key="k") == decided
        with pytest.raises(Conflict, match="resolved by local already"):
            calls.resolve("buddy", question["id"], False)
        assert calls.take_over("buddy", "ada")["takeover"] == "local"
        assert calls.outcome("buddy", calls.say("buddy", "ada", "hello")["turn_id"], wait=20)["delivered"] == 1
        assert calls.hand_back("buddy", "ada")["takeover"] is None
        calls.end_session("buddy", session["id"], "enough")
        with pytest.raises(RunCancelled):
            node.functions.result(node.agents.session(session["id"]).run_id, 20)
        assert calls.end_session("buddy", session["id"])["status"] == "ended"
        calls.delete_user("buddy", "ada", key="d")
        calls.delete_user("buddy", "ada", key="d")
        with pytest.raises(NotFound):
            calls.user("buddy", "ada")
        token = node.call(node.app.create_token("operator", label="eve"))[0]
        with SyncClient(live.url, token=token, patience=5) as eve, pytest.raises(Denied, match="its admins= say"):
            eve.agents.take_over("buddy", "ada")


def test_agents_without_await(node: SyncOstinato) -> None:
    turn = node.agents.receive("buddy", "ada", "hello", id="1", name="Ada")
    assert (turn.new, turn.outcome("20s").delivered) == (True, 1)
    scheduled = TurnInput(user="ada", source="scheduled", key="s/1", flow="refund")
    assert node.agents.run_turn("buddy", scheduled).outcome("20s").reason == "flow_waiting"
    (session,) = node.agents.sessions("buddy")
    assert [message.role for message in node.agents.messages(session.id)] == ["assistant", "user"]
    assert node.agents.external_ids([session.user_id]) == {session.user_id: "ada"}
    ours = SyncOstinato(node.app.within("default", "local"))
    assert not hasattr(ours.agents, "resolv")
