"""`ostinato agents schedules …` and `ostinato agents campaigns …`, and the client: on a store and on a server, with a
node beside them."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from ostinato import Conflict, NotFound, Ostinato, OstinatoError, SyncOstinato
from ostinato.client import Client, SyncClient
from ostinato.faces.cli import agent_campaign_commands, waiting
from ostinato.faces.cli.agent_arguments import CampaignFlags, read_segment
from ostinato.faces.cli.agent_campaign_commands import count_words
from ostinato.faces.cli.main import app
from ostinato.faces.cli.output import CommandOutput
from ostinato.faces.cli.session import Session, StoreOrServer
from tests.support.commands import Place
from tests.support.greetings import ALL, FOR_ADA, ROUTINE, declare_greeter
from tests.support.web import Live, wait_for_news


@pytest.fixture
def node(tmp_path: Path) -> Iterator[SyncOstinato]:
    """A node that has the agent, and its users ada and bob, on the store that the places work on."""
    worker = Ostinato(f"sqlite:///{tmp_path}/store.db")
    declare_greeter(worker)
    with SyncOstinato(worker) as sync:
        sync.agents.put_user("buddy", "ada", tags=["vip"])
        sync.agents.put_user("buddy", "bob", consent="opted_out")
        yield sync


@pytest.fixture(params=["store", "server"])
def place(request: pytest.FixtureRequest, node: SyncOstinato, tmp_path: Path) -> Iterator[Place]:
    store = f"sqlite:///{tmp_path}/store.db"
    if request.param == "store":
        yield Place({"OSTINATO_STORE": store, "OSTINATO_SERVER": None}, "store")
        return
    with Live(store, node=False) as live:
        yield Place({"OSTINATO_SERVER": live.url, "OSTINATO_STORE": None}, "server")


def later() -> str:
    """A time of the day that comes in hours, in the agent's zone, which is three hours behind."""
    return f"{datetime.now(UTC) + timedelta(hours=3):%H:%M}"


# Schedules


def test_a_schedule_is_created_shown_changed_and_canceled(place: Place) -> None:
    schedules = ("agents", "schedules")
    assert place.text(*schedules, "list", "buddy").strip() == "no schedules"
    created = place.run(
        *(*schedules, "create", "buddy", "greet", "--cron", "0 9 * * *", "--user", "ada", "--id", "s"),
        *("--input", '{"word": "good day"}'),
    )
    assert re.fullmatch(r"created s; next at \S+T09:00:00-03:00\n", created.stdout)
    assert "note: allow_session_bootstrap is false" in created.stderr
    line = place.text(*schedules, "list", "buddy", "--user", "ada", "--status", "active").splitlines()[1]
    assert line.split()[:3] == ["s", "active", "greet"]
    updated = place.text(
        *(*schedules, "update", "buddy", "s", "--bootstrap", "--on-missed", "catch_up", "--max-runs", "3"),
        *("--version", "1"),
    )
    assert updated.startswith("updated s to version 2; next at ")
    stale = place.error(*schedules, "update", "buddy", "s", "--no-bootstrap", "--version", "1", code=1)
    assert "has version 2, not 1" in stale
    page = place.text(*schedules, "show", "buddy", "s")
    for words in ("0 9 * * * (America/Sao_Paulo)", "catch_up (3 runs)", '{"word": "good day"}', "agent/buddy/s"):
        assert words in page
    assert place.text(*schedules, "pause", "buddy", "s", "--note", "holiday").strip() == "paused s"
    assert "paused" in place.text(*schedules, "list", "buddy")
    assert place.text(*schedules, "resume", "buddy", "s").startswith("resumed s; next at ")
    run_id = place.json(*schedules, "trigger", "buddy", "s")["run_id"]
    (run,) = place.json(*schedules, "runs", "buddy", "s")["items"]
    assert run["id"] == run_id
    assert run_id in place.text(*schedules, "runs", "buddy", "s")
    assert place.text(*schedules, "cancel", "buddy", "s", "--reason", "enough").strip() == "canceled s"
    assert "enough" in place.text(*schedules, "show", "buddy", "s")
    segment = place.json(
        *(*schedules, "create", "buddy", "greet", "--at", "2099-01-01T09:00", "--segment", "tag:vip"),
        *("--campaign-id", "spring", "--options", '{"rate": "1/s"}'),
    )
    assert segment["record"]["segment_selector"] == {"type": "tag", "tag": "vip"}
    assert "once at 2099-01-01T09:00:00-03:00" in place.text(*schedules, "list", "buddy", "--kind", "segment")


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        ("create buddy greet --user ada", 2, "say when: --cron"),
        ("create buddy greet --cron '0 9 * * *'", 2, "say for whom: --user or --segment"),
        ("create buddy greet --cron '0 9 * * *' --at 2099-01-01 --user ada", 2, "contradict"),
        ("create buddy greet --cron '0 9 * * *' --segment all --user ada", 2, "contradict"),
        ("create buddy greet --cron '0 9 * * *' --session x", 2, "--session belongs to --user"),
        ("create buddy greet --cron '0 9 * * *' --campaign-id x", 2, "belong to --segment"),
        ("create buddy greet --cron '0 9 * * *' --user ada --max-runs 3", 2, "--on-missed catch_up; give it, too"),
        ("create buddy greet --cron '0 9' --user ada", 2, "expr '0 9' has 2 fields"),
        ("create buddy gret --cron '0 9 * * *' --user ada", 1, "did you mean 'greet'"),
        ("create buddy greet --cron '0 9 * * *' --user eve", 1, "has no user 'eve'"),
        ("create buddy greet --cron '0 9 * * *' --user ada --on-missed never", 2, "--on-missed, policy 'never': "),
        ("create buddy greet --cron '0 9 * * *' --segment 'query:1 = 1'", 2, "error: segment: query, at character 1"),
        ("create buddy greet --cron '0 9 * * *' --segment tag:x --options '{\"rate\": 1}'", 2, "error: rate 1 is not"),
        ("create buddy greet --at 2099-01-01T09:00 --user " + "x" * 300, 2, "--user"),
        ("create buddy greet --cron '0 9 * * *' --segment vip", 2, "the segment 'vip' is none of all, tag:NAME"),
        ("update buddy none", 2, "nothing to change"),
        ("update buddy none --flow greet", 1, "has no schedule 'none'"),
        ("show buddy none", 1, "has no schedule 'none'"),
        ("list budy", 1, "did you mean 'buddy'"),
        ("paus buddy s", 2, "Did you mean 'pause'"),
    ],
)
def test_mistakes_with_schedules(node: SyncOstinato, tmp_path: Path, words: str, code: int, error: str) -> None:
    store = Place({"OSTINATO_STORE": f"sqlite:///{tmp_path}/store.db", "OSTINATO_SERVER": None}, "store")
    assert error in store.error("agents", "schedules", *shlex.split(words), code=code)


# Campaigns


def test_a_campaign_is_previewed_sent_watched_and_explained(place: Place) -> None:
    campaigns = ("agents", "campaigns")
    preview = place.text(*campaigns, "preview", "buddy", "all", "--bootstrap")
    assert "1 of 2 recipients would get a message" in preview
    assert "1 opted_out" in preview
    assert "--confirmed sends" in place.text(*campaigns, "preview", "buddy", "all", "--max-recipients", "1")
    large = place.error(*campaigns, "send", "buddy", "all", "--flow", "greet", "--max-recipients", "1", code=1)
    assert "more than max_recipients=1" in large
    spring = [*campaigns, "send", "buddy", "all", "--flow", "greet", "--input", '{"word": "spring"}', "--bootstrap"]
    spring += ["--id", "spring", "--campaign-id", "seasons"]
    sent = place.text(*spring, "--watch")
    assert sent.strip() == "success: 1 success, 0 failed, 1 skipped, 0 unknown"
    again = place.text(*spring)
    (campaign,) = place.json(*campaigns, "list", "buddy", "--campaign-id", "seasons")["items"]
    id = campaign["id"]
    assert again.strip() == f"campaign {id}, sent before"
    assert "seasons" in place.text(*campaigns, "list", "buddy", "--status", "done")
    assert "1 skipped, 1 success" in place.text(*campaigns, "show", "buddy", id)
    assert "success: 1 success" in place.text(*campaigns, "watch", "buddy", id)
    listed = place.text(*campaigns, "recipients", "buddy", id, "--outcome", "skipped").splitlines()
    assert listed[1].split()[:3] == ["bob", "skipped", "opted_out"]
    why = place.text(*campaigns, "explain", "buddy", id, "bob")
    assert why.strip() == "bob was not messaged: they have opted out"
    assert "is done" in place.error(*campaigns, "stop", "buddy", id, code=1)
    assert "has no campaign" in place.error(*campaigns, "show", "buddy", "none", code=1)
    tested = place.text(*campaigns, "test", "buddy", "ada", "bob", "--flow", "greet", "--watch")
    assert tested.strip() == "success: 1 success, 0 failed, 1 skipped, 0 unknown"


def test_a_campaign_is_paused_resumed_and_stopped(place: Place, node: SyncOstinato) -> None:
    campaigns = ("agents", "campaigns")
    sent = place.json(*campaigns, "send", "buddy", "all", "--flow", "greet", "--bootstrap", "--local-time", later())
    reach_sending(node, sent["id"])
    paused = place.text(*campaigns, "pause", "buddy", sent["id"], "--reason", "a typo")
    assert paused.startswith(f"paused {sent['id']}: 0 success")
    assert "a typo" in place.text(*campaigns, "show", "buddy", sent["id"])
    assert place.json(*campaigns, "resume", "buddy", sent["id"])["status"] == "sending"
    place.run(*campaigns, "stop", "buddy", sent["id"])
    ended = place.text(*campaigns, "watch", "buddy", sent["id"])
    assert ended.startswith("skipped (stopped): 0 success, 0 failed, 2 skipped")


def reach_sending(node: SyncOstinato, id: str) -> None:
    async def is_sending() -> bool:
        return bool((await node.app.agents.campaigns("buddy").get(id)).status == "sending")

    node.call(wait_for_news(node.app, is_sending))


def test_the_suppression_list(place: Place) -> None:
    campaigns = ("agents", "campaigns")
    assert place.text(*campaigns, "suppressed", "buddy").strip() == "nobody"
    put = place.text(*campaigns, "suppress", "buddy", "ada", "eve", "--reason", "complained")
    assert put.strip() == "2 users put on the list"
    assert [line.split() for line in place.text(*campaigns, "suppressed", "buddy").splitlines()[1:]] == [
        ["ada", "complained"],
        ["eve", "complained"],
    ]
    assert place.text(*campaigns, "unsuppress", "buddy", "ada").strip() == "1 user taken from the list"


def test_progress_is_drawn_and_ctrl_c_leaves_the_campaign_alone(
    node: SyncOstinato, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn: list[tuple[float, float | None, str]] = []
    has_total = asyncio.Event()

    def draw(done: float, total: float | None, words: str) -> None:
        drawn.append((done, total, words))
        if total is not None:
            has_total.set()

    class Drawing(CommandOutput):
        def progress(self, what: str, total: float | None = None) -> Any:
            return nullcontext(draw)

    monkeypatch.setattr(waiting, "_LOOK", 0.01)

    async def main(url: str) -> str:
        async with Client(url, patience=5) as client:
            session = Session(client, Drawing(), StoreOrServer("", url))
            calls = client.agents.campaigns("buddy")
            sent = await calls.send(ALL, flow="greet", allow_session_bootstrap=True, local_time=later())
            watching = asyncio.ensure_future(agent_campaign_commands.watch(session, "buddy", sent["id"]))
            async with asyncio.timeout(20):
                await has_total.wait()
            watching.cancel()  # as Ctrl-C does
            with pytest.raises(asyncio.CancelledError):
                await watching
            assert (await calls.get(sent["id"]))["status"] == "sending"
            return str(sent["id"])

    with Live(f"sqlite:///{tmp_path}/store.db", node=False) as live:
        id = asyncio.run(main(live.url))
    assert drawn[-1] == (0, 2, "sending: 0 success, 0 failed, 0 skipped, 0 unknown")
    assert f"the campaign goes on; `ostinato agents campaigns watch buddy {id}` looks again" in capsys.readouterr().err


def test_a_message_of_which_nobody_knows_is_counted_apart() -> None:
    counts = {"success": 3, "failed": 2, "skipped": 4, "canceled_hitl": 1, "pending": 7}
    campaign = {"counts": counts, "reasons": {"delivery_unknown": 1, "opted_out": 4}}
    assert count_words(campaign) == "3 success, 1 failed, 4 skipped, 1 unknown, 1 with people"


def test_segments_and_options_are_read_as_people_write_them() -> None:
    assert [
        read_segment(text) for text in ("all", "tag:a:b", "active_since:30", "query:tags has 'x'", "users:a,b")
    ] == [
        {"type": "all"},
        {"type": "tag", "tag": "a:b"},
        {"type": "active_since", "active_since_days": 30},
        {"type": "custom_query", "query": "tags has 'x'"},
        {"type": "users", "users": ["a", "b"]},
    ]
    assert read_segment('{"type": "all"}') == {"type": "all"}
    assert read_segment("resolver:bought") == {"type": "custom_query", "resolver": "bought"}
    for wrong in ("", "tag", "tag:", "active_since:x", "vip"):
        with pytest.raises(OstinatoError, match="is none of all, tag:NAME"):
            read_segment(wrong)
    flags = CampaignFlags(quiet_hours="21:00-09:00", frequency_cap="2/7d", confirmed=True)
    assert flags.as_options() == {
        "confirmed": True,
        "quiet_hours": {"from": "21:00", "to": "09:00"},
        "frequency_cap": {"messages": 2, "per": "7d"},
    }
    overriding = CampaignFlags(quiet_hours="none", frequency_cap="none").as_options()
    assert overriding == {"quiet_hours": None, "frequency_cap": None}
    with pytest.raises(OstinatoError, match="such as 2/7d"):
        CampaignFlags(frequency_cap="often").as_options()


# Tokens of sessions


def test_tokens_of_a_session_are_minted_listed_and_revoked(place: Place, node: SyncOstinato) -> None:
    place.run("agents", "campaigns", "test", "buddy", "ada", "--flow", "greet", "--watch")
    (session,) = place.json("agents", "sessions", "buddy")["items"]
    minted = place.run("agents", "mint-token", "buddy", session["id"], "--expires-in", "5m")
    assert minted.stdout.startswith("ost_")
    (listed,) = place.json("agents", "tokens", "buddy", session["id"])["items"]
    assert f"Its id is {listed['id']}." in minted.stderr
    assert "revoked" in place.text("agents", "revoke-token", "buddy", session["id"], listed["id"])
    assert listed["id"] in place.text("agents", "tokens", "buddy", session["id"])
    wrong = place.error("agents", "mint-token", "buddy", session["id"], "--expires-in", "2h", code=2)
    assert "at most 1h" in wrong
    assert "has no token" in place.error("agents", "revoke-token", "buddy", session["id"], "none", code=1)


# The client


def test_the_client_makes_every_call(node: SyncOstinato, tmp_path: Path) -> None:
    with (
        Live(f"sqlite:///{tmp_path}/store.db", node=False) as live,
        SyncClient(live.url, patience=5) as client,
    ):
        users = client.agents
        schedules, campaigns = users.schedules("buddy"), users.campaigns("buddy")
        created = schedules.create(**ROUTINE, id="s", metadata={"n": 1}, key="k")
        assert schedules.create(**ROUTINE, id="s", metadata={"n": 1}, key="k") == created
        assert schedules.get("s") == created["record"]
        assert schedules.update("s", version=1, allow_session_bootstrap=True)["version"] == 2
        with pytest.raises(Conflict, match="has version 2, not 1"):
            schedules.update("s", version=1, target=FOR_ADA)
        assert schedules.pause("s", "rest")["status"] == "paused"
        assert schedules.resume("s")["status"] == "active"
        assert [one["id"] for one in schedules.list(status="active", user_external_id="ada")] == ["s"]
        triggered = schedules.trigger("s")
        assert (triggered["status"], triggered["reason"]) == ("started", None)
        assert [one["id"] for one in schedules.runs("s")] == [triggered["run_id"]]
        assert schedules.cancel("s", "enough")["reason"] == "enough"
        with pytest.raises(NotFound):
            schedules.get("none")

        assert campaigns.preview(ALL, require_opt_in=True)["reachable"] == 0
        sent = campaigns.send(ALL, flow="greet", allow_session_bootstrap=True, id="x", quiet_hours=None)
        ended = campaigns.wait(sent["id"], "20s")
        assert (ended["counts"], ended["outcome"]) == ({"success": 1, "skipped": 1}, "success")
        assert campaigns.get(sent["id"], wait=1) == campaigns.get("x") == campaigns.wait("x", 0) == ended
        with pytest.raises(OstinatoError, match="timeout -1 is negative"):
            campaigns.wait("x", -1)
        assert users.put_user("buddy", "..", name="Dots") == users.user("buddy", "..")
        users.delete_user("buddy", "..")
        assert [one["id"] for one in campaigns.list(status="done")] == [sent["id"]]
        assert [one["user"] for one in campaigns.recipients(sent["id"], outcome="success")] == ["ada"]
        assert campaigns.explain(sent["id"], "bob")["reason"] == "opted_out"
        waiting = campaigns.send(ALL, flow="greet", local_time=later())
        with pytest.raises(TimeoutError, match="is not over within"):
            campaigns.wait(waiting["id"], 0.1)
        reach_sending(node, waiting["id"])
        assert campaigns.pause(waiting["id"], "a typo")["status"] == "paused"
        assert campaigns.resume(waiting["id"])["status"] == "sending"
        assert campaigns.stop(waiting["id"])["status"] in ("stopping", "done")
        assert campaigns.wait(campaigns.test(["ada"], flow="greet")["id"], 20)["outcome"] == "success"
        assert campaigns.suppress(["ada"], "complained") == 1
        assert campaigns.suppressed() == [{"user": "ada", "reason": "complained"}]
        assert campaigns.unsuppress(["ada"]) == 1
        with pytest.raises(OstinatoError, match=r"write \['ada'\]"):
            campaigns.suppress("ada", "complained")

        session = client.agents.sessions("buddy", user="ada")[0]["id"]
        minted = client.agents.mint_session_token("buddy", session, expires_in="5m")
        assert [one["id"] for one in client.agents.session_tokens("buddy", session)] == [minted["id"]]
        client.agents.revoke_session_token("buddy", session, minted["id"])
        assert client.agents.session_tokens("buddy", session)[0]["revoked"] is not None


def test_groups_within_a_group_have_help_of_their_own() -> None:
    for words in (["agents", "schedules"], ["agents", "campaigns"], ["agents", "campaigns", "send", "--help"]):
        shown = CliRunner().invoke(app, words)
        assert "Usage: " in shown.output
        assert "Traceback" not in shown.output
    assert isinstance(typer.main.get_command(app), typer.core.TyperGroup)
