"""Two real servers on one store, journeys with calls, timers and waits on both, and one of them killed in the middle:
every journey ends rightly, whatever was repeated went under its first key, and every step was taken once."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.service import Received, Reply, Service
from tests.support.serving import Serving, until

JOURNEYS = 10
APP = """
import os
from ostinato import Ostinato
from ostinato.engine.http.egress import EgressPolicy

loopback = EgressPolicy(allow_private=True)
app = Ostinato(os.environ["STORE"], lease="1s", egress=loopback, journeys=["order.journey.yaml"])
"""
ORDER = """
apiVersion: v1
kind: Journey
metadata: {name: order, version: 0.1.0}
spec:
  start: reserve
  states:
    reserve:
      type: task
      task: {kind: 'httpCall:v1', method: POST, url: 'URL/reserve/${context.n}', resultVar: reserved}
      next: rest
    rest: {type: timer, timer: {duration: PT0.5S}, next: ask}
    ask:
      type: wait
      wait: {channel: manual, input: {schema: {type: object, required: [ok]}}, timeoutSec: 600, onTimeout: late}
      next: both
    both:
      type: parallel
      parallel:
        branches:
          - name: pay
            start: pay
            states:
              pay:
                type: task
                task: {kind: 'httpCall:v1', method: POST, url: 'URL/pay/${context.n}', resultVar: paid}
                next: done
              done: {type: succeed}
          - name: tell
            start: pause
            states:
              pause: {type: timer, timer: {duration: PT0.2S}, next: tell}
              tell:
                type: task
                task: {kind: 'httpCall:v1', method: POST, url: 'URL/tell/${context.n}', resultVar: told}
                next: done
              done: {type: succeed}
        join: {strategy: allOf}
      next: done
    late: {type: fail, errorCode: LATE, reason: nobody answered}
    done: {type: succeed, outputVar: payload}
"""
CALLS = ("reserve", "pay", "tell")


class Outside(Service):
    """Answers at once, but for calls of some orders that are held until it is let go."""

    def __init__(self) -> None:
        self.go = threading.Event()
        super().__init__(self.answer)

    def answer(self, got: Received) -> Reply:
        held = got.path in ("/reserve/0", "/reserve/1", "/pay/2", "/pay/3", "/tell/4", "/tell/5")
        return Reply(200, b"{}", {"Content-Type": "application/json"}, self.go if held else None)

    def seen(self, path: str) -> bool:
        return any(one.path == path for one in list(self.received))


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/o.db" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_what_a_server_had_at_work_when_it_ended_goes_on_at_the_other(store: str, tmp_path: Path, end: str) -> None:
    outside = Outside()
    (tmp_path / "orders.py").write_text(APP)
    (tmp_path / "order.journey.yaml").write_text(ORDER.replace("URL", outside.url).lstrip())
    args = ("serve", "--app", "orders:app", "--port", "0", "--linger", "0s", "--grace", "500ms")
    with (
        outside,
        httpx.Client(timeout=60) as http,
        Serving(tmp_path, *args, STORE=store) as first,
        Serving(tmp_path, *args, STORE=store) as second,
    ):
        ids = _started(http, [f"{one.address}/api/v1" for one in (first, second)])
        _answered(http, f"{first.address}/api/v1", ids[2:6])
        for path in ("/reserve/0", "/pay/2", "/tell/4"):  # all of them at the first
            until(lambda path=path: outside.seen(path), path)  # type: ignore[misc]
        getattr(first, end)()
        outside.go.set()
        api = f"{second.address}/api/v1"
        _answered(http, api, ids[:2] + ids[6:])
        assert [_ended(http, api, id)["output"] for id in ids] == [{"ok": id} for id in ids]
        once = Counter(reserve=1, rest=1, ask=1, both=1, pay=1, pause=1, tell=1, done=3)
        assert [_entered(http, api, id) for id in ids] == [once] * JOURNEYS
    keys: dict[str, set[str]] = defaultdict(set)
    for got in outside.received:
        keys[got.path].add(got.headers["idempotency-key"])
    assert set(keys) == {f"/{call}/{n}" for call in CALLS for n in range(JOURNEYS)}
    assert all(len(of_call) == 1 for of_call in keys.values())
    assert len({key for of_call in keys.values() for key in of_call}) == JOURNEYS * len(CALLS)
    assert len(outside.received) > len(keys)  # what was under way when it ended was asked again


def _started(http: httpx.Client, servers: list[str]) -> list[str]:
    """One after the other on either server, without waiting for any."""
    ids = []
    for n in range(JOURNEYS):
        prefer = {"Prefer": "respond-async"}
        answer = http.post(f"{servers[n % 2]}/journeys/order/start", json={"n": n}, headers=prefer)
        assert answer.status_code == 202, answer.text
        ids.append(answer.json()["journeyId"])
    return ids


def _answered(http: httpx.Client, api: str, ids: list[str]) -> None:
    """Each is asked once, answers twice under one key, and takes no second answer."""
    for id in ids:
        path = f"{api}/journeys/{id}"
        until(lambda path=path: "ask" in http.get(path).json()["_links"], f"journey {id} asks")  # type: ignore[misc]
        request: dict[str, Any] = {"json": {"ok": id}, "headers": {"Prefer": "wait=0", "Idempotency-Key": id}}
        first = http.post(f"{path}/steps/ask", **request)
        assert first.status_code == 200, first.text
        assert http.post(f"{path}/steps/ask", **request).status_code == 200
        assert http.post(f"{path}/steps/ask", json={"ok": "other"}).status_code == 409


def _ended(http: httpx.Client, api: str, id: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        answer = http.get(f"{api}/journeys/{id}/result")
        return answer.json() if answer.status_code == 200 else None

    return until(look, f"journey {id} is over")


def _entered(http: httpx.Client, api: str, id: str) -> Counter[str]:
    """How often it has entered each of its states."""
    items = http.get(f"{api}/events", params={"subject": id, "limit": 1000}).json()["items"]
    return Counter(one["data"]["state"] for one in items if one["name"] == "journey:state_entered")
