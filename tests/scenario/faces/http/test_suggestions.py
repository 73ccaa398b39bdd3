"""Near misses are answered with what was likely meant, several mistakes at once, and limits in the same words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ostinato import NotFound, parse_schedules
from tests.support.web import Api, run


def test_a_misspelt_schedule_is_answered_with_the_one_that_was_meant(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        for name in ("nightly-report", "zeta"):
            await web.app.schedules.create(name, "0 3 * * *", "note")
        await web.app.create_namespace("other")
        await web.app.within("other").schedules.create("nightly-repord", "0 3 * * *", "note")
        for answer in (
            await web.get("/schedules/nightly-reprot"),
            await web.post("/schedules/nightly-reprot/pause"),
            await web.get("/schedules/nightly-reprot/history"),
        ):
            assert answer.status_code == 404
            assert answer.json()["detail"].endswith("in namespace 'default'; did you mean 'nightly-report'?")
        assert "did you mean" not in (await web.get("/schedules/unlike")).text
        assert (await web.get("/schedules/%ED")).status_code in (400, 404)
        await web.app.schedules.delete("nightly-report")
        with pytest.raises(NotFound) as refused:
            await web.app.schedules.pause("nightly-reprot")
        assert "did you mean" not in str(refused.value)  # neither what is closed nor what is another namespace's

    run(main, tmp_path)


def test_a_misspelt_job_is_noted_beside_the_answer(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        spec = {"spec": "0 3 * * *"}
        says = "no node knows the job 'notes' yet; did you mean 'note'?"
        assert (await web.post("/jobs/notes/start", {})).json()["note"] == says
        assert (await web.post("/jobs/note/start", {})).json()["note"] is None
        assert (await web.post("/schedules", {"name": "a", "action": "notes", **spec})).json()["note"] == says
        assert (await web.post("/schedules", {"name": "b", "action": {"job": "note"}, **spec})).json()["note"] is None
        assert (await web.call("PATCH", "/schedules/a", json={"action": {"job": "notes"}})).json()["note"] == says
        assert (await web.call("PATCH", "/schedules/a", json={"notes": "x"})).json()["note"] is None
        assert (await web.post("/schedules/a/trigger")).json()["note"] == says
        assert (await web.post("/schedules/b/trigger")).json()["note"] is None
        many = (await web.post("/jobs/notes/start-many", {"inputs": [{}, {}]})).json()["items"]
        assert [item["note"] for item in many] == [says, says]

    run(main, tmp_path)


def test_a_wrong_input_of_many_is_named_by_its_number(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/jobs/note/start-many", {"inputs": [{"n": 1}, {"n": "x"}]})
        assert answer.status_code == 422
        assert answer.json()["detail"].startswith("inputs[1]: job 'note': n: "), answer.text
        assert await web.app.runs() == []

    run(main, tmp_path)


def test_a_field_of_several_types_is_named_without_them(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/jobs/note/start", {"retry": "often", "concurrency": [1]})
        assert [problem["field"] for problem in answer.json()["problems"]] == ["body.retry", "body.concurrency"]

    run(main, tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("every 15m", "Every 15 minutes"),
        ("0 9 * * 1-5", "At 09:00 on weekdays, UTC"),
        ("2036-01-01T09:00Z", "At 2036-01-01 09:00, UTC"),
    ],
)
def test_a_text_is_the_same_spec_at_every_door(text: str, words: str, tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/schedules", {"name": "http", "spec": text, "action": "note"})
        assert answer.status_code == 201, answer.text
        await web.app.schedules.create("python", text, "note")
        document = parse_schedules(f"schedules:\n  file: {{spec: '{text}', action: note}}\n")
        await web.app.schedules.apply(document)
        body = {name: (await web.get(f"/schedules/{name}")).json()["words"] for name in ("http", "python", "file")}
        assert set(body.values()) == {words}, body

    run(main, tmp_path)


def test_every_mistake_of_a_start_is_named_at_once(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        wrong: dict[str, Any] = {
            "timeout": "soon",
            "deadline": -1,
            "retry": {"attempts": 0},
            "concurrency": {"mots": 1},
            "priority": "high",
            "inptu": {},
        }
        for path, more in (("start", {}), ("start-many", {"inputs": [{}], "ids": ["a", "b"], "id": "x"})):
            answer = await web.post(f"/jobs/note/{path}", {**wrong, **more})
            assert answer.status_code == 422, answer.text
            named = {one["field"] for one in answer.json()["problems"]}
            expected = {f"body.{name}" for name in (*wrong, *(("ids", "id") if more else ()))}
            assert named == expected, answer.text

    run(main, tmp_path)


def test_every_mistake_of_an_input_is_named_with_its_place(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/jobs/note/start", {"input": {"n": "many", "m": 1}})
        assert answer.status_code == 422, answer.text
        problems = {one["field"]: one["value"] for one in answer.json()["problems"]}
        assert problems == {"body.input.m": 1, "body.input.n": "many"}

    run(main, tmp_path)


@pytest.mark.parametrize("limit", [0, -1, 100_001, "5", 1.0, True, None])
def test_a_limit_that_is_none_is_refused_at_the_door(limit: Any, tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.schedules.create("a", "0 3 * * *", "note")
        schedules = web.app.schedules
        for call in (
            lambda: web.app.events(limit=limit),
            lambda: web.app.events(limit=limit, newest=True),
            lambda: web.app.runs(limit=limit),
            lambda: web.app.upcoming(limit),
            lambda: schedules.upcoming(limit),
            lambda: schedules.history("a", limit=limit),
            lambda: schedules.times("a", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", limit=limit),
        ):
            with pytest.raises(ValueError, match="not a whole number from 1 to 100,000") as refused:
                await call()
            assert str(refused.value).startswith(f"limit {limit!r} is ")

    run(main, tmp_path, node=False)


def test_a_limit_of_a_page_is_refused_in_the_same_words(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        for path in ("/events", "/upcoming", "/runs", "/schedules"):
            for limit in ("0", "-1", "1001", "many"):
                answer = await web.get(path, params={"limit": limit})
                assert answer.status_code == 422
                assert answer.json()["detail"] == "query.limit: not a whole number from 1 to 1,000"

    run(main, tmp_path, node=False)
