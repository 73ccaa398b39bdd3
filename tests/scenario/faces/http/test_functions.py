"""Durable functions over HTTP."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

from ostinato.functions.model import MOST_MESSAGES
from tests.support.face_functions import declare_functions, start_onboard
from tests.support.web import Api, run


def test_a_function_is_started_watched_and_sent_messages(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_functions(web.app)
        body = {"function": "onboard", "input": {"user": "ada"}, "id": "ada/1"}
        started = await web.post("/functions", body)
        assert (started.status_code, started.json()["new"]) == (201, True)
        id = started.json()["id"]
        assert started.headers["location"] == f"/api/v1/functions/{id}"
        assert (await web.post("/functions", body)).json() == {"id": id, "new": False}
        await start_onboard(web.app, id="ada/1")
        info = (await web.get("/functions/ada%2F1")).json()
        assert (info["id"], info["key"], info["status"], info["state"]) == (id, "ada/1", "waiting", {"asking": "ada"})
        assert re.fullmatch(r"a message 'reply' or the time 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", info["waits_for"])
        assert info["version"] == 1
        assert (await web.get(f"/functions/{id}/result")).status_code == 409
        late = await web.get(f"/functions/{id}/result?wait=0.1")
        assert (late.status_code, "it waits for a message 'reply'" in late.json()["detail"]) == (409, True)
        (drained,) = (await web.get("/functions/drain")).json()["items"]
        assert (drained["name"], drained["runs"], drained["by_status"]) == ("onboard", 1, {"waiting": 1})
        sent = await web.post(f"/functions/{id}/messages", {"name": "reply", "payload": {"ok": True}, "id": "m"})
        assert (sent.status_code, sent.json()) == (202, {"run_id": id, "name": "reply"})
        outcome = (await web.get(f"/functions/{id}/result?wait=10")).json()
        assert outcome["result"] == {"user": "ada", "answer": {"ok": True}}
        again = await web.post(f"/functions/{id}/messages", {"name": "reply"})
        assert (again.status_code, again.json()["title"]) == (409, "function is over")

    run(main, tmp_path)


def test_steps_are_paged_and_drawn(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_functions(web.app)
        id = await start_onboard(web.app)
        steps: list[dict[str, Any]] = []
        after = None
        while True:
            page = (await web.get(f"/functions/{id}/steps", params={"limit": 2, "after": after or 0})).json()
            assert len(page["items"]) <= 2
            steps += page["items"]
            after = page["next"]
            if after is None:
                break
        assert [(step["kind"], step["name"], step["status"]) for step in steps] == [
            ("step", "double", "done"),
            ("sleep", "", "done"),
            ("step", "refuse", "failed"),
            ("step", "double", "done"),
            ("step", "double", "done"),
            ("receive", "reply", "pending"),
        ]
        assert (steps[2]["error"]["message"], steps[3]["position"].count(".")) == ("not <1>", 2)
        picture = await web.get(f"/functions/{id}/timeline.svg")
        assert picture.headers["content-type"] == "image/svg+xml"
        assert "ValueError: not &lt;1&gt;" in picture.text

    run(main, tmp_path)


def test_runs_of_functions_are_listed_by_name_and_status(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_functions(web.app)
        waiting = [await start_onboard(web.app, str(n)) for n in range(3)]
        for _ in range(2):
            await (await web.app.functions.start("report")).result("20s")
        await web.app.start("note")
        listed: list[str] = []
        before: str | None = None
        while True:
            query = {"limit": 2} | ({} if before is None else {"before": before})
            page = (await web.get("/functions", params=query)).json()
            listed += [item["name"] for item in page["items"]]
            before = page["next"]
            if before is None:
                break
        assert listed == ["report", "report", "onboard", "onboard", "onboard"]
        listed_runs = (await web.get("/functions?name=onboard&status=waiting")).json()["items"]
        assert [item["id"] for item in listed_runs] == waiting[::-1]
        assert (await web.get("/functions?status=failed")).json() == {"items": [], "next": None}

    run(main, tmp_path)


def test_a_function_is_cancelled_or_terminated(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_functions(web.app)
        for verb, status in (("cancel", "cancelled"), ("terminate", "terminated")):
            id = await start_onboard(web.app)
            assert (await web.post(f"/functions/{id}/{verb}", {"reason": "enough"})).status_code == 200
            outcome = (await web.get(f"/functions/{id}/result?wait=10")).json()
            assert (outcome["status"], outcome["reason"]) == (status, "enough")

    run(main, tmp_path)


def test_a_start_may_bring_messages(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_functions(web.app)
        body = {"function": "onboard", "input": {"user": "ada"}, "send": {"reply": 7}, "deadline": "1h", "priority": 2}
        id = (await web.post("/functions", body)).json()["id"]
        assert (await web.get(f"/functions/{id}/result?wait=10")).json()["result"]["answer"] == 7
        assert (await web.get(f"/runs/{id}")).json()["priority"] == 2

    run(main, tmp_path)


def test_mistakes_name_their_place_all_at_once(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_functions(web.app)
        for input, places in (({"m": 1}, {"user", "m"}), ({"user": 5, "n": "many"}, {"user", "n"})):
            wrong = await web.post("/functions", {"function": "onboard", "input": input})
            assert wrong.status_code == 422
            named = {problem["field"] for problem in wrong.json()["problems"]}
            assert named == {f"body.input.{place}" for place in places}
        body = {"at": "soon", "deadline": "x", "concurrency": {"mst": 1}, "send": {"": 1}, "retry": 3}
        fields = {problem["field"] for problem in (await web.post("/functions", body)).json()["problems"]}
        assert fields == {
            "body.function",
            "body.at",
            "body.deadline",
            "body.concurrency",
            "body.send",
            "body.retry",
        }
        unknown = await web.post("/functions", {"function": "onbord"})
        assert (unknown.status_code, "did you mean 'onboard'" in unknown.json()["detail"]) == (404, True)
        status = await web.get("/functions?status=waitin")
        assert (status.status_code, status.json()["problems"][0]["field"]) == (422, "query.status")
        job = await web.app.start("note")
        assert (await web.get(f"/functions/{job.id}")).status_code == 404  # not a function
        assert (await web.post(f"/functions/{job.id}/messages", {"name": "x"})).status_code == 404

    run(main, tmp_path)


def test_a_full_mailbox_asks_to_try_later(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_functions(web.app)
        later = await web.app.functions.start("report", at="2099-01-01T00:00:00Z")
        await asyncio.gather(*(web.app.functions.send(later.id, "x", number) for number in range(MOST_MESSAGES)))
        full = await web.post(f"/functions/{later.id}/messages", {"name": "x"})
        assert (full.status_code, full.json()["title"]) == (429, "mailbox is full")

    run(main, tmp_path)


def test_roles(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        declare_functions(web.app)
        id = await start_onboard(web.app)
        reader = await web.token("reader", "default")
        for path in ("", "/declared", "/drain", f"/{id}", f"/{id}/steps", f"/{id}/timeline.svg"):
            assert (await web.get(f"/functions{path}", token=reader)).status_code == 200, path
        for path, body in (("", {"function": "report"}), (f"/{id}/messages", {"name": "x"}), (f"/{id}/cancel", {})):
            assert (await web.post(f"/functions{path}", body, token=reader)).status_code == 403, path

    run(main, tmp_path)
