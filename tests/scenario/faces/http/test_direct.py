"""Calls made inside a process are answered as over HTTP: the same answers, the same mistakes in the same words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ostinato.faces.http import server
from ostinato.faces.http.in_process import _MODULES, Direct, Failed, _bound
from ostinato.faces.http.routing import DeclaredCall
from ostinato.flows import ConsoleTransport
from ostinato.ways import all_ways
from tests.support.web import Api, run

LOOKS: list[tuple[str, dict[str, Any]]] = [
    ("/schedules", {}),
    ("/schedules", {"limit": 1, "match": "*"}),
    ("/schedules/a%2Fb", {"recent": 3}),
    ("/schedules/a%2Fb/times", {"first": "2026-01-01T00:00:00Z", "last": "2026-01-01T03:00:00Z"}),
    ("/schedules:export", {}),
    ("/runs", {"attempts": True, "status": "ready"}),
    ("/events", {"newest": True}),
    ("/jobs", {}),
    ("/journeys", {"tag": ["x", "y"]}),
    ("/journey-definitions", {}),
    ("/journey-bindings", {}),
    ("/webhooks", {}),
    ("/workflows", {}),
    ("/functions", {"status": "waiting", "limit": 2}),
    ("/functions/declared", {}),
    ("/functions/drain", {}),
    ("/agents", {}),
    ("/agents/buddy", {}),
    ("/agents/buddy/users", {"tag": "x"}),
    ("/agents/buddy/sessions", {"limit": 1}),
    ("/agents/buddy/escalations", {"status": "resolved"}),
    ("/agents/buddy/schedules", {"status": "active", "user": "ada", "limit": 2}),
    ("/agents/buddy/campaigns", {"status": "done"}),
    ("/agents/buddy/suppressions", {"after": "a"}),
    ("/namespaces", {}),
]
AGENT_SCHEDULE = {
    "flow": "none",
    "trigger": {"type": "once", "run_at": "2099-01-01T00:00"},
    "target": {"kind": "user", "user_external_id": "ada"},
}
WRONG: list[tuple[str, str, Any, dict[str, Any]]] = [
    ("GET", "/schedules", None, {"limit": 0}),
    ("GET", "/schedules/none", None, {}),
    ("GET", "/schedules/a%2Fb/times", None, {"first": "yesterday"}),
    ("GET", "/runs", None, {"status": "done", "before": "x", "limit": "many"}),
    ("GET", "/journeys", None, {"phase": "OVER", "tag": ["x" * 400]}),
    ("GET", "/nothing/here", None, {}),
    ("GET", "/schedules", None, {"namespace": "n" * 70}),
    ("GET", "/schedules", None, {"namespace": "elsewhere"}),
    ("POST", "/schedules", None, {}),
    ("POST", "/schedules", {}, {}),
    ("POST", "/schedules", [1], {}),
    ("POST", "/schedules", {"nam": "x", "overlap": "skipp", "retry": "x", "priority": 1 << 40, "paused": 1}, {}),
    ("POST", "/schedules", {"name": "a/b", "spec": "0 9 * * *", "action": "note"}, {}),
    ("POST", "/schedules", {"name": "x\x00", "spec": "0 99 * * *", "action": "note"}, {}),
    ("PATCH", "/schedules/a%2Fb", {"spec": {"cron": ["x"]}}, {}),
    ("DELETE", "/schedules/a%2Fb", None, {"running": "no"}),
    ("POST", "/schedules/a%2Fb/skip", {"at": 5}, {}),
    ("POST", "/schedules/a%2Fb/skip", None, {}),
    ("POST", "/schedules/a%2Fb/move", {"at": "2026-01-01T00:00:00"}, {}),
    ("POST", "/schedules/" + "x" * 600 + "/pause", {"note": 1, "why": 2}, {}),
    ("POST", "/schedules:plan", {"text": "schedules: 1", "file": "x.yaml"}, {}),
    ("POST", "/schedules:plan", {"text": "a" * (5 << 20)}, {}),
    ("POST", "/jobs/note/start", {"input": 1, "at": "x", "priority": "x"}, {}),
    ("POST", "/jobs/note/start", {"input": {"m": 1}}, {}),
    ("POST", "/jobs/note/start", {"input": {"n": float("nan")}}, {}),
    ("POST", "/jobs/note/start", {"input": {"n": 1 << 70}}, {}),
    ("POST", "/runs/none/cancel", {}, {}),
    ("POST", "/tokens", {"role": "king"}, {}),
    ("POST", "/namespaces", {"name": "a b"}, {}),
    ("POST", "/webhooks", {"url": ""}, {}),
    ("GET", "/workflows/none/inputs", None, {"status": "over"}),
    ("POST", "/workflows/none/resolve", {"choice": "resum"}, {}),
    ("POST", "/workflows/none/resolve", {"choice": "resume"}, {}),
    ("GET", "/functions", None, {"status": "over", "before": "x", "limit": 0}),
    ("GET", "/functions/none", None, {}),
    ("GET", "/functions/none/steps", None, {"after": -1}),
    ("GET", "/functions/none/result", None, {"wait": 21}),
    ("POST", "/functions", {}, {}),
    ("POST", "/functions", {"function": "none"}, {}),
    ("POST", "/functions", {"function": "", "input": 1, "at": "x", "send": [], "deadline": "x", "retry": 1}, {}),
    ("POST", "/functions", {"function": "f", "send": {"": 1}, "concurrency": "x"}, {}),
    ("POST", "/functions/none/messages", {}, {}),
    ("POST", "/functions/none/messages", {"name": "x"}, {}),
    ("POST", "/functions/none/cancel", None, {}),
    ("POST", "/functions/none/terminate", {"reason": 1}, {}),
    ("GET", "/agents/none", None, {}),
    ("GET", "/agents/buddy/users", None, {"tag": "", "limit": 0}),
    ("GET", "/agents/buddy/users/none", None, {}),
    ("GET", "/agents/buddy/sessions/none", None, {}),
    ("GET", "/agents/buddy/turns/none/outcome", None, {"wait": 21}),
    ("GET", "/agents/buddy/escalations", None, {"status": "open"}),
    ("POST", "/agents/none/messages", {"user": "ada", "text": "hello", "id": "1"}, {}),
    ("POST", "/agents/buddy/messages", {"user": "", "text": 1, "metadata": [], "actor": "ada"}, {}),
    ("PATCH", "/agents/buddy/users/ada", {"tz": "Mars", "consent": "yes", "tags": "x", "id": "1"}, {}),
    ("POST", "/agents/buddy/escalations/none/resolve", {"approved": "yes", "by": "ada"}, {}),
    ("POST", "/agents/buddy/escalations/none/resolve", {"approved": True}, {}),
    ("POST", "/agents/buddy/users/none/take-over", None, {}),
    ("POST", "/agents/buddy/users/none/say", {"text": "hello"}, {}),
    ("GET", "/agents/buddy/schedules", None, {"status": "open", "target_kind": "all", "limit": 0}),
    ("GET", "/agents/buddy/schedules/a%2Fb", None, {}),
    (
        "POST",
        "/agents/buddy/schedules",
        {"flow": "", "trigger": {"type": "x"}, "target": {}, "on_missed": 1, "id": "cfg:a"},
        {},
    ),
    ("POST", "/agents/buddy/schedules", AGENT_SCHEDULE, {}),
    ("PATCH", "/agents/buddy/schedules/none", {"trigger": {"type": "cron", "expr": "x"}, "version": 1}, {}),
    ("POST", "/agents/buddy/schedules/none/trigger", {"at": 1}, {}),
    ("GET", "/agents/buddy/campaigns/none", None, {"wait": 21}),
    ("GET", "/agents/buddy/campaigns/none/explain", None, {}),
    (
        "POST",
        "/agents/buddy/campaigns",
        {"segment": {"type": "all", "tag": "x"}, "options": {"rate": 1, "holdout": "x"}},
        {},
    ),
    ("POST", "/agents/buddy/campaigns:preview", {"segment": {"type": "custom_query", "resolver": "x"}}, {}),
    ("POST", "/agents/buddy/campaigns:test", {"users": "ada"}, {}),
    ("POST", "/agents/buddy/campaigns/none/pause", {"reason": ""}, {}),
    ("POST", "/agents/buddy/suppressions", {"users": [1], "reason": "x"}, {}),
    ("POST", "/agents/buddy/sessions/none/tokens", {"expires_in": "1d"}, {}),
    ("POST", "/agents/buddy/inbound", {"id": "1", "user": "ada", "text": "hello"}, {}),
    ("POST", "/journeys/none/start", {}, {}),
    ("POST", "/journey-definitions", {"text": "kind: Journey"}, {}),
    ("POST", "/simulate", {"first": "2026-01-01T00:00:00Z", "last": "2026-01-02T00:00:00Z"}, {}),
]


def test_every_look_and_every_mistake_is_answered_as_over_http(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        web.application.state.inside = True  # the store's own user
        await web.app.schedules.create("a/b", "0 9 * * *", "note", tags=["x"])
        await web.app.start("unknown")
        web.app.agent("buddy", tz="UTC", model=None, transport=ConsoleTransport(), admins=["local"])
        direct = Direct(web.app, None)
        for path, params in LOOKS:
            theirs = await web.call("GET", path, params=params)
            answer = await direct.ask("GET", path, None, params, {})
            assert (answer.status, json.loads(answer.body)) == (theirs.status_code, theirs.json()), path
        for method, path, body, params in WRONG:
            content = None if body is None else json.dumps(body).encode()
            headers = {} if content is None else {"Content-Type": "application/json"}
            theirs = await web.client.request(method, f"/api/v1{path}", content=content, params=params, headers=headers)
            inside: Any = None
            try:
                await direct.ask(method, path, content, params, headers)
            except Failed as problem:
                inside = problem.fault.status, problem.fault.body
            assert inside == (theirs.status_code, theirs.json()), (method, path)

    run(main, tmp_path)


def test_changes_are_answered_with_the_same_fields_as_over_http(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        direct = Direct(web.app, None)
        changes: list[tuple[str, str, Any, dict[str, str]]] = [
            ("POST", "/schedules", {"name": "NAME", "spec": "0 9 * * *", "action": "note", "trigger": True}, {}),
            ("POST", "/schedules/NAME/pause", None, {"If-Match": '"99"'}),
            ("POST", "/schedules/NAME/pause", None, {"If-Match": "*"}),
            ("PUT", "/schedules/NAME", {"spec": "0 8 * * *", "action": "note"}, {"Idempotency-Key": "NAME"}),
            ("PUT", "/schedules/NAME", {"spec": "0 8 * * *", "action": "note"}, {"Idempotency-Key": "NAME"}),
            ("DELETE", "/schedules/NAME", None, {}),
            ("POST", "/jobs/note/start", {"id": "run-NAME", "at": "2100-01-01T00:00:00Z"}, {}),
            ("POST", "/runs/run-NAME/cancel", None, {}),
            ("POST", "/namespaces", {"name": "NAME"}, {}),
            ("DELETE", "/namespaces/NAME", None, {}),
        ]
        for method, path, body, headers in changes:
            answers = []
            for name in ("web", "direct"):
                text = json.dumps(body).replace("NAME", name).encode()
                named = {key: value.replace("NAME", name) for key, value in headers.items()}
                content = None if body is None else text
                place = path.replace("NAME", name)
                if name == "web":
                    all_headers = {**named, **({} if content is None else {"Content-Type": "application/json"})}
                    response = await web.client.request(method, f"/api/v1{place}", content=content, headers=all_headers)
                    answers.append((response.status_code, response.content))
                else:
                    try:
                        answer = await direct.ask(method, place, content, {}, named)
                        answers.append((answer.status, answer.body))
                    except Failed as problem:
                        answers.append((problem.fault.status, json.dumps(problem.fault.body).encode()))
            (status, first), (other, two) = answers
            assert status == other, (method, path, first, two)
            assert fields(first) == fields(two), (method, path)

    def fields(body: bytes) -> list[str]:
        return list(json.loads(body)) if body else []

    run(main, tmp_path)


def test_every_call_of_the_api_can_be_made_inside_a_process() -> None:
    served = [call for router in server.routers_of(all_ways()) for call in router.calls]
    words = {call.path.strip("/").split("/")[0].partition(":")[0].partition(".")[0] for call in served}
    assert words - {*_MODULES, *all_ways().routers} == {"health", "metrics"}  # what only a server has
    for call in served:
        assert isinstance(call, DeclaredCall)
        assert _bound(call).parameters is not None
