"""Files of schedules over HTTP: planned, applied once, refused whole."""

from __future__ import annotations

from pathlib import Path

from tests.support.journey_parts import AGAIN
from tests.support.web import Api, run

DAILY = {"spec": "0 9 * * *", "action": "note"}


def test_a_file_is_applied_once_however_often_it_is_sent(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        file = {"schedules": {"a": DAILY, "b": DAILY}, "name": "billing"}
        planned = (await web.post("/schedules:plan", file)).json()
        assert (planned["done"], planned["counts"]["create"]) == (False, 2)
        assert (await web.get("/schedules")).json()["items"] == []
        key = {"headers": {"Idempotency-Key": "once"}}
        first = await web.post("/schedules:apply", file, **key)
        assert (first.status_code, first.json()["done"]) == (200, True)
        assert (await web.post("/schedules:apply", file, **key)).json() == first.json()
        assert (await web.post("/schedules:apply", {**file, "prune": True}, **key)).status_code == 409
        assert (await web.post("/schedules:apply", file)).json()["counts"]["unchanged"] == 2
        events = (await web.get("/events?limit=1000")).json()["items"]
        assert [(one["name"], one["actor"]) for one in events if one["name"].startswith("schedule:")] == [
            ("schedule:created", "local")
        ] * 2

        fewer = {**file, "schedules": {"a": DAILY}}
        assert (await web.post("/schedules:apply", fewer)).json()["counts"]["missing"] == 1
        assert (await web.get("/schedules/b")).status_code == 200  # it goes on, unless pruned
        assert (await web.post("/schedules:apply", {**fewer, "prune": True})).json()["pruned"] is True
        assert (await web.get("/schedules/b")).status_code == 404

        other = {"text": "schedules: {a: {spec: every 1h, action: note}}", "name": "other"}
        refused = await web.post("/schedules:apply", other)
        assert (refused.status_code, refused.json()["plan"]["counts"]["taken"]) == (409, 1)
        assert (await web.post("/schedules:apply", {**other, "take": True})).json()["counts"]["update"] == 1
        page = (await web.get("/schedules:export?limit=1")).json()
        assert (page["schedules"]["a"]["action"], page["next"]) == ("note", "a")
        assert (await web.get("/schedules:export?after=a")).json() == {"schedules": {}, "left_out": {}, "next": None}

    run(main, tmp_path)


def test_what_a_file_cannot_declare_is_left_out_on_its_page(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.journeys.deploy(AGAIN)
        await web.app.journeys.start("again", wait=50)
        (binding,) = await web.app.journeys.bindings()
        await web.post("/schedules:apply", {"schedules": {"a": DAILY, "b": DAILY}})
        after, pages = "", []
        while after is not None:
            page = (await web.get(f"/schedules:export?limit=1&after={after}")).json()
            pages.append([*page["schedules"], *page["left_out"].items()])
            after = page["next"]
        left_out = (binding.schedule, "a file cannot declare it; only a journey can make it")
        assert pages == [["a"], [left_out], ["b"], []]

    run(main, tmp_path)


def test_changing_what_a_file_declares_notes_that_it_comes_back(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.post("/schedules:apply", {"schedules": {"a": DAILY, "b": DAILY}, "name": "billing"})
        await web.post("/schedules", {"name": "own", "spec": "every 1h", "action": "note"})
        changed = (await web.call("PATCH", "/schedules/a", {"overlap": "allow_all", "action": "unknown"})).json()
        back = "it is declared in file:billing; the next `apply` of that file puts it back as declared there"
        assert changed["note"] == f"no node knows the job 'unknown' yet; {back}"
        note = "it is declared in file:billing; the next `apply` of that file creates it again"
        assert (await web.call("DELETE", "/schedules/a")).json()["note"] == note
        done = (await web.post("/schedules:bulk", {"do": "delete"})).json()
        assert done == {"done": 2, "failed": {}, "notes": {"b": note}}

    run(main, tmp_path)


def test_a_wrong_file_is_refused_with_each_place(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        text = "schedules:\n  a: {spec: '0 25 * * *', action: note}\n  b: {spec: every 1h, actoin: note}\n"
        for call in ("plan", "apply"):
            answer = await web.post(f"/schedules:{call}", {"text": text, "file": "team/s.yaml"})
            assert answer.status_code == 422
            problems = answer.json()["problems"]
            assert [(one["file"], one["line"], one["schedule"]) for one in problems] == [
                ("team/s.yaml", 2, "a"),
                ("team/s.yaml", 3, "b"),
            ]
        both = await web.post("/schedules:plan", {"text": text, "schedules": {}})
        assert (both.status_code, "give either" in both.json()["detail"]) == (422, True)
        assert (await web.get("/schedules")).json()["items"] == []
        reader = await web.token("reader")
        assert (await web.post("/schedules:plan", {"schedules": {"a": DAILY}}, token=reader)).status_code == 200
        assert (await web.post("/schedules:apply", {"schedules": {"a": DAILY}}, token=reader)).status_code == 403

    run(main, tmp_path)
