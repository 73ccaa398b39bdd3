"""The app for code that does not await."""

from __future__ import annotations

from typing import Any

from ostinato import Ostinato, SyncOstinato, every


def test_the_sync_facade_has_the_same_calls(tmp_path: Any) -> None:
    app = Ostinato(f"sqlite:///{tmp_path}/s.db")

    with SyncOstinato(app) as sync:
        sync.schedules.create("s", every("1h"), "some job")
        sync.schedules.pause("s", "wait")
        assert sync.schedules.get("s").state == "paused"
