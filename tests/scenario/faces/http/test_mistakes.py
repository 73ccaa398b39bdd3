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
        assert problems["body.timezone"]["message"] == "there is no such field; did you mean 'spec'?"
        assert problems["body.overlap"]["message"].endswith("did you mean 'buffer_one'?")
        assert problems["body.keep"]["value"] == 0
        assert problems["body.frobnicate"]["message"].startswith("there is no such field; there are spec, action, ")
        assert problems["body.frobnicate"]["value"] == [1]
        for field in problems:
            assert field in answer.json()["detail"]

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
    ({"timeout": "never", "catchup": "often"}, {"body.timeout": "never", "body.catchup": "often"}),
    ({"action": {"job": "note", "timeout": "never"}}, {"body.action.timeout": "never"}),
    ({"action": {"job": "note", "options": {"retry": 0}}}, {"body.action.options.retry": 0}),
    ({"action": {"jbo": "note"}}, {"body.action.jbo": "note"}),
    ({"action": {"job": "note", "input": {"n": "x"}}}, {"body.action.input.n": "x"}),
    ({"action": {"job": "note", "input": {"m": 1}}}, {"body.action.input.m": 1}),
    ({"input": {"n": "x"}}, {"body.input.n": "x"}),
    ({"retry": {"attempts": 0}}, {"body.retry": {"attempts": 0}}),
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
