"""What is wrong with a request is said at once and whole: the place, the value as JSON, and what would be right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ostinato.faces.http.validation_errors import ANY_QUERY
from tests.support.web import Api, run


def test_an_action_whose_fields_are_all_optional_takes_no_body(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.schedules.create("nightly", "0 3 * * *", "note")
        for action in ("pause", "resume", "trigger"):
            answer = await web.client.post(f"/api/v1/schedules/nightly/{action}")
            assert answer.status_code == 200, answer.text
        started = await web.client.post("/api/v1/jobs/note/start")
        assert started.status_code == 201, started.text
        run_id = (await web.app.start("wait")).id
        assert (await web.client.post(f"/api/v1/runs/{run_id}/cancel")).status_code == 200
        assert (await web.client.post("/api/v1/diagnosis")).status_code == 200

    run(main, tmp_path)


def test_a_time_without_its_offset_is_told_how_to_be_written(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.schedules.create("nightly", "0 3 * * *", "note")
        span = "first=2026-01-01T00:00:00&last=2026-01-02T00:00:00Z"
        bare = await web.client.get(f"/api/v1/schedules/nightly/times?{span}")
        assert bare.status_code == 422
        assert "write '2026-01-01T00:00:00Z' for UTC" in bare.text
        span = "first=2026-01-01T00:00:00+01:00&last=2026-01-02T00:00:00Z"
        unescaped = await web.client.get(f"/api/v1/schedules/nightly/times?{span}")
        assert "%2B01:00" in unescaped.text

    run(main, tmp_path)


def test_no_route_insists_on_a_body_that_may_be_empty(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        described = web.application.openapi()
        shapes, seen = described["components"]["schemas"], 0
        for path, method, call in _calls(described):
            body = call.get("requestBody")
            if body is None or method in ("put", "patch"):  # an update of nothing is a mistake
                continue
            schema = body["content"]["application/json"]["schema"]
            shape = shapes.get(schema.get("$ref", "").rpartition("/")[2])
            if shape is not None and not shape.get("required") and path not in EITHER:
                seen += 1
                assert not body.get("required"), path
        assert seen >= 9

    run(main, tmp_path)


EITHER = ("/api/v1/schedules:plan", "/api/v1/schedules:apply")  # a file as text, or as schedules; one of the two


def _calls(described: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in described["paths"].items():
        for method, call in methods.items():
            yield path, method, call


@pytest.mark.parametrize(
    ("path", "name", "hint"),
    [
        ("/runs?statuss=failed", "statuss", "did you mean 'status'?"),
        ("/runs?job=report", "job", "did you mean 'name'?"),
        ("/schedules?frob=x", "frob", "there are after, job, limit, match, namespace, state, tag"),
        ("/journeys?name=order", "name", "did you mean 'journeyName'?"),
        ("/journeys?subject=7", "subject", "did you mean 'subjectId'?"),
        ("/journeys?status=failed", "status", "did you mean 'phase'?"),
        ("/journey-bindings?subject=7", "subject", "did you mean 'subjectId'?"),
        ("/health/live?verbose=1", "verbose", "there are namespace"),
    ],
)
def test_an_unknown_query_parameter_is_refused(tmp_path: Path, path: str, name: str, hint: str) -> None:
    async def main(web: Api) -> None:
        answer = await web.get(path)
        assert answer.status_code == 422
        problem = answer.json()
        assert problem["field"] == f"query.{name}"
        assert problem["detail"] == f"query.{name}: there is no such parameter here; {hint}"

    run(main, tmp_path)


def test_only_calls_that_hand_the_query_to_a_journey_take_any(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        free = {path for path, _, call in _calls(web.application.openapi()) if call.get(ANY_QUERY)}
        assert free == {
            "/api/v1/apis/{name}",
            "/api/v1/journeys/{name}/start",
            "/api/v1/journeys/{id}",
            "/api/v1/journeys/{id}/result",
            "/api/v1/journeys/{id}/diagram.svg",
            "/api/v1/journeys/{id}/steps/{step}",
        }

    run(main, tmp_path)


def test_a_body_that_is_not_json_is_400_with_its_place(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        headers = {"Content-Type": "application/json"}
        text = '{"name": "api-two",\n "spec": }'
        answer = await web.client.post("/api/v1/schedules", content=text, headers=headers)
        assert answer.status_code == 400
        assert answer.json()["detail"] == "the body is not JSON: line 2, column 10: Expecting value"
        assert "value" not in answer.json()

    run(main, tmp_path)


def test_all_mistakes_of_a_body_are_said_at_once(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        body = {"name": "x", "cron": "0 9 * * *", "timezone": "UTC", "overlap": "buffer1", "keep": 0, "frobnicate": [1]}
        answer = await web.post("/schedules", body)
        assert answer.status_code == 422
        problems = {one["field"]: one for one in answer.json()["problems"]}
        assert problems["body.cron"]["message"] == "there is no such field; did you mean 'spec'?"
        assert problems["body.timezone"]["message"] == (
            'there is no such field; the time zone belongs to the spec: {"cron": "0 9 * * *", "tz": "Europe/Berlin"}'
        )
        assert problems["body.overlap"]["message"].endswith("did you mean 'buffer_one'?")
        assert problems["body.keep"]["value"] == 0
        assert problems["body.frobnicate"]["message"].startswith("there is no such field; there are spec, action, ")
        assert problems["body.frobnicate"]["value"] == [1]
        for field in problems:
            assert field in answer.json()["detail"]

    run(main, tmp_path)


def test_mistakes_that_the_form_does_not_show_are_said_with_the_others(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        body = {
            "name": "x",
            "spec": {"cron": ["0 9 * * *", "61 9 * * *"]},
            "action": {"job": "note", "tmeout": "5s"},
            "catchup": "sometimes",
            "timeout": "soon",
            "retry": {"attempts": 3, "delay": "soon"},
            "overlap": "buffer1",
            "keep": 0,
        }
        wanted = {
            "body.spec.cron[1]",
            "body.action.tmeout",
            "body.catchup",
            "body.timeout",
            "body.retry",
            "body.overlap",
            "body.keep",
        }
        for method, path in (("POST", "/schedules"), ("PUT", "/schedules/x"), ("PATCH", "/schedules/x")):
            sent = body if method == "POST" else {key: value for key, value in body.items() if key != "name"}
            answer = await web.call(method, path, sent)
            assert answer.status_code == 422
            assert {one["field"] for one in answer.json()["problems"]} == wanted

    run(main, tmp_path)


def test_a_missing_field_has_no_value(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/schedules/x/skip", {})
        assert answer.json()["problems"] == [{"field": "body.at", "message": "it is missing"}]
        assert "value" not in answer.json()

    run(main, tmp_path)


def test_values_are_json_and_bounded(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        schedule = {"name": "x", "spec": {"cron": "0 9 * * *", "zone": "Europe/Berlin"}, "action": "note"}
        problem = (await web.post("/schedules", schedule)).json()
        assert problem["value"] == "Europe/Berlin"
        assert "did you mean 'tz'?" in problem["detail"]
        long = (await web.post("/schedules", {"name": ["y" * 100_000]})).text
        assert len(long) < 3000

    run(main, tmp_path)


def test_a_cron_line_may_stand_alone(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        schedule = {"name": "x", "spec": {"cron": "0 9 * * *", "tz": "Europe/Berlin"}, "action": "note"}
        assert (await web.post("/schedules", schedule)).status_code == 201
        assert (await web.get("/schedules/x")).json()["spec"] == {"cron": ["0 9 * * *"], "tz": "Europe/Berlin"}

    run(main, tmp_path)


def test_what_people_look_for_at_the_root_is_found(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        for alias, kind in (("/health", "application/json"), ("/openapi.json", "application/json")):
            answer = await web.client.get(alias, follow_redirects=True)
            assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        metrics = await web.client.get("/metrics?namespace=default", follow_redirects=True)
        assert metrics.status_code == 200
        assert "ostinato_" in metrics.text

    run(main, tmp_path)


def test_the_figures_at_the_root_are_guarded_as_they_are(tmp_path: Path) -> None:
    from ostinato.faces.http.server import Listening

    async def main(web: Api) -> None:
        assert (await web.client.get("/metrics", follow_redirects=True)).status_code == 401

    run(main, tmp_path, listening=Listening(require_token=True))


WRONG_DEFINITIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"spec": {"cron": ["0 9 * * *", "0 10 * * *", "0 25 * * *"]}}, {"body.spec.cron[2]": "0 25 * * *"}),
    ({"spec": "0 25 * * *"}, {"body.spec": "0 25 * * *"}),
    (
        {"spec": {"cron": ["61 * * * *"], "tz": "Nowhere", "every": "x"}},
        {"body.spec.cron[0]": "61 * * * *", "body.spec.tz": "Nowhere", "body.spec.every": "x"},
    ),
    ({"catchup": "often"}, {"body.catchup": "often"}),
    ({"catchup": {"most": True}}, {"body.catchup": {"most": True}}),
    ({"catchup": {"pace": True}}, {"body.catchup": {"pace": True}}),
    ({"timeout": "never", "catchup": "often"}, {"body.timeout": "never", "body.catchup": "often"}),
    ({"action": {"job": "note", "timeout": "never"}}, {"body.action.timeout": "never"}),
    ({"action": {"job": "note", "options": {"retry": 0}}}, {"body.action.options.retry": 0}),
    ({"action": {"jbo": "note"}}, {"body.action.jbo": "note"}),
    ({"action": {"job": "note", "input": {"n": "x"}}}, {"body.action.input.n": "x"}),
    ({"action": {"job": "note", "input": {"m": 1}}}, {"body.action.input.m": 1}),
    ({"input": {"n": "x"}}, {"body.input.n": "x"}),
    ({"retry": {"attempts": 0}}, {"body.retry": {"attempts": 0}}),
    ({"action": {"job": None}}, {"body.action.job": None}),
    ({"action": None}, {"body.action": None}),
    ({"action": {"http": {"url": "x"}}}, {"body.action.http.url": "x"}),
    ({"action": {"http": {"url": "https://a.example", "method": "FROB"}}}, {"body.action.http.method": "FROB"}),
    ({"action": {"http": {"url": "https://a.example", "expect": ["x"]}}}, {"body.action.http.expect": ["x"]}),
    ({"action": {"job": "http", "input": {"url": 5}}}, {"body.action.input.url": 5}),
]


@pytest.mark.parametrize(("definition", "places"), WRONG_DEFINITIONS)
def test_every_mistake_of_a_definition_has_its_place(
    tmp_path: Path, definition: dict[str, Any], places: dict[str, Any]
) -> None:
    async def main(web: Api) -> None:
        await web.app.schedules.create("there", "0 3 * * *", "note")
        whole = {"spec": "0 3 * * *", "action": "note", **definition}
        for answer in (
            await web.post("/schedules", {"name": "x", **whole}),
            await web.call("PUT", "/schedules/x", whole),
            await web.call("PATCH", "/schedules/there", definition),
        ):
            assert answer.status_code == 422, answer.text
            problem = answer.json()
            assert {one["field"]: one.get("value") for one in problem["problems"]} == places, problem
            assert problem["field"] == problem["problems"][0]["field"]
            assert all(one["message"] in problem["detail"] or len(places) > 1 for one in problem["problems"])

    run(main, tmp_path)


CALL = {"url": "https://a.example", "headers": {"Authorization": "Bearer hunter2"}}
NEVER, EARLY = "2020-01-01T00:30:00Z", "0001-01-01T00:00:00+10:00"
PAST = {"first": "2020-01-01T00:00:00Z", "last": "2020-02-01T00:00:00Z"}
COMING = "2126-01-01T03:00:00Z"
PERIOD = {"first": "2026-01-01T00:00:00Z", "last": "2026-01-05T00:00:00Z"}
NIGHTLY, CALLER = "/schedules/nightly", "/schedules/caller"
WRONG_CALLS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (f"{NIGHTLY}/trigger", {"input": {"n": "x", "m": 1}}, {"body.input.m": 1, "body.input.n": "x"}, "it takes n"),
    (f"{CALLER}/trigger", {"input": {"url": "x"}}, {"body.input.url": "x"}, "only http and https are called"),
    (f"{NIGHTLY}/resume", {"catchup": "often"}, {"body.catchup": "often"}, "use 'skip', 'latest', 'all'"),
    (f"{NIGHTLY}/resume", {"catchup": {"window": "x"}}, {"body.catchup": {"window": "x"}}, "write 'PT15M'"),
    (f"{NIGHTLY}/skip", {"at": NEVER}, {"body.at": NEVER}, "its next one is"),
    (f"{NIGHTLY}/skip", {"at": EARLY}, {"body.at": EARLY}, "check the year"),
    (f"{NIGHTLY}/put-back", {"at": NEVER}, {"body.at": NEVER}, "no time of it is"),
    (f"{NIGHTLY}/move", {"at": NEVER, "to": NEVER}, {"body.at": NEVER}, "its next one is"),
    (f"{NIGHTLY}/move", {"at": COMING, "to": NEVER}, {"body.to": NEVER}, "choose a time after 2125-12-31T03:00:00Z"),
    (f"{NIGHTLY}/backfills", {**PAST, "first": COMING}, {"body.last": PAST["last"]}, "end it later"),
    (f"{NIGHTLY}/backfills", {**PAST, "first": EARLY}, {"body.first": EARLY}, "check the year"),
    (
        f"{NIGHTLY}/backfills",
        {**PAST, "last": COMING},
        {"body.last": COMING},
        "the schedule runs those itself; end it at",
    ),
    (f"{NIGHTLY}/backfills", {**PAST, "input": {"n": "x"}}, {"body.input.n": "x"}, "a valid integer"),
    ("/schedules:bulk", {"do": "backfill"}, {"body.first": None, "body.last": None}, "first and last are needed"),
    ("/schedules:bulk", {"do": "backfill", **PAST, "first": COMING}, {"body.last": PAST["last"]}, "end it later"),
    ("/schedules:bulk", {"do": "pause", "catchup": "all"}, {"body.catchup": "all"}, "only by resume"),
    (
        "/schedules:bulk",
        {"do": "delete", "note": "why", "first": COMING},
        {"body.note": "why", "body.first": COMING},
        "not used by delete, only by pause and resume",
    ),
    ("/schedules:bulk", {"do": "resume", "catchup": "often"}, {"body.catchup": "often"}, "use 'skip'"),
    ("/jobs/http/start", {"input": {"url": "x"}}, {"body.input.url": "x"}, "only http and https are called"),
    ("/jobs/note/start-many", {"inputs": [{}, {"n": "x"}]}, {"body.inputs[1].n": "x"}, "inputs[1]"),
    ("/webhooks", {"url": "x"}, {"body.url": "x"}, "only http and https are called"),
    (
        "/webhooks",
        {"url": "https://a.example/secret://"},
        {"body.url": "https://a.example/secret://"},
        "a name is letters",
    ),
    (
        "/webhooks",
        {"url": "https://a.example", "patterns": ["*", "run:faild"]},
        {"body.patterns[1]": "run:faild"},
        "'run:failed'?",
    ),
    ("/simulate", {"schedule": "nightly", **PERIOD, "last": NEVER}, {"body.last": NEVER}, "end it later"),
    (
        "/simulate",
        {"schedule": "nightly", **PERIOD, "outages": [[COMING, NEVER]]},
        {"body.outages[0]": [COMING, NEVER]},
        "end it",
    ),
    ("/simulate", {**PERIOD}, {"body.schedule": None}, "give either schedule, a name, or draft, a definition"),
    ("/simulate", {**PERIOD, "draft": {"spec": "0 25 * * *"}}, {"body.draft.spec": "0 25 * * *"}, "out of range 0–23"),
]


@pytest.mark.parametrize(("path", "body", "places", "hint"), WRONG_CALLS)
def test_every_mistake_of_a_call_has_its_place(
    tmp_path: Path, path: str, body: dict[str, Any], places: dict[str, Any], hint: str
) -> None:
    async def main(web: Api) -> None:
        await web.app.schedules.create("nightly", "0 3 * * *", "note")
        await web.app.schedules.create("caller", "0 3 * * *", {"http": {"url": "https://a.example"}})
        answer = await web.post(path, body)
        assert answer.status_code == 422, answer.text
        problem = answer.json()
        assert {one["field"]: one.get("value") for one in problem["problems"]} == places, problem
        assert problem["field"] == problem["problems"][0]["field"]
        assert hint in problem["detail"]

    run(main, tmp_path)


def test_a_time_that_cannot_be_put_back_is_answered_with_those_that_can(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.schedules.create("nightly", "0 3 * * *", "note")
        assert (await web.post("/schedules/nightly/skip", {"at": COMING})).status_code == 200
        problem = (await web.post("/schedules/nightly/put-back", {"at": NEVER})).json()
        assert (problem["field"], problem["value"]) == ("body.at", NEVER)
        assert problem["detail"].endswith(f"is neither skipped nor moved; there are {COMING}")

    run(main, tmp_path)


def test_an_argument_that_may_be_a_secret_is_not_repeated(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        @web.app.job()
        async def login(user: str, password: str, token: int = 0) -> None: ...

        for input in (
            {"user": "u", "password": ["hunter2"]},
            {"user": "u", "password": "x", "token": "hunter2"},
            {"user": {"password": "hunter2"}, "password": "x"},
        ):
            for path, body in (
                ("/jobs/login/start", {"input": input}),
                ("/schedules", {"name": "x", "spec": "0 3 * * *", "action": {"job": "login", "input": input}}),
            ):
                answer = await web.post(path, body)
                assert answer.status_code == 422, answer.text
                assert "hunter2" not in answer.text

    run(main, tmp_path)


@pytest.mark.parametrize(
    ("path", "body", "place"),
    [
        ("/webhooks", {"url": "https://a.example", "secret": "hunter2"}, "body.secret"),
        ("/webhooks", {"url": "https://a.example", "secret": ["secret://a", "hunter2"]}, "body.secret"),
        ("/webhooks", {"url": "https://me:hunter2@a.example"}, "body.url"),
        ("/jobs/http/start", {"input": {"url": "https://me:hunter2@a.example"}}, "body.input.url"),
        ("/jobs/http/start", {"input": {"url": "https://a.example", "sign": "hunter2"}}, "body.input.sign"),
        ("/jobs/http/start", {"input": {"url": "https://a.example", "sing": "hunter2"}}, "body.input.sing"),
        (
            "/jobs/http/start",
            {"input": {"url": "https://a.example", "headers": {"X-Key": "hunter2\n"}}},
            "body.input.headers",
        ),
        ("/webhooks", {"url": "https://a.example", "patterns": ["run:*"], "secret": {"a": "hunter2"}}, "body.secret"),
        ("/webhooks", {"url": "https://a.example", "patterns": ["run:*"], "secrett": "hunter2"}, "body.secrett"),
        ("/webhooks", {"url": ["https://me:hunter2@a.example"], "patterns": ["run:*"]}, "body.url"),
        ("/webhooks", {"url": "https://a.example:99999/?token=hunter2", "patterns": ["run:*"]}, "body.url"),
        ("/jobs/http/start", {"input": {"url": "https://a.example:99999/?k=hunter2"}}, "body.input.url"),
        ("/jobs/http/start", {"input": {"url": ["https://me:hunter2@a.example"]}}, "body.input.url"),
        (
            "/jobs/http/start",
            {"input": {"url": "https://a.example", "headers": "Authorization: hunter2"}},
            "body.input.headers",
        ),
        (
            "/schedules",
            {"name": "x", "spec": "0 3 * * *", "action": {"http": "https://me:hunter2@a.example"}},
            "body.action.http",
        ),
        (
            "/schedules",
            {"name": "x", "spec": "0 3 * * *", "action": {"http": {"url": "https://a.example", "sign": "hunter2"}}},
            "body.action.http.sign",
        ),
        ("/schedules", {"name": "x", "spec": "0 3 * * *", "action": {"http": CALL, "job": "note"}}, "body.action"),
        ("/schedules", {"name": "x", "spec": "0 3 * * *", "action": {"htp": CALL}}, "body.action.htp"),
        ("/schedules", {"name": "x", "spec": "0 3 * * *", "action": {"http": [CALL]}}, "body.action.http"),
        ("/schedules", {"name": "x", "spec": "0 3 * * *", "action": [{"http": CALL}]}, "body.action"),
    ],
)
def test_a_value_that_may_be_a_secret_is_not_repeated(
    tmp_path: Path, path: str, body: dict[str, Any], place: str
) -> None:
    async def main(web: Api) -> None:
        answer = await web.post(path, body)
        assert answer.status_code == 422, answer.text
        assert [one["field"] for one in answer.json()["problems"]] == [place]
        assert "hunter2" not in answer.text

    run(main, tmp_path)


@pytest.mark.parametrize(
    ("path", "body", "place", "words"),
    [
        ("/tokens", {"role": "admin", "expires_in": -5}, "body.expires_in", "must be greater than zero"),
        (
            "/webhooks",
            {"url": "https://a b.example/", "patterns": ["run:*"]},
            "body.url",
            "a space in its host",
        ),
        ("/schedules", {"name": "x", "spec": {"cron": None}, "action": "note"}, "body.spec.cron", "cron is null"),
        (
            "/schedules",
            {"name": "x", "spec": "0 3 * * *", "action": "note", "remaining": True},
            "body.remaining",
            "a valid integer",
        ),
        ("/jobs/note/start", {"priority": True}, "body.priority", "a valid integer"),
    ],
)
def test_a_value_that_was_taken_without_a_word_is_refused_at_its_place(
    tmp_path: Path, path: str, body: dict[str, Any], place: str, words: str
) -> None:
    async def main(web: Api) -> None:
        answer = await web.post(path, body)
        assert answer.status_code == 422, answer.text
        assert (answer.json()["field"], words in answer.json()["detail"]) == (place, True)

    run(main, tmp_path)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/runs/a%00b", "path.id"),
        ("/runs?name=a%00b", "query.name"),
        ("/runs?parent=a%00b", "query.parent"),
        ("/schedules/a%00b", "path.name"),
        ("/schedules?tag=a%00b", "query.tag"),
        ("/events?subject=a%00b", "query.subject"),
        ("/schedules:export?tag=a%00b", "query.tag"),
    ],
)
def test_a_nul_that_no_store_keeps_is_refused_at_its_place(tmp_path: Path, path: str, place: str) -> None:
    async def main(web: Api) -> None:
        answer = await web.get(path)
        assert (answer.status_code, answer.json()["field"]) == (422, place)
        answer = await web.post("/jobs/a%00b/start", {})
        assert (answer.status_code, answer.json()["field"]) == (422, "path.name")

    run(main, tmp_path)


def test_an_update_without_a_spec_names_the_spec(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.schedules.create("nightly", "0 3 * * *", "note")
        problem = (await web.call("PATCH", "/schedules/nightly", {"spec": None})).json()
        words = "a spec is an object, not null; write {'cron': '0 9 * * *'}, or {} for a spec without times"
        assert problem["problems"] == [{"field": "body.spec", "message": words, "value": None}]
        assert problem["detail"] == words
        for spec in ({"spec": None}, {}):  # not what a schedule without times is: that is {}
            problem = (await web.call("PUT", "/schedules/nightly", {"action": "note", **spec})).json()
            assert (problem["field"], "spec is missing" in problem["detail"]) == ("body.spec", True)
        problem = (await web.call("PUT", "/schedules/nightly", {"action": 5, "priority": "x", "catchup": "?"})).json()
        wrong = {one["field"] for one in problem["problems"]}
        assert wrong == {"body.spec", "body.action", "body.priority", "body.catchup"}
        assert (await web.call("PUT", "/schedules/nightly", {"action": "note", "spec": {}})).status_code == 200
        problem = (await web.call("PATCH", "/schedules/nightly", {"action": None})).json()
        assert (problem["field"], "name a job" in problem["detail"]) == ("body.action", True)

    run(main, tmp_path)


@pytest.mark.parametrize(
    ("method", "path", "methods"),
    [
        ("PUT", "/schedules", ["GET", "POST"]),
        ("POST", "/schedules/a%2Fb", ["DELETE", "GET", "PATCH", "PUT"]),
        ("DELETE", "/schedules/a/trigger", ["POST"]),
    ],
)
def test_a_method_that_a_path_has_not_is_answered_with_those_it_has(
    tmp_path: Path, method: str, path: str, methods: list[str]
) -> None:
    async def main(web: Api) -> None:
        answer = await web.call(method, path)
        assert (answer.status_code, answer.headers["content-type"]) == (405, "application/problem+json")
        assert answer.headers["allow"] == ", ".join(methods)
        problem = answer.json()
        assert (problem["title"], problem["status"]) == ("method not allowed", 405)
        assert problem["detail"] == f"the path '/api/v1{path}' has no method {method}; use {' or '.join(methods)}"

    run(main, tmp_path)


def test_errors_that_come_before_a_call_are_described(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        for path, method, call in _calls(web.application.openapi()):
            for status in ("405", "408", "431"):
                assert list(call["responses"][status]["content"]) == ["application/problem+json"], (path, method)
            assert "Allow" in call["responses"]["405"]["headers"]

    run(main, tmp_path)


@pytest.mark.parametrize("run_time", ["90m", 5400, "PT1H30M", ["90m"], ["PT90M", 5400]])
def test_a_simulation_takes_lengths_as_texts_and_as_seconds(tmp_path: Path, run_time: Any) -> None:
    async def main(web: Api) -> None:
        draft = {"spec": {"intervals": [{"every": "1h"}]}, "overlap": "skip"}
        period = {"first": "2026-01-01T00:00:00Z", "last": "2026-01-01T03:59:00Z"}
        answer = await web.post("/simulate", {"draft": draft, **period, "run_time": run_time})
        assert answer.status_code == 200, answer.text
        assert answer.json()["counts"] == {"succeeded": 2, "overlap": 2}

    run(main, tmp_path)


@pytest.mark.parametrize(
    ("run_time", "place", "value", "words"),
    [
        ("soon", "body.run_time", "soon", "run_time 'soon' is not a duration; write 'PT15M'"),
        (["5m", "soon"], "body.run_time[1]", "soon", "run_time 'soon' is not a duration"),
        ("1mo", "body.run_time", "1mo", "run_time '1mo'"),
        (-1, "body.run_time", -1, "not from 0 to 1,000,000,000 s"),
        ([5, -1], "body.run_time[1]", -1, "not from 0 to 1,000,000,000 s"),
        (True, "body.run_time", True, "write '5m', or seconds"),
        ({"a": 1}, "body.run_time", {"a": 1}, "write '5m', or seconds"),
        ([], "body.run_time", [], "has no lengths to draw from; give one"),
    ],
)
def test_a_wrong_length_of_a_simulation_is_reported_once(
    tmp_path: Path, run_time: Any, place: str, value: Any, words: str
) -> None:
    async def main(web: Api) -> None:
        await web.app.schedules.create("nightly", "0 3 * * *", "note")
        answer = await web.post("/simulate", {"schedule": "nightly", **PERIOD, "run_time": run_time})
        assert answer.status_code == 422
        (problem,) = answer.json()["problems"]
        assert (problem["field"], problem["value"], words in problem["message"]) == (place, value, True), problem

    run(main, tmp_path)


def test_the_description_says_that_lengths_of_a_simulation_are_texts_or_seconds(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        shape = web.application.openapi()["components"]["schemas"]["Simulate"]["properties"]["run_time"]
        length = {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1e9}, {"type": "string"}]}
        assert shape["oneOf"] == [length, {"type": "array", "items": length, "maxItems": 1000}]

    run(main, tmp_path)


def test_true_is_no_number(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.schedules.create("nightly", "0 3 * * *", "note")
        for path, body in (
            ("/jobs/note/start", {"timeout": True}),
            ("/jobs/note/start", {"deadline": True}),
            ("/schedules", {"name": "x", "spec": {}, "action": "note", "deadline": True}),
            ("/schedules/nightly/backfills", {"first": AT, "last": AT, "rate": True}),
        ):
            problem = (await web.post(path, body)).json()
            field = next(name for name, value in body.items() if value is True)
            assert problem["problems"] == [
                {"field": f"body.{field}", "message": "this is neither a number nor a text", "value": True}
            ]

    run(main, tmp_path)


AT = "2026-01-01T00:00:00Z"


def test_a_path_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.client.post("/api/v1/jobs/%ff/start")
        assert (answer.status_code, "not UTF-8" in answer.json()["detail"]) == (400, True)
        assert (await web.client.post("/api/v1/jobs/%C3%BC/start")).status_code != 400

    run(main, tmp_path)


def test_the_target_of_an_action_is_a_text_that_every_store_keeps(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        for action in ("no\0te", {"job": "no\0te"}, {"function": "f\0"}, {"journey": "j\0"}):
            answer = await web.post("/schedules", {"name": "x", "spec": {}, "action": action})
            assert answer.status_code == 422, action
            assert "stored" in answer.text or "NUL" in answer.text, answer.text
        assert (await web.get("/schedules?job=a%00b")).status_code == 422
        assert (await web.get("/schedules")).json()["items"] == []

    run(main, tmp_path)


def test_a_wrong_target_of_an_action_shows_no_secret(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        for action in (
            {"journey": {"password": "hunter2"}},
            {"job": {"url": "https://a.example", "headers": {"authorization": "hunter2"}}},
        ):
            answer = await web.post("/schedules", {"name": "x", "spec": {}, "action": action})
            assert (answer.status_code, "hunter2" in answer.text) == (422, False)
        answer = await web.post("/schedules", {"name": "x", "spec": {}, "action": {"job": "note", "options": ["x"]}})
        assert (answer.status_code, "options ['x'] is not an object" in answer.text) == (422, True)
        answer = await web.post("/jobs/note/start", {"input": {"n": "https://u:hunter2@h/?k=hunter2"}})
        assert (answer.status_code, "hunter2" in answer.text) == (422, False)

    run(main, tmp_path)
