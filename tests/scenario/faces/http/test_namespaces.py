"""A namespace knows nothing of another: not its names, not its ids, not its events, not its figures."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson

from ostinato.flows import ConsoleTransport, FlowContext
from ostinato.functions import FunctionContext
from tests.support.web import V1, Api, run
from tests.support.workflows import deploy_mailbox

JOURNEY = """
apiVersion: v1
kind: Journey
metadata: {name: very-private, version: 1.0.0}
spec:
  start: plan
  states:
    plan: {type: task, task: {kind: 'schedule:v1', start: later, interval: P1D, maxRuns: 3}, next: ask}
    later: {type: succeed}
    ask: {type: wait, wait: {channel: manual, input: {schema: {type: object}}}, next: done}
    done: {type: succeed}
"""
API = """
apiVersion: v1
kind: Api
metadata: {name: very-private-api, version: 1.0.0}
spec:
  start: done
  states:
    done: {type: succeed}
"""


def test_nothing_of_another_namespace_is_seen_or_touched(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.create_namespace("theirs")
        await web.app.create_namespace("ours")
        theirs = await web.token("admin", "theirs")
        ours = await web.token("admin", "ours")
        hidden = await fill(web, theirs)
        await web.token("reader", "theirs")
        for method, path, body in touching(hidden):
            answer = await web.call(method, path, body, token=ours)
            assert answer.status_code == 404, f"{method} {path}: {answer.status_code} {answer.text}"
            assert not [one for one in hidden.values() if one in answer.text and one not in path], answer.text
        secrets = ("very-private", *hidden.values())
        for path in (
            "/schedules",
            "/runs",
            "/runs?attempts=true",
            "/events",
            "/webhooks",
            "/upcoming",
            "/tokens",
            "/namespaces",
            "/metrics",
            "/journeys",
            "/journey-definitions",
            "/journey-bindings",
            "/workflows",
            "/functions",
            "/functions/drain",
            "/agents/buddy/users",
            "/agents/buddy/sessions",
            "/agents/buddy/escalations",
            "/agents/buddy/schedules",
            "/agents/buddy/campaigns",
            "/agents/buddy/suppressions",
        ):
            text = (await web.get(path, token=ours)).text
            assert not [one for one in secrets if one in text], f"{path} tells of another namespace"
        web.application.state.closing.set()
        stream = await web.get("/events/stream?after=0", token=ours)
        assert not [one for one in secrets if one in stream.text]
        for path in ("/runs", "/schedules", "/events", "/metrics", "/webhooks"):
            assert (await web.get(f"{path}?namespace=theirs", token=ours)).status_code == 404
            elsewhere = await web.get(f"{path}?namespace=nowhere", token=ours)
            assert elsewhere.status_code == 404  # the same as for one that is not there

        # The other way round it is all there.
        text = "".join([(await web.get(path, token=theirs)).text for path in ("/schedules", "/runs", "/events")])
        assert hidden["run"] in text
        assert "very-private" in text

    run(main, tmp_path)


async def fill(web: Api, token: str) -> dict[str, str]:
    """One of everything, in the namespace of a token."""

    async def post(path: str, body: object) -> dict[str, str]:
        reply = await web.post(path, body, token=token)
        assert reply.status_code < 300, reply.text
        answer: dict[str, str] = reply.json()
        return answer

    await post(
        "/schedules", {"name": "very-private", "spec": {"cron": ["0 9 * * *"]}, "action": "note", "trigger": True}
    )
    fill = {"first": "2026-01-01T00:00:00Z", "last": "2026-01-02T00:00:00Z"}
    backfill = (await post("/schedules/very-private/backfills", fill))["backfill"]
    run = (await post("/jobs/note/start", {"id": "very-private-run"}))["id"]
    hook = (await post("/webhooks", {"url": "https://very-private.example/in", "patterns": ["search_attribute:*"]}))[
        "id"
    ]
    token_id = (await post("/tokens", {"label": "very-private"}))["id"]
    for text in (JOURNEY, API):
        await post("/journey-definitions", {"text": text})
    journey = (await post("/journeys/very-private/start", {}))["journeyId"]
    (bound,) = (await web.get("/journey-bindings", token=token)).json()["items"]
    theirs = web.app.within("theirs")
    box = await deploy_mailbox(theirs, name="very-private")
    async with asyncio.timeout(20):
        while not (inputs := await theirs.workflows.inputs(box.code.name)):
            await asyncio.sleep(0.01)
    handler_run = (await theirs.workflows.runs("very-private"))[-1].id

    @web.app.function(name="very-private")
    async def ask(ctx: FunctionContext) -> None:
        await ctx.receive("answer")

    function = (await post("/functions", {"function": "very-private", "id": "very-private-function"}))["id"]
    buddy = web.app.agent("buddy", tz="UTC", model=None, transport=ConsoleTransport(str), admins=lambda *_: True)

    @buddy.flow
    async def ask_people(ctx: FlowContext) -> None:
        await ctx.escalate("very-private")

    buddy.router(lambda _: "ask_people")
    said = {"user": "very-private", "text": "very-private", "id": "1"}
    turn = (await post("/agents/buddy/messages", said))["turn_id"]
    ended = (await web.get(f"/agents/buddy/turns/{turn}/outcome?wait=20", token=token)).json()
    (question,) = (await web.get("/agents/buddy/escalations", token=token)).json()["items"]
    target = {"kind": "user", "user_external_id": "very-private"}
    once = {"type": "once", "run_at": "2099-01-01T00:00"}
    await post(
        "/agents/buddy/schedules", {"flow": "ask_people", "trigger": once, "target": target, "id": "very-private"}
    )
    segment = {"type": "users", "users": ["very-private"]}
    campaign = (await post("/agents/buddy/campaigns", {"segment": segment, "flow": "ask_people"}))["id"]
    await post("/agents/buddy/suppressions", {"users": ["very-private"], "reason": "very-private"})
    session_token = (await post(f"/agents/buddy/sessions/{ended['session_id']}/tokens", {}))["id"]
    return {
        "campaign": campaign,
        "session_token": session_token,
        "turn": turn,
        "session": ended["session_id"],
        "question": question["id"],
        "run": run,
        "function": function,
        "handler_run": handler_run,
        "input": inputs[0].id,
        "backfill": backfill,
        "hook": hook,
        "token": token_id,
        "journey": journey,
        "binding": bound["scheduleId"],
    }


def touching(hidden: dict[str, str]) -> list[tuple[str, str, object]]:
    """Every call that names something."""
    run, hook, name = hidden["run"], hidden["hook"], "very-private"
    handler_run = hidden["handler_run"]
    moment = "2026-01-01T09:00:00Z"
    span = f"first={moment}&last={moment}"
    return [
        *[("GET", f"/runs/{id}{more}", None) for id in (run, f"{name}-run") for more in ("", "/attempts", "/log")],
        *[("POST", f"/runs/{run}/{verb}", {}) for verb in ("cancel", "terminate", "retry")],
        ("GET", f"/schedules/{name}", None),
        ("PATCH", f"/schedules/{name}", {"notes": "x"}),
        ("DELETE", f"/schedules/{name}", None),
        *[("POST", f"/schedules/{name}/{verb}", {}) for verb in ("pause", "resume", "trigger")],
        ("POST", f"/schedules/{name}/skip", {"at": moment}),
        ("POST", f"/schedules/{name}/put-back", {"at": moment}),
        ("POST", f"/schedules/{name}/move", {"at": moment, "to": moment}),
        ("GET", f"/schedules/{name}/history", None),
        ("GET", f"/schedules/{name}/times?{span}", None),
        ("GET", f"/schedules/{name}/explain?at={moment}", None),
        ("GET", f"/schedules/{name}/backfills", None),
        ("POST", f"/schedules/{name}/backfills", {"first": moment, "last": moment}),
        *[("POST", f"/schedules/{name}/backfills/{hidden['backfill']}/{v}", {}) for v in ("pause", "resume", "cancel")],
        ("POST", "/simulate", {"schedule": name, "first": moment, "last": moment}),
        ("GET", f"/webhooks/{hook}", None),
        ("PATCH", f"/webhooks/{hook}", {"notes": "x"}),
        ("DELETE", f"/webhooks/{hook}", None),
        *[("POST", f"/webhooks/{hook}/{verb}", {}) for verb in ("disable", "enable")],
        ("POST", f"/webhooks/{hook}/replay", {"after": 0}),
        ("GET", f"/webhooks/{hook}/deliveries", None),
        ("POST", f"/webhooks/{hook}/deliveries/{run}/redeliver", {}),
        ("DELETE", f"/tokens/{hidden['token']}", None),
        ("POST", f"/journeys/{name}/start", {}),
        *[("GET", f"/journeys/{hidden['journey']}{more}", None) for more in ("", "/result", "/diagram.svg")],
        *[("POST", f"/journeys/{hidden['journey']}/steps/{step}", {}) for step in ("ask", "cancel")],
        ("GET", f"/journey-definitions/{name}", None),
        *[("GET", f"/journey-definitions/{name}/1.0.0{m}", None) for m in ("", "/openapi.json", "/diagram.svg")],
        ("GET", f"/journey-bindings/{hidden['binding']}", None),
        ("POST", f"/journey-bindings/{hidden['binding']}/cancel", {}),
        ("POST", f"/apis/{name}-api", {}),
        *[
            ("GET", f"/workflows/{name}{more}", None)
            for more in (
                "",
                "/runs",
                "/events",
                "/inputs",
                "/outputs",
                "/diagram.svg",
                f"/runs/{handler_run}",
            )
        ],
        *[
            ("GET", f"/functions/{id}{more}", None)
            for id in (run, hidden["function"], f"{name}-function")
            for more in ("", "/result", "/steps", "/timeline.svg")
        ],
        ("POST", f"/functions/{hidden['function']}/messages", {"name": "answer"}),
        *[("POST", f"/functions/{hidden['function']}/{verb}", {}) for verb in ("cancel", "terminate")],
        ("GET", f"/agents/buddy/users/{name}", None),
        ("DELETE", f"/agents/buddy/users/{name}", None),
        ("GET", f"/agents/buddy/sessions?user={name}", None),
        ("POST", f"/agents/buddy/sessions/{hidden['session']}/end", {}),
        *[("GET", f"/agents/buddy/sessions/{hidden['session']}{more}", None) for more in ("", "/messages", "/turns")],
        *[("GET", f"/agents/buddy/turns/{hidden['turn']}{more}", None) for more in ("", "/outcome")],
        ("GET", f"/agents/buddy/escalations/{hidden['question']}", None),
        ("POST", f"/agents/buddy/escalations/{hidden['question']}/resolve", {"approved": True}),
        *[("POST", f"/agents/buddy/users/{name}/{verb}", {}) for verb in ("take-over", "hand-back")],
        ("POST", f"/agents/buddy/users/{name}/say", {"text": "x", "id": "1"}),
        *[("GET", f"/agents/buddy/schedules/{name}{more}", None) for more in ("", "/runs")],
        ("PATCH", f"/agents/buddy/schedules/{name}", {"metadata": {}}),
        *[("POST", f"/agents/buddy/schedules/{name}/{verb}", {}) for verb in ("cancel", "pause", "resume", "trigger")],
        *[("GET", f"/agents/buddy/campaigns/{hidden['campaign']}{more}", None) for more in ("", "/recipients")],
        ("GET", f"/agents/buddy/campaigns/{hidden['campaign']}/explain?user={name}", None),
        *[("POST", f"/agents/buddy/campaigns/{hidden['campaign']}/{verb}", {}) for verb in ("pause", "resume", "stop")],
        *[(verb, f"/agents/buddy/sessions/{hidden['session']}/tokens", None) for verb in ("GET", "POST")],
        ("DELETE", f"/agents/buddy/sessions/{hidden['session']}/tokens/{hidden['session_token']}", None),
        *[("POST", f"/workflows/{name}/{verb}", {}) for verb in ("pause", "resume", "stop", "run-now")],
        ("POST", f"/workflows/{name}/resolve", {"choice": "resume"}),
        ("POST", f"/workflows/{name}/events/skip", {"topic": "emails", "message_id": "one"}),
        ("POST", f"/workflows/{name}/inputs/{hidden['input']}/skip", {}),
    ]


# Calls that make something in the caller's own namespace, and those that name no more than an agent, which is of all.
AGENTS_OWN = ("schedules", "campaigns", "suppressions")
OF_ITS_OWN = [
    ("put", f"{V1}/schedules/{{name}}"),
    ("patch", f"{V1}/agents/{{agent}}/users/{{user}}"),
    ("post", f"{V1}/agents/{{agent}}/messages"),
    ("post", f"{V1}/agents/{{agent}}/inbound"),
    *[("get", f"{V1}/agents/{{agent}}{more}") for more in ("", "/users", "/sessions", "/escalations")],
    *[(verb, f"{V1}/agents/{{agent}}/{what}") for verb in ("get", "post") for what in AGENTS_OWN],
    *[("post", f"{V1}/agents/{{agent}}/{what}") for what in ("campaigns:test", "campaigns:preview")],
    ("post", f"{V1}/agents/{{agent}}/suppressions:remove"),
]


def test_every_call_that_names_something_is_tried(tmp_path: Path) -> None:
    """A new route with a place in its path belongs into the list above."""

    async def main(web: Api) -> None:
        tried = {
            (method, path.partition("?")[0])
            for method, path, _ in touching(
                dict.fromkeys(
                    (
                        "run backfill hook token journey binding handler_run input function session turn question "
                        "campaign session_token"
                    ).split(),
                    "X",
                )
            )
        }
        for path, calls in web.application.openapi()["paths"].items():
            if "{" not in path or path == f"{V1}/namespaces/{{name}}" or path.startswith(f"{V1}/jobs/"):
                continue
            parts = path.removeprefix(V1).split("/")
            for method in calls:
                if (method, path) in OF_ITS_OWN:
                    continue
                assert any(
                    method.upper() == verb
                    and len(place.split("/")) == len(parts)
                    and all(a == b or a.startswith("{") for a, b in zip(parts, place.split("/"), strict=True))
                    for verb, place in tried
                ), f"{method} {path}"

    run(main, tmp_path)


def test_the_same_names_live_beside_one_another(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.create_namespace("other")
        body = {"name": "report", "spec": {"cron": ["0 9 * * *"]}, "action": "note"}
        for namespace in ("default", "other"):
            assert (await web.post(f"/schedules?namespace={namespace}", body)).status_code == 201
            started = await web.post(f"/jobs/note/start?namespace={namespace}", {"id": "once", "input": {"n": 1}})
            assert started.json()["new"] is True
        events = (await web.get("/events?namespace=other&limit=1000")).json()["items"]
        assert {one["namespace"] for one in events} == {"other"}
        assert orjson.dumps(events).count(b"schedule:created") == 1

    run(main, tmp_path)
