"""Webhooks over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.support.web import Api, run

URL = "https://hooks.example/in"


def test_a_webhook_is_made_changed_stopped_and_removed(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.post("/webhooks", {"url": URL, "patterns": ["run:failed"], "secret": "secret://key"})
        assert answer.status_code == 201
        hook = answer.json()
        assert answer.headers["location"] == f"/api/v1/webhooks/{hook['id']}"
        assert (hook["state"], hook["secrets"], hook["patterns"]) == ("active", ["secret://key"], ["run:failed"])
        path = f"/webhooks/{hook['id']}"
        assert (await web.get(path)).json() == hook
        changed = (await web.call("PATCH", path, {"secret": "", "patterns": ["*"]})).json()
        assert (changed["secrets"], changed["patterns"], changed["url"]) == ([], ["*"], URL)
        assert (await web.call("PATCH", path, {})).status_code == 422
        problem = (await web.call("PATCH", path, {"notes": "new", "url": None})).json()
        assert problem["field"] == "body.url"
        assert "leave the field out" in problem["detail"]
        assert (await web.get(path)).json()["notes"] != "new"
        stopped = (await web.post(f"{path}/disable", {"reason": "moving"})).json()
        assert (stopped["state"], stopped["reason"]) == ("disabled", "moving")
        assert (await web.post(f"{path}/replay", {"after": 0})).status_code == 409
        assert (await web.post(f"{path}/enable")).json()["state"] == "active"
        names = [one["name"] for one in (await web.get(f"/events?subject={hook['id']}")).json()["items"]]
        assert names == [f"webhook:{verb}" for verb in ("created", "updated", "disabled", "enabled")]
        assert (await web.call("DELETE", path)).status_code == 204
        assert (await web.get(path)).status_code == 404
        assert (await web.get(f"{path}/deliveries")).status_code == 404

    run(main, tmp_path)


def test_what_cannot_be_called_is_refused_with_the_reason(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        for url, words in (
            ("http://127.0.0.1/in", "loopback addresses are not called unless allowed"),
            ("http://169.254.169.254/", "never called"),
            ("file:///etc/passwd", "only http and https"),
        ):
            answer = await web.post("/webhooks", {"url": url})
            assert answer.status_code == 422
            assert words in answer.json()["detail"]
        plain = await web.post("/webhooks", {"url": URL, "secret": "whsec_aGVsbG8="})
        assert plain.status_code == 422
        assert "aGVsbG8" not in plain.text

    run(main, tmp_path)


def test_deliveries_are_listed_and_sent_again(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        # A name that leads nowhere: every delivery waits for its next attempt.
        body = (await web.post("/webhooks", {"url": "http://nowhere.invalid/in", "patterns": ["run:created"]})).json()
        await web.post("/jobs/note/start")
        path = f"/webhooks/{body['id']}/deliveries"
        async with asyncio.timeout(20):
            while not (items := (await web.get(f"{path}?status=waiting")).json()["items"]):
                await asyncio.sleep(0.05)
        (delivery,) = items
        assert delivery["attempt"] == 2
        again = f"{path}/{delivery['id']}/redeliver"
        assert (await web.post(again)).status_code == 409  # it is not over
        await web.post(f"/runs/{delivery['id']}/terminate")
        repeated = await web.post(again)
        assert repeated.status_code == 201
        assert {one["id"] for one in (await web.get(path)).json()["items"]} == {delivery["id"], repeated.json()["id"]}
        assert (await web.get(f"/webhooks/{body['id']}")).json()["failing"] is not None

    run(main, tmp_path)
