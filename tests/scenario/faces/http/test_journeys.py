"""Journeys over HTTP: the envelopes, who sees what, and what comes of a repeated call."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import schemathesis
from schemathesis.openapi.checks import JsonSchemaError

from ostinato import Conflict, Ostinato
from ostinato.client import Client
from ostinato.engine.access import Role
from ostinato.engine.http.egress import EgressPolicy
from ostinato.faces.auth import Who
from ostinato.faces.http.events import _stream
from ostinato.faces.http.journey_openapi import described
from ostinato.faces.http.server import Listening
from ostinato.journeys.checks.surface import OWN_PATHS
from ostinato.journeys.settings import ApiKeyProfile, JourneySettings, hash_api_key
from ostinato.journeys.task_kind import Request as Inbound
from tests.support.http_journeys import ASKING, HIDDEN, PRICE, REPEATING
from tests.support.journey_documents import text
from tests.support.service import Received, Reply, Service
from tests.support.web import Api, run


async def deployed(web: Api, *texts: str) -> None:
    for definition in texts:
        answer = await web.post("/journey-definitions", {"text": definition})
        assert answer.status_code == 201, answer.text
        assert answer.json()["warnings"] == []


def test_a_journey_is_started_asked_answered_and_over(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, ASKING)
        headers = {"X-Channel": "shop"}
        started = await web.post("/journeys/asking/start?source=mail", {"customer": "u1"}, headers=headers)
        assert started.status_code == 200
        status = started.json()
        at = f"/api/v1/journeys/{status['journeyId']}"
        assert (status["phase"], status["currentState"]) == ("RUNNING", "ask")
        assert (status["journeyName"], status["attributes"]) == ("asking", {"subjectId": "u1"})
        assert status["_links"] == {
            "self": {"href": at, "method": "GET"},
            "result": {"href": f"{at}/result", "method": "GET"},
            "ask": {"href": f"{at}/steps/ask", "method": "POST"},
            "cancel": {"href": f"{at}/steps/cancel", "method": "POST"},
        }
        assert started.headers["location"] == at
        path = at.removeprefix("/api/v1")
        assert (await web.get(path)).json() == status
        assert (await web.get(f"{path}/result")).status_code == 409
        assert (await web.app.get(status["journeyId"])).reason == "a timer or an input"  # it has a timeout
        seen = await web.app.journeys.instance(status["journeyId"])
        assert (seen[1].context["channel"], seen[1].context["source"]) == ("shop", "mail")
        wrong = await web.post(f"{path}/steps/ask", {"ok": "yes"})
        assert (wrong.status_code, wrong.json()["field"]) == (400, "/ok")
        assert [one["field"] for one in wrong.json()["problems"]] == ["/ok"]
        assert wrong.headers["content-type"] == "application/problem+json"
        assert (await web.post(f"{path}/steps/other", {"ok": True})).status_code == 409
        misspelt = await web.post(f"{path}/steps/aks", {"ok": True})
        assert (misspelt.status_code, misspelt.json()["detail"].rpartition("; ")[2]) == (409, "did you mean 'ask'?")
        bodies: tuple[Any, ...] = ([], "text", 7)
        for body in bodies:
            listed = await web.post("/journeys/asking/start", body)
            assert (listed.status_code, listed.json()["title"]) == (400, "invalid input"), body
        again = await web.post(f"{path}/steps/ask", {"ok": False})  # rejected: it asks once more
        assert (again.status_code, again.json()["currentState"]) == (200, "ask")
        done = await web.post(f"{path}/steps/ask", {"ok": True}, headers=headers)
        assert (done.json()["phase"], done.json()["note"]) == ("SUCCEEDED", "thank you")
        assert set(done.json()["_links"]) == {"self", "result"}
        assert (await web.app.journeys.instance(status["journeyId"]))[1].context["answeredBy"] == "shop"
        outcome = (await web.get(f"{path}/result")).json()
        assert (outcome["phase"], outcome["status"], outcome["output"]) == ("SUCCEEDED", "SUCCEEDED", {"ok": True})
        assert outcome["_links"]["self"]["href"] == f"{at}/result"
        assert (await web.post(f"{path}/steps/ask", {"ok": True})).status_code == 409

    run(main, tmp_path)


def test_a_step_under_its_key_is_taken_once_and_answered_as_it_was_then(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, ASKING)
        path = f"/journeys/{(await web.post('/journeys/asking/start')).json()['journeyId']}/steps/ask"
        first = await web.post(path, {"ok": False}, headers={"Idempotency-Key": "a"})
        await web.post(path, {"ok": True}, headers={"Idempotency-Key": "b"})  # it has gone on since
        assert (await web.post(path, {"ok": False}, headers={"Idempotency-Key": "a"})).json() == first.json()
        assert (await web.post(path, {"ok": True}, headers={"Idempotency-Key": "a"})).status_code == 409

    run(main, tmp_path)


def test_a_step_is_reached_whatever_its_name(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        name = "ask/für 50 % – now?"
        wait = f"'{name}': {{type: wait, wait: {{channel: manual, input: {{schema: {{}}}}}}, next: b}}"
        await deployed(web, text(f"{wait}\nb: {{type: succeed}}", start=f"'{name}'"))
        asked = (await web.post("/journeys/example/start")).json()["_links"][name]
        done = await web.client.request(asked["method"], asked["href"], json={})
        assert (done.status_code, done.json()["phase"]) == (200, "SUCCEEDED")
        paths = described(await web.app.journeys.read_definition("example"))["paths"]
        assert f"/journeys/{{journeyId}}/steps/{quote(name, safe='')}" in paths

    run(main, tmp_path)


VISITING = text(
    """
    a: {type: task, task: {kind: 'httpCall:v1', method: GET, url: 'URL/login', resultVar: r}, next: ask}
    ask: {type: wait, wait: {channel: manual, input: {schema: {}}}, next: b}
    b: {type: task, task: {kind: 'httpCall:v1', method: GET, url: 'URL/visit', resultVar: r}, next: c}
    c: {type: succeed}
    """,
    spec="cookies: {jar: {domains: [{pattern: 127.0.0.1}]}, returnToClient: {mode: allFromAllowedDomains}}",
)


def test_cookies_go_to_who_made_the_call_that_got_them_and_to_nobody_else(tmp_path: Path) -> None:
    def answer(got: Received) -> Reply:
        return Reply(200, headers={"Set-Cookie": f"{got.path[1:]}=s3cret; Path=/"})

    async def main(web: Api) -> None:
        api = VISITING.replace("name: example", "name: once").replace("kind: Journey", "kind: Api")
        api = "\n".join(line for line in api.replace("next: ask", "next: b").splitlines() if " ask: {" not in line)
        await deployed(web, VISITING.replace("URL", service.url), api.replace("URL", service.url))
        key = {"Idempotency-Key": "one"}
        started = await web.post("/journeys/example/start", headers=key)
        assert started.headers.get_list("set-cookie") == ["login=s3cret; Path=/"]
        again = await web.post("/journeys/example/start", headers=key)
        assert (again.json(), again.headers.get("set-cookie")) == (started.json(), None)
        path = f"/journeys/{started.json()['journeyId']}"
        assert "set-cookie" not in (await web.get(path)).headers
        done = await web.post(f"{path}/steps/ask")
        assert (done.json()["phase"], done.headers.get_list("set-cookie")) == ("SUCCEEDED", ["visit=s3cret; Path=/"])
        assert service.received[-1].headers["cookie"] == "login=s3cret"
        assert "set-cookie" not in (await web.get(f"{path}/result")).headers
        called = await web.post("/apis/once")
        assert called.headers.get_list("set-cookie") == ["login=s3cret; Path=/", "visit=s3cret; Path=/"]

    with Service(answer) as service:
        run(main, tmp_path, egress=EgressPolicy(allow_private=True))


def test_a_start_is_answered_at_once_where_that_is_asked_for(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, ASKING)
        answer = await web.post("/journeys/asking/start", {}, headers={"Prefer": "respond-async"})
        assert answer.status_code == 202
        body = answer.json()
        assert body["statusUrl"] == f"/api/v1/journeys/{body['journeyId']}"
        assert set(body) == {"journeyId", "journeyName", "statusUrl", "_links"}

    run(main, tmp_path)


def test_a_start_that_nobody_comes_to_is_answered_with_where_to_look(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        deployed = await web.post("/journey-definitions", {"text": ASKING.replace("start: ask", "start: tell")})
        assert {one["code"] for one in deployed.json()["warnings"]} == {"graph-unreachable"}
        answer = await web.post("/journeys/asking/start", {}, headers={"Prefer": "wait=0"})
        assert answer.status_code == 202, answer.text
        async with Ostinato(web.app.store.url) as node:
            await node.journeys.wait(answer.json()["journeyId"])
        status = await web.call("GET", answer.json()["statusUrl"].removeprefix("/api/v1"))
        assert status.json()["phase"] == "SUCCEEDED"

    run(main, tmp_path, node=False)


def test_what_is_wrong_with_a_start_is_said_and_nothing_is_begun(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, ASKING, PRICE)
        wrong = await web.post("/journeys/asking/start", {"a": "x"})
        assert (wrong.status_code, wrong.json()["title"], wrong.json()["field"]) == (400, "invalid input", "/a")
        both = await web.post("/journeys/asking/start", {"a": "x", "customer": 5})
        assert [one["field"] for one in both.json()["problems"]] == ["/a", "/customer"]
        missing = await web.post("/journeys/askin/start")
        assert missing.status_code == 404
        assert "asking" in missing.json()["detail"]
        assert (await web.post("/journeys/price/start", {"amount": 1})).status_code == 422
        assert (await web.post("/journeys/asking/start?version=9.9.9")).status_code == 404
        assert (await web.call("POST", "/journeys/asking/start", [1])).status_code == 400
        large = await web.post("/journeys/asking/start", {"customer": "x" * (1 << 20)})
        assert large.status_code == 400
        assert (await web.get("/journeys")).json()["items"] == []

    run(main, tmp_path)


def test_journeys_are_found_by_what_they_are_labelled_with(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, ASKING)
        for customer in ("u1", "u2", "u1"):
            await web.post("/journeys/asking/start", {"customer": customer})
        whole = (await web.get("/journeys")).json()
        assert (len(whole["items"]), whole["next"], whole["nextPageToken"]) == (3, None, None)
        some = [
            len((await web.get(f"/journeys?{query}")).json()["items"])
            for query in ("subjectId=u1", "journeyName=other", "phase=RUNNING&attribute=subjectId=u2", "tag=x")
        ]
        assert some == [2, 0, 1, 0]
        assert (await web.get("/journeys?attribute=nonsense")).status_code == 422

    run(main, tmp_path)


def test_a_cancelled_journey_says_so_and_stays_so(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, ASKING)
        path = f"/journeys/{(await web.post('/journeys/asking/start')).json()['journeyId']}"
        for _ in range(2):
            answer = await web.call("POST", f"{path}/steps/cancel")
            assert (answer.status_code, answer.json()["phase"]) == (200, "FAILED")
        error = (await web.get(f"{path}/result")).json()["error"]
        assert error == {"code": "JOURNEY_CANCELLED", "reason": "Cancelled by user"}

    run(main, tmp_path)


def test_who_may_not_read_a_journey_learns_nothing_of_it(tmp_path: Path) -> None:
    keys = {"default": ApiKeyProfile(keys={"ada": hash_api_key("k1"), "bob": hash_api_key("k2")})}

    async def main(web: Api) -> None:
        await deployed(web, HIDDEN)
        id = (await web.post("/journeys/hidden/start")).json()["journeyId"]
        nobody = (await web.get("/journeys/nobody")).json()
        for key, status in (("k1", 200), ("k2", 404), ("", 404)):
            for path in (f"/journeys/{id}", f"/journeys/{id}/diagram.svg"):
                answer = await web.get(path, headers={"X-Api-Key": key})
                assert answer.status_code == status
                if status == 404:
                    assert answer.json() == {**nobody, "detail": nobody["detail"].replace("nobody", id)}
            listed = (await web.get("/journeys", headers={"X-Api-Key": key})).json()["items"]
            assert len(listed) == (status == 200)
        assert (await web.get(f"/journeys/{id}/result", headers={"X-Api-Key": "k2"})).status_code == 404
        assert (await web.get(f"/journeys/{id}/result", headers={"X-Api-Key": "k1"})).status_code == 409
        page = (await web.get("/journeys?limit=1")).json()
        assert (page["items"], page["next"]) == ([], id)  # what is hidden does not end the list

    run(main, tmp_path, settings=JourneySettings(api_keys=keys))


def test_callers_with_one_key_at_once_get_one_answer(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        keyed = {"Idempotency-Key": "k"}
        calls = [web.post("/journey-definitions", {"text": ASKING}, headers=keyed) for _ in range(5)]
        bodies = [answer.json() for answer in await asyncio.gather(*calls)]
        assert [one["new"] for one in bodies] == [True] * 5
        keyed = {"Idempotency-Key": "s"}
        starts = [web.post("/journeys/asking/start", {"customer": "u1"}, headers=keyed) for _ in range(3)]
        assert len({answer.json()["journeyId"] for answer in await asyncio.gather(*starts)}) == 1

    run(main, tmp_path)


def test_a_read_guard_covers_every_place_where_a_journey_shows(tmp_path: Path) -> None:
    keys = {"default": ApiKeyProfile(keys={"ada": hash_api_key("k1")})}

    async def main(web: Api) -> None:
        await deployed(web, HIDDEN)
        first, other = [(await web.post("/journeys/hidden/start")).json()["journeyId"] for _ in range(2)]
        ada, nobody = {"X-Api-Key": "k1"}, {"X-Api-Key": "k2"}
        missing = (await web.get("/runs/nobody")).json()
        for path in (f"/runs/{first}", f"/runs/{first}/attempts", f"/runs/{first}/log"):
            assert (await web.get(path, headers=ada)).status_code == 200
            answer = await web.get(path, headers=nobody)
            assert (answer.status_code, answer.json()["title"]) == (404, missing["title"])
        for verb in ("cancel", "terminate"):
            assert (await web.post(f"/runs/{first}/{verb}", {}, headers=nobody)).status_code == 404
        assert [run["id"] for run in (await web.get("/runs", headers=ada)).json()["items"]] == [other, first]
        page = (await web.get("/runs?limit=1", headers=nobody)).json()
        assert (page["items"], page["next"]) == ([], other)

        async def subjects(headers: dict[str, str], path: str = "/events?limit=1000") -> set[str]:
            return {event["subject"] for event in (await web.get(path, headers=headers)).json()["items"]}

        assert {first, other} <= await subjects(ada)
        assert not {first, other} & await subjects(nobody)
        assert "hidden" in await subjects(nobody), "that it was deployed is no secret"
        assert await subjects(nobody, f"/events?subject={first}") == set()

        async def streamed(headers: dict[str, str]) -> bytes:
            """The stream up to its first silence."""
            who, closing = Who(web.app, Role.READER, "test", None, "default"), asyncio.Event()
            lines = b""
            async with asyncio.timeout(5):
                async for line in _stream(who, Inbound(headers), "*", None, 0, closing, asyncio.Lock()):
                    lines += line
                    if b"webhook:created" in line:
                        break
            return lines

        await web.app.webhooks.create("https://example.org/last", ["search_attribute:*"])
        assert first.encode() in await streamed({"x-api-key": "k1"})
        assert first.encode() not in await streamed({"x-api-key": "k2"})
        await web.app.schedules.create("nightly", "0 0 * * *", {"journey": "hidden"}, trigger=True)
        for headers, count in ((ada, 1), (nobody, 0)):
            assert len((await web.get("/schedules/nightly/history", headers=headers)).json()["items"]) == count
            assert len((await web.get("/schedules/nightly", headers=headers)).json()["recent"]) == count
        heard = (await web.post(f"/journeys/{first}/steps/hold", {}, headers=nobody)).json()
        assert heard == {"journeyId": first, "journeyName": "hidden"}
        stopped = (await web.post(f"/journeys/{other}/steps/cancel", {}, headers=nobody)).json()
        assert stopped == {"journeyId": other, "journeyName": "hidden"}
        assert (await web.get(f"/journeys/{first}", headers=ada)).json()["phase"] == "SUCCEEDED"
        again = await web.post(f"/journeys/{other}/steps/cancel", {}, headers=ada)
        assert again.json()["phase"] == "FAILED"

    run(main, tmp_path, settings=JourneySettings(api_keys=keys))


def test_a_read_guard_covers_what_a_schedule_tells_of_its_runs(tmp_path: Path) -> None:
    keys = {"default": ApiKeyProfile(keys={"ada": hash_api_key("k1")})}
    doomed = HIDDEN.replace("good: {type: succeed}", "good: {type: fail, errorCode: X, reason: the secret}")
    assert doomed != HIDDEN

    async def main(web: Api) -> None:
        await deployed(web, doomed)
        await web.app.schedules.create(
            "nightly", "0 0 * * *", {"journey": "hidden"}, trigger=True, overlap="skip", pause_after_failures=1
        )
        (held,) = await web.app.schedules.history("nightly")
        id, at = held.run_id, quote(held.nominal.isoformat())
        ada, nobody = {"X-Api-Key": "k1"}, {"X-Api-Key": "k2"}

        async def read_all(headers: dict[str, str]) -> list[Any]:
            """What a schedule, the list of them and an explanation say."""
            paths = "/schedules/nightly", "/schedules", f"/schedules/nightly/explain?at={at}"
            return [(await web.get(path, headers=headers)).json() for path in paths]

        seen, _, words = await read_all(ada)
        assert (seen["running"], words["outcome"]) == ([id], "running")
        seen, listed, words = await read_all(nobody)
        assert (seen["running"], words["outcome"], words["reason"], words["records"]) == ([], "hidden", "guarded", [])
        assert id not in str([seen, listed, words])
        await web.app.schedules.trigger("nightly")
        skipped = (await web.get("/schedules/nightly/history", headers=nobody)).json()["items"]
        assert [(one["status"], one["blocked_by"]) for one in skipped] == [("skipped", None)], "no run, but why"
        assert (await web.get("/schedules/nightly/history", headers=ada)).json()["items"][0]["blocked_by"] == id

        await web.post(f"/journeys/{id}/steps/hold", {}, headers=ada)
        seen, listed, words = await read_all(ada)
        assert seen["last_failure"]["run_id"] == listed["items"][0]["last_failure"]["run_id"] == id
        assert "the secret" in str(words)
        whole = await read_all(nobody)
        assert whole[0]["last_failure"] is whole[1]["items"][0]["last_failure"] is None
        assert whole[0]["notes"] == "paused after a failure: failed"
        assert "the secret" not in str(whole)
        assert id not in str(whole)

    run(main, tmp_path, settings=JourneySettings(api_keys=keys))


def test_an_api_is_called_by_its_name_and_at_its_own_path(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, PRICE)
        for path in ("/apis/price", "/offers/price"):
            good = await web.post(path, {"amount": 7}, headers={"X-Channel": "shop"})
            assert (good.status_code, good.json()) == (200, {"price": 7, "channel": "shop"})
            dear = await web.post(path, {"amount": 700})
            assert (dear.status_code, dear.headers["content-type"]) == (422, "application/problem+json")
            assert (dear.json()["code"], dear.json()["status"]) == ("TOO_DEAR", 422)
            assert (await web.post(path, {})).status_code == 400
        assert (await web.post("/offers/other", {})).status_code == 404
        assert (await web.get("/offers/price")).status_code == 404
        assert (await web.call("PUT", "/schedules", {})).status_code == 405

    run(main, tmp_path)


def test_an_api_may_have_a_path_below_apis_and_none_of_the_servers_own(tmp_path: Path) -> None:
    below = PRICE.replace("/offers/price", "/apis/lookup")
    assert below != PRICE

    async def main(web: Api) -> None:
        await deployed(web, below, text("a: {type: succeed}").replace("name: example", "name: lookup"))
        good = await web.post("/apis/lookup", {"amount": 7}, headers={"X-Channel": "shop"})
        assert (good.status_code, good.json()) == (200, {"price": 7, "channel": "shop"})
        assert (await web.post("/apis/other", {})).status_code == 404
        refused = await web.post("/journey-definitions", {"text": PRICE.replace("/offers/price", "/runs/price")})
        assert refused.status_code == 422
        assert "what begins with /runs is the server's own API" in refused.text
        paths = [path for path in web.application.openapi()["paths"] if path.startswith("/api/v1/")]
        firsts = {re.split("[/:]", path.removeprefix("/api/v1/"))[0] for path in paths}
        assert firsts - {"apis"} == OWN_PATHS, "the list in checks/surface.py is the server's own paths"

    run(main, tmp_path)


def test_a_path_of_an_api_asks_for_the_same_token(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        operator, reader = await web.token("operator"), await web.token("reader")
        assert (await web.post("/journey-definitions", {"text": PRICE}, token=operator)).status_code == 201
        for path in ("/apis/price", "/offers/price", "/nothing/here"):
            assert (await web.post(path, {"amount": 1})).status_code == 401
            assert (await web.post(path, {"amount": 1}, token=reader)).status_code == 403
        assert (await web.post("/offers/price", {"amount": 1}, token=operator)).status_code == 200

    run(main, tmp_path, listening=Listening(require_token=True))


def test_a_token_of_ours_is_not_shown_to_a_journey_and_one_of_others_is(tmp_path: Path) -> None:
    text = ASKING.replace("{X-Channel: channel}", "{Authorization: channel, Ostinato-Token: source}")

    async def context(web: Api, **headers: str) -> Any:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await web.post("/journeys/asking/start", {}, headers=names)
        assert answer.status_code == 200, answer.text
        return (await web.app.journeys.instance(answer.json()["journeyId"]))[1].context

    async def main(web: Api) -> None:
        ours = await web.token("operator")
        await web.post("/journey-definitions", {"text": text}, token=ours)
        assert await context(web, Authorization=f"Bearer {ours}") == {}
        theirs = await context(web, Ostinato_Token=ours, Authorization="Bearer theirs")
        assert theirs == {"channel": "Bearer theirs"}
        assert (await web.post("/journeys/asking/start", headers={"Authorization": "Bearer theirs"})).status_code == 401

    run(main, tmp_path, listening=Listening(require_token=True))


def test_what_a_proxy_says_of_its_client_is_believed_of_trusted_ones_only(tmp_path: Path) -> None:
    text = ASKING.replace("{X-Channel: channel}", "{Client-Cert: channel}")

    async def main(web: Api) -> None:
        await deployed(web, text)
        started = (await web.post("/journeys/asking/start", {}, headers={"Client-Cert": ":YQ==:"})).json()
        context = (await web.app.journeys.instance(started["journeyId"]))[1].context
        assert context == ({"channel": ":YQ==:"} if web.app.journeys.settings.trusted_proxies else {})

    run(main, _folder(tmp_path, "a"))
    run(main, _folder(tmp_path, "b"), settings=JourneySettings(trusted_proxies=("127.0.0.0/8",)))


def _folder(above: Path, name: str) -> Path:
    (above / name).mkdir()
    return above / name


def test_definitions_are_kept_checked_and_never_changed(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, ASKING, ASKING.replace("0.1.0", "0.2.0"), PRICE)
        again = await web.post("/journey-definitions", {"text": ASKING})
        assert (again.status_code, again.json()["new"]) == (201, False)
        changed = await web.post("/journey-definitions", {"text": ASKING.replace("LATE", "TOO_LATE")})
        assert changed.status_code == 409
        bad = ASKING.replace("next: judge", "next: jugde").replace("default: ask", "default: aks")
        refused = await web.post("/journey-definitions", {"text": bad, "file": "a.yaml"})
        assert (refused.status_code, refused.json()["title"]) == (422, "invalid definition")
        checked = (await web.post("/journey-definitions:validate", {"text": bad})).json()
        assert not checked["valid"]
        errors = [one for one in checked["problems"] if one["severity"] == "error"]
        assert [(one["code"], one["state"], one["line"] > 1) for one in errors] == [
            ("graph-target", "ask", True),
            ("graph-target", "judge", True),
        ]
        names = [(one["name"], one["version"]) for one in (await web.get("/journey-definitions")).json()["items"]]
        assert names == [("asking", "0.1.0"), ("asking", "0.2.0"), ("price", "0.1.0")]
        versions = (await web.get("/journey-definitions/asking")).json()["items"]
        assert {one["version"] for one in versions} == {"0.1.0", "0.2.0"}
        latest = (await web.get("/journey-definitions/asking/latest")).json()
        assert (latest["version"], "nobody answered" in latest["source"]) == ("0.2.0", True)
        assert (await web.get("/journey-definitions/other")).status_code == 404
        picture = await web.get("/journey-definitions/asking/0.1.0/diagram.svg")
        assert picture.headers["content-type"] == "image/svg+xml"
        assert "<svg" in picture.text

    run(main, tmp_path)


def test_a_definition_reads_no_file_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text("openapi: 3.1.0\npaths: {/x: {get: {operationId: look}}}\n")
    text = PRICE.replace("start: check", "start: check\n  apis: {inner: {openApiRef: secret.yaml}}").replace(
        "good: {type: succeed, outputVar: result}",
        "good: {type: task, task: {kind: 'httpCall:v1', operationRef: inner.look, resultVar: r}, next: end}\n"
        "    end: {type: succeed}",
    )

    async def main(web: Api) -> None:
        answer = await web.post("/journey-definitions:validate", {"text": text, "file": str(tmp_path / "a.yaml")})
        assert "was not deployed with the journey" in answer.text
        request = {"text": text, "documents": {"secret.yaml": (tmp_path / "secret.yaml").read_text()}}
        assert "was not given" not in (await web.post("/journey-definitions:validate", request)).text

    run(main, tmp_path)


def test_what_a_journey_has_scheduled_is_found_by_subject_without_its_context(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, REPEATING)
        for customer in ("ada", "bob"):
            await web.post("/journeys/repeating/start", {"customer": customer, "token": "s3cret"})
        listed = await web.get("/journey-bindings?journeyName=repeating&subjectId=ada")
        (item,) = listed.json()["items"]
        assert (item["subjectId"], item["interval"], item["maxRuns"], item["runsExecuted"]) == ("ada", "P1D", 3, 0)
        assert item["next"] == item["startAt"] == "2099-01-01T00:00:00Z"
        path = f"/journey-bindings/{item['scheduleId']}"
        assert (await web.get(path)).json() == item
        assert "s3cret" not in listed.text + (await web.get("/events?limit=1000")).text + (await web.get("/runs")).text
        for _ in range(2):
            assert (await web.call("POST", f"{path}/cancel")).json()["state"] == "cancelled"
        assert len((await web.get("/journey-bindings")).json()["items"]) == 2
        assert (await web.get("/journey-bindings?subjectId=nobody")).json()["items"] == []
        assert (await web.get("/journey-bindings/nothing")).status_code == 404

    run(main, tmp_path)


def test_answers_are_as_the_journey_s_own_description_says(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, ASKING, PRICE)
        description = schemathesis.openapi.from_dict(
            (await web.get("/journey-definitions/asking/latest/openapi.json")).json()
        )
        start, step = (
            description["/journeys/asking/start"]["POST"],
            description["/journeys/{journeyId}/steps/ask"]["POST"],
        )
        started = await web.post("/journeys/asking/start", {"a": 1})
        start.validate_response(started)
        start.validate_response(await web.post("/journeys/asking/start", {"a": "x"}))
        path = f"/journeys/{started.json()['journeyId']}"
        description["/journeys/{journeyId}"]["GET"].validate_response(await web.get(path))
        description["/journeys/{journeyId}/result"]["GET"].validate_response(await web.get(f"{path}/result"))
        step.validate_response(await web.post(f"{path}/steps/ask", {}))
        step.validate_response(await web.post(f"{path}/steps/ask", {"ok": True}))
        description["/journeys/{journeyId}/result"]["GET"].validate_response(await web.get(f"{path}/result"))
        with pytest.raises(JsonSchemaError):
            description["/journeys/{journeyId}"]["GET"].validate_response(await web.get("/health/live"))
        call = schemathesis.openapi.from_dict((await web.get("/journey-definitions/price/0.1.0/openapi.json")).json())
        call["/offers/price"]["POST"].validate_response(await web.post("/offers/price", {"amount": 1}))
        call["/offers/price"]["POST"].validate_response(await web.post("/offers/price", {"amount": 1000}))

    run(main, tmp_path)


def test_the_client_has_every_call_about_journeys(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        transport = httpx.ASGITransport(web.application)
        async with Client("http://127.0.0.1:8471", transport=transport, patience=0) as client:
            calls = client.journeys
            bad = await calls.validate(ASKING.replace("next: judge", "next: jugde"))
            assert (bad["valid"], bad["problems"][0]["code"]) == (False, "graph-target")
            for text in (ASKING, PRICE, REPEATING):
                assert (await calls.deploy(text))["new"]
            assert [one["name"] for one in await calls.definitions(limit=10)] == ["asking", "price", "repeating"]
            assert [one["version"] for one in await calls.versions("asking")] == ["0.1.0"]
            assert "nobody answered" in (await calls.definition("asking"))["source"]
            assert "/offers/price" in (await calls.openapi("price"))["paths"]
            assert "<svg" in await calls.draw_definition("asking")
            assert await calls.call("price", {"amount": 2}, headers={"X-Channel": "c"}) == {"price": 2, "channel": "c"}
            started = await calls.start("asking", {"customer": "ada"}, key="k")
            assert await calls.start("asking", {"customer": "ada"}, key="k") == started
            id = started["journeyId"]
            assert (await calls.start("asking", at_once=True))["statusUrl"]
            assert [one["journeyId"] for one in await calls.list(subject="ada", attributes={"subjectId": "ada"})] == [
                id
            ]
            with pytest.raises(Conflict, match="not over"):
                await calls.result(id)
            assert (await calls.step(id, "ask", {"ok": True}))["note"] == "thank you"
            assert (await calls.result(id))["output"] == {"ok": True}
            assert 'class="edge taken"' in await calls.draw(id)
            assert (await calls.status(id))["phase"] == (await calls.cancel(id))["phase"] == "SUCCEEDED"
            await calls.start("repeating", {"customer": "ada"})
            (binding,) = await calls.bindings(name="repeating", subject="ada")
            assert await calls.binding(binding["scheduleId"]) == binding
            assert (await calls.cancel_binding(binding["scheduleId"]))["state"] == "cancelled"

    run(main, tmp_path)


def test_a_schedule_starts_a_journey(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deployed(web, ASKING)
        action = {"journey": "asking", "input": {"customer": "ada"}}
        answer = await web.post("/schedules", {"name": "daily", "spec": "0 9 * * *", "action": action})
        assert answer.status_code == 201, answer.text
        run_id = (await web.post("/schedules/daily/trigger")).json()["run"]["id"]
        async with asyncio.timeout(20):
            while (await web.get(f"/journeys/{run_id}")).json().get("currentState") != "ask":
                await asyncio.sleep(0.05)
        assert (await web.get("/schedules:export")).json()["schedules"]["daily"]["action"] == action

    run(main, tmp_path)
