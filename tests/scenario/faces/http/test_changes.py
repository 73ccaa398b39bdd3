"""Changes over HTTP: done once for each key, dependent on an ETag where asked, and each with its actor on record."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from ostinato import RunCancelled
from ostinato.engine.runs import start
from ostinato.faces.session_tokens import create_session_token
from ostinato.flows import ConsoleTransport, FlowContext
from ostinato.functions import FunctionContext
from ostinato.model import Event
from ostinato.store.contract import Operation
from ostinato.webhooks.subscriptions import deliveries, find
from ostinato.workflows import AuthRequired
from ostinato.workflows.views.overview import WorkflowInfo
from tests.support.http_journeys import ASKING as JOURNEY
from tests.support.http_journeys import REPEATING
from tests.support.web import V1, Api, described, run, wait_for_news
from tests.support.workflows import deploy_mailbox

CRON = {"cron": ["0 9 * * *"]}
COMING = "2099-01-01T09:00:00Z"
ALL = {"type": "all"}
NOBODY = {"type": "users", "users": ["nobody"]}
ROUTINE: dict[str, Any] = {
    "flow": "greet",
    "trigger": {"type": "cron", "expr": "0 9 * * *"},
    "target": {"kind": "user", "user_external_id": "ada"},
}
Prepare = Callable[[Api], Awaitable[dict[str, str]]]


async def nothing(web: Api) -> dict[str, str]:
    return {}


async def schedule(web: Api) -> dict[str, str]:
    await web.post("/schedules", {"name": "s", "spec": CRON, "action": "note"})
    coming = (await web.get("/upcoming?limit=2")).json()["items"]
    return {"at": coming[0]["nominal"], "next": coming[1]["nominal"]}


async def skipped(web: Api) -> dict[str, str]:
    places = await schedule(web)
    for at in places.values():
        await web.post("/schedules/s/skip", {"at": at})
    return places


async def backfill(web: Api) -> dict[str, str]:
    await schedule(web)
    body = {"first": "2020-01-01T00:00:00Z", "last": "2025-01-01T00:00:00Z", "rate": 0.01}
    return {"id": (await web.post("/schedules/s/backfills", body)).json()["backfill"]}


async def paused_backfill(web: Api) -> dict[str, str]:
    places = await backfill(web)
    await web.post(f"/schedules/s/backfills/{places['id']}/pause")
    return places


async def waiting(web: Api) -> dict[str, str]:
    return {"id": (await web.post("/jobs/note/start", {"at": COMING})).json()["id"]}


async def over(web: Api) -> dict[str, str]:
    handle = await web.app.start("note")
    await handle.result(20)
    return {"id": handle.id}


async def token(web: Api) -> dict[str, str]:
    return {"id": (await web.app.create_token("reader"))[1].id}


async def namespace(web: Api) -> dict[str, str]:
    await web.app.create_namespace("gone")
    return {}


async def webhook(web: Api) -> dict[str, str]:
    answer = await web.post("/webhooks", {"url": "https://hooks.example/in", "patterns": ["search_attribute:*"]})
    return {"id": answer.json()["id"]}


async def delivery(web: Api) -> dict[str, str]:
    body = (await web.post("/webhooks", {"url": "http://127.0.0.2:9/in", "patterns": ["run:created"]})).json()
    assert "id" not in body  # the policy lets nothing go there
    hook = (await webhook(web))["id"]
    now = web.app.engine.clock.now()
    event = Event(1, now, web.app.namespace, "search_attribute:added", "x", {})

    def deliver(_: int) -> Operation[str]:
        (run,) = deliveries((yield from find(web.app.namespace, hook)), [event], now, lambda _: "delivered")
        yield from start([run], now)
        return run.id

    run = await web.app.store.run(deliver)
    await web.app.terminate(run)
    return {"id": hook, "delivery": run}


async def journey(web: Api) -> dict[str, str]:
    await web.app.journeys.deploy(JOURNEY)
    return {"name": "asking"}


async def waiting_journey(web: Api) -> dict[str, str]:
    return {"id": (await web.app.journeys.start((await journey(web))["name"])).id}


async def binding(web: Api) -> dict[str, str]:
    await web.app.journeys.deploy(REPEATING)
    await web.app.journeys.start("repeating", {"customer": "ada"})
    return {"id": (await web.app.journeys.bindings(name="repeating"))[0].id}


async def step(web: Api) -> dict[str, str]:
    return {**await waiting_journey(web), "step": "ask"}


async def workflow(web: Api) -> dict[str, str]:
    """A workflow that is idle."""
    name = (await deploy_mailbox(web.app)).code.name
    await until(web, name, lambda info: info.status == "Idle" and not info.pending)
    (done,) = await web.app.workflows.inputs(name)
    return {"name": name, "id": done.id}


async def paused_workflow(web: Api) -> dict[str, str]:
    places = await workflow(web)
    await web.app.workflows.pause(places["name"])
    return places


async def blocked_workflow(web: Api) -> dict[str, str]:
    name = (await deploy_mailbox(web.app, [AuthRequired("mail")])).code.name
    await until(web, name, lambda info: info.status == "Needs attention")
    return {"name": name}


async def function(web: Api) -> dict[str, str]:
    """A function, and a run of it that waits for a message."""

    @web.app.function()
    async def ask(ctx: FunctionContext, n: int = 0) -> None:
        while True:
            await ctx.receive("answer")

    handle = await web.app.functions.start(ask)

    async def is_waiting() -> bool:
        return (await handle.info()).status == "waiting"

    await wait_for_news(web.app, is_waiting)
    return {"id": handle.id}


async def ended(web: Api, run_id: str) -> None:
    with pytest.raises(RunCancelled):
        await web.app.functions.result(run_id, 20)


def anybody(action: str, actor: str, user: str) -> bool:
    return True


async def agent(web: Api) -> dict[str, str]:
    """An agent whose flow has asked people about its user `ada`."""
    buddy = web.app.agent("buddy", tz="UTC", model=None, transport=ConsoleTransport(str), admins=anybody)

    @buddy.flow
    async def ask(ctx: FlowContext) -> None:
        await ctx.escalate("May she?")

    buddy.router(lambda _: "ask")
    handle = await web.app.agents.receive("buddy", "ada", "hello", id="1")
    await handle.outcome("20s")
    (question,) = await web.app.within("default", "local").agents.escalations("buddy")
    return {"name": "buddy", "user": "ada", "id": question.id}


async def taken_over(web: Api) -> dict[str, str]:
    places = await agent(web)
    await web.app.within("default", "local").agents.take_over("buddy", "ada")
    return places


async def session(web: Api) -> dict[str, str]:
    """A session of an agent, and a token of it."""
    await agent(web)
    (info,) = await web.app.agents.sessions("buddy")
    _, token = await create_session_token(web.app, info.id)
    return {"name": "buddy", "session": info.id, "id": token.id, "run": info.run_id}


async def people(web: Api) -> dict[str, str]:
    """An agent with two users to whom it has not talked."""
    buddy = web.app.agent("buddy", tz="UTC", model=None, transport=ConsoleTransport(str))

    @buddy.flow
    async def greet(ctx: FlowContext, word: str = "hello") -> None:
        await ctx.say(word)

    for name in ("ada", "bob"):
        await web.app.agents.put_user("buddy", name)
    return {"name": "buddy", "user": "ada"}


async def agent_schedule(web: Api) -> dict[str, str]:
    places = await people(web)
    created = await web.app.agents.schedules("buddy").create(**ROUTINE)
    return {**places, "id": created.schedule_id}


async def paused_agent_schedule(web: Api) -> dict[str, str]:
    places = await agent_schedule(web)
    await web.app.agents.schedules("buddy").pause(places["id"])
    return places


async def campaign(web: Api) -> dict[str, str]:
    """A campaign that waits for quiet hours to end."""
    places = await people(web)
    later = datetime.now(UTC) + timedelta(hours=6)
    sent = await web.app.agents.campaigns("buddy").send(ALL, flow="greet", local_time=f"{later:%H:%M}")
    await reached_status(web, sent.id, "sending")
    return {**places, "id": sent.id}


async def paused_campaign(web: Api) -> dict[str, str]:
    places = await campaign(web)
    await web.app.agents.campaigns("buddy").pause(places["id"])
    return places


async def suppression(web: Api) -> dict[str, str]:
    places = await people(web)
    await web.app.agents.campaigns("buddy").suppress(["ada", "bob"], "complained")
    return places


async def reached_status(web: Api, campaign_id: str, status: str) -> None:
    async def reached() -> bool:
        return bool((await web.app.agents.campaigns("buddy").get(campaign_id)).status == status)

    await wait_for_news(web.app, reached)


async def until(web: Api, name: str, reached: Callable[[WorkflowInfo], bool]) -> None:
    async def has_reached() -> bool:
        return reached(await web.app.workflows.get(name))

    await wait_for_news(web.app, has_reached)


# Calls after which a campaign goes on by itself, and the status with which it ends.
GO_ON = {
    "/agents/{name}/campaigns": "done",
    "/agents/{name}/campaigns:test": "done",
    "/agents/{name}/campaigns/{id}/stop": "stopped",
}
# Method, path, body, another body (None: the same call of another thing is another call), and what must be there.
CHANGES: list[tuple[str, str, Any, Any, Prepare]] = [
    ("POST", "/schedules", {"name": "n", "spec": CRON, "action": "note"}, {"overlap": "allow_all"}, nothing),
    ("PUT", "/schedules/{name}", {"spec": CRON, "action": "note"}, {"notes": "other"}, nothing),
    ("PATCH", "/schedules/{name}", {"notes": "a"}, {"notes": "b"}, schedule),
    ("DELETE", "/schedules/{name}", None, None, schedule),
    ("POST", "/schedules/{name}/pause", {"note": "a"}, {"note": "b"}, schedule),
    ("POST", "/schedules/{name}/resume", {"note": "a"}, {"catchup": "all"}, schedule),
    ("POST", "/schedules/{name}/trigger", {}, {"overlap": "allow_all"}, schedule),
    ("POST", "/schedules/{name}/skip", {"at": "{at}"}, {"at": "{next}"}, schedule),
    ("POST", "/schedules/{name}/move", {"at": "{at}", "to": "{at}"}, {"at": "{next}", "to": "{next}"}, schedule),
    ("POST", "/schedules/{name}/put-back", {"at": "{at}"}, {"at": "{next}"}, skipped),
    (
        "POST",
        "/schedules/{name}/backfills",
        {"first": "2026-01-01T00:00:00Z", "last": "2026-01-03T00:00:00Z"},
        {"overlap": "allow_all"},
        schedule,
    ),
    ("POST", "/schedules/{name}/backfills/{id}/pause", None, None, backfill),
    ("POST", "/schedules/{name}/backfills/{id}/resume", None, None, paused_backfill),
    ("POST", "/schedules/{name}/backfills/{id}/cancel", {"reason": "a"}, {"reason": "b"}, backfill),
    ("POST", "/schedules:bulk", {"do": "delete"}, {"do": "pause"}, schedule),
    (
        "POST",
        "/schedules:apply",
        {"schedules": {"n": {"spec": CRON, "action": "note"}}},
        {"schedules": {}},
        nothing,
    ),
    ("POST", "/runs/{id}/cancel", {"reason": "a"}, {"reason": "b"}, waiting),
    ("POST", "/runs/{id}/terminate", {"reason": "a"}, {"reason": "b"}, waiting),
    ("POST", "/runs/{id}/retry", None, None, over),
    ("POST", "/jobs/{name}/start", {"input": {"n": 1}}, {"input": {"n": 2}}, nothing),
    ("POST", "/jobs/{name}/start-many", {"inputs": [{"n": 1}]}, {"inputs": [{"n": 2}]}, nothing),
    ("POST", "/namespaces", {"name": "new"}, {"name": "newer"}, nothing),
    ("DELETE", "/namespaces/{name}", None, None, namespace),
    ("POST", "/tokens", {"label": "a"}, {"label": "b"}, nothing),
    ("DELETE", "/tokens/{id}", None, None, token),
    ("POST", "/webhooks", {"url": "https://a.example/"}, {"url": "https://b.example/"}, nothing),
    ("PATCH", "/webhooks/{id}", {"notes": "a"}, {"notes": "b"}, webhook),
    ("DELETE", "/webhooks/{id}", None, None, webhook),
    ("POST", "/webhooks/{id}/disable", {"reason": "a"}, {"reason": "b"}, webhook),
    ("POST", "/webhooks/{id}/enable", {"after": 1}, {"after": 0}, webhook),
    ("POST", "/webhooks/{id}/replay", {"after": 1}, {"after": 0}, webhook),
    ("POST", "/webhooks/{id}/deliveries/{delivery}/redeliver", None, None, delivery),
    ("POST", "/journey-definitions", {"text": JOURNEY}, {"file": "other.yaml"}, nothing),
    ("POST", "/journeys/{name}/start", {"a": 1}, {"a": 2}, journey),
    ("POST", "/journeys/{id}/steps/cancel", {"reason": "a"}, {"reason": "b"}, waiting_journey),
    ("POST", "/journeys/{id}/steps/{step}", {"ok": True}, {"ok": False}, step),
    ("POST", "/journey-bindings/{id}/cancel", None, None, binding),
    ("POST", "/functions", {"function": "ask", "input": {"n": 1}}, {"input": {"n": 2}}, function),
    ("POST", "/functions/{id}/messages", {"name": "answer"}, {"payload": 1}, function),
    ("POST", "/functions/{id}/cancel", {"reason": "a"}, {"reason": "b"}, function),
    ("POST", "/functions/{id}/terminate", {"reason": "a"}, {"reason": "b"}, function),
    ("POST", "/agents/{name}/messages", {"user": "ada", "text": "hi", "id": "2"}, {"text": "other"}, agent),
    ("PATCH", "/agents/{name}/users/{user}", {"tags": ["a"]}, {"tags": ["b"]}, agent),
    ("DELETE", "/agents/{name}/users/{user}", None, None, people),
    ("POST", "/agents/{name}/sessions/{session}/end", {"reason": "a"}, {"reason": "b"}, session),
    ("POST", "/agents/{name}/escalations/{id}/resolve", {"approved": True}, {"approved": False}, agent),
    ("POST", "/agents/{name}/users/{user}/take-over", None, None, agent),
    ("POST", "/agents/{name}/users/{user}/hand-back", {"message": "a"}, {"message": "b"}, taken_over),
    ("POST", "/agents/{name}/users/{user}/say", {"text": "a", "id": "1"}, {"text": "b"}, taken_over),
    ("POST", "/agents/{name}/schedules", ROUTINE, {"metadata": {"n": 1}}, people),
    ("PATCH", "/agents/{name}/schedules/{id}", {"metadata": {"n": 1}}, {"metadata": {"n": 2}}, agent_schedule),
    ("POST", "/agents/{name}/schedules/{id}/cancel", {"reason": "a"}, {"reason": "b"}, agent_schedule),
    ("POST", "/agents/{name}/schedules/{id}/pause", {"note": "a"}, {"note": "b"}, agent_schedule),
    ("POST", "/agents/{name}/schedules/{id}/resume", {"note": "a"}, {"note": "b"}, paused_agent_schedule),
    ("POST", "/agents/{name}/schedules/{id}/trigger", None, None, agent_schedule),
    ("POST", "/agents/{name}/campaigns", {"segment": NOBODY, "flow": "greet"}, {"metadata": {"n": 1}}, people),
    ("POST", "/agents/{name}/campaigns:test", {"users": ["nobody"], "flow": "greet"}, {"users": ["none"]}, people),
    ("POST", "/agents/{name}/campaigns/{id}/pause", {"reason": "a"}, {"reason": "b"}, campaign),
    ("POST", "/agents/{name}/campaigns/{id}/resume", None, None, paused_campaign),
    ("POST", "/agents/{name}/campaigns/{id}/stop", {"reason": "a"}, {"reason": "b"}, campaign),
    ("POST", "/agents/{name}/suppressions", {"users": ["ada"], "reason": "a"}, {"reason": "b"}, people),
    ("POST", "/agents/{name}/suppressions:remove", {"users": ["ada"]}, {"users": ["bob"]}, suppression),
    ("POST", "/agents/{name}/sessions/{session}/tokens", {"expires_in": "5m"}, {"expires_in": "6m"}, session),
    ("DELETE", "/agents/{name}/sessions/{session}/tokens/{id}", None, None, session),
    ("POST", "/workflows/{name}/pause", None, None, workflow),
    ("POST", "/workflows/{name}/resume", None, None, paused_workflow),
    ("POST", "/workflows/{name}/stop", None, None, workflow),
    ("POST", "/workflows/{name}/run-now", None, None, workflow),
    ("POST", "/workflows/{name}/resolve", {"choice": "resume"}, {"choice": "skip"}, blocked_workflow),
    (
        "POST",
        "/workflows/{name}/events/skip",
        {"topic": "emails", "message_id": "one"},
        {"message_id": "two"},
        blocked_workflow,
    ),
    ("POST", "/workflows/{name}/inputs/{id}/skip", None, None, workflow),
]


SIGNED = "/agents/{agent}/inbound"  # a signed message has its own id, and is handled once under it
# An API is on no record, so it has nothing to answer a repeated call from.
UNCHANGING = (
    "/simulate",
    "/schedules:plan",
    "/diagnosis",
    "/journey-definitions:validate",
    "/apis/",
    "/agents/{agent}/campaigns:preview",
    SIGNED,
)


def filled(value: Any, places: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: filled(inner, places) for name, inner in value.items()}
    if isinstance(value, str):
        for name, actual in places.items():
            value = value.replace("{" + name + "}", actual)
    return value


def test_every_change_takes_a_key() -> None:
    listed = {(method, re.sub(r"\{\w+\}", "{}", f"{V1}{path}")) for method, path, *_ in CHANGES}
    for path, calls in described()["paths"].items():
        for method, call in calls.items():
            # Simulations and plans change nothing; mending what is broken is the same however often it is done.
            if method == "get" or path.startswith(tuple(V1 + one for one in UNCHANGING)):
                continue
            names = [one["name"] for one in call.get("parameters", [])]
            assert "Idempotency-Key" in names, f"{method} {path} takes no Idempotency-Key"
            assert (method.upper(), re.sub(r"\{\w+\}", "{}", path)) in listed, (
                f"{method} {path} is not in the list above"
            )


def test_the_same_key_does_it_once_and_is_answered_the_same(tmp_path: Path) -> None:
    for number, (method, path, body, other, prepare) in enumerate(CHANGES):
        folder = tmp_path / str(number)
        folder.mkdir()

        async def main(
            web: Api,
            method: str = method,
            path: str = path,
            body: Any = body,
            other: Any = other,
            prepare: Prepare = prepare,
        ) -> None:
            places = {"name": "s", **(await prepare(web))}
            if path.startswith("/jobs"):
                places["name"] = "note"
            if path.startswith("/namespaces"):
                places["name"] = "gone"

            async def call(content: Any, url: str = path) -> httpx.Response:
                headers = {"Idempotency-Key": "k"}
                return await web.call(method, filled(url, places), filled(content, places), headers=headers)

            first = await call(body)
            assert first.status_code < 300, f"{method} {path}: {first.text}"
            if path == "/functions/{id}/cancel":  # which asks; a node cancels, and that is on record too
                await ended(web, places["id"])
            if path == "/agents/{name}/sessions/{session}/end":
                await ended(web, places["run"])
            if path in GO_ON:
                await reached_status(web, first.json()["id"], GO_ON[path])
            if path == "/agents/{name}/schedules/{id}/trigger":  # its turn sends a message when it is over
                await web.app.functions.result(first.json()["run_id"], 20)
            facts = len(await facts_of(web))
            again = await call(body)
            if path.endswith("/tokens"):  # what is shown once cannot be shown again, and there is no second one
                assert again.status_code == 409
                assert "revoke it" in again.json()["detail"]
            else:
                repeated = (again.status_code, again.content, again.headers.get("etag"), again.headers.get("location"))
                wanted = (first.status_code, first.content, first.headers.get("etag"), first.headers.get("location"))
                assert repeated == wanted, f"{method} {path}"
            assert len(await facts_of(web)) == facts, f"{method} {path} was done twice"
            if other is not None:
                different = await call({**body, **other})
            else:
                different = await web.post("/jobs/note/start", headers={"Idempotency-Key": "k"})
            assert different.status_code == 409, f"{method} {path}: {different.text}"

        run(main, folder)


async def remove_everything(web: Api) -> None:
    """Delete what the changes are about, by other calls."""
    for info in await web.app.schedules.list():
        await web.app.schedules.delete(info.name)
    for hook in await web.app.webhooks.list():
        await web.app.webhooks.delete(hook.id)
    for namespace in await web.app.namespaces():
        if namespace.name != "default":
            await web.app.delete_namespace(namespace.name)
    for token in await web.app.tokens():
        await web.app.revoke_token(token.id)


def test_the_same_key_is_answered_the_same_after_the_thing_is_gone(tmp_path: Path) -> None:
    """The answer of a call may be lost, and others may delete what it was about before its caller tries again."""
    for number, (method, path, body, _, prepare) in enumerate(CHANGES):
        if path.endswith("/tokens"):  # what is shown once cannot be shown again
            continue
        folder = tmp_path / str(number)
        folder.mkdir()

        async def main(
            web: Api, method: str = method, path: str = path, body: Any = body, prepare: Prepare = prepare
        ) -> None:
            places = {"name": "s", **(await prepare(web))}
            if path.startswith("/jobs"):
                places["name"] = "note"
            if path.startswith("/namespaces"):
                places["name"] = "gone"

            async def call() -> tuple[int, bytes]:
                headers = {"Idempotency-Key": "k"}
                answer = await web.call(method, filled(path, places), filled(body, places), headers=headers)
                return answer.status_code, answer.content

            first = await call()
            await remove_everything(web)
            assert await call() == first, f"{method} {path}"

        run(main, folder)


async def facts_of(web: Api) -> list[str]:
    """What was brought about from outside; what nodes do by themselves goes on meanwhile."""
    verbs = ("run:created", "run:cancelled", "run:terminated", "flow:turn_accepted")
    names = [one.name for one in await web.app.events(limit=1000)]
    if "schedule:backfill_started" in names:  # which goes on by itself
        steps = ("schedule:backfill_progressed", "schedule:backfill_completed")
        return [one for one in names if one.startswith("schedule:backfill_") and one not in steps]
    by_themselves = (
        *("run:", "schedule:run_", "schedule:skipped", "response:", "campaign:completed"),
        *("flow:turn_", "flow:started", "flow:ended", "hitl:escalated"),
    )
    return [one for one in names if one in verbs or not one.startswith(by_themselves)]


def test_each_change_is_on_record_with_who_made_it(tmp_path: Path) -> None:
    for number, (method, path, body, _, prepare) in enumerate(CHANGES):
        folder = tmp_path / str(number)
        folder.mkdir()

        async def main(
            web: Api, method: str = method, path: str = path, body: Any = body, prepare: Prepare = prepare
        ) -> None:
            places = {"name": "s", **(await prepare(web))}
            if path.startswith("/jobs"):
                places["name"] = "note"
            if path.startswith("/namespaces"):
                places["name"] = "gone"
            admin, _ = await web.app.create_token("admin", label="ada")
            if path.endswith("/say"):  # only the person who has taken over may speak
                await web.app.within("default", "local").agents.hand_back("buddy", "ada")
                await web.app.within("default", "token:ada").agents.take_over("buddy", "ada")
            done = await web.call(method, filled(path, places), filled(body, places), token=admin)
            assert done.status_code < 300, done.text
            events = []
            for namespace in await web.app.namespaces():
                events += await web.app.within(namespace.name).events(limit=1000)
            events += await web.app.within("gone").events(limit=1000)
            assert [one for one in events if one.actor == "token:ada"], f"{method} {path} does not record its actor"

        run(main, folder)


def test_a_change_may_depend_on_what_the_caller_knows(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/schedules", {"name": "s", "spec": CRON, "action": "note"})
        assert answer.headers["etag"] == '"1"'
        read = await web.get("/schedules/s")
        assert read.headers["etag"] == '"1"'
        matching = {"If-Match": read.headers["etag"]}
        changed = await web.call("PATCH", "/schedules/s", {"notes": "a"}, headers=matching)
        assert changed.status_code == 200
        stale = await web.call("PATCH", "/schedules/s", {"notes": "b"}, headers=matching)
        assert stale.status_code == 412
        assert stale.json()["current"] == changed.headers["etag"]
        fresh = {"If-Match": stale.json()["current"]}
        assert (await web.post("/schedules/s/pause", headers=matching)).status_code == 412
        assert (await web.post("/schedules/s/pause", headers=fresh)).status_code == 200
        assert (await web.post("/schedules/s/resume", headers={"If-Match": "*"})).status_code == 200
        weak = "W/" + (await web.get("/schedules/s")).headers["etag"]
        assert (await web.post("/schedules/s/pause", headers={"If-Match": weak})).status_code == 200
        assert (await web.post("/schedules/s/pause", headers={"If-Match": '"other"'})).status_code == 412
        assert (await web.call("DELETE", "/schedules/s", headers=matching)).status_code == 412
        assert (await web.get("/schedules/s")).status_code == 200

    run(main, tmp_path)


def test_of_two_who_change_at_once_one_is_told(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.post("/schedules", {"name": "s", "spec": CRON, "action": "note"})
        matching = {"If-Match": '"1"'}
        calls = [web.call("PATCH", "/schedules/s", {"notes": str(n)}, headers=matching) for n in range(8)]
        statuses = [one.status_code for one in await asyncio.gather(*calls)]
        assert sorted(statuses) == [200] + [412] * 7

    run(main, tmp_path)


def test_pages_walk_everything_once(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        names = [f"s-{n:03}" for n in range(53)]
        for name in names:
            await web.app.schedules.create(name, CRON, "note", paused=True)
        await web.app.start_many("note", [{"n": n} for n in range(53)], at=COMING)
        for n in range(11):
            await web.app.webhooks.create(f"https://{n}.example/", ["search_attribute:*"])

        async def walk(path: str, cursor: str, limit: int) -> list[dict[str, Any]]:
            items: list[dict[str, Any]] = []
            after: Any = None
            while True:
                query: dict[str, Any] = {"limit": limit} | ({} if after is None else {cursor: after})
                page = (await web.get(path, params=query)).json()
                assert len(page["items"]) <= limit
                items += page["items"]
                after = page["next"]
                if after is None:
                    return items

        for limit in (1, 7, 53, 1000):
            assert [one["name"] for one in await walk("/schedules", "after", limit)] == names
            runs = [one["id"] for one in await walk("/runs", "before", limit)]
            assert len(runs) == len(set(runs)) == 53
            assert runs == sorted(runs, reverse=True)
            assert len({one["id"] for one in await walk("/webhooks", "after", limit)}) == 11
        events = [one["seq"] for one in await walk("/events", "after", 10)]
        assert events == sorted(set(events))
        assert len(events) == len(await web.app.events(limit=1000))
        for path in ("/schedules", "/runs", "/events", "/webhooks"):
            for wrong in ("0", "1001", "-1", "x"):
                assert (await web.get(path, params={"limit": wrong})).status_code == 422
        for endless in (-1.7e308, 1e30):
            answer = await web.call("POST", "/tokens", {"expires_in": endless})
            assert (answer.status_code, "expires_in" in answer.json()["detail"]) == (422, True)

    run(main, tmp_path)


def test_a_simulation_of_runs_without_end_is_refused(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.post("/schedules", {"name": "a", "spec": "0 9 * * *", "action": "note"})
        period = {"schedule": "a", "first": "2026-06-01T00:00:00Z", "last": "2026-06-03T00:00:00Z"}
        for path in ("/simulate", "/simulate.svg"):
            for wrong in (1e308, -1, [5, 1e308]):
                answer = await web.post(path, {**period, "run_time": wrong})
                assert (answer.status_code, "run_time" in answer.json()["detail"]) == (422, True), answer.json()
            assert (await web.post(path, {**period, "run_time": [5, 1e9]})).status_code == 200

    run(main, tmp_path)


def test_a_number_is_neither_true_nor_false(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        draft = {"name": "a", "spec": "0 9 * * *", "action": "note"}
        answers = [
            await web.post("/diagnosis", {"repair": 0}),
            await web.post("/schedules", {**draft, "paused": 1}),
            await web.post("/schedules", {**draft, "trigger": 1}),
            await web.post("/jobs/note/start", {"at_most_once": 1}),
        ]
        assert [one.status_code for one in answers] == [422] * len(answers), [one.json() for one in answers]

    run(main, tmp_path)


def test_a_moment_that_its_offset_takes_out_of_the_calendar_is_refused(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.post("/schedules", {"name": "a", "spec": "0 9 * * *", "action": "note"})
        for moment in ("0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00"):
            answers = [
                await web.get("/schedules/a/explain", params={"at": moment}),
                await web.get("/schedules/a/history", params={"first": moment}),
                await web.post("/schedules/a/skip", {"at": moment}),
                await web.post("/schedules/a/move", {"at": moment, "to": moment}),
                await web.post("/schedules/a/backfills", {"first": moment, "last": moment}),
                await web.get("/schedules/a/times", params={"first": moment, "last": moment}),
            ]
            assert [one.status_code for one in answers] == [422] * len(answers), [one.json() for one in answers]

    run(main, tmp_path)
