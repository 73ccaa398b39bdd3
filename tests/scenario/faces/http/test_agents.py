"""Agents over HTTP: messages in, users, conversations, and what people decide."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ostinato import RunCancelled
from ostinato.engine.http import signing
from ostinato.faces.http.bodies import LARGEST_SIGNED
from ostinato.faces.http.server import Listening
from ostinato.flows import WebhookTransport
from tests.support.face_agents import QUESTION, declare_buddy
from tests.support.web import Api, operations, run, wait_for_news

SECRET = "whsec_" + "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"


async def say(web: Api, text: str, id: str, user: str = "ada", **options: Any) -> dict[str, Any]:
    """Hand in a message, and return its outcome."""
    accepted = await web.post("/agents/buddy/messages", {"user": user, "text": text, "id": id}, **options)
    assert accepted.status_code == 202, accepted.text
    outcome = await web.get(f"/agents/buddy/turns/{accepted.json()['turn_id']}/outcome?wait=20", **options)
    ended: dict[str, Any] = outcome.json()
    return ended


def test_a_message_is_handled_once_and_read_again(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        _, outbox = declare_buddy(web.app)
        ended = await say(web, "hello", "m1")
        assert (ended["outcome"], ended["delivered"], ended["hitl"]) == ("success", 1, "none")
        again = await web.post("/agents/buddy/messages", {"user": "ada", "text": "hello", "id": "m1"})
        assert again.json() == {"turn_id": ended["turn_id"], "new": False}
        await say(web, "and again", "m2")
        assert outbox.texts == ["you said: hello", "you said: and again"]
        (session,) = (await web.get("/agents/buddy/sessions?user=ada")).json()["items"]
        assert (session["user"], session["status"], session["messages"]) == ("ada", "active", 4)
        place = f"/agents/buddy/sessions/{session['id']}"
        assert (await web.get(place)).json() == session
        said: list[dict[str, Any]] = []
        before = ""
        while True:
            page = (await web.get(f"{place}/messages?limit=3{before}")).json()
            said += page["items"]
            if page["next"] is None:
                break
            before = f"&before={page['next']}"
        assert [(one["role"], one["text"]) for one in said[::-1]] == [
            ("user", "hello"),
            ("assistant", "you said: hello"),
            ("user", "and again"),
            ("assistant", "you said: and again"),
        ]
        turns = (await web.get(f"{place}/turns")).json()["items"]
        assert [(turn["text"], turn["outcome"], turn["model_calls"]) for turn in turns] == [
            ("and again", "success", 1),
            ("hello", "success", 1),
        ]
        assert (await web.get(f"/agents/buddy/turns/{turns[1]['id']}")).json() == turns[1]

    run(main, tmp_path)


def test_of_ten_messages_with_one_id_one_is_new_and_takes_effect(tmp_path: Path) -> None:
    """They come at once, each as a call of its own, and every answer names the same turn."""

    async def main(web: Api) -> None:
        _, outbox = declare_buddy(web.app)
        message = {"user": "ada", "text": "hello", "id": "m1"}
        answers = await asyncio.gather(*(web.post("/agents/buddy/messages", message) for _ in range(10)))
        assert {answer.status_code for answer in answers} == {202}
        assert sorted(answer.json()["new"] for answer in answers) == [False] * 9 + [True]
        (turn,) = {answer.json()["turn_id"] for answer in answers}
        await web.get(f"/agents/buddy/turns/{turn}/outcome?wait=20")
        await say(web, "and again", "m2")
        assert outbox.texts == ["you said: hello", "you said: and again"]

    run(main, tmp_path)


def test_agents_are_listed_as_nodes_declared_them(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_buddy(web.app)
        (shown,) = (await web.get("/agents")).json()["items"]
        assert shown == (await web.get("/agents/buddy")).json()
        assert shown["flows"] == {
            "refund": {"version": 1, "description": "Ask people whether the user may have a refund."}
        }
        assert (shown["tools"], shown["tz"]) == (["note"], "America/Sao_Paulo")
        missing = await web.get("/agents/budy")
        assert (missing.status_code, "did you mean 'buddy'" in missing.json()["detail"]) == (404, True)
        assert (await web.get("/agents/none/users")).status_code == 404

    run(main, tmp_path)


def test_a_user_is_created_changed_and_found_by_a_tag(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_buddy(web.app)
        body = {"name": "Ada", "tz": "Europe/Lisbon", "tags": ["b", "a"], "consent": "opted_in", "data": {"x": 1}}
        created = await web.call("PATCH", "/agents/buddy/users/%2B55%2F1", body)
        assert created.status_code == 200, created.text
        user = created.json()
        assert (user["external_id"], user["tags"], user["consent"]) == ("+55/1", ["a", "b"], "opted_in")
        changed = (await web.call("PATCH", "/agents/buddy/users/%2B55%2F1", {"consent": "opted_out"})).json()
        assert (changed["name"], changed["tags"], changed["consent"]) == ("Ada", ["a", "b"], "opted_out")
        assert changed["consent_at"] >= user["consent_at"]
        await web.call("PATCH", "/agents/buddy/users/bob", {})
        assert [one["external_id"] for one in (await web.get("/agents/buddy/users")).json()["items"]] == [
            "+55/1",
            "bob",
        ]
        tagged = (await web.get("/agents/buddy/users?tag=a")).json()["items"]
        assert [one["external_id"] for one in tagged] == ["+55/1"]
        cleared = await web.call("PATCH", "/agents/buddy/users/%2B55%2F1", {"tags": [], "tz": None})
        assert (cleared.json()["tags"], cleared.json()["tz"]) == ([], None)
        names = [event.name for event in await web.app.events(limit=100) if event.name == "flow:user_changed"]
        assert len(names) == 4

    run(main, tmp_path)


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "/agents/buddy/messages", {"user": "ada", "text": "x"}, "body.id"),
        ("POST", "/agents/buddy/messages", {"user": "ada", "text": "", "id": "1"}, "body.text"),
        ("POST", "/agents/buddy/messages", {"user": "a\x00", "text": "x", "id": "1"}, "body.user"),
        ("POST", "/agents/buddy/messages", {"user": "ada", "text": "x", "id": "1", "actor": "eve"}, "body.actor"),
        ("POST", "/agents/buddy/messages", {"user": "ada", "text": "x" * 70_000, "id": "1"}, "body.text"),
        (
            "POST",
            "/agents/buddy/messages",
            {"user": "ada", "text": "x", "id": "1", "metadata": {"a": "x" * 17_000}},
            "body.metadata",
        ),
        ("PATCH", "/agents/buddy/users/ada", {"tz": "Mars/Olympus"}, "body.tz"),
        ("PATCH", "/agents/buddy/users/ada", {"consent": "yes"}, "body.consent"),
        ("PATCH", "/agents/buddy/users/ada", {"tags": ["x"] * 101}, "body.tags"),
        ("PATCH", "/agents/buddy/users/ada", {"id": "1"}, "body.id"),
        ("POST", "/agents/buddy/escalations/1/resolve", {"approved": "yes"}, "body.approved"),
        ("POST", "/agents/buddy/escalations/1/resolve", {"approved": True, "resolved_by": "eve"}, "body.resolved_by"),
        ("POST", "/agents/buddy/users/ada/say", {"text": "x"}, "body.id"),
        ("GET", "/agents/buddy/escalations?status=open", None, "query.status"),
        ("GET", "/agents/buddy/users?limit=0", None, "query.limit"),
        ("GET", "/agents/buddy/turns/1/outcome?wait=60", None, "query.wait"),
    ],
)
def test_a_mistake_names_its_place(tmp_path: Path, method: str, path: str, body: Any, field: str) -> None:
    async def main(web: Api) -> None:
        declare_buddy(web.app)
        answer = await web.call(method, path, body)
        assert (answer.status_code, answer.json()["field"]) == (422, field), answer.text

    run(main, tmp_path, node=False)


def test_roles_decide_who_reads_and_who_acts(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_buddy(web.app)
        tokens = {role: await web.token(role) for role in ("reader", "operator", "agent")}
        roles = {
            (method, path.removeprefix("/api/v1")): role
            for method, path, role in operations(web.application.openapi())
            if "/agents" in path
        }
        reading = {role for (method, path), role in roles.items() if method == "GET" and not path.endswith("/tokens")}
        assert reading == {"reader"}
        acting = {role for (method, path), role in roles.items() if method != "GET" and "inbound" not in path}
        assert acting == {"operator"}
        assert roles["POST", "/agents/{agent}/inbound"] == "anyone"  # who can sign
        said = {"user": "ada", "text": "hello", "id": "1"}
        for role, read, acted in (("reader", 200, 403), ("operator", 200, 202), ("agent", 403, 403)):
            assert (await web.get("/agents/buddy/users", token=tokens[role])).status_code == read
            assert (await web.post("/agents/buddy/messages", said, token=tokens[role])).status_code == acted
        assert (await web.get("/agents")).status_code == 401

    run(main, tmp_path, listening=Listening(require_token=True))


# People


async def ask_people(web: Api, user: str = "ada", **options: Any) -> str:
    """Let the flow ask people, and return the question's id."""
    assert (await say(web, "a refund, please", f"refund-{user}", user, **options))["reason"] == "flow_waiting"
    questions = (await web.get("/agents/buddy/escalations", **options)).json()["items"]
    return str(next(one["id"] for one in questions if one["user"] == user))


def test_a_person_decides_and_the_flow_goes_on(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        _, outbox = declare_buddy(web.app)
        id = await ask_people(web)
        question = (await web.get(f"/agents/buddy/escalations/{id}")).json()
        assert (question["question"], question["data"], question["status"]) == (QUESTION, {"amount": 3}, "pending")
        body = {"approved": True, "message": "as an exception", "action": {"by": "card"}}
        decided = await web.post(f"/agents/buddy/escalations/{id}/resolve", body)
        assert (decided.json()["status"], decided.json()["resolved_by"]) == ("resolved", "local")
        await wait_for_news(web.app, lambda: outbox.texts == ["approved: as an exception"])
        assert (await web.get("/agents/buddy/escalations")).json()["items"] == []
        (resolved,) = (await web.get("/agents/buddy/escalations?status=resolved")).json()["items"]
        assert resolved["action"] == {"by": "card"}

    run(main, tmp_path)


def test_questions_are_listed_the_newest_first(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_buddy(web.app)
        asked = [await ask_people(web, user) for user in ("ada", "bob", "cyd")]
        listed: list[str] = []
        before = ""
        while True:
            page = (await web.get(f"/agents/buddy/escalations?limit=2{before}")).json()
            listed += [one["id"] for one in page["items"]]
            if page["next"] is None:
                break
            before = f"&before={page['next']}"
        assert listed == asked[::-1]

    run(main, tmp_path)


def test_of_two_who_decide_at_once_one_is_told_of_the_other(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        _, outbox = declare_buddy(web.app, admins=lambda *_: True)
        id = await ask_people(web)
        tokens = [(await web.app.create_token("operator", label=name))[0] for name in ("ada", "bob")]
        bodies = [{"approved": True, "message": "yes"}, {"approved": False}]
        answers = await asyncio.gather(
            *[
                web.post(f"/agents/buddy/escalations/{id}/resolve", body, token=token)
                for body, token in zip(bodies, tokens, strict=True)
            ]
        )
        assert sorted(answer.status_code for answer in answers) == [200, 409]
        (won,), (lost,) = ([a for a in answers if a.status_code == code] for code in (200, 409))
        assert f"resolved by {won.json()['resolved_by']} already" in lost.json()["detail"]
        await wait_for_news(web.app, lambda: outbox.texts)
        assert outbox.texts == ["approved: yes" if won.json()["approved"] else "not approved"]

    run(main, tmp_path)


def test_who_is_no_admin_of_the_agent_is_denied_and_it_is_on_record(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_buddy(web.app, admins=["token:ada"])
        ada = (await web.app.create_token("operator", label="ada"))[0]
        eve = (await web.app.create_token("admin", label="eve"))[0]
        id = await ask_people(web, token=ada)
        calls: list[tuple[str, str, Any]] = [
            ("GET", "/agents/buddy/escalations", None),
            ("GET", f"/agents/buddy/escalations/{id}", None),
            ("POST", f"/agents/buddy/escalations/{id}/resolve", {"approved": True}),
            ("POST", "/agents/buddy/users/ada/take-over", None),
            ("POST", "/agents/buddy/users/ada/hand-back", {}),
            ("POST", "/agents/buddy/users/ada/say", {"text": "x", "id": "1"}),
        ]
        for method, path, body in calls:
            answer = await web.call(method, path, body, token=eve)
            assert (answer.status_code, answer.json()["title"]) == (403, "not allowed"), path
        denied = [event for event in await web.app.events(limit=1000) if event.name == "hitl:denied"]
        assert [event.actor for event in denied] == ["token:eve"] * len(calls)
        # A reader who is an admin of the agent sees the inbox, and decides nothing.
        reader = (await web.app.create_token("reader", label="ada"))[0]
        assert len((await web.get("/agents/buddy/escalations", token=reader)).json()["items"]) == 1
        refused = await web.post(f"/agents/buddy/escalations/{id}/resolve", {"approved": True}, token=reader)
        assert "needs the role operator" in refused.json()["detail"]

    run(main, tmp_path)


def test_a_person_takes_over_talks_and_hands_back(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        _, outbox = declare_buddy(web.app)
        await say(web, "hello", "1")
        taken = (await web.post("/agents/buddy/users/ada/take-over")).json()
        assert (taken["takeover"], taken["hitl"], taken["user"]) == ("local", "live_takeover", "ada")
        assert (await say(web, "is anybody there?", "2"))["reason"] == "forwarded"
        spoken = await web.post("/agents/buddy/users/ada/say", {"text": "I am", "id": "1"})
        again = await web.post("/agents/buddy/users/ada/say", {"text": "I am", "id": "1"})
        assert again.json() == {**spoken.json(), "new": False}
        another = await web.post("/agents/buddy/users/ada/say", {"text": "I am not", "id": "1"})
        assert (another.status_code, "another text was said" in another.json()["detail"]) == (409, True)
        await web.get(f"/agents/buddy/turns/{spoken.json()['turn_id']}/outcome?wait=20")
        other = (await web.app.create_token("operator", label="ada"))[0]
        conflict = await web.post("/agents/buddy/users/ada/take-over", token=other)
        assert (conflict.status_code, "local has taken over" in conflict.json()["detail"]) == (409, True)
        back = (await web.post("/agents/buddy/users/ada/hand-back", {}, token=other)).json()
        assert (back["takeover"], back["hitl"]) == (None, "none")
        late = await web.post("/agents/buddy/users/ada/say", {"text": "too late", "id": "2"})
        assert late.status_code == 409
        await say(web, "thanks", "3")
        assert outbox.texts == ["you said: hello", "I am", "you said: thanks"]

    run(main, tmp_path)


def test_a_conversation_is_ended_and_its_user_deleted(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_buddy(web.app)
        await say(web, "hello", "1")
        (session,) = (await web.get("/agents/buddy/sessions")).json()["items"]
        place = f"/agents/buddy/sessions/{session['id']}"
        open_yet = await web.call("DELETE", "/agents/buddy/users/ada")
        assert (open_yet.status_code, "has an open session" in open_yet.json()["detail"]) == (409, True)
        for method, path in (("POST", f"{place}/end"), ("DELETE", "/agents/buddy/users/ada")):
            assert (await web.call(method, path, token=await web.token("reader"))).status_code == 403
        ended = await web.post(f"{place}/end", {"reason": "she asked for it"})
        assert (ended.status_code, ended.json()["user"]) == (200, "ada")
        with pytest.raises(RunCancelled, match="she asked for it"):
            await web.app.functions.result((await web.app.agents.session(session["id"])).run_id, 20)
        assert (await web.post(f"{place}/end")).json()["reason"] == "canceled"
        assert (await web.call("DELETE", "/agents/buddy/users/ada")).status_code == 204
        (event,) = [event for event in await web.app.events(limit=1000) if event.name == "flow:user_deleted"]
        assert (event.subject, event.actor, event.data) == (session["user_id"], "local", {"agent": "buddy"})
        for path in ("/agents/buddy/users/ada", place):
            assert (await web.get(path)).status_code == 404
        assert (await web.call("DELETE", "/agents/buddy/users/ada")).status_code == 404
        assert (await web.post(f"{place}/end")).status_code == 404
        assert (await web.post("/agents/other/sessions/none/end")).status_code == 404

    run(main, tmp_path)


# Signed messages


def signed(message: dict[str, Any], now: int, secret: str = SECRET) -> tuple[bytes, dict[str, str]]:
    body = json.dumps(message).encode()
    return body, {"content-type": "application/json", **signing.sign([secret], str(message.get("id")), now, body)}


def test_a_signed_message_comes_in_without_a_token(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        transport = WebhookTransport("https://chat.example/out", [SECRET])
        declare_buddy(web.app, transport)
        message = {"id": "wamid1", "user": "ada", "text": "hello", "name": "Ada"}
        body, headers = signed(message, web.app.engine.clock.now())

        async def post(content: bytes, headers: dict[str, str], agent: str = "buddy") -> Any:
            return await web.client.post(f"/api/v1/agents/{agent}/inbound", content=content, headers=headers)

        accepted = await post(body, headers)
        assert (accepted.status_code, accepted.json()["new"]) == (202, True), accepted.text
        assert (await post(body, headers)).json() == {**accepted.json(), "new": False}
        assert (await web.app.agents.user("buddy", "ada")).name == "Ada"
        assert (await web.app.agents.turn(accepted.json()["turn_id"])).actor == "webhook:buddy"
        changed = await post(body.replace(b"hello", b"hullo"), headers)
        assert (changed.status_code, changed.json()["title"]) == (401, "signature invalid")
        other, foreign = signed(message, web.app.engine.clock.now(), "whsec_" + "b3RoZXJvdGhlcm90aGVyb3RoZXI=")
        assert (await post(other, foreign)).status_code == 401
        old, stale = signed(message, web.app.engine.clock.now() - 3_600_000_000)
        assert "from now" in (await post(old, stale)).json()["detail"]
        assert (await post(body, {"content-type": "application/json"})).status_code == 401
        nobody = await post(body, headers, "nobody")
        assert nobody.status_code == 404
        large = await post(b" " * (LARGEST_SIGNED + 1), headers)
        assert large.status_code == 413
        odd, by_us = signed({"id": "2", "user": 5, "text": "x"}, web.app.engine.clock.now())
        assert "the message's user" in (await post(odd, by_us)).json()["detail"]
        # The signature opens this call alone.
        elsewhere = await web.client.post("/api/v1/agents/buddy/messages", content=body, headers=headers)
        assert elsewhere.status_code == 401

    run(main, tmp_path, listening=Listening(require_token=True))


def test_an_agent_without_a_webhook_takes_in_no_signed_message(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_buddy(web.app)
        body, headers = signed({"id": "1", "user": "ada", "text": "x"}, web.app.engine.clock.now())
        answer = await web.client.post("/api/v1/agents/buddy/inbound", content=body, headers=headers)
        assert (answer.status_code, "takes in signed messages" in answer.json()["detail"]) == (404, True)

    run(main, tmp_path)
