"""Workflows over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ostinato.workflows import AuthRequired
from tests.support.web import Api, run
from tests.support.workflows import deploy_mailbox


async def wait_for(web: Api, reached: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while not reached(workflow := (await web.get("/workflows/inbox")).json()):
            await asyncio.sleep(0.01)
    return dict(workflow)


def is_done(workflow: dict[str, Any]) -> bool:
    return workflow["status"] == "Idle" and bool(workflow["activity"])


def test_a_workflow_shows_what_came_in_and_what_went_out(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deploy_mailbox(web.app, mails=["one", "two"], batch=2)
        workflow = await wait_for(web, is_done)
        assert workflow["activity"] == ["Processed 2 emails → send 2"]
        assert workflow["timing"].startswith("Checks every 5 minutes · next in ")
        assert workflow["inputs"] == [
            {"source": "mail", "type": "email", "pending": 0, "done": 2, "skipped": 0, "attention": 0}
        ]
        (listed,) = (await web.get("/workflows")).json()["items"]
        assert listed == {name: workflow[name] for name in workflow if name not in ("inputs", "attention", "activity")}
        assert (await web.get("/workflows/inbox?recent=0")).json()["activity"] == []
        (output,) = (await web.get("/workflows/inbox/outputs?status=applied")).json()["items"]
        assert (output["title"], output["stems_from"]) == ("send 2", "2 emails (batch)")
        detail = (await web.get(f"/workflows/inbox/runs/{output['run_id']}")).json()
        assert [attempt["id"] for attempt in detail["attempts"]] == [output["run_id"]]
        assert {event["message_id"] for event in detail["events"]} == {"one", "two"}
        assert detail["output"] == output
        picture = await web.get("/workflows/inbox/diagram.svg")
        assert picture.headers["content-type"] == "image/svg+xml"
        assert picture.text.startswith("<svg")

    run(main, tmp_path)


def test_pages_show_each_record_once(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        mails = [f"mail-{n}" for n in range(5)]
        await deploy_mailbox(web.app, mails=mails)
        await wait_for(web, lambda workflow: workflow["inputs"] != [] and workflow["inputs"][0]["done"] == 5)
        for path, cursor, key, number in (
            ("inputs", "before", "id", 5),
            ("outputs", "before", "id", 5),
            ("events", "after", "message_id", 5),
            ("runs", "before", "id", len(await web.app.workflows.runs("inbox"))),
        ):
            values: list[str] = []
            place = None
            while True:
                query = {"limit": 2} | ({} if place is None else {cursor: place})
                page = (await web.get(f"/workflows/inbox/{path}", params=query)).json()
                values += [item[key] for item in page["items"]]
                place = page["next"]
                if place is None:
                    break
            assert (len(values), len(set(values))) == (number, number), path

    run(main, tmp_path)


def test_a_problem_is_resolved_and_work_is_skipped(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deploy_mailbox(web.app, [AuthRequired("Gmail")], mails=["one", "two"])
        workflow = await wait_for(web, lambda workflow: workflow["status"] == "Needs attention")
        assert workflow["issue"] == "Waiting for you to reconnect Gmail"
        assert workflow["choices"] == ["reauthenticate", "skip"]
        assert workflow["attention"] == "1 input needs your attention"
        assert (await web.post("/workflows/inbox/run-now")).status_code == 409
        wrong = await web.post("/workflows/inbox/resolve", {"choice": "resume", "run_id": "other"})
        assert (wrong.status_code, "is blocked by run" in wrong.json()["detail"]) == (409, True)
        unknown = await web.post("/workflows/inbox/resolve", {"choice": "resum"})
        assert (unknown.status_code, unknown.json()["problems"][0]["field"]) == (422, "body.choice")
        inputs = {item["title"]: item for item in (await web.get("/workflows/inbox/inputs")).json()["items"]}
        assert inputs["one"]["attention"] == "blocked"
        assert (await web.post(f"/workflows/inbox/inputs/{inputs['two']['id']}/skip")).status_code == 200
        choice = {"choice": "reauthenticate", "run_id": workflow["run_id"]}
        resolved = await web.post("/workflows/inbox/resolve", choice)
        assert resolved.json()["status"] == "Running"
        await wait_for(web, is_done)
        assert (await web.post("/workflows/inbox/resolve", {"choice": "resume"})).status_code == 409
        skipped = (await web.get("/workflows/inbox/inputs?status=skipped")).json()["items"]
        assert [(item["title"], item["result"]) for item in skipped] == [("two", "Skipped")]
        gone = await web.post("/workflows/inbox/events/skip", {"topic": "emails", "message_id": "three"})
        assert (gone.status_code, "has no event 'three'" in gone.json()["detail"]) == (404, True)
        for verb, status in (("pause", "Stopped"), ("resume", "Idle"), ("stop", "Stopped")):
            assert (await web.post(f"/workflows/inbox/{verb}")).json()["status"] == status
        assert (await web.post("/workflows/inbox/resume")).status_code == 409

    run(main, tmp_path)


def test_mistakes_name_their_place(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await deploy_mailbox(web.app)
        missing = await web.get("/workflows/inbx")
        assert (missing.status_code, "did you mean 'inbox'" in missing.json()["detail"]) == (404, True)
        wrong = await web.get("/workflows/inbox/inputs?status=pendin")
        assert (wrong.status_code, wrong.json()["problems"][0]["field"]) == (422, "query.status")
        assert (await web.get("/workflows/inbox/runs/nothing")).status_code == 404
        for path in ("pause", "resume", "stop", "run-now", "inputs/x/skip"):
            unknown = await web.post(f"/workflows/inbox/{path}", {"note": "tea"})
            assert (unknown.status_code, unknown.json()["problems"][0]["field"]) == (422, "body.note")
        polls = (await web.get("/workflows/inbox/runs?handler=poll")).json()["items"]
        assert {run["handler"] for run in polls} <= {"poll"}
        misspelt = await web.get("/workflows/inbox/runs?handler=pol")
        assert (misspelt.status_code, "did you mean 'poll'" in misspelt.json()["detail"]) == (404, True)
        assert (await web.post("/workflows", {"path": "os:system"})).status_code == 405  # code is not deployed here

    run(main, tmp_path)
