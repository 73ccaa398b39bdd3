"""Campaigns of agents over HTTP: sent, watched, paused, stopped and explained; the suppression list; and tokens of
sessions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ostinato import RunCancelled
from ostinato.engine.access import Role
from ostinato.faces.auth import Door, Refused
from ostinato.faces.http.server import Listening
from tests.support.agents import Outbox
from tests.support.greetings import ALL, GREETING, declare_greeter
from tests.support.web import Api, run, wait_for_news

PLACE = "/agents/buddy/campaigns"


async def prepare(web: Api, *names: str, **options: Any) -> Outbox:
    _, outbox = declare_greeter(web.app, **options)
    for name in names or ("ada", "bob"):
        await web.app.agents.put_user("buddy", name, tags=["vip"] if name == "ada" else [])
    return outbox


async def send(web: Api, **more: Any) -> dict[str, Any]:
    """Send a campaign, and return it when it is over."""
    sent = await web.post(PLACE, {**GREETING, **more})
    assert sent.status_code == 201, sent.text
    ended: dict[str, Any] = (await web.get(f"{PLACE}/{sent.json()['id']}?wait=20")).json()
    return ended


async def reach(web: Api, id: str, status: str) -> None:
    async def reached() -> bool:
        return bool((await web.get(f"{PLACE}/{id}")).json()["status"] == status)

    await wait_for_news(web.app, reached)


def test_a_campaign_is_sent_watched_and_explained(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        outbox = await prepare(web, "ada", "bob", "cyd", "dan")
        await web.call("PATCH", "/agents/buddy/users/bob", {"consent": "opted_out"})
        await web.post("/agents/buddy/suppressions", {"users": ["dan"], "reason": "complained"})
        asked = {"segment": ALL, "allow_session_bootstrap": True}
        preview = (await web.post(f"{PLACE}:preview", asked)).json()
        assert (preview["recipients"], preview["reachable"], preview["sample"]) == (4, 2, ["ada", "cyd"])
        assert (preview["skipped"], preview["refused"]) == ({"opted_out": 1, "suppressed": 1}, False)
        campaign = await send(web, input={"word": "spring"}, id="spring", campaign_id="seasons")
        assert (campaign["status"], campaign["outcome"], campaign["recipients"]) == ("done", "success", 4)
        assert (campaign["counts"], campaign["actor"]) == ({"success": 2, "skipped": 2}, "local")
        assert campaign["reasons"] == {"opted_out": 1, "suppressed": 1}
        assert sorted(outbox.texts) == ["spring ada", "spring cyd"]
        asked = {**GREETING, "input": {"word": "spring"}, "id": "spring"}
        again = await web.post(PLACE, {**asked, "campaign_id": "seasons"})
        assert again.json() == {"id": campaign["id"], "new": False}
        assert (await web.post(PLACE, asked)).status_code == 409
        listed = (await web.get(f"{PLACE}?campaign_id=seasons&status=done")).json()["items"]
        assert [one["id"] for one in listed] == [campaign["id"]]
        place = f"{PLACE}/{campaign['id']}"
        skipped = (await web.get(f"{place}/recipients?outcome=skipped")).json()["items"]
        assert [(one["user"], one["reason"]) for one in skipped] == [("bob", "opted_out"), ("dan", "suppressed")]
        page = (await web.get(f"{place}/recipients?limit=3")).json()
        rest = (await web.get(f"{place}/recipients?limit=3&after={page['next']}")).json()
        assert [one["user"] for one in page["items"] + rest["items"]] == ["ada", "bob", "cyd", "dan"]
        assert page["items"][0]["delivered"] == 1
        for user, messaged, words in (
            ("ada", True, "they were messaged"),
            ("bob", False, "they have opted out"),
            ("dan", False, "they are on the suppression list"),
            ("eve", False, "the agent has no such user"),
        ):
            why = (await web.get(f"{place}/explain?user={user}")).json()
            assert (why["messaged"], why["words"]) == (messaged, words)

    run(main, tmp_path)


def test_a_resolver_that_raises_is_a_bad_gateway(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        buddy, _ = declare_greeter(web.app)

        @buddy.segment("bad")
        async def bad(ctx: Any) -> list[str]:
            raise RuntimeError("shop is down")

        refused = await web.post(f"{PLACE}:preview", {"segment": {"type": "custom_query", "resolver": "bad"}})
        assert refused.json() == {
            "type": "urn:ostinato:segment-failed",
            "title": "segment failed",
            "status": 502,
            "detail": "segment 'bad' raised RuntimeError: shop is down",
        }
        assert refused.status_code == 502

    run(main, tmp_path)


def test_a_campaign_is_paused_resumed_and_stopped(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        outbox = await prepare(web)
        body = {**GREETING, "options": {"local_time": f"{datetime.now(UTC) + timedelta(hours=1):%H:%M}"}}
        id = (await web.post(PLACE, body)).json()["id"]
        await reach(web, id, "sending")
        paused = await web.post(f"{PLACE}/{id}/pause", {"reason": "a typo"})
        assert (paused.json()["status"], paused.json()["reason"]) == ("paused", "a typo")
        assert (await web.post(f"{PLACE}/{id}/resume")).json()["status"] == "sending"
        waits = (await web.get(f"{PLACE}/{id}/explain?user=ada")).json()
        assert (waits["messaged"], waits["outcome"]) == (False, None)
        await web.post(f"{PLACE}/{id}/stop")
        ended = (await web.get(f"{PLACE}/{id}?wait=20")).json()
        assert (ended["status"], ended["reasons"], outbox.texts) == ("stopped", {"campaign_stopped": 2}, [])
        late = await web.post(f"{PLACE}/{id}/pause")
        assert (late.status_code, "is stopped" in late.json()["detail"]) == (409, True)

    run(main, tmp_path)


def test_a_test_goes_to_named_users_at_once(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        quiet = {"from": "00:00", "to": "23:59"}
        outbox = await prepare(web, campaigns={"quiet_hours": quiet})
        sent = (await web.post(f"{PLACE}:test", {"users": ["ada"], "flow": "greet"})).json()
        ended = (await web.get(f"{PLACE}/{sent['id']}?wait=20")).json()
        assert (ended["outcome"], ended["campaign_id"], outbox.texts) == ("success", "test", ["hello ada"])

    run(main, tmp_path)


def test_a_large_audience_is_refused_until_it_is_confirmed(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        outbox = await prepare(web)
        refused = await web.post(PLACE, {**GREETING, "options": {"max_recipients": 1}})
        assert (refused.status_code, refused.json()["title"]) == (409, "audience too large")
        assert "more than max_recipients=1" in refused.json()["detail"]
        preview = await web.post(f"{PLACE}:preview", {"segment": ALL, "options": {"max_recipients": 1}})
        assert preview.json()["refused"] is True
        assert (await web.get(PLACE)).json()["items"] == []
        confirmed = await send(web, options={"max_recipients": 1, "confirmed": True})
        assert (confirmed["outcome"], len(outbox.texts)) == ("success", 2)

    run(main, tmp_path)


def test_segments_of_every_kind(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await prepare(web)
        assert (await web.get("/agents/buddy")).json()["segments"] == ["bought"]
        for segment, users in (
            ({"type": "tag", "tag": "vip"}, ["ada"]),
            ({"type": "active_since", "active_since_days": 30}, []),
            ({"type": "custom_query", "query": 'external_id = "bob"'}, ["bob"]),
            ({"type": "custom_query", "resolver": "bought", "params": {"product": "tea"}}, ["ada"]),
            ({"type": "users", "users": ["bob"]}, ["bob"]),
        ):
            asked = {"segment": segment, "allow_session_bootstrap": True}
            preview = await web.post(f"{PLACE}:preview", asked)
            assert preview.json()["sample"] == users, preview.text

    run(main, tmp_path, node=False)


WRONG: list[tuple[str, Any, int, str | None, str]] = [
    ("", {"segment": {"type": "custom_query"}}, 422, "body.segment", "either a query or a resolver"),
    ("", {"segment": {"type": "tag", "tag": "a", "query": "x"}}, 422, "body.segment", "has no 'query'"),
    ("", {"segment": {"type": "custom_query", "resolver": "sold"}}, 404, None, "has no segment 'sold'"),
    (
        "",
        {"segment": {"type": "custom_query", "resolver": "bought", "params": {"product": 1}}},
        422,
        "body.segment.params.product",
        "segment 'bought': ",
    ),
    ("", {"flow": "gret"}, 404, None, "did you mean 'greet'"),
    ("", {"input": {"wrod": 1}}, 422, "body.input.wrod", "did you mean 'word'?"),
    (
        "",
        {"input": {"word": "x"}, "options": {"variants": {"a": {"input": {"wrod": 1}}}}},
        422,
        "body.options.variants.a.input.wrod",
        "options.variants.a.input: flow 'greet': wrod: there is no such argument; did you mean 'word'?",
    ),
    ("", {"input": {"wrod": 1}, "options": {"variants": {"a": {}}}}, 422, "body.input.wrod", "did you mean 'word'?"),
    ("", {"segment": {"type": "tag"}}, 422, "body.segment", "segment: tag is missing"),
    ("", {"segment": {"type": "active_since"}}, 422, "body.segment", "active_since_days is missing"),
    ("", {"segment": {"type": "users"}}, 422, "body.segment", "users is missing"),
    ("", {"metadata": {"x": "y" * 20_000}}, 422, "body.metadata", "metadata have more than"),
    ("", {"options": {"rate": "fast"}}, 422, "body.options.rate", "is not a rate such as '20/s'"),
    ("", {"options": {"quiet_hours": {"from": "21:00"}}}, 422, "body.options.quiet_hours", '{"from": "22:00"'),
    ("", {"options": {"local_time": "9am"}}, 422, "body.options.local_time", "is not a time of day"),
    ("", {"options": {"frequency_cap": 2}}, 422, "body.options.frequency_cap", '{"messages": 2, "per": "7d"}'),
    ("", {"options": {"holdout": 100}}, 422, "body.options.holdout", "from 0 to less than 100"),
    ("", {"options": {"in_flight": 0}}, 422, "body.options.in_flight", "from 1 to 1,000"),
    ("", {"options": {"confirmed": 1}}, 422, "body.options.confirmed", "neither True nor False"),
    ("", {"options": {"expires_after": "1y"}}, 422, "body.options.expires_after", "1y"),
    ("", {"options": {"variants": {"holdout": {}}}}, 422, "body.options.variants", "is reserved"),
    ("", {"options": {"rte": "1/s"}}, 422, "body.options.rte", "did you mean 'rate'"),
    ("", {"flow": None, "metadata": {"prompt": 1}}, 422, "body.metadata.prompt", "is not a text for the model"),
    (":preview", {"segment": {"type": "al"}}, 422, "body.segment.type", "'all'"),
    (
        ":preview",
        {"segment": {"type": "custom_query", "resolver": "bought", "params": {"product": "tea", "prodct": 1}}},
        422,
        "body.segment.params.prodct",
        "did you mean 'product'?",
    ),
    (":test", {"users": ["ada"], "metadata": {"x": "y" * 20_000}}, 422, "body.metadata", "metadata have more than"),
    (":test", {"users": []}, 422, "body.users", "at least 1"),
    (
        ":test",
        {"users": ["ada"], "flow": "greet", "variants": {"a": {"input": {"wrod": 1}}}},
        422,
        "body.variants.a.input.wrod",
        "did you mean 'word'?",
    ),
    (":test", {"users": ["ada"], "variants": {"a": 1}}, 422, "body.variants", "is not an object of weight"),
]


def test_a_mistake_has_its_status_its_place_and_what_would_be_right(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await prepare(web)
        for call, wrong, status, field, words in WRONG:
            answer = await web.post(f"{PLACE}{call}", {**GREETING, **wrong} if call == "" else wrong)
            body = answer.json()
            assert (answer.status_code, body.get("field")) == (status, field), answer.text
            assert words in body["detail"], body["detail"]
            if field is not None and field.endswith("wrod"):
                assert body["value"] == 1
        assert (await web.get(PLACE)).json()["items"] == []
        for method, path in (("GET", ""), ("GET", "/recipients"), ("GET", "/explain?user=ada"), ("POST", "/stop")):
            assert (await web.call(method, f"{PLACE}/none{path}")).status_code == 404
        for path in ("/agents/none/campaigns", "/agents/none/suppressions"):
            assert (await web.get(path)).status_code == 404
        assert (await web.get(f"{PLACE}?status=over")).json()["field"] == "query.status"
        reason = await web.post("/agents/buddy/suppressions", {"users": ["ada"], "reason": ""})
        assert reason.json()["field"] == "body.reason"

    run(main, tmp_path, node=False)


def test_the_suppression_list_is_paged_and_emptied(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await prepare(web)
        names = [f"+55{number}" for number in range(5)]
        place = "/agents/buddy/suppressions"
        assert (await web.post(place, {"users": names, "reason": "complained"})).json() == {"changed": 5}
        assert (await web.post(place, {"users": names[:1], "reason": "again"})).json() == {"changed": 0}
        page = (await web.get(f"{place}?limit=3")).json()
        rest = (await web.get(place, params={"limit": 3, "after": page["next"]})).json()
        assert [one["user"] for one in page["items"] + rest["items"]] == names
        assert page["items"][0] == {"user": "+550", "reason": "complained"}
        assert (await web.post(f"{place}:remove", {"users": [*names, "none"]})).json() == {"changed": 5}
        assert (await web.get(place)).json() == {"items": [], "next": None}

    run(main, tmp_path, node=False)


def test_reading_needs_a_reader_and_sending_an_operator(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await prepare(web)
        reader, operator = await web.token("reader"), await web.token("operator")
        assert (await web.post(PLACE, GREETING, token=reader)).status_code == 403
        assert (await web.post(f"{PLACE}:preview", {"segment": ALL}, token=reader)).status_code == 403
        sent = await web.post(PLACE, GREETING, token=operator)
        campaign = (await web.get(f"{PLACE}/{sent.json()['id']}", token=reader)).json()
        assert campaign["actor"] == "token:operator@None"
        assert (await web.post(f"{PLACE}/{campaign['id']}/stop", token=reader)).status_code == 403
        assert (await web.get("/agents/buddy/suppressions", token=reader)).status_code == 200

    run(main, tmp_path, listening=Listening(require_token=True), node=False)


# Tokens of sessions


def test_operators_mint_list_and_revoke_tokens_of_a_session(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await prepare(web)
        await send(web, segment={"type": "users", "users": ["ada"]})
        (session,) = await web.app.agents.sessions("buddy")
        place = f"/agents/buddy/sessions/{session.id}/tokens"
        operator = (await web.app.create_token("operator", label="ops"))[0]
        reader = await web.token("reader")
        assert (await web.post(place, token=reader)).status_code == 403
        assert (await web.get(place, token=reader)).status_code == 403
        minted = (await web.post(place, {"expires_in": "5m"}, token=operator)).json()
        assert (minted["agent"], minted["session_id"], minted["actor"]) == ("buddy", session.id, "token:ops")
        door = Door(web.app, open_on_loopback=False)
        who = await door.admit(minted["token"], "test", Role.AGENT, None)
        assert who.token is not None
        assert (who.token.bound or {})["turn"] == minted["turn_id"]
        assert (await web.get("/runs", token=minted["token"])).status_code == 403  # it is for tools alone
        (listed,) = (await web.get(place, token=operator)).json()["items"]
        assert (listed["id"], "token" in listed) == (minted["id"], False)
        other = await web.app.create_token("reader")
        assert (await web.call("DELETE", f"{place}/{other[1].id}", token=operator)).status_code == 404
        assert (await web.call("DELETE", f"{place}/{minted['id']}", token=operator)).status_code == 204
        with pytest.raises(Refused, match="not valid"):
            await door.admit(minted["token"], "test", Role.AGENT, None)
        for wrong, field in (({"expires_in": "2h"}, "body.expires_in"), ({"session": "x"}, "body.session")):
            answer = await web.post(place, wrong)
            assert (answer.status_code, answer.json()["field"]) == (422, field)
        assert (await web.post(place, {"turn_id": "none"})).status_code == 404
        assert (await web.post("/agents/buddy/sessions/none/tokens")).status_code == 404
        await web.app.agents.end_session(session.id)
        with pytest.raises(RunCancelled):
            await web.app.functions.result(session.run_id, 20)
        ended = await web.post(place)
        assert (ended.status_code, "has ended" in ended.json()["detail"]) == (409, True)

    run(main, tmp_path)
