"""The app for code that does not await."""

from __future__ import annotations

from typing import Any

from ostinato import Ostinato, SyncOstinato, every
from tests.support.greetings import ALL, declare_greeter


def test_the_sync_facade_has_the_same_calls(tmp_path: Any) -> None:
    app = Ostinato(f"sqlite:///{tmp_path}/s.db")

    with SyncOstinato(app) as sync:
        sync.schedules.create("s", every("1h"), "some job")
        sync.schedules.pause("s", "wait")
        assert sync.schedules.get("s").state == "paused"


def test_a_campaign_is_sent_and_waited_for_without_await(tmp_path: Any) -> None:
    app = Ostinato(f"sqlite:///{tmp_path}/s.db")
    _, outbox = declare_greeter(app)
    with SyncOstinato(app) as sync:
        sync.agents.put_user("buddy", "ada")
        campaigns = sync.agents.campaigns("buddy")
        sent = campaigns.send(ALL, flow="greet", allow_session_bootstrap=True, id="spring")
        assert sent.outcome("1m").counts == {"success": 1}
        again = campaigns.send(ALL, flow="greet", allow_session_bootstrap=True, id="spring")
        assert (again.id, again.new) == (sent.id, False)
        assert campaigns.test(["ada"], flow="greet", input={"word": "hi"}).outcome("1m").counts == {"success": 1}
        assert campaigns.get(sent.id).status == "done"
    assert outbox.texts == ["hello ada", "hi ada"]
